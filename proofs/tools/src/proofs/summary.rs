//! SAW's own summary of what it verified. A theorem is what is new in it after its proof; what a script prints counts
//! for nothing.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A property (of terms) or a method (machine code or bitcode that was run), with SAW's number for it.
type Id = (String, u64);

/// What SAW says of one property or method.
struct Entry {
    /// The symbol, if it is a method.
    method: Option<String>,
    /// Whether it is a method that a script assumes something of. Everything else is verified.
    assumed: bool,
    /// The solvers of its own goals.
    solvers: BTreeSet<String>,
    /// The entries that it rests on.
    rests_on: Vec<Id>,
}

/// What was new in the summary after a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The solvers that proved its goals: none if SAW's rewriting left no goal.
    pub solvers: BTreeSet<String>,
    /// These, and those of everything that it rests on.
    pub all_solvers: BTreeSet<String>,
    /// The symbols of the code that was run, once for each run.
    pub methods: Vec<String>,
    /// The symbols of what is assumed of code that was not run.
    pub assumed: BTreeSet<String>,
}

impl Evidence {
    /// Its name in the manifest: `saw` if no solver was asked.
    pub fn solver(&self) -> String {
        if self.solvers.is_empty() {
            return "saw".to_owned();
        }
        (self.solvers.iter().map(String::as_str).collect::<Vec<_>>()).join(" ")
    }
}

/// The summaries of a script, in order.
#[derive(Default)]
pub struct Summaries(BTreeSet<Id>);

impl Summaries {
    /// What is new in this one. An error if it is nothing, or if anything in it but a method is not verified.
    pub fn evidence(&mut self, json: &str) -> Result<Evidence, String> {
        let entries = entries(json)?;
        let new: Vec<&Id> = (entries.iter())
            .filter(|(id, entry)| !self.0.contains(*id) && !entry.assumed)
            .map(|(id, _)| id)
            .collect();
        if new.is_empty() {
            return Err("SAW's summary has nothing new after it".into());
        }
        let mut evidence = Evidence {
            solvers: BTreeSet::new(),
            all_solvers: BTreeSet::new(),
            methods: Vec::new(),
            assumed: BTreeSet::new(),
        };
        for id in &new {
            let entry = &entries[*id];
            evidence.solvers.extend(entry.solvers.iter().cloned());
            evidence.methods.extend(entry.method.clone());
        }
        let mut seen = BTreeSet::new();
        let mut todo = new.clone();
        while let Some(id) = todo.pop() {
            if seen.insert(id) {
                let entry = (entries.get(id)).ok_or_else(|| format!("SAW's summary has no {id:?}"))?;
                evidence.all_solvers.extend(entry.solvers.iter().cloned());
                if entry.assumed {
                    evidence.assumed.extend(entry.method.clone());
                }
                todo.extend(&entry.rests_on);
            }
        }
        self.0 = entries.into_keys().collect();
        Ok(evidence)
    }
}

/// The summary's entries. Its verification conditions are merged into their methods.
fn entries(json: &str) -> Result<BTreeMap<Id, Entry>, String> {
    let summary: Value = serde_json::from_str(json).map_err(|e| format!("SAW's summary: {e}"))?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut entries = BTreeMap::new();
    for value in list(&summary) {
        let id = id(&value["type"], &value["id"])?;
        let method = value["method"].as_str().map(str::to_owned);
        let assumed = id.0 == "method" && method.is_some() && value["status"] == "assumed";
        if !assumed {
            verified(&value)?;
        }
        let mut entry = Entry {
            method,
            assumed,
            solvers: solvers(&value)?,
            rests_on: Vec::new(),
        };
        for on in list(&value["dependencies"]) {
            entry.rests_on.push(self::id(&value["type"], &on)?);
        }
        for condition in list(&value["vcs"]) {
            verified(&condition)?;
            entry.solvers.append(&mut solvers(&condition)?);
            for on in list(&condition["dependencies"]) {
                entry.rests_on.push(self::id(&"property".into(), &on)?);
            }
        }
        entries.insert(id, entry);
    }
    Ok(entries)
}

