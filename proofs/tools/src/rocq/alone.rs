//! One lemma without the proofs of the others.

/// The number of each line at which a lemma or a definition begins, and its name.
pub fn headings(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let named = |(number, line)| Some((number + 1, heading(line, true)?));
    text.lines().enumerate().filter_map(named)
}

fn heading(line: &str, definitions: bool) -> Option<&str> {
    let (kind, rest) = line.trim_start().split_once(' ')?;
    let is_lemma = ["Lemma", "Theorem", "Corollary", "Example"].contains(&kind);
    let is_named = is_lemma || definitions && kind == "Definition";
    let end = rest
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '\'')
        .unwrap_or(rest.len());
    (is_named && end > 0).then(|| &rest[..end])
}

/// The text without the proofs of other lemmas, which are taken for true. A lemma of a section that ends before the wanted
/// one keeps its proof, since what it becomes there depends on what that uses. So does one of a section that is open, where
/// the proof of the wanted one clears or changes its context: without a proof it needs all of it.
pub fn alone(text: &str, wanted: &str) -> String {
    let (open_there, clears) = place(text, wanted);
    let mut written = String::new();
    let mut sections = Vec::new();
    let mut passed = false;
    // Whether the proof that comes next is of another lemma; and that proof, from where it begins.
    let (mut other, mut proof) = (false, None::<String>);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        follow(&mut sections, number, line);
        if let Some(name) = heading(line, false) {
            passed |= name == wanted;
            let is_open = open_there
                .as_ref()
                .is_some_and(|open| sections.is_empty() || !clears && open.starts_with(&sections));
            other = name != wanted && (passed || is_open);
        }
        if other
            && proof.is_none()
            && let Some(at) = line.find("Proof")
        {
            written.push_str(&line[..at]);
            proof = Some(line[at..].to_owned());
        } else if let Some(proof) = &mut proof {
            proof.push_str(line);
        } else {
            written.push_str(line);
        }
        if line.contains("Defined.")
            && let Some(whole) = proof.take()
        {
            written.push_str(&whole);
            other = false;
        } else if let Some((_, after)) = line.rsplit_once("Qed.")
            && proof.take().is_some()
        {
            written.push_str("Admitted.");
            written.push_str(after);
            other = false;
        }
    }
    written
}

/// The sections in which the wanted lemma is, and whether its proof changes the context.
fn place(text: &str, wanted: &str) -> (Option<Vec<usize>>, bool) {
    let (mut sections, mut open, mut clears, mut inside) = (Vec::new(), None, false, false);
    for (number, line) in text.lines().enumerate() {
        follow(&mut sections, number, line);
        if let Some(name) = heading(line, false) {
            inside = name == wanted;
        }
        if inside {
            open.get_or_insert_with(|| sections.clone());
            let is_word = |c: char| c.is_ascii_alphabetic() || c == '_';
            clears |= line.contains("in *") || line.split(|c| !is_word(c)).any(|word| word == "clear");
        }
    }
    (open, clears)
}

/// The sections that are open after this line, each by the number of the line at which it begins.
fn follow(sections: &mut Vec<usize>, number: usize, line: &str) {
    let line = line.trim_start();
    if line.starts_with("Section ") {
        sections.push(number);
    } else if line.starts_with("End ") {
        sections.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Section Closed.
Lemma kept : P. Proof. auto. Qed.
End Closed.
Lemma cut : P.
Proof.
  auto. Qed. (* cut *)
Section Open.
Lemma open_too : P. Proof. auto. Qed.
Definition of_a_proof : P. Proof. auto. Qed.
Lemma a_value : P. Proof. auto. Defined.
Lemma wanted : P. Proof. auto. Qed.
Lemma after : P. Proof. auto. Qed.
End Open.
";

    #[test]
    fn others_are_taken_for_true() {
        let cut = TEXT
            .replace(
                "Lemma cut : P.\nProof.\n  auto. Qed.",
                "Lemma cut : P.\nAdmitted.",
            )
            .replace("open_too : P. Proof. auto. Qed.", "open_too : P. Admitted.")
            .replace("after : P. Proof. auto. Qed.", "after : P. Admitted.");
        assert_eq!(alone(TEXT, "wanted"), cut);
        // One that ends before keeps its proof.
        assert!(cut.contains("Lemma kept : P. Proof. auto. Qed."));
    }

    #[test]
    fn an_open_section_stays_whole_where_the_context_changes() {
        for (from, to) in [
            ("wanted : P. Proof. auto.", "wanted : P. Proof. clear H."),
            ("wanted : P. Proof. auto.", "wanted : P. Proof. simpl in *."),
        ] {
            let text = alone(&TEXT.replace(from, to), "wanted");
            assert!(text.contains("open_too : P. Proof. auto. Qed."), "{text}");
            assert!(text.contains("Lemma cut : P.\nAdmitted."), "{text}");
            assert!(text.contains("after : P. Admitted."), "{text}");
        }
        // Not where another one does.
        let text = TEXT.replace("after : P. Proof. auto.", "after : P. Proof. clear H.");
        assert!(alone(&text, "wanted").contains("open_too : P. Admitted."));
    }

    #[test]
    fn names_of_lemmas_are_found() {
        let found: Vec<_> = headings(
            "  Theorem a' : P.\nDefinition b (x : P) := x.\n(* Lemma c *)\nLemmas d.\nExample e: P.",
        )
        .collect();
        assert_eq!(found, [(1, "a'"), (2, "b"), (5, "e")]);
    }
}
