//! Planted defects: texts that are replaced in a copy, after which a check must fail in a certain place.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use crate::parallel;

/// The table of the defects in Rocq.
pub const TABLE: &str = "proofs/rocq/checks/defects.toml";

/// A defect of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    pub name: String,
    /// The file, in `proofs/rocq`.
    pub file: String,
    /// If not the whole file, the definition in which the texts are.
    pub definition: Option<String>,
    /// Where the check must fail.
    pub place: String,
    /// Texts and what replaces them.
    pub edits: Vec<[String; 2]>,
}

/// The defects of a part of the table.
pub fn read(root: &Path, part: &str) -> io::Result<Vec<Defect>> {
    parse(&fs::read_to_string(root.join(TABLE))?, part)
        .map_err(|error| io::Error::other(format!("{TABLE}: {error}")))
}

fn parse(table: &str, part: &str) -> Result<Vec<Defect>, String> {
    type Files = BTreeMap<String, BTreeMap<String, Vec<String>>>;
    let mut parts: BTreeMap<String, Files> = toml::from_str(table).map_err(|error| error.to_string())?;
    let mut defects = Vec::new();
    for (key, named) in parts.remove(part).ok_or_else(|| format!("no part {part}"))? {
        let (file, definition) = match key.split_once(':') {
            Some((file, definition)) => (file, Some(definition.to_owned())),
            None => (&*key, None),
        };
        for (name, texts) in named {
            let [place, edits @ ..] = &texts[..] else {
                return Err(format!("{name}: no place"));
            };
            let (edits, rest) = edits.as_chunks();
            if edits.is_empty() || !rest.is_empty() {
                return Err(format!("{name}: a text without what replaces it"));
            }
            defects.push(Defect {
                place: place.clone(),
                edits: edits.to_vec(),
                file: file.to_owned(),
                definition: definition.clone(),
                name,
            });
        }
    }
    defects.sort_by(|a, b| a.name.cmp(&b.name));
    match defects.windows(2).find(|pair| pair[0].name == pair[1].name) {
        Some([defect, _]) => Err(format!("two defects have the name {}", defect.name)),
        _ => Ok(defects),
    }
}

impl Defect {
    /// The text of the file with the defect.
    pub fn plant(&self, text: &str) -> io::Result<String> {
        let [start, end] = match &self.definition {
            Some(name) => definition(text, name)
                .ok_or_else(|| io::Error::other(format!("{}: no definition {name}", self.file)))?,
            None => [0, text.len()],
        };
        let edits = self.edits.iter().map(|[from, to]| (&**from, &**to));
        let within = replace(&self.file, &text[start..end], edits)?;
        Ok([&text[..start], &within, &text[end..]].concat())
    }

    /// What has become of it, from the place where the check has failed: an error unless it is the right one.
    pub fn verdict(&self, failed: Option<&str>) -> Result<String, String> {
        let Self { name, place, .. } = self;
        match failed {
            Some(at) if at == place => Ok(format!("{name}: fails in {place}, as expected")),
            Some(at) => Err(format!("{name}: expected a failure in {place}, but got: {at}")),
            None => Err(format!("{name}: {place} holds in spite of the defect")),
        }
    }
}

/// Makes each trial on all processors, and prints what comes of it. True if none of them is wrong.
pub fn try_all<T: Sync>(
    trials: &[T],
    trial: impl Fn(&T) -> io::Result<Result<String, String>> + Sync,
) -> bool {
    let wrong = parallel::map(trials, |item| {
        match trial(item).unwrap_or_else(|error| Err(error.to_string())) {
            Ok(said) => println!("{said}"),
            Err(said) => {
                println!("WRONG: {said}");
                return 1;
            }
        }
        0
    });
    let wrong: usize = wrong.into_iter().sum();
    println!("{} trials, {wrong} wrong", trials.len());
    wrong == 0
}

