//! The kernels as they are linked: they keep to the ABI and to their buffers, leave nothing behind, and compute what
//! the portable backend computes. Also, the files about them match `jasmin/kernels.toml`: sources, the assembly made
//! from them, declarations.
//!
//! None of this needs Jasmin.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use veriplex_assurance::evidence::{read, root};
use veriplex_lift::sha256;
use veriplex_lift::table::{Access, Argument, Kernel, Level, TABLE};

/// Reports what is wrong with an assembly file. It must contain the hashes of the files it was made from and of its
/// own body.
fn provenance(level: &Level, kernel: &Kernel, text: &str) -> Result<(), String> {
    let mut from = Vec::new();
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        rest = after;
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("source" | "generator"), Some(hash), Some(path)) => {
                let bytes = fs::read(root().join(path)).map_err(|e| format!("{path}: {e}"))?;
                if sha256(&bytes) != hash {
                    return Err(format!("{path} has changed: run `make kernels`"));
                }
                from.push(path.to_owned());
            }
            (Some("#"), Some("body"), Some(hash), _) => {
                if sha256(rest.as_bytes()) != hash {
                    return Err("the assembly was edited: run `make kernels`".into());
                }
                let folder = format!("jasmin/{}", level.name);
                let mut expected = vec![format!("{folder}/{}.jazz", kernel.name)];
                expected.extend(
                    (kernel.levels[&level.name].include.iter()).map(|file| format!("{folder}/{file}")),
                );
                expected.push("proofs/tools/src/kernels.rs".to_owned());
                return if from == expected {
                    Ok(())
                } else {
                    Err(format!("made from {from:?} instead of {expected:?}"))
                };
            }
            (Some("#"), ..) => {}
            _ => break,
        }
    }
    Err("no hash of the body".into())
}

/// Each folder of `jasmin/` has the files of its level's kernels, and no others.
#[test]
fn sources_are_those_of_the_table() {
    for level in &TABLE.levels {
        let files: BTreeSet<String> = (fs::read_dir(root().join("jasmin").join(&level.name)).unwrap())
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let mut expected = BTreeSet::new();
        for kernel in TABLE.of_level(level) {
            expected.insert(format!("{}.{}", kernel.name, level.source));
            if level.source == "jazz" {
                expected.insert(format!("{}.s", kernel.name));
            }
            expected.extend(kernel.levels[&level.name].include.clone());
        }
        assert_eq!(files, expected, "jasmin/{}", level.name);
    }
    let folders: BTreeSet<String> = (fs::read_dir(root().join("jasmin")).unwrap())
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let levels: BTreeSet<String> = TABLE.levels.iter().map(|level| level.name.clone()).collect();
    assert_eq!(folders, levels, "the levels");
}

/// The banner of a source names the same definition as the table, and the definition exists. The source's types mark
/// the same arguments as secret as the table does.
#[test]
fn sources_say_what_the_table_says() {
    for (level, kernel) in TABLE.all() {
        let path = format!("jasmin/{}/{}.{}", level.name, kernel.name, level.source);
        let source = read(&path);
        let (module, definition) = kernel.cryptol.split_once("::").unwrap();
        assert!(
            source.starts_with(&format!("/* veriplex_{}", kernel.name)),
            "{path}"
        );
        assert!(
            source.contains(&format!("\n * Cryptol       {}\n", kernel.cryptol)),
            "{path}"
        );
        let specification = read(&format!("spec/cryptol/{module}.cry"));
        assert!(
            specification.contains(&format!("\n{definition} : ")),
            "{path}: no {}",
            kernel.cryptol
        );
        if level.source == "jazz" {
            // Jasmin types the contents of an array, but blocks are passed by address.
            let secrecy = |argument: &Argument| match argument.buffer() {
                // Of pointers too it has the addresses.
                Some(buffer) if buffer.stride.is_none() && argument.is_secret() => "secret",
                _ => "public",
            };
            let arguments: Vec<&str> = kernel.arguments.iter().map(secrecy).collect();
            let types = format!("#[ct = \"{} -> ", arguments.join(" × "));
            assert!(source.contains(&types), "{path}: no {types}");
        }
    }
}

#[test]
fn assembly_comes_from_its_sources() {
    for (level, kernel) in TABLE.all().filter(|(level, _)| level.source == "jazz") {
        let text = read(&format!("jasmin/{}/{}.s", level.name, kernel.name));
        assert_eq!(provenance(level, kernel, &text), Ok(()), "{}", kernel.name);

        // The check notices an edited output, a source other than the one that was compiled, and missing lines.
        let edits = [
            text.replacen("\tvpxor\t", "\tvpand\t", 1),
            format!("{text}\tnop\n"),
            text.replacen("source    ", "source    0", 1),
            text.lines()
                .filter(|line| !line.contains("generator"))
                .collect::<Vec<_>>()
                .join("\n")
                + "\n",
            text.lines()
                .filter(|line| !line.contains("# body"))
                .collect::<Vec<_>>()
                .join("\n")
                + "\n",
        ];
        for edited in edits {
            assert_ne!(provenance(level, kernel, &edited), Ok(()));
        }
    }
}

