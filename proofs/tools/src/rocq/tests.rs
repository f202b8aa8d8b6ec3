//! What the program refuses, and that the table has what it names.

use std::slice;

use super::*;

const LEMMA: &str = "Lemma other : P.\nProof. Qed.\nLemma wanted : P.\nProof. good. Qed.\n";

/// A folder with A.v, in which the defects are, B.v, which rests on it and has the lemma, and C.v, which does not.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, of_b: &str) -> Self {
        let folder = env::temp_dir().join(format!("veriplex-rocq-{}-{name}", std::process::id()));
        fresh(&folder).unwrap();
        for sub in ["a", "build"] {
            fs::create_dir(folder.join(sub)).unwrap();
        }
        for (file, text) in [
            (
                "build/depend",
                "a/A.vo a/A.glob: a/A.v\na/A.vos: a/A.v\na/B.vo a/B.glob: a/B.v a/A.vo\na/C.vo a/C.glob: a/C.v\n",
            ),
            ("a/A.v", "Definition a := good.\n"),
            ("a/B.v", of_b),
            ("a/C.v", LEMMA),
            ("a/A.vo", ""),
            ("a/B.vo", ""),
            ("a/C.vo", ""),
        ] {
            fs::write(folder.join(file), text).unwrap();
        }
        Self(folder)
    }

    /// What comes of a defect in A.v, if each file of `fails` fails in the line beside it once A.v is damaged.
    fn outcome(&self, place: &str, fails: &[(&str, usize)]) -> Result<String, String> {
        let defect = Defect {
            name: "defect".into(),
            file: "a/A.v".into(),
            definition: None,
            place: place.into(),
            edits: vec![["good".into(), "bad".into()]],
        };
        let compile = |dir: &Path, source: &str, mode: &str| {
            assert_eq!(mode, if source.contains("only_") { "-vok" } else { "-vos" });
            let damaged = fs::read_to_string(dir.join("a/A.v"))?.contains("bad");
            // What is compiled anew is not a link.
            assert!(dir.join("a/B.vo").exists() != damaged && dir.join("a/C.vo").exists());
            let fails = fails.iter().find(|(file, _)| *file == source && damaged);
            Ok(fails
                .map(|(file, line)| format!("File \"./{file}\", line {line}, characters 1-2:\nError: no\n")))
        };
        let needs = Needs::parse(&fs::read_to_string(self.0.join("build/depend")).unwrap());
        let proofs = Proofs {
            folder: self.0.clone(),
            needs,
            compile,
        };
        let outcome = || {
            for (file, lemma) in proofs.lemmas(slice::from_ref(&defect))? {
                let holds = format!("{file}: {lemma} holds without a defect");
                assert_eq!(proofs.outcome(&Trial::Without(file, lemma))?, Ok(holds));
            }
            proofs.outcome(&Trial::With(&defect))
        };
        outcome().unwrap_or_else(|error| Err(error.to_string()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn the_lemma_fails_with_the_defect() {
    let folder = Folder::new("right", LEMMA);
    let outcome = folder.outcome("wanted", &[("a/only_B.v", 4)]);
    assert_eq!(outcome.unwrap(), "defect: fails in wanted, as expected");
    assert!(
        fs::read_dir(folder.0.join("build/mutants"))
            .unwrap()
            .next()
            .is_none()
    );
}

#[test]
fn it_must_hold_without() {
    let folder = Folder::new("without", LEMMA);
    let needs = Needs::parse(&fs::read_to_string(folder.0.join("build/depend")).unwrap());
    let compile = |_: &Path, _: &str, _: &str| Ok(Some("out of memory".to_owned()));
    let proofs = Proofs {
        folder: folder.0.clone(),
        needs,
        compile,
    };
    let outcome = proofs.outcome(&Trial::Without("a/B", "wanted")).unwrap();
    assert_eq!(
        outcome.unwrap_err(),
        "a/B: wanted fails without a defect: out of memory"
    );
}

#[test]
fn other_ends_are_refused() {
    let folder = Folder::new("wrong", LEMMA);
    for (place, fails, error) in [
        ("wanted", &[][..], "defect: wanted holds in spite of the defect"),
        (
            "wanted",
            &[("a/only_B.v", 2)],
            "defect: expected a failure in wanted, but got: other",
        ),
        (
            "wanted",
            &[("a/A.v", 1)],
            "defect: expected a failure in wanted, but got: a",
        ),
        ("absent", &[], "defect: absent is in no file that rests on a/A.v"),
    ] {
        assert_eq!(folder.outcome(place, fails).unwrap_err(), error);
    }
}

#[test]
fn a_value_is_another_one() {
    let folder = Folder::new("value", &LEMMA.replace("wanted", "the_checks"));
    let error = folder.outcome("the_checks", &[("a/only_B.v", 4)]).unwrap_err();
    assert!(error.contains("but got: File"), "{error}");
    let log = "File \"./a/B.v\", line 4, characters 1-2:\nError: The term has type\n \"true = true\" while it is\nexpected to have";
    assert_eq!(lemma(&folder.0, log, "the_checks").unwrap(), "the_checks");
}

#[test]
fn what_is_stale_comes_after_what_it_needs() {
    let needs = Needs::parse("a.vo x: a.v c.vo\nb.vo x: b.v a.vo\nc.vo x: c.v\nd.vo x: d.v\nb.vos: d.vo\n");
    assert_eq!(needs.after("c"), ["c", "a", "b"]);
    assert_eq!(needs.before("a", Some("c")), ["c", "a"]);
    assert_eq!(needs.before("b", None), ["c", "a", "b"]);
    assert_eq!(needs.before("b", Some("d")), [""; 0]);
}
