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
        check_program(&file, &root);

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