/// The Rust declarations of a level's kernels, for the crate.
fn declarations(level: &Level) -> String {
    let mut features = BTreeSet::new();
    let mut includes: Vec<&Option<String>> = Vec::new();
    for kernel in TABLE.of_level(level) {
        let needs = &kernel.levels[&level.name];
        features.extend(needs.features.iter().map(|feature| format!("{feature:?}")));
        if !includes.contains(&&needs.include) {
            includes.push(&needs.include);
        }
    }
    let mut text = format!(
        "// The kernels of `jasmin/{}`: written from `jasmin/kernels.toml` by\n\
         // `VERIPLEX_UPDATE=1 cargo test -p veriplex-assurance --test kernels`, not to be edited.\n\
         kernels! {{\n    features [{}];\n",
        level.name,
        features.into_iter().collect::<Vec<_>>().join(" ")
    );
    for include in includes {
        // Jasmin's output contains what its source includes. Macros must be undone after each kernel.
        let (mut file, mut macros) = (String::new(), Vec::new());
        if let (Some(include), true) = (include, level.source != "jazz") {
            file = format!("{include:?}");
            let text = read(&format!("jasmin/{}/{include}", level.name));
            for line in text.lines() {
                if let Some(name) = line
                    .strip_prefix(".macro ")
                    .and_then(|rest| rest.split_whitespace().next())
                {
                    macros.push(format!("{name:?}"));
                }
            }
        }
        writeln!(text, "    include [{file}] [{}] {{", macros.join(" ")).unwrap();
        for kernel in TABLE
            .of_level(level)
            .filter(|kernel| kernel.levels[&level.name].include == *include)
        {
            writeln!(text, "        /// `{}`.\n        ///", kernel.cryptol).unwrap();
            for argument in &kernel.arguments {
                writeln!(text, "        /// - `{}`: {}", argument.name, described(argument)).unwrap();
            }
            let symbol = level.symbol(kernel);
            writeln!(
                text,
                "        fn {}({}) = {symbol:?};",
                kernel.name,
                kernel.prototype()
            )
            .unwrap();
        }
        text += "    }\n";
    }
    text + "}\n"
}

fn described(argument: &Argument) -> String {
    if argument.is_count() {
        return "how many blocks, 0 or more".to_owned();
    }
    let buffer = argument.of_lane(&argument.name);
    if let Some(table) = argument.table() {
        return format!("the {} bytes of `{table}`, read", buffer.len);
    }
    let blocks = match buffer.stride {
        None => format!("{} bytes", buffer.len),
        Some(stride) if stride == buffer.len => format!("blocks of {} bytes", buffer.len),
        Some(stride) => format!("blocks of {} bytes, {stride} from one to the next", buffer.len),
    };
    let blocks = match argument.pointers() {
        None => blocks,
        Some(pointers) => format!("{pointers} pointers, each to {blocks}"),
    };
    let access = match argument.access() {
        Access::Read => "read",
        Access::Write => "written",
        Access::ReadWrite => "read and written",
    };
    let secret = if argument.is_secret() { "secret" } else { "public" };
    let may_be = argument
        .may_be()
        .map_or_else(String::new, |other| format!("; may be `{other}`"));
    format!("{blocks}, {access}, {secret}{may_be}")
}

#[test]
fn declarations_are_those_of_the_table() {
    for level in &TABLE.levels {
        let path = format!("rust/src/backend/{}/declarations.rs", level.backend);
        let text = declarations(level);
        if std::env::var_os("VERIPLEX_UPDATE").is_some() {
            fs::write(root().join(path), text).unwrap();
        } else {
            assert!(
                read(&path) == text,
                "{path} differs from what jasmin/kernels.toml says: run VERIPLEX_UPDATE=1 cargo test -p veriplex-assurance --test kernels"
            );
        }
    }
}

#[cfg(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_endian = "little",
    target_pointer_width = "64",
    unix,
    not(veriplex_intrinsics),
    not(veriplex_backend = "portable")
))]
#[path = "kernels"]
mod linked {
    use std::collections::BTreeMap;
    use std::ops::Range;
    use std::ptr;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use veriplex::hazmat::{Backend, Duplex, RATE, STATE_LEN, set_hardware_enabled};
    use veriplex_lift::table::{Argument, Kernel, TABLE};
    use veriplex_lift::{Architecture, object_file};
    use veriplex_spec::{chacha, nh, poly1305, xoodoo, xoofff};

