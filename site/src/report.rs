//! Everything as one document, which `make report` prints to PDF.

use std::fmt::Write as _;
use std::io;

use veriplex_assurance::evidence::read;

use crate::Site;
use crate::evidence::Evidence;
use crate::html::{code, escape, markdown, page};
use crate::{items, start};

pub fn write(site: &Site, evidence: &Evidence) -> io::Result<()> {
    let mut body = format!(
        "<p>Scope: the library, its kernels and the program of this repository. It says what is claimed, with what evidence, \
         on which assumptions, and what is not known.</p><h2>Claims and commands</h2>{}<h2>Statuses</h2>{}<h2>Versions</h2>\
         <p>The tools of the last <code>make proofs</code>{}:</p><ul>",
        start::claims(evidence),
        start::statuses(evidence),
        evidence.proved.as_ref().map_or(String::new(), |date| format!(
            ", whose results were committed on {date}"
        )),
    );
    for (tool, version) in &evidence.manifest.tools {
        let _ = write!(body, "<li>{}: {}</li>", escape(tool), escape(version));
    }
    body += "</ul><h2>Hashes of the proved bytes</h2><div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>Object</th><th>Bytes</th>\
             <th>SHA-256</th></tr></thead><tbody>";
    for (name, object) in &evidence.manifest.objects {
        let _ = write!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            code(name),
            object.length,
            code(&object.sha256)
        );
    }
    body += "</tbody></table></div><h2>Theorems</h2><p>What SAW proved, and with which solver. What was left to none, SAW \
             rewrote to true.</p><div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>Theorem</th><th>About</th><th>Assumes</th><th>Result</th>\
             <th>Solver</th></tr></thead><tbody>";
    for theorem in &evidence.manifest.theorems {
        let (object, assumed) = evidence.saw.get(&theorem.name).cloned().unwrap_or_default();
        let _ = write!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            code(&theorem.name),
            code(&object),
            assumed.join(", "),
            escape(&theorem.result),
            escape(theorem.solver.as_deref().unwrap_or("")),
        );
    }
    // Soundness has the known gaps.
    let _ = write!(
        body,
        "</tbody></table></div><h2>What is proved, what is not, and what is trusted</h2>{}<h2>Assumptions</h2>{}",
        markdown(&read("SOUNDNESS.md"), |_| None),
        items::assumptions(evidence),
    );
    site.write("report.html", &page("Audit report", 0, &[], &body))
}
