//! Mach-O, which has no sizes of symbols: the code that is found in it is that of ELF.

use object::write::{Object, Symbol, SymbolSection};
use object::{BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope};
use std::path::Path;
use veriplex_lift::table::TABLE;
use veriplex_lift::{TARGETS, assembler, lift_symbols, object_file};

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
    let mut of_all = Vec::new();
    for (target, padding) in TARGETS.into_iter().zip(PADDING) {
        let Some(rustc) = assembler::rustc(target) else {
            println!(
                "{}: skipped, because no rustc here has a library for it",
                target.name
            );
            continue;
        };
        let mut object = Object::new(BinaryFormat::MachO, target.architecture, Endianness::Little);
        let text = object.add_section(b"__TEXT".into(), b"__text".into(), SectionKind::Text);
        let mut codes = Vec::new();
        for (level, kernel) in TABLE.all().filter(|(level, _)| level.target.name == target.name) {
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
        let proved = TABLE
            .proved()
            .filter(|(level, _)| level.target.name == target.name)
            .count();
        let kernels = TABLE.all().filter(|(level, _)| level.target.name == target.name);
        for ((level, kernel), code) in kernels.zip(codes) {
            let name = level.symbol(kernel);
            let symbol = symbols.iter().find(|symbol| symbol.name == name).unwrap();
            assert!(symbol.bytes == code, "{} {name}", level.name);
        }
        // Each must be there, and be one.
        let why = |symbols: &[object_file::Symbol]| lift_symbols(symbols).unwrap_err().to_string();
        assert!(why(&symbols[1..]).contains("no such kernel"));
        let mut twice = symbols.clone();
        twice.push(symbols[0].clone());
        assert_eq!(lift_symbols(&twice).unwrap().len(), proved);
        twice.last_mut().unwrap().bytes.push(0x90);
        assert!(why(&twice).contains("its copies differ"));
        assert!(why(&[]).contains("no kernel for a known instruction set"));
        // Which is refused, and where.
        let mut refused = symbols.clone();
        let (level, kernel) = (TABLE.proved().find(|(level, _)| level.target.name == target.name)).unwrap();
        let changed = refused
            .iter_mut()
            .find(|symbol| symbol.name == level.symbol(kernel))
            .unwrap();
        let (symbol, end) = (changed.symbol.clone(), changed.bytes.len());
        changed.bytes.extend([0xff; 8]);
        assert!(
            why(&refused).starts_with(&format!("{symbol} at {end:#x}: ")),
            "{}",
            why(&refused)
        );
        check_program(&file, &root);

        for lifted in lift_symbols(&symbols).unwrap() {
            let path = root.join("proofs/generated/lifted").join(lifted.path());
            assert!(
                lifted.module == std::fs::read_to_string(path).unwrap(),
                "{}",
                lifted.path()
            );
        }
        of_all.extend(symbols);
    }
    if let [first, .., last] = &of_all[..]
        && first.architecture != last.architecture
    {
        // A file for several instruction sets.
        assert_eq!(lift_symbols(&of_all).unwrap().len(), TABLE.proved().count());
        of_all.pop();
        assert!(lift_symbols(&of_all).is_err());
    }
}