    #[path = "../linked.rs"]
    mod addresses;
    #[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
    #[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
    mod isa;

    const ARCHITECTURE: Architecture = if cfg!(target_arch = "x86_64") {
        Architecture::X86_64
    } else {
        Architecture::Aarch64
    };

    type State = [u8; STATE_LEN];
    type Blocks<'a> = &'a mut [[u8; RATE]];

    type Operation = fn(Backend, &mut State, Blocks<'_>);

    /// The definitions that kernels compute, in Rust.
    const OPERATIONS: [(&str, Operation); 5] = [
        ("Simpira1024::permute", |backend, state, _| backend.permute(state)),
        ("Duplex::absorb_blocks", |backend, state, blocks| {
            backend.absorb_blocks(state, blocks);
        }),
        ("Duplex::encrypt_blocks", Backend::encrypt_blocks),
        ("Duplex::decrypt_blocks", Backend::decrypt_blocks),
        ("Duplex::squeeze_blocks", Backend::squeeze_blocks),
    ];

    /// The constants of the last six rounds and the 7 of `roll_e`, each sixteen times; the dwords of 64 bytes that end with
    /// a state in the order of its shift register, and back. The first four of each may be anything.
    fn xoofff_constants() -> Vec<u8> {
        let place = |i: u32| 3 * (i % 4) + i / 4;
        let word = |place: u32| (0..12).find(|i| 3 * (i % 4) + i / 4 == place).unwrap();
        let numbers = |f: &dyn Fn(u32) -> u32| -> Vec<u32> {
            (0..16_u32).map(|j| f(if j < 4 { j } else { j - 4 })).collect()
        };
        let repeated = (xoodoo::ROUND_CONSTANTS[6..].iter().chain(&[7])).flat_map(|constant| [*constant; 16]);
        repeated
            .chain(numbers(&|place| 4 + word(place)))
            .chain(numbers(&place))
            .flat_map(u32::to_le_bytes)
            .collect()
    }

    /// Twice each: the constants of the last six rounds and three zeros; the bytes of a plane, moved by two columns and each
    /// word rotated by 8; four times the 7 of `roll_e`.
    fn xoofff_constants_x4() -> Vec<u8> {
        let words = |words: [u32; 4]| words.map(u32::to_le_bytes).concat();
        let rounds = xoodoo::ROUND_CONSTANTS[6..].iter().map(|c| words([*c, 0, 0, 0]));
        let shuffle = (0..16_u8).map(|to| (to / 4 + 2) % 4 * 4 + (to + 3) % 4).collect();
        rounds
            .chain([shuffle, words([7; 4])])
            .flat_map(|row| row.repeat(2))
            .collect()
    }

    /// The bytes of a table of constants: `K(1)` to `K(72)` of the specification, each once or four times.
    fn constants(name: &str) -> Vec<u8> {
        match name {
            "xoofff_constants_x4" => return xoofff_constants_x4(),
            "xoofff_constants_x16" => return xoofff_constants(),
            _ => (),
        }
        let times = match name {
            "simpira1024_round_constants" => 1,
            "simpira1024_round_constants_x4" => 4,
            _ => panic!("{name}: say here what is in it"),
        };
        let constant = |c: u32| [0x00, 0x10, 0x20, 0x30].map(|word| (word ^ 8 ^ c).to_le_bytes());
        (1..=72_u32)
            .flat_map(|c| constant(c).concat().repeat(times))
            .collect()
    }

    /// The kernels of this program that this CPU can run, as the table has them.
    fn kernels() -> Vec<(&'static Kernel, *const ())> {
        let kernels: Vec<_> = (addresses::addresses().into_iter())
            .map(|(symbol, address)| (TABLE.find(ARCHITECTURE, symbol).unwrap(), address.cast()))
            .collect();
        let all = TABLE
            .all()
            .filter(|(level, _)| level.target.architecture == ARCHITECTURE);
        assert_eq!(kernels.len(), all.count());
        let has = |feature: &String| {
            let found = isa::has(feature);
            if !found {
                println!("not run here, for want of {feature}: some kernels");
            }
            found
        };
        (kernels.into_iter())
            .filter(|((level, kernel), _)| kernel.levels[&level.name].features.iter().all(has))
            .map(|((_, kernel), address)| (kernel, address))
            .collect()
    }

    /// The argument whose buffer this argument uses in such a call.
    fn owner(argument: &Argument, in_place: bool) -> &str {
        argument.may_be().filter(|_| in_place).unwrap_or(&argument.name)
    }

    /// The buffer that the pointer of a lane points to.
    fn of_lane(argument: &Argument, in_place: bool, lane: u32) -> String {
        format!("{}[{lane}]", owner(argument, in_place))
    }

    type Buffers = BTreeMap<String, Vec<u8>>;

    /// What the buffers have in them before a call, by argument. Pointers are zero: where they point to is not yet known.
    fn contents(kernel: &Kernel, n: usize, in_place: bool, seed: usize) -> Buffers {
        let mut contents = Buffers::new();
        for argument in kernel.arguments.iter().filter(|argument| !argument.is_count()) {
            let buffer = argument.of_lane(&argument.name);
            let [len, stride] =
                [buffer.len, buffer.stride.unwrap_or(0)].map(|len| usize::try_from(len).unwrap());
            let len = match (buffer.stride, n) {
                (None, _) => len,
                (Some(_), 0) => 0,
                (Some(_), n) => (n - 1) * stride + len,
            };
            if let Some(pointers) = argument.pointers() {
                for lane in 0..pointers {
                    let bytes = bytes(seed + contents.len(), len);
                    contents.insert(of_lane(argument, in_place, lane), bytes);
                }
                contents.insert(argument.name.clone(), vec![0; 8 * pointers as usize]);
                continue;
            }
            let bytes = argument
                .table()
                .map_or_else(|| bytes(seed + contents.len(), len), constants);
            assert_eq!(bytes.len(), len, "{}", argument.name);
            contents.insert(owner(argument, in_place).to_owned(), bytes);
        }
        contents
    }

    /// The pointers to the buffers of lanes, as they are in memory.
    fn pointers(kernel: &Kernel, in_place: bool, mut at: impl FnMut(&str) -> usize) -> Buffers {
        let mut pointers = Buffers::new();
        for argument in &kernel.arguments {
            if let Some(count) = argument.pointers() {
                let bytes = (0..count).flat_map(|lane| at(&of_lane(argument, in_place, lane)).to_ne_bytes());
                pointers.insert(argument.name.clone(), bytes.collect());
            }
        }
        pointers
    }

    /// What they must have in them afterwards: what the portable backend makes of it.
    fn expected(kernel: &Kernel, in_place: bool, before: &Buffers) -> Buffers {
        if let Some(definition) = kernel.cryptol.strip_prefix("Lanes::") {
            return expected_of_lanes(definition, kernel, in_place, before);
        }
        if kernel.cryptol == "ChaCha::xor_blocks" {
            return expected_of_chacha(kernel, before);
        }
        if kernel.cryptol == "NH::add_units" {
            return expected_of_nh(before);
        }
        if kernel.cryptol == "NH::add_groups" {
            return expected_of_nh_groups(before);
        }
        if kernel.cryptol == "Poly1305::add_blocks" {
            return expected_of_poly1305(before);
        }
        if kernel.cryptol == "Poly1305::add_pairs" {
            return expected_of_pairs(before);
        }
        if kernel.cryptol == "Poly1305::add_blocks44" {
            return expected_of_poly1305_44(before);
        }
        if kernel.cryptol.starts_with("Xoofff::") {
            return expected_of_xoofff(&kernel.cryptol, before);
        }
        let operation = operation(&kernel.cryptol);
        let mut after = before.clone();
        let mut state: State = before["state"].as_slice().try_into().unwrap();
        let output = kernel.arguments.iter().find(|argument| argument.name == "output");
        let output = output.map(|argument| owner(argument, in_place));
        // A kernel with both an input and an output writes the transformed input to the output.
        let from = ["input", "output"].into_iter().find_map(|name| before.get(name));
        let mut data = from.cloned().unwrap_or_default();
        operation(Backend::PORTABLE, &mut state, data.as_chunks_mut().0);
        after.insert("state".to_owned(), state.to_vec());
        if let Some(output) = output {
            after.insert(output.to_owned(), data);
        }
        after
    }

    fn operation(definition: &str) -> Operation {
        (OPERATIONS.iter())
            .find(|(name, _)| *name == definition)
            .unwrap_or_else(|| panic!("{definition}: say in OPERATIONS what it computes"))
            .1
    }

    /// The same for several lanes, whose words of 16 bytes are 128 bytes from one to the next.
    fn expected_of_lanes(definition: &str, kernel: &Kernel, in_place: bool, before: &Buffers) -> Buffers {
        let (name, lanes) = definition.rsplit_once("_x").unwrap();
        let module = if name == "permute" {
            "Simpira1024"
        } else {
            "Duplex"
        };
        let operation = operation(&format!("{module}::{name}"));
        // The first has the input, and the last the output.
        let mut pointers = (kernel.arguments.iter()).filter(|argument| argument.pointers().is_some());
        let input = pointers.next();
        let output = pointers.next_back().or(input);
        let mut after = before.clone();
        for lane in 0..lanes.parse().unwrap() {
            let words = |i: usize| 128 * i + 16 * lane as usize..128 * i + 16 * lane as usize + 16;
            let states = &before["states"];
            let mut state: State = (0..8)
                .map(|i| &states[words(i)])
                .collect::<Vec<_>>()
                .concat()
                .try_into()
                .unwrap();
            let buffer = |argument: &Argument| of_lane(argument, in_place, lane);
            let mut data = input.map_or_else(Vec::new, |argument| before[&buffer(argument)].clone());
            operation(Backend::PORTABLE, &mut state, data.as_chunks_mut().0);
            let states = after.get_mut("states").unwrap();
            for (i, word) in state.as_chunks::<16>().0.iter().enumerate() {
                states[words(i)].copy_from_slice(word);
            }
            if let Some(output) = output {
                after.insert(buffer(output), data);
            }
        }
        after
    }

    /// Blocks of `ChaCha`, each with the number of its lane: either the numbers of the even lanes come first, or there is
    /// the last row of the first block before the rounds, and the numbers are in a row.
    fn expected_of_chacha(kernel: &Kernel, before: &Buffers) -> Buffers {
        let (rounds, lanes) = (kernel.name.strip_prefix("chacha").unwrap())
            .split_once("_xor_blocks_x")
            .unwrap();
        let (rounds, lanes): (usize, usize) = (rounds.parse().unwrap(), lanes.parse().unwrap());
        let mut after = before.clone();
        let mut start = before["start"].clone();
        let last_row = before.get("last_row");
        let mut numbers: Vec<u64> = if let Some(last_row) = last_row {
            start.extend(last_row);
            let number = u64::from_le_bytes(*last_row.first_chunk().unwrap());
            (0..lanes as u64).map(|lane| number.wrapping_add(lane)).collect()
        } else {
            let numbers = before["numbers"].as_chunks().0;
            (0..lanes)
                .map(|lane| u64::from_le_bytes(numbers[lane % 2 * (lanes / 2) + lane / 2]))
                .collect()
        };
        let data = after.get_mut("in_out").unwrap();
        for (block, lane) in data.as_chunks_mut::<64>().0.iter_mut().zip((0..lanes).cycle()) {
            let number = &mut numbers[lane];
            start[48..56].copy_from_slice(&number.to_le_bytes());
            let start: chacha::State = chacha::le_words(&start).try_into().unwrap();
            let stream = chacha::rounds(rounds, start)
                .into_iter()
                .zip(start)
                .flat_map(|(x, y)| x.wrapping_add(y).to_le_bytes());
            block.iter_mut().zip(stream).for_each(|(byte, of)| *byte ^= of);
            *number = number.wrapping_add(lanes as u64);
        }
        if last_row.is_some() {
            let number = &mut after.get_mut("last_row").unwrap()[..8];
            number.copy_from_slice(&numbers[0].to_le_bytes());
        } else {
            let even = numbers.iter().step_by(2);
            let odd = numbers.iter().skip(1).step_by(2);
            let bytes = even.chain(odd).flat_map(|number| number.to_le_bytes());
            after.insert("numbers".to_owned(), bytes.collect());
        }
        after
    }

    /// Units of NH, each with its part of the key.
    fn expected_of_nh(before: &Buffers) -> Buffers {
        let units = |name: &str| -> Vec<[u32; 4]> { chacha::le_words(&before[name]).as_chunks().0.to_vec() };
        let (sums, _) = before["sums"].as_chunks();
        let sums = std::array::from_fn(|pass| [0, 1].map(|i| u64::from_le_bytes(sums[2 * pass + i])));
        let sums = nh::add_units(sums, &units("input"), &units("key"));
        let bytes = sums.as_flattened().iter().flat_map(|sum| sum.to_le_bytes());
        let mut after = before.clone();
        after.insert("sums".to_owned(), bytes.collect());
        after
    }

    /// The words of a buffer, in rows of N.
    fn words<const N: usize>(bytes: &[u8]) -> Vec<[u64; N]> {
        let words: Vec<u64> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|word| u64::from_le_bytes(*word))
            .collect();
        words.as_chunks().0.to_vec()
    }

