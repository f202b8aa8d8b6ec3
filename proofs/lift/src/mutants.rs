//! Broken kernels. Each must be refused, or make a theorem false: the defects that the lifter and the proofs notice, by
//! name.
//!
//! `tests/mutants.rs` lifts them all; `veriplex-tools lifted-mutants` refutes the theorems about those that lift.

use crate::table::{Kernel, Level, TABLE};
use crate::{Lifted, assembler, lift};
use std::path::Path;
use std::{fs, io};

/// What happens to a broken kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The lifter refuses it, with this in its reason.
    Refused(&'static str),
    /// It lifts, and this theorem is false for it.
    Refuted(&'static str),
}

/// A change to the assembly of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// What is wrong with it.
    pub name: &'static str,
    /// The level.
    pub level: &'static str,
    /// The kernel.
    pub kernel: &'static str,
    /// The first occurrence of this text
    pub find: &'static str,
    /// is replaced by this one.
    pub replace: &'static str,
    /// What happens to it.
    pub outcome: Outcome,
}

impl Mutant {
    /// Lifts the kernel with the change.
    ///
    /// # Errors
    ///
    /// If the text to change is missing, or the result cannot be assembled. The inner error says why the lifter refuses
    /// it.
    pub fn lift(&self, rustc: &str, root: &Path, folder: &Path) -> io::Result<Result<Lifted, crate::Error>> {
        let (level, kernel) = self.subject()?;
        let source = assembler::source(root, level, kernel)?;
        if !source.contains(self.find) {
            return Err(io::Error::other(format!("{}: no {:?}", self.name, self.find)));
        }
        let source = source.replacen(self.find, self.replace, 1);
        let code = assembler::assemble(rustc, level.target, &source, folder)?;
        fs::remove_dir_all(folder)?;
        Ok(lift(kernel, level, &code))
    }

    /// The level and the kernel.
    ///
    /// # Errors
    ///
    /// If there is none of that name.
    pub fn subject(&self) -> io::Result<(&'static Level, &'static Kernel)> {
        (TABLE.level(self.level).zip(TABLE.kernel(self.kernel)))
            .ok_or_else(|| io::Error::other(format!("{}/{}: no such kernel", self.level, self.kernel)))
    }
}

macro_rules! mutants {
    ($($level:literal $kernel:ident { $($name:literal: $find:literal => $replace:literal, $outcome:ident $text:literal;)* })*) => {
        &[$($(Mutant {
            name: $name,
            level: $level,
            kernel: stringify!($kernel),
            find: $find,
            replace: $replace,
            outcome: Outcome::$outcome($text),
        }),*),*]
    };
}