/// Where a definition in Rocq begins, and the next one.
fn definition(text: &str, name: &str) -> Option<[usize; 2]> {
    let mut starts = text.match_indices('\n').map(|(at, _)| at + 1).filter_map(|at| {
        let line = text[at..]
            .strip_prefix("Definition ")
            .or_else(|| text[at..].strip_prefix("Fixpoint "))?;
        Some((at, line.split_whitespace().next()?))
    });
    let (start, _) = starts.find(|(_, found)| *found == name)?;
    Some([start, starts.next().map_or(text.len(), |(at, _)| at)])
}

/// The text of a file after these replacements, each of a text that must occur once.
pub fn replace<'a>(
    file: &str,
    text: &str,
    edits: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> io::Result<String> {
    let mut text = text.to_owned();
    for (from, to) in edits {
        let times = text.matches(from).count();
        if times != 1 || from == to {
            return Err(io::Error::other(format!(
                "{file}: {times} times, not once: {from:?}"
            )));
        }
        text = text.replace(from, to);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, edits: &[(&str, &str)]) -> String {
        replace("F.v", text, edits.iter().copied())
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_text_occurs_once() {
        assert_eq!(replace("F.v", "abc", [("b", "d"), ("dc", "")]).unwrap(), "a");
        assert_eq!(refused("abc", &[("x", "y")]), r#"F.v: 0 times, not once: "x""#);
        assert_eq!(refused("abcb", &[("b", "y")]), r#"F.v: 2 times, not once: "b""#);
        assert_eq!(
            refused("abc", &[("b", "d"), ("b", "e")]),
            r#"F.v: 0 times, not once: "b""#
        );
        assert_eq!(refused("abc", &[("b", "b")]), r#"F.v: 1 times, not once: "b""#);
    }

    #[test]
    fn a_definition_is_replaced_in() {
        let table = "[p.'F.v:g']\nn = ['l', '1', '2']\n";
        let [defect] = &parse(table, "p").unwrap()[..] else {
            panic!()
        };
        let text = "(* 1 *)\nDefinition ga := 1.\nFixpoint g := 1.\nDefinition h := 1.\n";
        assert_eq!(defect.plant(text).unwrap(), text.replace("g := 1", "g := 2"));
        let error = defect.plant("\nDefinition h := 1.\n").unwrap_err();
        assert_eq!(error.to_string(), "F.v: no definition g");
    }

    #[test]
    fn tables_are_refused() {
        for (table, error) in [
            ("[q.'F.v']\nn = ['l', 'a', 'b']", "no part p"),
            ("[p.'F.v']\nn = []", "n: no place"),
            ("[p.'F.v']\nn = ['l']", "n: a text without what replaces it"),
            (
                "[p.'F.v']\nn = ['l', 'a', 'b', 'c']",
                "n: a text without what replaces it",
            ),
            (
                "[p.'F.v']\nn = ['l', 'a', 'b']\n[p.'G.v']\nn = ['l', 'a', 'b']",
                "two defects have the name n",
            ),
        ] {
            assert_eq!(parse(table, "p").unwrap_err(), error);
        }
    }

    #[test]
    fn a_check_fails_in_the_right_place() {
        let [defect] = &parse("[p.'F.v']\nn = ['l', '1', '2']", "p").unwrap()[..] else {
            panic!()
        };
        assert!(defect.verdict(Some("l")).is_ok());
        assert_eq!(
            defect.verdict(Some("m")).unwrap_err(),
            "n: expected a failure in l, but got: m"
        );
        assert_eq!(
            defect.verdict(None).unwrap_err(),
            "n: l holds in spite of the defect"
        );
    }

    /// Also where Rocq is not installed. What `make` generates is there only after it.
    #[test]
    fn each_defect_has_its_place() {
        let root = crate::root();
        for part in ["proofs", "semantics"] {
            for defect in read(&root, part).unwrap() {
                let path = root.join("proofs/rocq").join(&defect.file);
                if defect.file.starts_with("generated/") && !path.exists() {
                    continue;
                }
                defect.plant(&fs::read_to_string(path).unwrap()).unwrap();
            }
        }
    }
}