    /// The numbers of the lanes, from rows that have one limb of each.
    fn lanes<const LIMBS: usize, const LANES: usize>(rows: &[[u64; LANES]]) -> [[u64; LIMBS]; LANES] {
        std::array::from_fn(|lane| std::array::from_fn(|limb| rows[limb][lane]))
    }

    /// The same buffers with these sums in their rows.
    fn with_sums<const LIMBS: usize, const LANES: usize>(
        before: &Buffers,
        sums: [[u64; LIMBS]; LANES],
    ) -> Buffers {
        let bytes = (0..LIMBS).flat_map(|limb| sums.map(|lane| lane[limb].to_le_bytes()).concat());
        let mut after = before.clone();
        after.insert("sums".to_owned(), bytes.collect());
        after
    }

    /// A block of a group.
    fn two_words(group: &[u64], block: usize) -> [u64; 2] {
        [group[2 * block], group[2 * block + 1]]
    }

    /// Groups of four units, each in a lane. Words 1 and 2 of the units of the key have changed places.
    fn expected_of_nh_groups(before: &Buffers) -> Buffers {
        let units = |name: &str| -> Vec<[u32; 4]> { chacha::le_words(&before[name]).as_chunks().0.to_vec() };
        let mut key = units("key");
        for unit in &mut key {
            unit.swap(1, 2);
        }
        let (sums, _) = before["sums"].as_chunks();
        let sum = |pass, lane, i| u64::from_le_bytes(sums[8 * pass + 2 * lane + i]);
        let sums = std::array::from_fn(|pass| std::array::from_fn(|lane| [0, 1].map(|i| sum(pass, lane, i))));
        let sums = nh::add_groups(sums, &units("input"), &key);
        let bytes = sums.as_flattened().as_flattened().iter();
        let mut after = before.clone();
        after.insert(
            "sums".to_owned(),
            bytes.flat_map(|sum| sum.to_le_bytes()).collect(),
        );
        after
    }