/// `veriplex-lift FILE`, `--write` and `--check`.
fn check_program(file: &Path, root: &Path) {
    let run = |arguments: &[&std::ffi::OsStr]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_veriplex-lift"))
            .args(arguments)
            .output()
            .unwrap();
        let [out, error] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.code(), out, error)
    };
    let committed = root.join("proofs/generated/lifted");
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("macho-modules");
    let _ = std::fs::remove_dir_all(&copy);
    let (code, out, _) = run(&[file.as_ref()]);
    assert_eq!(code, Some(0));
    assert!(
        out.contains("simpira1024_permute") && out.contains("Accepted, that is, for every input:"),
        "{out}"
    );
    assert!(!copy.exists());
    let (code, ..) = run(&[file.as_ref(), "--check".as_ref(), committed.as_ref()]);
    assert_eq!(code, Some(0));
    let (code, ..) = run(&[file.as_ref(), "--write".as_ref(), copy.as_ref()]);
    assert_eq!(code, Some(0));
    for entry in std::fs::read_dir(&copy).unwrap() {
        let mut modules = std::fs::read_dir(entry.unwrap().path()).unwrap();
        let module = modules.next().unwrap().unwrap().path();
        let path = committed.join(module.strip_prefix(&copy).unwrap());
        assert_eq!(std::fs::read(&module).unwrap(), std::fs::read(path).unwrap());
        std::fs::write(&module, "").unwrap();
    }
    let (code, _, error) = run(&[file.as_ref(), "--check".as_ref(), copy.as_ref()]);
    assert_eq!(code, Some(1));
    assert!(error.contains("not what the kernel lifts to"), "{error}");
    for (arguments, expected) in [
        (&[][..], 2),
        (&["--help"], 0),
        (&["a", "--other", "b"], 2),
        (&["/nonexistent"], 1),
    ] {
        let arguments: Vec<_> = arguments.iter().map(AsRef::as_ref).collect();
        let (code, out, error) = run(&arguments);
        assert_eq!(code, Some(expected), "{arguments:?}");
        assert!(!(out + &error).is_empty());
    }
}

/// An object with one function, and a relocation at this offset.
fn relocated(at: Option<u64>) -> Vec<u8> {
    let mut object = Object::new(
        BinaryFormat::Elf,
        object::Architecture::X86_64,
        Endianness::Little,
    );
    let text = object.add_section(Vec::new(), b".text".into(), SectionKind::Text);
    object.append_section_data(text, &[0x90; 16], 1);
    let symbol = Symbol {
        name: b"veriplex_f_v0_1".into(),
        value: 4,
        size: 8,
        kind: SymbolKind::Text,
        scope: SymbolScope::Linkage,
        weak: false,
        section: SymbolSection::Section(text),
        flags: SymbolFlags::None,
    };
    let symbol = object.add_symbol(symbol);
    if let Some(offset) = at {
        let flags = object::write::RelocationFlags::Elf {
            r_type: object::elf::R_X86_64_PC32,
        };
        let relocation = object::write::Relocation {
            offset,
            symbol,
            addend: 0,
            flags,
        };
        object.add_relocation(text, relocation).unwrap();
    }
    object.write().unwrap()
}

/// A static library of one file.
fn archive(file: &[u8]) -> Vec<u8> {
    let header = format!(
        "{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
        "kernels.o/",
        0,
        0,
        0,
        644,
        file.len()
    );
    [b"!<arch>\n", header.as_bytes(), file].concat()
}

#[test]
fn code_must_not_depend_on_its_place() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("relocated.o");
    let symbols = |file: Vec<u8>| {
        std::fs::write(&path, file).unwrap();
        object_file::symbols(&path).map_err(|e| e.to_string())
    };
    for file in [
        relocated(None),
        relocated(Some(0)),
        relocated(Some(12)),
        archive(&relocated(None)),
    ] {
        let [symbol] = &symbols(file).unwrap()[..] else {
            panic!("one symbol");
        };
        assert_eq!(
            (&*symbol.name, &*symbol.symbol, &*symbol.bytes),
            ("f", "veriplex_f_v0_1", &[0x90; 8][..])
        );
    }
    for at in [4, 8, 11] {
        let why = symbols(relocated(Some(at))).unwrap_err();
        assert!(
            why.contains("its bytes depend on where they are linked"),
            "{at}: {why}"
        );
        assert!(symbols(archive(&relocated(Some(at)))).is_err());
    }
    for file in [Vec::new(), b"no object".to_vec(), archive(b"no object")] {
        assert!(symbols(file).unwrap_err().contains("no kernel in it"));
    }
    std::fs::remove_file(&path).unwrap();
}

/// An object with these sections, each with its kind, its bytes, and symbols by name with offset and size.
type Section<'a> = (SectionKind, &'a [u8], &'a [(&'a str, u64, u64)]);