fn id(kind: &Value, number: &Value) -> Result<Id, String> {
    match (kind.as_str(), number.as_u64()) {
        (Some(kind @ ("property" | "method")), Some(number)) => Ok((kind.to_owned(), number)),
        _ => Err(format!("SAW's summary: unknown entry {kind} {number}")),
    }
}

fn verified(value: &Value) -> Result<(), String> {
    if value["status"] == "verified" {
        Ok(())
    } else {
        Err(format!("SAW's summary: {}: {}", value["loc"], value["status"]))
    }
}

/// The solvers, by their names in the manifest.
fn solvers(value: &Value) -> Result<BTreeSet<String>, String> {
    let provers = value["provers"].as_array().into_iter().flatten();
    provers
        .map(|prover| match prover.as_str() {
            Some("RME" | "W4 ->RME") => Ok("rme".to_owned()),
            Some("W4 ->z3") => Ok("z3".to_owned()),
            Some("W4 ->yices") => Ok("yices".to_owned()),
            _ => Err(format!("SAW's summary: unknown solver {prover}")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEMMA: &str = r#"{"type": "property", "id": 1, "loc": "a:1:1", "status": "verified",
        "dependencies": [], "provers": ["W4 ->z3"]}"#;

    fn method(id: u64, status: &str, on: &str) -> String {
        format!(
            r#"{{"type": "method", "id": {id}, "method": "f", "loc": "a:2:1", "status": "verified", "dependencies": [],
                "vcs": [{{"type": "vc", "id": 7, "loc": "a:2:1", "status": "{status}", "dependencies": [{on}],
                "provers": ["RME"]}}]}}"#
        )
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_theorem_is_what_is_new() {
        let mut summaries = Summaries::default();
        let lemma = summaries.evidence(&format!("[{LEMMA}]")).unwrap();
        assert_eq!((lemma.solvers, lemma.methods), (set(&["z3"]), vec![]));
        // Nothing has been proved since.
        assert!(summaries.evidence(&format!("[{LEMMA}]")).is_err());
        let both = format!("[{}, {LEMMA}]", method(1, "verified", "1"));
        let theorem = summaries.evidence(&both).unwrap();
        assert_eq!(theorem.solvers, set(&["rme"]));
        assert_eq!(theorem.all_solvers, set(&["rme", "z3"]));
        assert_eq!(theorem.methods, ["f"]);
        // The same code, run again.
        let more = format!("[{}, {}]", method(2, "verified", "1"), &both[1..both.len() - 1]);
        assert_eq!(summaries.evidence(&more).unwrap().methods, ["f"]);
    }

    #[test]
    fn what_is_assumed_of_a_method_is_named() {
        let assumed = r#"{"type": "method", "id": 5, "method": "g", "loc": "a:1:1", "status": "assumed",
            "dependencies": [], "vcs": []}"#;
        // By itself it shows nothing.
        assert!(Summaries::default().evidence(&format!("[{assumed}]")).is_err());
        let theorem = |on: &str| {
            let with = method(1, "verified", "").replacen("[]", &format!("[{on}]"), 1);
            Summaries::default().evidence(&format!("[{assumed}, {with}]"))
        };
        let of = theorem("5").unwrap();
        assert_eq!((of.methods, of.assumed), (vec!["f".to_owned()], set(&["g"])));
        assert!(theorem("").unwrap().assumed.is_empty());
        assert!(theorem("6").is_err());
    }

    #[test]
    fn what_was_not_verified_is_refused() {
        let refused = |json: &str| Summaries::default().evidence(json).unwrap_err();
        for status in ["assumed", "tested"] {
            assert!(refused(&format!("[{}]", method(1, status, ""))).contains(status));
            let lemma = LEMMA.replace("verified", status);
            assert!(refused(&format!("[{}, {lemma}]", method(1, "verified", "1"))).contains(status));
        }
        assert!(refused(&format!("[{}]", method(1, "verified", "3"))).contains("has no"));
        assert!(refused(&format!("[{}]", LEMMA.replace("W4 ->z3", "ADMITTED"))).contains("unknown solver"));
        refused("[]");
        refused("");
    }
}