    /// Groups of four blocks of Poly1305. Sums and multipliers have any bits, also words that wrap.
    fn expected_of_poly1305(before: &Buffers) -> Buffers {
        let groups: Vec<[[u64; 2]; 4]> = (words::<8>(&before["input"]).iter())
            .map(|group| [0, 2, 1, 3].map(|block| two_words(group, block)))
            .collect();
        let sums = poly1305::add_blocks(
            lanes(&words(&before["sums"])),
            lanes(&words(&before["multipliers"])),
            &groups,
        );
        with_sums(before, sums)
    }

    /// Groups of eight blocks of Poly1305, likewise.
    fn expected_of_pairs(before: &Buffers) -> Buffers {
        let groups: Vec<[[u64; 2]; 8]> = (words::<16>(&before["input"]).iter())
            .map(|group| [0, 2, 1, 3, 4, 6, 5, 7].map(|block| two_words(group, block)))
            .collect();
        let sums = poly1305::add_pairs(
            lanes(&words(&before["sums"])),
            lanes(&words(&before["multipliers"])),
            &groups,
        );
        with_sums(before, sums)
    }

    /// Groups of sixteen blocks of Poly1305, likewise.
    fn expected_of_poly1305_44(before: &Buffers) -> Buffers {
        let groups: Vec<[[u64; 2]; 16]> = (words::<32>(&before["input"]).iter())
            .map(|group| {
                [0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15].map(|block| two_words(group, block))
            })
            .collect();
        let sums = poly1305::add_blocks44(
            lanes(&words(&before["sums"])),
            lanes(&words(&before["multipliers"])),
            &groups,
        );
        with_sums(before, sums)
    }