fn object(format: BinaryFormat, sections: &[Section<'_>]) -> Vec<u8> {
    let mut object = Object::new(format, object::Architecture::X86_64, Endianness::Little);
    for (i, (kind, bytes, symbols)) in sections.iter().enumerate() {
        let section = object.add_section(b"__TEXT".into(), format!("__part{i}").into(), *kind);
        object.append_section_data(section, bytes, 1);
        for (name, value, size) in *symbols {
            object.add_symbol(Symbol {
                name: (*name).into(),
                value: *value,
                size: *size,
                kind: SymbolKind::Text,
                scope: SymbolScope::Linkage,
                weak: false,
                section: SymbolSection::Section(section),
                flags: SymbolFlags::None,
            });
        }
    }
    object.write().unwrap()
}

/// The names and bytes that are found.
fn found(name: &str, file: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.o"));
    std::fs::write(&path, file).unwrap();
    let symbols = object_file::symbols(&path).map_err(|e| e.to_string());
    std::fs::remove_file(&path).unwrap();
    let pairs = symbols?.into_iter().map(|symbol| (symbol.name, symbol.bytes));
    Ok(pairs.collect())
}

/// Code ends at its last return, whatever section precedes it; a table at the next symbol, or with its section.
#[test]
fn symbols_of_mach_o_end_where_they_should() {
    let constants = [0xc3, 1, 2, 3, 0xc3, 5, 6, 7];
    let code = [0x90, 0xc3, 0x90, 0x90, 0xc3, 0x90, 0xc3, 0x90];
    let file = object(
        BinaryFormat::MachO,
        &[
            (
                SectionKind::ReadOnlyData,
                &constants,
                &[("veriplex_t_v0_1", 0, 0), ("veriplex_u_v0_1", 5, 0)],
            ),
            (
                SectionKind::Text,
                &code,
                &[("veriplex_g_v0_1", 3, 0), ("veriplex_f_v0_1", 0, 0)],
            ),
        ],
    );
    let expected: [(&str, &[u8]); 4] = [
        ("f", &code[..2]),
        ("g", &code[3..7]),
        ("t", &constants[..5]),
        ("u", &constants[5..]),
    ];
    let found = found("sections", &file).unwrap();
    let found: Vec<(&str, &[u8])> = found.iter().map(|(name, bytes)| (&**name, &**bytes)).collect();
    assert_eq!(found, expected);
}

#[test]
fn code_that_does_not_return_has_no_size() {
    for architecture in TARGETS.map(|target| target.architecture) {
        let mut object = Object::new(BinaryFormat::MachO, architecture, Endianness::Little);
        let text = object.add_section(b"__TEXT".into(), b"__text".into(), SectionKind::Text);
        object.append_section_data(text, &[0x90; 16], 4);
        object.add_symbol(Symbol {
            name: b"veriplex_f_v0_1".into(),
            value: 0,
            size: 0,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak: false,
            section: SymbolSection::Section(text),
            flags: SymbolFlags::None,
        });
        let why = found("no-return", &object.write().unwrap()).unwrap_err();
        assert!(why.contains("no size"), "{why}");
    }
}

#[test]
fn only_names_with_a_version_are_kernels() {
    let names = [
        "veriplex_f_v0_1",
        "veriplex_f_vx1",
        "veriplex_g_v12",
        "veriplex_h_v0_1a",
        "veriplex_h",
        "_veriplex_h_v0_1",
        "other_h_v0_1",
        "veriplex_a_v0_1",
    ];
    let symbols: Vec<(&str, u64, u64)> = (0..).zip(names).map(|(at, name)| (name, at, 1)).collect();
    let file = object(
        BinaryFormat::Elf,
        &[(SectionKind::Text, &[0, 1, 2, 3, 4, 5, 6, 7], &symbols)],
    );
    let expected = [("a", 7), ("f", 0), ("g", 2)].map(|(name, byte)| (name.to_owned(), vec![byte]));
    assert_eq!(found("names", &file).unwrap(), expected);
}