/// All of them.
pub const MUTANTS: &[Mutant] = mutants! {
    "x86-64" simpira1024_permute {
        "registers swapped": "vaesenc\t%xmm4, %xmm8, %xmm4" => "vaesenc\t%xmm8, %xmm4, %xmm4", Refuted "simpira1024_permute_lifted_thm";
        "round dropped": "\tvaesenc\t%xmm4, %xmm8, %xmm4\n" => "", Refuted "simpira1024_permute_lifted_thm";
        "wrong round constant": "vaesenc\t16(%rsi)" => "vaesenc\t32(%rsi)", Refuted "simpira1024_permute_lifted_thm";
        "states swapped": "vmovdqu\t%xmm0, (%rdi)" => "vmovdqu\t%xmm1, (%rdi)", Refuted "simpira1024_permute_lifted_thm";
        "register not wiped": "\tvpxor\t%xmm5, %xmm5, %xmm5\n" => "", Refuted "simpira1024_permute_lifted_thm";
        "last round of AES": "vaesenc\t16(%rsi)" => "vaesenclast\t16(%rsi)", Refused "not in the list of instructions";
        "round constant beyond the table": "vaesenc\t1136(%rsi)" => "vaesenc\t1137(%rsi)", Refused "bytes 1137 to 1152 of round_constants, which has 1152";
        "store to the table": "vmovdqu\t%xmm0, (%rdi)" => "vmovdqu\t%xmm0, (%rsi)", Refused "a store to round_constants, which is read-only";
        "store before the state": "vmovdqu\t%xmm0, (%rdi)" => "vmovdqu\t%xmm0, -1(%rdi)", Refused "bytes -1 to 14 of state";
        "relative to the code": "vmovdqu\t(%rdi), %xmm0" => "vmovdqu\t0(%rip), %xmm0", Refused "an address that is not a register plus a constant";
        "through a segment": "vmovdqu\t(%rdi), %xmm0" => "vmovdqu\t%fs:(%rdi), %xmm0", Refused "an address that is not a register plus a constant";
        "address of 32 bits": "vmovdqu\t(%rdi), %xmm0" => "vmovdqu\t(%edi), %xmm0", Refused "an address that is not a register plus a constant";
        "saved on the stack": "vmovdqu\t(%rdi), %xmm0" => "vmovdqu\t%xmm6, -16(%rsp)", Refused "rsp is used as an address, but is not one";
        "register of the caller read": "vmovdqu\t(%rdi), %xmm0" => "vmovdqu\t%xmm15, %xmm0", Refused "xmm15 is read before anything is written to it";
        "code after the return": "\tret" => "\tret\n\tret", Refused "an instruction that no call executes";
        "runs off its end": "\tret" => "", Refused "the code continues where no instruction begins";
        "jump into an instruction": "\tret" => "\tjmp .+1\n\tret", Refused "no instruction begins";
        "loop without a counter": "\tret" => "3:\tjmp\t3b", Refused "a loop without the counter";
        "a prefix that processors read differently": "\tret" => "\t.byte 0x66\n\tret", Refused "not the canonical encoding";
        "under a mask": "vpxor\t%xmm15, %xmm15, %xmm15" => "vpxorq\t%zmm15, %zmm15, %zmm15{%k1}", Refused "with a mask or a broadcast";
    }
    "x86-64" duplex_absorb_blocks {
        "padding dropped": "\tvpxor\t%xmm0, %xmm9, %xmm9\n" => "", Refuted "duplex_absorb_blocks_lifted_step_thm";
        "wrong shift count": "vpsrldq\t$2" => "vpsrldq\t$3", Refuted "duplex_absorb_blocks_lifted_step_thm";
        "branch on data": "\tjmp\t1f" => "\tcmpq\t$0, %rax\n\tja\t3f\n3:\tjmp\t1f", Refused "a branch on something other than the counter";
        "address from data": "\tjmp\t1f" => "\tvmovdqu\t(%rax), %xmm1\n\tjmp\t1f", Refused "rax is used as an address, but is not one";
        "index from data": "\tjmp\t1f" => "\tvmovdqu\t(%rdi,%rax), %xmm1\n\tjmp\t1f", Refused "rdi is used as an address, but is not one";
        "counter as data": "\tmovq\t%rax, %xmm0" => "\tmovq\t%rdx, %xmm0", Refused "rdx is used as data, but is an address or the counter";
        "block before the loop": "\tjmp\t1f" => "\tvmovdqu\t(%rsi), %xmm1\n\tjmp\t1f", Refused "a block of input, outside the loop";
        "pointer advances by 93": "addq\t$94, %rsi" => "addq\t$93, %rsi", Refused "rsi is used as an address, but is not one";
        "counted twice": "\tdecq\t%rdx" => "\tdecq\t%rdx\n\tdecq\t%rdx", Refused "a branch on something other than the counter";
        "not counted": "\tdecq\t%rdx\n" => "", Refused "a branch on something other than the counter";
        "two loops": "\tret" => "3:\tdecq\t%rdx\n\tcmpq\t$0, %rdx\n\tja\t3b\n\tret", Refused "a branch on something other than the counter";
        "state written in the loop": "\taddq\t$94" => "\tvmovdqu\t%xmm0, (%rdi)\n\taddq\t$94", Refused "is written before the loop ends";
        "left over from the iteration before": "\taddq\t$94" => "\tvpxor\t%xmm11, %xmm12, %xmm12\n\taddq\t$94", Refused "xmm12 is read before anything is written to it";
        "callee-saved register clobbered": "\tjmp\t1f" => "\tmovq\t$-9151314442816847872, %rbx\n\tjmp\t1f", Refused "rbx is not as the caller left it";
        "stack pointer moved": "\tret" => "\taddq\t$8, %rsp\n\tret", Refused "arithmetic on neither an address nor the counter";
        "scratch register not wiped": "\tvpxor\t%xmm11, %xmm11, %xmm11\n" => "", Refused "xmm11 is as an iteration left it";
        "legacy encoding": "vpxor\t%xmm0, %xmm9, %xmm9" => "pxor\t%xmm0, %xmm9", Refused "not in the list of instructions";
    }
    "x86-64" duplex_squeeze_blocks {
        "bytes of another place": "vpalignr\t$14" => "vpalignr\t$13", Refuted "duplex_squeeze_blocks_lifted_step_thm";
        "capacity leaked": "78(%rsi)" => "79(%rsi)", Refused "bytes 79 to 94 of output, which has 94";
    }
    "x86-64" duplex_encrypt_blocks {
        "XOR dropped": "\tvpxor\t%xmm5, %xmm10, %xmm10\n" => "", Refuted "duplex_encrypt_blocks_lifted_step_thm";
        "output left out": "\tvmovdqu\t%xmm1, 32(%rdx)\n" => "", Refuted "duplex_encrypt_blocks_lifted_step_thm";
        "input read after it was overwritten": "\tvmovdqu\t%xmm5, (%rdx)\n\tvpxor\t16(%rsi), %xmm1, %xmm7\n\tvmovdqu\t%xmm7, 16(%rdx)\n"
            => "\tvmovdqu\t%xmm5, (%rdx)\n\tvmovdqu\t%xmm5, 16(%rdx)\n\tvpxor\t16(%rsi), %xmm1, %xmm7\n\tvmovdqu\t%xmm7, 16(%rdx)\n", Refuted "duplex_encrypt_blocks_lifted_step_in_place_thm";
        "store to the input": "vmovdqu\t%xmm5, (%rdx)" => "vmovdqu\t%xmm5, (%rsi)", Refused "a store to input, which is read-only";
    }
    "x86-64" duplex_decrypt_blocks {
        "capacity cleared": "vpsrldq\t$14" => "vpsrldq\t$15", Refuted "duplex_decrypt_blocks_lifted_step_thm";
    }
    "x86-64" xoofff_absorb_blocks_x4 {
        "rotation by another count": "vpslld\t$11," => "vpslld\t$12,", Refuted "xoofff_absorb_blocks_x4_lifted_step_thm";
        "half of a rotation": "vpsrld\t$31," => "vpsrld\t$30,", Refuted "xoofff_absorb_blocks_x4_lifted_step_thm";
        "constant of another round": "vpxor\t96(%rcx)" => "vpxor\t64(%rcx)", Refuted "xoofff_absorb_blocks_x4_lifted_step_thm";
        "operands of chi swapped": "vpandn\t%xmm5, %xmm4," => "vpandn\t%xmm4, %xmm5,", Refuted "xoofff_absorb_blocks_x4_lifted_step_thm";
        "columns moved the other way": "vpshufd\t$147," => "vpshufd\t$57,", Refuted "xoofff_absorb_blocks_x4_lifted_step_thm";
        "mask of another block": "vpxor\t48(%rsi), %xmm6, %xmm6" => "vpxor\t48(%rsi), %xmm9, %xmm6", Refuted "xoofff_absorb_blocks_x4_lifted_step_thm";
        "a roll too few": "vpalignr\t$8," => "vpalignr\t$4,", Refuted "xoofff_absorb_blocks_x4_lifted_step_thm";
        "a plane not added": "\tvpxor\t%xmm11, %xmm5, %xmm5\n\tvpxor\t32(%rdi)" => "\tvpxor\t32(%rdi)", Refuted "xoofff_absorb_blocks_x4_lifted_step_thm";
        "mask left out": "\tvmovdqu\t%xmm3, 80(%rdi)\n" => "", Refuted "xoofff_absorb_blocks_x4_lifted_step_thm";
        "registers not wiped": "\tvpxor\t%xmm14, %xmm14, %xmm14\n" => "", Refused "xmm14 is as an iteration left it";
        "blocks advance by three": "addq\t$192, %rsi" => "addq\t$144, %rsi", Refused "rsi is used as an address, but is not one";
        "constants beyond the table": "vpshufb\t192(%rcx)" => "vpshufb\t241(%rcx)", Refused "bytes 241 to 256 of constants, which has 256";
    }
    "x86-64" xoofff_squeeze_blocks_x4 {
        "roll without its constant": "vpxor\t224(%rcx)" => "vpxor\t160(%rcx)", Refuted "xoofff_squeeze_blocks_x4_lifted_step_thm";
        "mask of another plane": "vpxor\t16(%rdi), %xmm4" => "vpxor\t32(%rdi), %xmm4", Refuted "xoofff_squeeze_blocks_x4_lifted_step_thm";
        "state not put back": "\tvmovdqu\t%xmm4, 80(%rdi)\n" => "", Refuted "xoofff_squeeze_blocks_x4_lifted_step_thm";
        "output beyond the blocks": "176(%rsi)" => "184(%rsi)", Refused "of output, which has 192";
    }
    "x86-64" chacha8_xor_blocks_x3 {
        "rotation by another count": "vpslld\t$7," => "vpslld\t$8,", Refuted "chacha8_xor_blocks_x3_lifted_step_thm";
        "half of a rotation": "vpsrld\t$25," => "vpsrld\t$24,", Refuted "chacha8_xor_blocks_x3_lifted_step_thm";
        "shuffle of another rotation": "vpshufb\t%xmm1," => "vpshufb\t%xmm0,", Refuted "chacha8_xor_blocks_x3_lifted_step_thm";
        "columns moved the other way": "vpshufd\t$147," => "vpshufd\t$57,", Refuted "chacha8_xor_blocks_x3_lifted_step_thm";
        "numbers not counted": "\tvpaddq\t%xmm12, %xmm14, %xmm14\n" => "", Refuted "chacha8_xor_blocks_x3_lifted_step_thm";
        "rows of two blocks swapped": "vpxor\t144(%rdx), %xmm8, %xmm8" => "vpxor\t144(%rdx), %xmm7, %xmm8", Refuted "chacha8_xor_blocks_x3_lifted_step_thm";
        "number left out": "\tvmovdqu\t%xmm14, (%rdi)\n" => "", Refuted "chacha8_xor_blocks_x3_lifted_exit_thm";
        "row of the start beyond it": "vmovdqu\t32(%rsi), %xmm9" => "vmovdqu\t33(%rsi), %xmm9", Refused "bytes 33 to 48 of start, which has 48";
    }
    "armv8" simpira1024_permute {
        "an encoding of no instruction": "movi\tv16.2d, #0" => ".inst 0x6f00ec10", Refused "not an encoding of an instruction in the list";
        "AESMC dropped": "\taesmc\tv16.16b, v16.16b\n" => "", Refuted "armv8_simpira1024_permute_lifted_thm";
        "registers swapped": "simpira_round\t\\k, -64, v, v2, 1, 7" => "simpira_round\t\\k, -64, v, v2, 7, 1", Refuted "armv8_simpira1024_permute_lifted_thm";
        "wrong round constant": "[\\k, #\\offset + 32]" => "[\\k, #\\offset + 16]", Refuted "armv8_simpira1024_permute_lifted_thm";
        "registers not wiped": "v24.2d, v25.2d, " => "", Refuted "armv8_simpira1024_permute_lifted_thm";
        "round constants beyond the table": "add\tx1, x1, #128" => "add\tx1, x1, #144", Refused "bytes 1136 to 1167 of round_constants, which has 1152";
        "inverse round": "\taesmc\tv16.16b, v16.16b\n" => "\taesimc\tv16.16b, v16.16b\n", Refused "not in the list of instructions";
        "half of a register": "ldp\tq\\q\\()0, q\\q\\()1" => "ldp\td\\q\\()0, d\\q\\()1", Refused "not in the list of registers";
        "base written back": "ldp\tq28, q29, [\\k, #\\offset]" => "ldp\tq28, q29, [\\k, #\\offset]!", Refused "an address that is not a register plus a constant";
        "store beyond the state": "stp\tq26, q27, [\\state, #96]" => "stp\tq26, q27, [\\state, #112]", Refused "bytes 112 to 143 of state, which has 128";
        "callee-saved vector register clobbered": "movi\tv16.2d, #0" => "movi\tv16.2d, #0\n\tmovi\tv8.2d, #0", Refused "v8 is not as the caller left it";
        "not an instruction": "\tret" => "\t.inst 0xffffffff", Refused "not an instruction";
        "return elsewhere": "\tret" => "\tret\tx1", Refused "not in the list of instructions";
    }
    "armv8" duplex_absorb_blocks {
        "wrong lane": "ext\tv5.16b, v5.16b, v28.16b, #2" => "ext\tv5.16b, v5.16b, v28.16b, #3", Refuted "armv8_duplex_absorb_blocks_lifted_step_thm";
        "XOR dropped": "\teor\tv3.16b, v3.16b, v23.16b\n" => "", Refuted "armv8_duplex_absorb_blocks_lifted_step_thm";
        "secret in a general register": "\tcbnz\tx2, 2b" => "\tumov\tx2, v20.d[0]\n\tcbnz\tx2, 2b", Refused "not in the list of instructions";
        "branch on a pointer": "\tcbnz\tx2, 2b" => "\tcbnz\tx1, 2b", Refused "a branch on something other than the counter";
        "branch on half of the counter": "\tcbnz\tx2, 2b" => "\tcbnz\tw2, 2b", Refused "not in the list of registers";
        "table lookup": "\tmov\tv6.16b, v26.16b" => "\ttbl\tv6.16b, {v26.16b}, v27.16b", Refused "not in the list of instructions";
        "callee-saved register clobbered": "\tret" => "\tadd\tx19, x19, #1\n\tret", Refused "arithmetic on neither an address nor the counter";
        "pointer advances by 96": "add\tx1, x1, #94" => "add\tx1, x1, #96", Refused "x1 is used as an address, but is not one";
    }
    "armv8" duplex_squeeze_blocks {
        "capacity leaked": "stur\tq\\end, [\\out, #78]" => "stur\tq\\end, [\\out, #79]", Refused "bytes 79 to 94 of output, which has 94";
        "padding of other bytes": "#0x81, lsl #8" => "#0x81", Refuted "armv8_duplex_squeeze_blocks_lifted_step_thm";
    }
    "armv8" duplex_encrypt_blocks {
        "words of the output swapped": "simpira_store_block\tx2, 0, 1, 2, 3, 4, 28" => "simpira_store_block\tx2, 1, 0, 2, 3, 4, 28", Refuted "armv8_duplex_encrypt_blocks_lifted_step_thm";
    }
    "armv8" duplex_decrypt_blocks {
        "block kept in place of the state": "\teor\tv16.16b, v0.16b, v20.16b\n" => "\teor\tv0.16b, v0.16b, v20.16b\n\tmov\tv16.16b, v0.16b\n", Refuted "armv8_duplex_decrypt_blocks_lifted_step_thm";
    }
    "x86-64" simpira1024_permute_x2 {
        "lanes swapped": "vmovdqu\t16(%rdi), %xmm5" => "vmovdqu\t32(%rdi), %xmm5", Refuted "simpira1024_permute_x2_lifted_thm";
        "another lane changed": "\tret" => "\tvmovdqu\t%xmm0, 32(%rdi)\n\tret", Refuted "simpira1024_permute_x2_lifted_thm";
        "store beyond the states": "vmovdqu\t%xmm8, 912(%rdi)" => "vmovdqu\t%xmm8, 928(%rdi)", Refused "bytes 928 to 943 of states, which has 928";
    }
    "x86-64" duplex_absorb_blocks_x2 {
        "block of another lane": "\tmovq\t8(%rsi), " => "\tmovq\t0(%rsi), ", Refuted "duplex_absorb_blocks_x2_lifted_step_thm";
    }
    "armv8" simpira1024_permute_x2 {
        "lanes swapped": "stp\tq0, q20, [\\states]" => "stp\tq20, q0, [\\states]", Refuted "armv8_simpira1024_permute_x2_lifted_thm";
        "AESMC dropped in one lane": "\taesmc\tv17.16b, v17.16b\n" => "", Refuted "armv8_simpira1024_permute_x2_lifted_thm";
        "constant of another call": "simpira_half_x2\t28, 1, 6, 30, 3, 4" => "simpira_half_x2\t28, 1, 6, 29, 3, 4", Refuted "armv8_simpira1024_permute_x2_lifted_thm";
        "another lane changed": "\tret" => "\tstur\tq0, [x0, #32]\n\tret", Refuted "armv8_simpira1024_permute_x2_lifted_thm";
        "registers not wiped": "v24.2d, v25.2d, " => "", Refuted "armv8_simpira1024_permute_x2_lifted_thm";
        "store beyond the states": "stp\tq7, q27, [\\states, #896]" => "stp\tq7, q27, [\\states, #912]", Refused "bytes 912 to 943 of states, which has 928";
    }
    "armv8" duplex_absorb_blocks_x2 {
        "block of another lane": "ldp\tx4, x5, [x1]" => "ldp\tx5, x4, [x1]", Refuted "armv8_duplex_absorb_blocks_x2_lifted_step_thm";
        "word in memory of another lane": "stp\tq1, q21, [\\states, #128]" => "stp\tq1, q1, [\\states, #128]", Refuted "armv8_duplex_absorb_blocks_x2_lifted_step_thm";
        "word left out": "\tstp\tq7, q27, [\\states, #896]\n" => "", Refuted "armv8_duplex_absorb_blocks_x2_lifted_exit_thm";
        "pointer of one lane not advanced": "\tadd\tx5, x5, #94\n" => "", Refused "x5 is used as an address, but is not one";
        "pointer of no lane": "ldp\tx4, x5, [x1]" => "ldp\tx4, x5, [x1, #8]", Refused "bytes 16 to 23 of input_pointers, which has 16";
    }
    "armv8" duplex_encrypt_blocks_x2 {
        "end of another lane's output": "ext\tv28.16b, v24.16b, v25.16b, #14" => "ext\tv28.16b, v4.16b, v5.16b, #14", Refuted "armv8_duplex_encrypt_blocks_x2_lifted_step_thm";
    }
    "armv8" duplex_decrypt_blocks_x2 {
        "plaintext kept in the state of one lane": "\tmov\tv21.16b, v17.16b\n" => "", Refuted "armv8_duplex_decrypt_blocks_x2_lifted_step_thm";
    }
    "armv8" duplex_squeeze_blocks_x2 {
        "state not cleared in one lane": "\tmovi\tv22.2d, #0\n" => "", Refuted "armv8_duplex_squeeze_blocks_x2_lifted_step_thm";
    }
    "armv8" xoofff_absorb_blocks_x4 {
        "rotation by another count": "xoodoo_rotate_x4 11, 21" => "xoodoo_rotate_x4 12, 20", Refuted "armv8_xoofff_absorb_blocks_x4_lifted_step_thm";
        "half of a rotation": "xoodoo_rotate_x4 1, 31" => "xoodoo_rotate_x4 1, 30", Refuted "armv8_xoofff_absorb_blocks_x4_lifted_step_thm";
        "constant of another round": "xoodoo_rounds_x4 \\k, 96" => "xoodoo_rounds_x4 \\k, 64", Refuted "armv8_xoofff_absorb_blocks_x4_lifted_step_thm";
        "operands of chi swapped": "bic\tv\\s\\().16b, v\\u\\().16b, v\\b\\().16b" => "bic\tv\\s\\().16b, v\\b\\().16b, v\\u\\().16b", Refuted "armv8_xoofff_absorb_blocks_x4_lifted_step_thm";
        "columns moved the other way": "v\\s\\().16b, #12" => "v\\s\\().16b, #4", Refuted "armv8_xoofff_absorb_blocks_x4_lifted_step_thm";
        "mask of another block": "eor\tv3.16b, v3.16b, v21.16b" => "eor\tv3.16b, v3.16b, v20.16b", Refuted "armv8_xoofff_absorb_blocks_x4_lifted_step_thm";
        "a roll too few": "xoofff_sixth_plane_x4 20, 27, 29" => "xoofff_third_plane_x4 20, 27, 29", Refuted "armv8_xoofff_absorb_blocks_x4_lifted_step_thm";
        "a plane not added": "\teor\tv25.16b, v25.16b, v19.16b\n" => "", Refuted "armv8_xoofff_absorb_blocks_x4_lifted_step_thm";
        "mask left out": "\tstp\tq21, q22, [x0, #64]\n" => "", Refuted "armv8_xoofff_absorb_blocks_x4_lifted_exit_thm";
        "blocks advance by three": "add\tx1, x1, #192" => "add\tx1, x1, #144", Refused "x1 is used as an address, but is not one";
        "input beyond the blocks": "ldp\tq18, q19, [x1, #160]" => "ldp\tq18, q19, [x1, #176]", Refused "bytes 176 to 207 of input, which has 192";
        "register of the caller": "\\offset, 3, 4, 5, 29, 30, 31" => "\\offset, 3, 4, 5, 29, 30, 8", Refused "v8 is not as the caller left it";
        "register not wiped": "v26.2d, " => "", Refused "v26 is as an iteration left it";
        "shift of words of 16 bits": "shl\tv\\to\\().4s, v\\from\\().4s, #\\left" => "shl\tv\\to\\().8h, v\\from\\().8h, #\\left", Refused "not in the list of registers";
    }
    "armv8" xoofff_squeeze_blocks_x4 {
        "roll without its constant": "[\\k, #224]" => "[\\k, #160]", Refuted "armv8_xoofff_squeeze_blocks_x4_lifted_step_thm";
        "roll of other planes": "xoofff_output_words_x4 x3, 22, 5, 20, 27, 28" => "xoofff_output_words_x4 x3, 22, 5, 21, 27, 28", Refuted "armv8_xoofff_squeeze_blocks_x4_lifted_step_thm";
        "mask of another plane": "eor\tv4.16b, v4.16b, v24.16b" => "eor\tv4.16b, v4.16b, v25.16b", Refuted "armv8_xoofff_squeeze_blocks_x4_lifted_step_thm";
        "mask not put back": "\tstp\tq23, q24, [x0]\n" => "", Refuted "armv8_xoofff_squeeze_blocks_x4_lifted_exit_thm";
        "output beyond the blocks": "stp\tq18, q19, [x1, #160]" => "stp\tq18, q19, [x1, #176]", Refused "bytes 176 to 207 of output, which has 192";
        "constants beyond the table": "[\\k, #224]" => "[\\k, #241]", Refused "bytes 241 to 256 of constants, which has 256";
    }
    "armv8" chacha8_xor_blocks_x4 {
        "rotation by another count": "chacha_step_x4 7, 25" => "chacha_step_x4 8, 24", Refuted "armv8_chacha8_xor_blocks_x4_lifted_step_thm";
        "half of a rotation": "chacha_step_x4 7, 25" => "chacha_step_x4 7, 24", Refuted "armv8_chacha8_xor_blocks_x4_lifted_step_thm";
        "columns not moved back": "chacha_turn_x4 4, 12, 8" => "chacha_turn_x4 12, 4, 8", Refuted "armv8_chacha8_xor_blocks_x4_lifted_step_thm";
        "start not added to one row": "chacha_add_x4 26, 16, 17, 18, 19" => "chacha_add_x4 26, 16, 17, 18, 18", Refuted "armv8_chacha8_xor_blocks_x4_lifted_step_thm";
        "numbers not counted": "\tadd\tv28.2d, v28.2d, v29.2d\n" => "", Refuted "armv8_chacha8_xor_blocks_x4_lifted_step_thm";
        "sum of words of 16 bits": "add\tv28.2d, v28.2d, v29.2d" => "add\tv28.8h, v28.8h, v29.8h", Refused "not in the list of instructions";
        "rows of two blocks swapped": "chacha_output_x4 \\in_out, 128, 2, 6, 18, 22" => "chacha_output_x4 \\in_out, 128, 2, 6, 19, 22", Refuted "armv8_chacha8_xor_blocks_x4_lifted_step_thm";
        "number left out": "\tstur\tq28, [\\last_row]\n" => "", Refuted "armv8_chacha8_xor_blocks_x4_lifted_exit_thm";
        "register not wiped": "v1.2d, " => "", Refused "v1 is as an iteration left it";
        "row of the start beyond it": "ldur\tq16, [\\start, #32]" => "ldur\tq16, [\\start, #33]", Refused "bytes 33 to 48 of start, which has 48";
    }
    "x86-64-vaes" simpira1024_permute_x4 {
        "constant of another call": "\\offset+128, 1, 9, 4, 12, 5, 13" => "\\offset+192, 1, 9, 4, 12, 5, 13", Refuted "vaes_simpira1024_permute_x4_lifted_thm";
    }
    "x86-64-vaes" duplex_absorb_blocks_x4 {
        "a lane's block for another's": "simpira_load_pair_x4 32, %r8, %r9" => "simpira_load_pair_x4 32, %r8, %r10", Refuted "vaes_duplex_absorb_blocks_x4_lifted_step_thm";
        "word in memory not kept": "\tvmovdqu\t%ymm1, 160(%rdi)\n" => "", Refuted "vaes_duplex_absorb_blocks_x4_lifted_step_thm";
        "state written before the loop": "\txorl\t%eax, %eax" => "\tvmovdqu\t%ymm0, (%rdi)\n\txorl\t%eax, %eax", Refused "is written before the loop ends";
        "pointer of no lane": "movq\t24(\\pointers), %r11" => "movq\t32(\\pointers), %r11", Refused "bytes 32 to 39 of input_pointers, which has 32";
    }
    "x86-64-vaes" duplex_encrypt_blocks_x4 {
        "output written before the input is read": "%rax, 1\n\tvpxor\t128(%rdi)"
            => "%rax, 1\n\tmovq\t(%rdx), %r11\n\tvmovdqu\t%xmm0, 16(%r11,%rax)\n\tsimpira_load_pair_x4 16, %r9, %r10, %rax, 1\n\tvpxor\t128(%rdi)", Refuted "vaes_duplex_encrypt_blocks_x4_lifted_step_in_place_thm";
        "blocks of another lane": "movq\t\\at+8(\\pointers), %r10" => "movq\t\\at(\\pointers), %r10", Refuted "vaes_duplex_encrypt_blocks_x4_lifted_step_thm";
    }
    "x86-64-vaes" duplex_decrypt_blocks_x4 {
        "high lane lost": "vinserti128\t$1, \\at" => "vinserti128\t$0, \\at", Refuted "vaes_duplex_decrypt_blocks_x4_lifted_step_thm";
    }
    "x86-64-avx512" duplex_encrypt_blocks_x8 {
        "output of another lane": "simpira_output_x8 \\states, \\pointers, \\offset, 8, 16" => "simpira_output_x8 \\states, \\pointers, \\offset, 8, 32", Refuted "avx512_duplex_encrypt_blocks_x8_lifted_step_thm";
        "lanes in another order": "vshufi64x2\t$0xdd, %zmm26" => "vshufi64x2\t$0x88, %zmm26", Refuted "avx512_duplex_encrypt_blocks_x8_lifted_step_thm";
        "register above the sixteenth not wiped": "\tvpxorq\t%zmm31, %zmm31, %zmm31\n" => "", Refused "xmm31 is as an iteration left it";
        "another function of three registers": "\tret" => "\tvpternlogq\t$0x97, %zmm0, %zmm1, %zmm2\n\tret", Refused "not in the list of instructions";
    }
    "x86-64-avx2" chacha8_xor_blocks_x6 {
        "rotation by another count": "chacha_shift_x6 7, 25" => "chacha_shift_x6 8, 24", Refuted "avx2_chacha8_xor_blocks_x6_lifted_step_thm";
        "half of a rotation": "chacha_shift_x6 7, 25" => "chacha_shift_x6 7, 24", Refuted "avx2_chacha8_xor_blocks_x6_lifted_step_thm";
        "shuffle of another rotation": "chacha_shuffle_x6 13," => "chacha_shuffle_x6 12,", Refuted "avx2_chacha8_xor_blocks_x6_lifted_step_thm";
        "columns not moved back": "chacha_turn_x6 0x39, 0x93, 0x4e" => "chacha_turn_x6 0x93, 0x39, 0x4e", Refuted "avx2_chacha8_xor_blocks_x6_lifted_step_thm";
        "start not added to one row": "\tvpaddd\t%ymm15, %ymm8, %ymm8\n" => "", Refuted "avx2_chacha8_xor_blocks_x6_lifted_step_thm";
        "numbers not counted": "\tvpaddq\t%ymm15, %ymm14, %ymm14\n" => "", Refuted "avx2_chacha8_xor_blocks_x6_lifted_step_thm";
        "blocks of two groups swapped": "chacha_output_x6 \\in_out, 128, 1, 4, 7, 10" => "chacha_output_x6 \\in_out, 128, 1, 4, 8, 10", Refuted "avx2_chacha8_xor_blocks_x6_lifted_step_thm";
        "number left out": "\tvmovdqu\t%xmm14, (\\last_row)\n" => "", Refuted "avx2_chacha8_xor_blocks_x6_lifted_exit_thm";
        "registers not wiped": "\tvzeroall\n" => "", Refused "xmm1 is as an iteration left it";
        "row of the start beyond it": "vbroadcasti128\t32(\\start), %ymm15" => "vbroadcasti128\t33(\\start), %ymm15", Refused "bytes 33 to 48 of start, which has 48";
    }
    "x86-64-avx2" xoofff_absorb_blocks_x8 {
        "rotation by another count": "xoodoo_rotate_x8 11, 21" => "xoodoo_rotate_x8 12, 20", Refuted "avx2_xoofff_absorb_blocks_x8_lifted_step_thm";
        "half of a rotation": "xoodoo_rotate_x8 1, 31" => "xoodoo_rotate_x8 1, 30", Refuted "avx2_xoofff_absorb_blocks_x8_lifted_step_thm";
        "constant of another round": "xoodoo_rounds_x8 \\k, 96" => "xoodoo_rounds_x8 \\k, 64", Refuted "avx2_xoofff_absorb_blocks_x8_lifted_step_thm";
        "operands of chi swapped": "vpandn\t%ymm\\c, %ymm\\b, %ymm12" => "vpandn\t%ymm\\b, %ymm\\c, %ymm12", Refuted "avx2_xoofff_absorb_blocks_x8_lifted_step_thm";
        "mask of another block": "xoofff_input_x8 %rsi, 96, 2, 3" => "xoofff_input_x8 %rsi, 96, 1, 3", Refuted "avx2_xoofff_absorb_blocks_x8_lifted_step_thm";
        "a roll too few": "vpalignr\t$8, %ymm0, %ymm12, %ymm8" => "vpalignr\t$4, %ymm0, %ymm12, %ymm8", Refuted "avx2_xoofff_absorb_blocks_x8_lifted_step_thm";
        "blocks of two lanes swapped": "$1, \\at+48(\\input)" => "$0, \\at+48(\\input)", Refuted "avx2_xoofff_absorb_blocks_x8_lifted_step_thm";
        "half of the lanes not added": "\tvpxor\t%xmm12, %xmm\\a, %xmm\\a\n" => "", Refuted "avx2_xoofff_absorb_blocks_x8_lifted_step_thm";
        "accumulator not added to": "xoofff_add_x8 2, 5, 8, 11, 32(%rdi)" => "", Refuted "avx2_xoofff_absorb_blocks_x8_lifted_step_thm";
        "mask left out": "\tvextracti128\t$1, %ymm13, 80(%rdi)\n" => "", Refuted "avx2_xoofff_absorb_blocks_x8_lifted_step_thm";
        "mask in the place of the accumulator": "vmovdqu\t%ymm11, 48(%rdi)" => "vmovdqu\t%ymm11, 47(%rdi)", Refuted "avx2_xoofff_absorb_blocks_x8_lifted_step_thm";
        "accumulator written after the loop": "\tvzeroall\n\tret" => "\tvmovdqu\t%xmm0, (%rdi)\n\tvzeroall\n\tret", Refused "xmm0 is read, but differs from one iteration to the next";
        "registers not wiped": "\tvzeroall\n" => "", Refused "xmm0 is as an iteration left it";
        "blocks advance by seven": "addq\t$384, %rsi" => "addq\t$336, %rsi", Refused "rsi is used as an address, but is not one";
        "constants beyond the table": "vpshufb\t192(\\k)" => "vpshufb\t225(\\k)", Refused "bytes 225 to 256 of constants, which has 256";
    }
    "x86-64-avx2" xoofff_squeeze_blocks_x8 {
        "roll without its constant": "vpxor\t224(\\k)" => "vpxor\t160(\\k)", Refuted "avx2_xoofff_squeeze_blocks_x8_lifted_step_thm";
        "roll of other planes": "xoofff_output_words_x8 %rcx, 1, 15, 4, 12" => "xoofff_output_words_x8 %rcx, 1, 15, 8, 12", Refuted "avx2_xoofff_squeeze_blocks_x8_lifted_step_thm";
        "mask of another plane": "xoofff_output_x8 %rsi, 112, 13, 4" => "xoofff_output_x8 %rsi, 112, 14, 4", Refuted "avx2_xoofff_squeeze_blocks_x8_lifted_step_thm";
        "planes in a register not those in memory": "vpalignr\t$12, %ymm1, %ymm12, %ymm15" => "vpalignr\t$8, %ymm1, %ymm12, %ymm15", Refuted "avx2_xoofff_squeeze_blocks_x8_lifted_step_thm";
        "state not put back": "\tvmovdqu\t%xmm15, 80(%rdi)\n" => "", Refuted "avx2_xoofff_squeeze_blocks_x8_lifted_step_thm";
        "output beyond the blocks": "xoofff_output_x8 %rsi, 320, 14, 11" => "xoofff_output_x8 %rsi, 328, 14, 11", Refused "of output, which has 384";
    }
    "x86-64-avx512" chacha8_xor_blocks_x16 {
        "rotation by another count": "chacha_quarter_x16 7," => "chacha_quarter_x16 8,", Refuted "avx512_chacha8_xor_blocks_x16_lifted_step_thm";
        "columns in both rounds": "chacha_round_x16 3, 0, 1, 2, 4, 5, 6, 7, 9, 10, 11, 8, 14, 15, 12, 13" => "chacha_round_x16 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15", Refuted "avx512_chacha8_xor_blocks_x16_lifted_step_thm";
        "start not added to one word": "\tchacha_add_x16 \\start, 60, 15\n" => "", Refuted "avx512_chacha8_xor_blocks_x16_lifted_step_thm";
        "high half of the number not added": "\tvpaddd\t%zmm21, %zmm13, %zmm13\n" => "", Refuted "avx512_chacha8_xor_blocks_x16_lifted_step_thm";
        "numbers of the odd lanes not counted": "\tvpaddq\t%zmm24, %zmm23, %zmm23\n" => "", Refuted "avx512_chacha8_xor_blocks_x16_lifted_step_thm";
        "blocks of two lanes swapped": "chacha_output_x16 \\in_out, 64, 1, 5, 9, 13" => "chacha_output_x16 \\in_out, 64, 2, 5, 9, 13", Refuted "avx512_chacha8_xor_blocks_x16_lifted_step_thm";
        "number left out": "\tvmovdqu64\t%zmm23, 64(\\numbers)\n" => "", Refuted "avx512_chacha8_xor_blocks_x16_lifted_exit_thm";
        "register not wiped": "\tvpxorq\t%zmm16, %zmm16, %zmm16\n" => "", Refused "xmm16 is as an iteration left it";
        "word of the start beyond it": "vpbroadcastd\t60(" => "vpbroadcastd\t61(", Refused "bytes 61 to 64 of start, which has 64";
        "number as an address": "\tdecq\t\\n" => "\tvpbroadcastd\t(\\n), %zmm16\n\tdecq\t\\n", Refused "rcx is used as an address, but is not one";
    }
    "x86-64-avx512" xoofff_absorb_blocks_x16 {
        "rotation by another count": "vprold\t$11, %zmm\\f" => "vprold\t$12, %zmm\\f", Refuted "avx512_xoofff_absorb_blocks_x16_lifted_step_thm";
        "constant of another round": "xoodoo_round_x16 \\k, 192," => "xoodoo_round_x16 \\k, 256,", Refuted "avx512_xoofff_absorb_blocks_x16_lifted_step_thm";
        "columns not moved": "xoodoo_round_x16 \\k, 64, 7, 4, 5, 6" => "xoodoo_round_x16 \\k, 64, 4, 5, 6, 7", Refuted "avx512_xoofff_absorb_blocks_x16_lifted_step_thm";
        "another function of three registers": "vpternlogq\t$0xd2, %zmm\\t" => "vpternlogq\t$0x78, %zmm\\t", Refuted "avx512_xoofff_absorb_blocks_x16_lifted_step_thm";
        "mask of another block": "xoofff_add_masks_x16 7, 10" => "xoofff_add_masks_x16 7, 11", Refuted "avx512_xoofff_absorb_blocks_x16_lifted_step_thm";
        "last masks not rolled": "valignd\t$15, %zmm12, %zmm18, %zmm16" => "valignd\t$15, %zmm12, %zmm12, %zmm16", Refuted "avx512_xoofff_absorb_blocks_x16_lifted_step_thm";
        "half of the lanes not added": "vshufi64x2\t$0x4e, %zmm16" => "vshufi64x2\t$0xb1, %zmm16", Refuted "avx512_xoofff_absorb_blocks_x16_lifted_step_thm";
        "mask left out": "\tvmovdqu64\t%zmm16, 32(%rdi)\n" => "", Refuted "avx512_xoofff_absorb_blocks_x16_lifted_exit_thm";
        "register not wiped": "\tvpxorq\t%zmm24, %zmm24, %zmm24\n" => "", Refused "xmm24 is as an iteration left it";
        "scratch register not wiped": "\tvpxorq\t%zmm20, %zmm20, %zmm20\n" => "", Refused "xmm20 is as an iteration left it";
        "blocks advance by fifteen": "addq\t$768, %rsi" => "addq\t$720, %rsi", Refused "rsi is used as an address, but is not one";
        "constants beyond the table": "vmovdqu64\t512(%rcx)" => "vmovdqu64\t513(%rcx)", Refused "bytes 513 to 576 of constants, which has 576";
    }
    "x86-64-avx512" xoofff_squeeze_blocks_x16 {
        "roll without its constant": "vpternlogq\t$0x96, 384(\\k)" => "vpternlogq\t$0x96, 320(\\k)", Refuted "avx512_xoofff_squeeze_blocks_x16_lifted_step_thm";
        "blocks of two lanes swapped": "xoodoo_transpose_words_x16 \\p, \\q, \\r, \\s, 16, 17, 18, 19" => "xoodoo_transpose_words_x16 \\p, \\q, \\r, \\s, 17, 16, 18, 19", Refuted "avx512_xoofff_squeeze_blocks_x16_lifted_step_thm";
        "mask of another register": "xoofff_store_x16 %rsi, 64, 14" => "xoofff_store_x16 %rsi, 64, 13", Refuted "avx512_xoofff_squeeze_blocks_x16_lifted_step_thm";
        "mask not put back": "\tvmovdqu\t%xmm15, 32(%rdi)\n" => "", Refuted "avx512_xoofff_squeeze_blocks_x16_lifted_exit_thm";
        "output beyond the blocks": "vmovdqu64\t%zmm19, \\at+576(\\output)" => "vmovdqu64\t%zmm19, \\at+584(\\output)", Refused "of output, which has 768";
    }
    "armv8" nh_add_units_x1 {
        "key of another pass": "v6.4s, v4.4s" => "v5.4s, v4.4s", Refuted "armv8_nh_add_units_x1_lifted_step_thm";
        "another half of a product": "umlal\tv1.2d, v6.2s, v18.2s" => "umlal\tv1.2d, v6.2s, v6.2s", Refuted "armv8_nh_add_units_x1_lifted_step_thm";
        "words moved by one": "v5.16b, #8" => "v5.16b, #4", Refuted "armv8_nh_add_units_x1_lifted_step_thm";
        "sums of words that carry": "add\tv5.4s, v5.4s, v4.4s\n\tadd\tv6.4s, v6.4s, v4.4s\n\tadd\tv7.4s, v7.4s, v4.4s\n"
            => "add\tv5.2d, v5.2d, v4.2d\n\tadd\tv6.2d, v6.2d, v4.2d\n\tadd\tv7.2d, v7.2d, v4.2d\n", Refuted "armv8_nh_add_units_x1_lifted_step_thm";
        "products of one pass left out": "\tumlal\tv2.2d, v7.2s, v19.2s\n" => "", Refuted "armv8_nh_add_units_x1_lifted_step_thm";
        "products with a sign": "umlal\tv0.2d, v5.2s, v17.2s" => "smlal\tv0.2d, v5.2s, v17.2s", Refused "not in the list of instructions";
        "products of halves": "umlal\tv0.2d, v5.2s, v17.2s" => "umlal\tv0.4s, v5.4h, v17.4h", Refused "not in the list of registers";
        "products of one word": "umlal\tv0.2d, v5.2s, v17.2s" => "umlal\tv0.2d, v5.2s, v17.s[0]", Refused "not in the list of instructions";
        "sums left out": "\tstp\tq2, q3, [x0, #32]\n" => "", Refuted "armv8_nh_add_units_x1_lifted_exit_thm";
        "key advances by four units": "add\tx2, x2, #16" => "add\tx2, x2, #64", Refused "x2 is used as an address, but is not one";
        "key beyond the unit": "ldp\tq7, q16, [x2, #32]" => "ldp\tq7, q16, [x2, #48]", Refused "bytes 48 to 79 of key, which has 64";
        "key written": "\tsub\tx3, x3, #1" => "\tstp\tq5, q6, [x2]\n\tsub\tx3, x3, #1", Refused "a store to key, which is read-only";
        "register not wiped": ", v20.2d" => "", Refused "v20 is as an iteration left it";
    }
    "x86-64-avx2" nh_add_units_x2 {
        "key of another pass": "vpaddd\t32(%rdx)" => "vpaddd\t16(%rdx)", Refuted "avx2_nh_add_units_x2_lifted_step_thm";
        "words of another shuffle": "vpshufd\t$0x32, %ymm3" => "vpshufd\t$0x23, %ymm3", Refuted "avx2_nh_add_units_x2_lifted_step_thm";
        "sums of half the passes": "\tvpaddq\t%ymm3, %ymm1, %ymm1\n" => "", Refuted "avx2_nh_add_units_x2_lifted_step_thm";
        "sums left out": "\tvmovdqu\t%ymm1, 32(%rdi)\n" => "", Refuted "avx2_nh_add_units_x2_lifted_exit_thm";
        "key beyond the unit": "vpaddd\t32(%rdx)" => "vpaddd\t33(%rdx)", Refused "bytes 33 to 64 of key, which has 64";
        "registers not wiped": "\tvzeroall\n" => "", Refused "xmm2 is as an iteration left it";
    }
    "armv8" poly1305_add_blocks_x4 {
        "carry dropped": "\tusra\tv16.2d, v6.2d, #26\n" => "", Refuted "armv8_poly1305_add_blocks_x4_lifted_step_thm";
        "carry not added but put in place": "usra\tv5.2d, v3.2d, #26" => "ushr\tv5.2d, v3.2d, #26", Refuted "armv8_poly1305_add_blocks_x4_lifted_step_thm";
        "carry of the highest limb times nine": "shl\tv29.2d, v28.2d, #2" => "shl\tv29.2d, v28.2d, #3", Refuted "armv8_poly1305_add_blocks_x4_lifted_step_thm";
        "2^128 of a block left out": "\tmovi\tv30.8h, #1, lsl #8\n" => "\tmovi\tv30.2d, #0\n", Refuted "armv8_poly1305_add_blocks_x4_lifted_step_thm";
        "bits of another place": "sri\tv29.4s, v30.4s, #14" => "sri\tv29.4s, v30.4s, #13", Refuted "armv8_poly1305_add_blocks_x4_lifted_step_thm";
        "limb of 28 bits": "bic\tv28.4s, #0xfc, lsl #24" => "bic\tv28.4s, #0xf0, lsl #24", Refuted "armv8_poly1305_add_blocks_x4_lifted_step_thm";
        "limb not cut off": "\tbic\tv1.4s, #0xfc, lsl #24\n" => "", Refuted "armv8_poly1305_add_blocks_x4_lifted_step_thm";
        "mask of 25 bits": "ushr\tv27.2d, v27.2d, #38" => "ushr\tv27.2d, v27.2d, #39", Refuted "armv8_poly1305_add_blocks_x4_lifted_step_thm";
        "product in the place of a sum": "umlal\tv0.2d, v28.2s, v26.2s" => "umull\tv0.2d, v28.2s, v26.2s", Refuted "armv8_poly1305_add_blocks_x4_lifted_step_thm";
        "products of the other half": "umlal2\tv3.2d, v28.4s, v18.4s" => "umlal\tv3.2d, v28.2s, v18.2s", Refuted "armv8_poly1305_add_blocks_x4_lifted_step_thm";
        "another limb of the multiplier": "umlal\tv0.2d, v31.2s, v25.2s" => "umlal\tv0.2d, v31.2s, v26.2s", Refuted "armv8_poly1305_add_blocks_x4_lifted_step_thm";
        "multipliers of two lanes swapped": "trn1\tv18.4s, v27.4s, v28.4s" => "uzp1\tv18.4s, v27.4s, v28.4s", Refuted "armv8_poly1305_add_blocks_x4_lifted_step_thm";
        "sums of two lanes swapped": "uzp1\tv28.4s, v2.4s, v3.4s" => "uzp1\tv28.4s, v3.4s, v2.4s", Refuted "armv8_poly1305_add_blocks_x4_lifted_step_thm";
        "sums of two lanes swapped at the end": "zip1\tv27.2d, v16.2d, v17.2d\n\tzip2\tv28.2d, v16.2d, v17.2d\n\tstp" => "mov\tv27.16b, v16.16b\n\tmov\tv28.16b, v17.16b\n\tstp", Refuted "armv8_poly1305_add_blocks_x4_lifted_exit_thm";
        "sums left out": "\tstp\tq27, q28, [x0, #128]\n" => "", Refuted "armv8_poly1305_add_blocks_x4_lifted_exit_thm";
        "words of half the registers": "ld4\t{v28.4s, v29.4s, v30.4s, v31.4s}" => "ld4\t{v28.2s, v29.2s, v30.2s, v31.2s}", Refused "not in the list of instructions";
        "words not taken apart": "ld4\t{v28.4s, v29.4s, v30.4s, v31.4s}" => "ld1\t{v28.4s, v29.4s, v30.4s, v31.4s}", Refused "not in the list of instructions";
        "multiplier beyond them": "ldp\tq27, q28, [x1, #256]" => "ldp\tq27, q28, [x1, #272]", Refused "bytes 272 to 303 of multipliers, which has 288";
        "multiplier written": "\tsub\tx3, x3, #1\n" => "\tstp\tq0, q1, [x1]\n\tsub\tx3, x3, #1\n", Refused "a store to multipliers, which is read-only";
        "groups advance by a block": "add\tx2, x2, #64" => "add\tx2, x2, #16", Refused "x2 is used as an address, but is not one";
        "multiplier not wiped": "v26.2d, v27.2d, " => "v27.2d, ", Refuted "armv8_poly1305_add_blocks_x4_lifted_exit_thm";
        "register not wiped": "v29.2d, v30.2d, v31.2d" => "v29.2d, v30.2d", Refused "v31 is as an iteration left it";
    }
    "x86-64-avx2" poly1305_add_blocks_x8 {
        "carry dropped": "\tvpaddq\t%ymm15, %ymm11, %ymm11\n\tvpsrlq\t$26, %ymm11" => "\tvpsrlq\t$26, %ymm11", Refuted "avx2_poly1305_add_blocks_x8_lifted_step_thm";
        "carry of the highest limb times nine": "vpsllq\t$2" => "vpsllq\t$3", Refuted "avx2_poly1305_add_blocks_x8_lifted_step_thm";
        "2^128 of the other blocks left out": "\tvpaddq\t%ymm6, %ymm14, %ymm14\n" => "", Refuted "avx2_poly1305_add_blocks_x8_lifted_step_thm";
        "bits of another place": "vpsrlq\t$14, %ymm13" => "vpsrlq\t$13, %ymm13", Refuted "avx2_poly1305_add_blocks_x8_lifted_step_thm";
        "words of two lanes swapped": "vpunpckhqdq\t%ymm15, %ymm14" => "vpunpckhqdq\t%ymm14, %ymm15", Refuted "avx2_poly1305_add_blocks_x8_lifted_step_thm";
        "limbs of 25 bits": "$0x3ffffff" => "$0x1ffffff", Refuted "avx2_poly1305_add_blocks_x8_lifted_step_thm";
        "another limb of the multiplier": "vpmuludq\t448(%rsi), %ymm2" => "vpmuludq\t512(%rsi), %ymm2", Refuted "avx2_poly1305_add_blocks_x8_lifted_step_thm";
        "multiplier of the other blocks": "vpmuludq\t64(%rsi), %ymm0" => "vpmuludq\t96(%rsi), %ymm0", Refuted "avx2_poly1305_add_blocks_x8_lifted_step_thm";
        "sums of halves": "vpaddq\t%ymm15, %ymm7, %ymm7" => "vpaddd\t%ymm15, %ymm7, %ymm7", Refuted "avx2_poly1305_add_blocks_x8_lifted_step_thm";
        "sums left out": "\tvmovdqu\t%ymm4, 128(%rdi)\n" => "", Refuted "avx2_poly1305_add_blocks_x8_lifted_exit_thm";
        "multiplier beyond them": "vpmuludq\t544(%rsi), %ymm14, %ymm15" => "vpmuludq\t545(%rsi), %ymm14, %ymm15", Refused "bytes 545 to 576 of multipliers, which has 576";
        "multiplier written": "\tdecq\t%rcx\n" => "\tvmovdqu\t%ymm0, (%rsi)\n\tdecq\t%rcx\n", Refused "a store to multipliers, which is read-only";
        "groups advance by half a group": "addq\t$128, %rdx" => "addq\t$64, %rdx", Refused "rdx is used as an address, but is not one";
        "registers not wiped": "\tvzeroall\n" => "", Refused "xmm7 is as an iteration left it";
    }
    "x86-64-avx512" poly1305_add_blocks_x16 {
        "carry dropped": "\tvpaddq\t%zmm24, %zmm18, %zmm18\n" => "", Refuted "avx512_poly1305_add_blocks_x16_lifted_step_thm";
        "carry of the highest limb times nine": "vpsllq\t$2, %zmm26" => "vpsllq\t$3, %zmm26", Refuted "avx512_poly1305_add_blocks_x16_lifted_step_thm";
        "high half of another place": "vpsllq\t$8, %zmm20" => "vpsllq\t$10, %zmm20", Refuted "avx512_poly1305_add_blocks_x16_lifted_step_thm";
        "high half for low half": "vpmadd52luq\t%zmm13, %zmm22" => "vpmadd52huq\t%zmm13, %zmm22", Refuted "avx512_poly1305_add_blocks_x16_lifted_step_thm";
        "2^128 of the other blocks left out": "\tvpaddq\t%zmm5, %zmm24, %zmm24\n\t// Their" => "\t// Their", Refuted "avx512_poly1305_add_blocks_x16_lifted_step_thm";
        "bits of another place": "vpsrlq\t$24, %zmm26" => "vpsrlq\t$23, %zmm26", Refuted "avx512_poly1305_add_blocks_x16_lifted_step_thm";
        "words of two lanes swapped": "vpunpckhqdq\t%zmm28, %zmm27" => "vpunpckhqdq\t%zmm27, %zmm28", Refuted "avx512_poly1305_add_blocks_x16_lifted_step_thm";
        "limbs of 43 bits": "$0xfffffffffff" => "$0x7ffffffffff", Refuted "avx512_poly1305_add_blocks_x16_lifted_step_thm";
        "another limb of the multiplier": "vpmadd52luq\t%zmm9, %zmm2" => "vpmadd52luq\t%zmm10, %zmm2", Refuted "avx512_poly1305_add_blocks_x16_lifted_step_thm";
        "multiplier of the other blocks": "vmovdqu64\t(%rsi), %zmm6" => "vmovdqu64\t64(%rsi), %zmm6", Refuted "avx512_poly1305_add_blocks_x16_lifted_step_thm";
        "sums of halves": "vpaddq\t%zmm28, %zmm26, %zmm26" => "vpaddd\t%zmm28, %zmm26, %zmm26", Refuted "avx512_poly1305_add_blocks_x16_lifted_step_thm";
        "sums left out": "\tvmovdqu64\t%zmm2, 128(%rdi)\n" => "", Refuted "avx512_poly1305_add_blocks_x16_lifted_exit_thm";
        "multiplier beyond them": "vmovdqu64\t576(%rsi)" => "vmovdqu64\t577(%rsi)", Refused "bytes 577 to 640 of multipliers, which has 640";
        "multiplier written": "\tdecq\t%rcx\n" => "\tvmovdqu64\t%zmm0, (%rsi)\n\tdecq\t%rcx\n", Refused "a store to multipliers, which is read-only";
        "groups advance by a block": "addq\t$256, %rdx" => "addq\t$16, %rdx", Refused "rdx is used as an address, but is not one";
        "register not wiped": "\tvpxorq\t%zmm28, %zmm28, %zmm28\n" => "", Refused "xmm28 is as an iteration left it";
        "factor broadcast": "vpmadd52luq\t%zmm11, %zmm22" => "vpmadd52luq\t(%rsi){1to8}, %zmm22", Refused "with a mask or a broadcast";
    }
    "x86-64-avx512" nh_add_units_x4 {
        "words of another shuffle": "vpshufd\t$0x10" => "vpshufd\t$0x01", Refuted "avx512_nh_add_units_x4_lifted_step_thm";
        "sums of words that carry": "vpaddd\t(%rdx)" => "vpaddq\t(%rdx)", Refuted "avx512_nh_add_units_x4_lifted_step_thm";
        "sums that do not carry": "vpaddq\t%zmm1" => "vpaddd\t%zmm1", Refuted "avx512_nh_add_units_x4_lifted_step_thm";
        "sums left out": "\tvmovdqu64\t%zmm0, (%rdi)\n" => "", Refuted "avx512_nh_add_units_x4_lifted_exit_thm";
        "key advances by four units": "addq\t$16, %rdx" => "addq\t$64, %rdx", Refused "rdx is used as an address, but is not one";
        "key beyond the unit": "vpaddd\t(%rdx)" => "vpaddd\t16(%rdx)", Refused "bytes 16 to 79 of key, which has 64";
        "key written": "\tdecq\t%rcx\n" => "\tvmovdqu64\t%zmm0, -16(%rdx)\n\tdecq\t%rcx\n", Refused "a store to key, which is read-only";
        "register not wiped": "\tvzeroall\n" => "", Refused "xmm1 is as an iteration left it";
    }
    "x86-64-avx512" nh_add_groups_x4 {
        "words of another shuffle": "vpshufd\t$0xd8" => "vpshufd\t$0x93", Refuted "avx512_nh_add_groups_x4_lifted_step_thm";
        "words moved by less": "vpsrlq\t$32, %zmm3" => "vpsrlq\t$24, %zmm3", Refuted "avx512_nh_add_groups_x4_lifted_step_thm";
        "sums of words that carry": "vpaddd\t(%rdx)" => "vpaddq\t(%rdx)", Refuted "avx512_nh_add_groups_x4_lifted_step_thm";
        "sums that do not carry": "vpaddq\t%zmm1" => "vpaddd\t%zmm1", Refuted "avx512_nh_add_groups_x4_lifted_step_thm";
        "sums left out": "\tvmovdqu64\t%zmm5, 64(%rdi)\n" => "", Refuted "avx512_nh_add_groups_x4_lifted_exit_thm";
        "key advances by a unit": "addq\t$64, %rdx" => "addq\t$16, %rdx", Refused "rdx is used as an address, but is not one";
        "key of another pass": "vpaddd\t32(%rdx)" => "vpaddd\t16(%rdx)", Refuted "avx512_nh_add_groups_x4_lifted_step_thm";
        "key beyond the group": "vpaddd\t48(%rdx)" => "vpaddd\t49(%rdx)", Refused "bytes 49 to 112 of key, which has 112";
        "key written": "\tdecq\t%rcx\n" => "\tvmovdqu64\t%zmm0, -64(%rdx)\n\tdecq\t%rcx\n", Refused "a store to key, which is read-only";
        "register not wiped": "\tvzeroall\n" => "", Refused "xmm0 is as an iteration left it";
    }
    "x86-64-avx512" duplex_squeeze_blocks_x8 {
        "state not cleared in one lane": "\tvpxorq\t%zmm14, %zmm14, %zmm14\n" => "", Refuted "avx512_duplex_squeeze_blocks_x8_lifted_step_thm";
    }
};