    /// Blocks of Xoofff, whatever their number is.
    fn expected_of_xoofff(definition: &str, before: &Buffers) -> Buffers {
        let mut after = before.clone();
        let (deck, data, absorb) = match definition {
            "Xoofff::absorb_blocks" => ("deck", "input", true),
            "Xoofff::squeeze_blocks" => ("states", "output", false),
            _ => panic!("{definition}: say here what it computes"),
        };
        let &[first, second] = before[deck].as_chunks().0 else {
            panic!("{deck} is not two blocks");
        };
        let blocks = before[data].as_chunks().0;
        let pair = if absorb {
            let d = xoofff::Deck {
                acc: first,
                mask: second,
            };
            let d = xoofff::absorb_blocks(d, blocks);
            [d.acc, d.mask]
        } else {
            let (state, output) = xoofff::squeeze_blocks(first, second, blocks.len());
            after.insert(data.to_owned(), output.concat());
            [first, state]
        };
        after.insert(deck.to_owned(), pair.concat());
        after
    }

    /// The argument registers for a call with these buffers.
    fn arguments(kernel: &Kernel, n: usize, in_place: bool, mut at: impl FnMut(&str) -> usize) -> [usize; 6] {
        let mut registers = [0; 6];
        for (register, argument) in registers.iter_mut().zip(&kernel.arguments) {
            *register = if argument.is_count() {
                n
            } else if argument.pointers().is_some() {
                at(&argument.name)
            } else {
                at(owner(argument, in_place))
            };
        }
        registers
    }

