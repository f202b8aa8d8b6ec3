//! Mach-O, which has no sizes of symbols: the code that is found in it is that of ELF.

use object::write::{Object, Symbol, SymbolSection};
use object::{BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope};
use std::path::Path;
use veriplex_lift::table::TABLE;
use veriplex_lift::{assembler, lift_symbols, object_file};

/// What assemblers put between functions: one, two and nine bytes; and NOP.
const PADDING: [&[u8]; 2] = [
    &[
        0x90, 0x66, 0x90, 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, 0x90, 0x90, 0x90, 0x90,
    ],
    &[0x1f, 0x20, 0x03, 0xd5],
];

#[test]
fn kernels_of_mach_o_are_those_of_elf() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("macho");
    for (level, padding) in TABLE.levels.iter().zip(PADDING) {
        let target = level.target;
        let Some(rustc) = assembler::rustc(target) else {
            println!(
                "{}: skipped, because no rustc here has a library for it",
                level.name
            );
            continue;
        };
        let mut object = Object::new(BinaryFormat::MachO, target.architecture, Endianness::Little);
        let text = object.add_section(b"__TEXT".into(), b"__text".into(), SectionKind::Text);
        let mut codes = Vec::new();
        for kernel in TABLE.of_level(level) {
            let source = assembler::source(&root, level, kernel).unwrap();
            let code = assembler::assemble(rustc, target, &source, &folder).unwrap();
            let value = object.append_section_data(text, &code, 4);
            for _ in 0..3 {
                object.append_section_data(text, padding, 1);
            }
            object.add_symbol(Symbol {
                // The writer puts the underscore before it.
                name: format!("veriplex_{}_v0_1", level.symbol(kernel)).into(),
                value,
                size: 0,
                kind: SymbolKind::Text,
                scope: SymbolScope::Linkage,
                weak: false,
                section: SymbolSection::Section(text),
                flags: SymbolFlags::None,
            });
            codes.push(code);
        }
        let file = folder.join("kernels.o");
        std::fs::write(&file, object.write().unwrap()).unwrap();
        let symbols = object_file::symbols(&file).unwrap();
        assert_eq!(symbols.len(), codes.len());
        for (kernel, code) in TABLE.of_level(level).zip(codes) {
            let name = level.symbol(kernel);
            let symbol = symbols.iter().find(|symbol| symbol.name == name).unwrap();
            assert!(symbol.bytes == code, "{} {name}", level.name);
        }
        for lifted in lift_symbols(&symbols).unwrap() {
            let path = root.join("proofs/generated/lifted").join(lifted.path());
            assert!(
                lifted.module == std::fs::read_to_string(path).unwrap(),
                "{}",
                lifted.path()
            );
        }
    }
}