    /// Each number of blocks, and, if the kernel allows it, each of them in place too.
    fn cases(kernel: &Kernel) -> impl Iterator<Item = (usize, bool)> + use<> {
        let in_place: &[bool] = if kernel.in_place() {
            &[false, true]
        } else {
            &[false]
        };
        (0..4).flat_map(move |n| in_place.iter().map(move |in_place| (n, *in_place)))
    }

    fn bytes(seed: usize, n: usize) -> Vec<u8> {
        (0..n)
            .map(|i| (((i + 1) * (2 * seed + 0x9e37)) >> 4).to_le_bytes()[0])
            .collect()
    }

    fn runs_here() -> bool {
        Backend::hardware().is_some()
    }

    #[test]
    fn kernels_keep_to_the_abi_and_leave_nothing() {
        if !runs_here() {
            return;
        }
        for (kernel, address) in kernels() {
            for (n, in_place) in cases(kernel) {
                let what = format!("{} {n} {in_place}", kernel.name);
                let mut buffers = contents(kernel, n, in_place, n);
                let mut expected = expected(kernel, in_place, &buffers);
                let mut at = |name: &str| buffers.get_mut(name).unwrap().as_mut_ptr().expose_provenance();
                let pointers = pointers(kernel, in_place, &mut at);
                let arguments = arguments(kernel, n, in_place, at);
                for (name, bytes) in pointers {
                    buffers.get_mut(&name).unwrap().copy_from_slice(&bytes);
                    expected.insert(name, bytes);
                }
                assert_eq!(isa::violations(address, arguments), [""; 0], "{what}");
                assert_eq!(buffers, expected, "{what}");
            }
        }
    }

    /// The tables of constants in this program have the contents and the length that the kernels expect.
    #[test]
    fn constants_are_those_of_the_table() {
        assert!(!addresses::addresses().is_empty());
        let linked = object_file::symbols(&std::env::current_exe().unwrap()).unwrap();
        for table in &TABLE.constants {
            // One that no kernel of this architecture reads is not linked.
            let Some(symbol) = linked.iter().find(|symbol| symbol.name == table.name) else {
                assert!(!TABLE.reads_constants(ARCHITECTURE, &table.name));
                continue;
            };
            assert_eq!(symbol.bytes, constants(&table.name));
            assert_eq!(u32::try_from(symbol.bytes.len()), Ok(table.bytes));
        }
    }

    #[test]
    fn the_checker_catches_bad_kernels() {
        if !runs_here() {
            return;
        }
        for (name, others, function) in isa::bad_kernels() {
            let mut found = isa::violations(function, [0; 6]);
            found.retain(|violation| !others.contains(violation));
            let expected: &[&str] = if name.is_empty() { &[] } else { &[name] };
            assert_eq!(found, expected);
        }
    }

    // --- Buffers between guard pages ---

    /// Writable pages between two inaccessible ones. All writable bytes are set to a canary.
    struct Guarded {
        base: *mut u8,
        page: usize,
    }

    const CANARY: u8 = 0xc7;

    impl Guarded {
        fn new() -> Self {
            // SAFETY: this maps four anonymous pages, and then makes the outer two inaccessible.
            unsafe {
                let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap();
                let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
                let base = libc::mmap(
                    ptr::null_mut(),
                    4 * page,
                    libc::PROT_READ | libc::PROT_WRITE,
                    flags,
                    -1,
                    0,
                );
                assert_ne!(base, libc::MAP_FAILED);
                assert_eq!(libc::mprotect(base, page, libc::PROT_NONE), 0);
                assert_eq!(libc::mprotect(base.byte_add(3 * page), page, libc::PROT_NONE), 0);
                let mut guarded = Self {
                    base: base.cast(),
                    page,
                };
                guarded.usable().fill(CANARY);
                guarded
            }
        }

        fn usable(&mut self) -> &mut [u8] {
            // SAFETY: these are the two inner pages.
            unsafe { std::slice::from_raw_parts_mut(self.base.add(self.page), 2 * self.page) }
        }

        /// The place of `len` bytes that begin `distance` after the first page, or end `distance` before the last.
        fn place(&self, len: usize, distance: usize, at_end: bool) -> Range<usize> {
            let start = if at_end {
                2 * self.page - len - distance
            } else {
                distance
            };
            start..start + len
        }

        /// Checks that nothing outside the range has changed, and sets the range to the canary again.
        fn check_and_reset(&mut self, range: Range<usize>) {
            let usable = self.usable();
            usable[range].fill(CANARY);
            assert!(
                usable.iter().all(|&byte| byte == CANARY),
                "written outside the buffer"
            );
        }
    }

    impl Drop for Guarded {
        fn drop(&mut self) {
            // SAFETY: `new` mapped these pages.
            unsafe { libc::munmap(self.base.cast(), 4 * self.page) };
        }
    }

    /// Every kernel, in place and from buffer to buffer, at every alignment, at both ends of the pages.
    #[test]
    fn kernels_stay_inside_their_buffers() {
        if !runs_here() {
            return;
        }
        for (kernel, address) in kernels() {
            let names = contents(kernel, 0, false, 0).into_keys();
            let mut pages: BTreeMap<String, Guarded> = names.map(|name| (name, Guarded::new())).collect();
            for ((n, in_place), distance) in cases(kernel).flat_map(|case| (0..64).map(move |d| (case, d))) {
                let mut before = contents(kernel, n, in_place, n + distance);
                let mut expected = expected(kernel, in_place, &before);
                let lens: BTreeMap<String, usize> = before
                    .iter()
                    .map(|(name, bytes)| (name.clone(), bytes.len()))
                    .collect();
                for at_end in [false, true] {
                    let place = |name: &str, page: &Guarded| page.place(lens[name], distance, at_end);
                    let mut address_of = |name: &str| {
                        let page = pages.get_mut(name).unwrap();
                        let at = place(name, page);
                        page.usable()[at].as_mut_ptr().expose_provenance()
                    };
                    let pointers = pointers(kernel, in_place, &mut address_of);
                    let arguments = arguments(kernel, n, in_place, address_of);
                    for (name, bytes) in pointers {
                        before.insert(name.clone(), bytes.clone());
                        expected.insert(name, bytes);
                    }
                    for (name, bytes) in &before {
                        let page = pages.get_mut(name).unwrap();
                        let at = place(name, page);
                        page.usable()[at].copy_from_slice(bytes);
                    }
                    assert_eq!(isa::violations(address, arguments), [""; 0]);
                    for (name, page) in &mut pages {
                        // The page of an argument that uses another's buffer, or none, must not change.
                        let at = if expected.contains_key(name.as_str()) {
                            place(name, page)
                        } else {
                            0..0
                        };
                        if let Some(bytes) = expected.get(name) {
                            assert_eq!(page.usable()[at.clone()], *bytes, "{} {name}", kernel.name);
                        }
                        page.check_and_reset(at);
                    }
                }
            }
        }
    }

    /// The same through the duplex, for every length up to two blocks and 93 bytes.
    #[test]
    fn the_duplex_stays_inside_its_buffers() {
        type Step = fn(&mut Duplex, &mut [u8]);
        const STEPS: [Step; 4] = [
            |duplex, data| duplex.absorb(data),
            Duplex::encrypt,
            Duplex::decrypt,
            Duplex::squeeze,
        ];
        let mut buffer = Guarded::new();
        let mut start = Duplex::new();
        start.absorb(b"a state that is not zero");
        for len in 0..=2 * RATE + 93 {
            let data = bytes(len, len);
            // From the middle of a block, or from its start.
            for duplex in [start.clone(), {
                let mut d = start.clone();
                d.permute();
                d
            }] {
                for operation in STEPS {
                    set_hardware_enabled(false);
                    let (mut expected, mut result) = (duplex.clone(), data.clone());
                    operation(&mut expected, &mut result);
                    set_hardware_enabled(true);
                    for (distance, at_end) in
                        (0..64).flat_map(|distance| [(distance, false), (distance, true)])
                    {
                        let at = buffer.place(len, distance, at_end);
                        buffer.usable()[at.clone()].copy_from_slice(&data);
                        let mut actual = duplex.clone();
                        operation(&mut actual, &mut buffer.usable()[at.clone()]);
                        assert_eq!(buffer.usable()[at.clone()], result);
                        assert!(actual == expected);
                        buffer.check_and_reset(at);
                    }
                }
            }
        }
    }

    #[test]
    fn a_step_outside_is_caught() {
        let mut guarded = Guarded::new();
        let at = guarded.place(94, 0, true);
        guarded.usable()[at.start - 1] ^= 1;
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| guarded.check_and_reset(at)));
        assert!(caught.is_err());
    }

    proptest! {
        #[test]
        fn kernels_agree_with_portable(
            s in proptest::array::uniform32(any::<u32>()),
            blocks in vec(vec(any::<u8>(), RATE), 0..=8),
        ) {
            let mut start = [0; STATE_LEN];
            for (to, from) in start.as_chunks_mut().0.iter_mut().zip(s) {
                *to = from.to_le_bytes();
            }
            let data = blocks.concat();
            if let Some(backend) = Backend::hardware() {
                for (name, operation) in OPERATIONS {
                    let [hardware, portable] = [backend, Backend::PORTABLE].map(|backend| {
                        let (mut state, mut output) = (start, data.clone());
                        operation(backend, &mut state, output.as_chunks_mut().0);
                        (state, output)
                    });
                    prop_assert_eq!(hardware, portable, "{}", name);
                }
            }
        }
    }
}
