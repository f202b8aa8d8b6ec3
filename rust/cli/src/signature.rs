//! Detached signatures: one line, `veriplex-signature-v1 ` and 128 hexadecimal digits, over a file of any size.
//!
//! The signature is that of `veriplex::sig` in the domain `veriplex.sign.v1`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use veriplex::sig::{Signature, Signer, Verifier};
use veriplex::{Label, label};

use crate::crypt::Job;
use crate::error::Error;
use crate::files::{Input, Output, is_stdio, printable};
use crate::{keyfile, keypair};

const DOMAIN: Label<'static> = label!("veriplex.sign.v1");
const PREFIX: &str = "veriplex-signature-v1 ";
const LINE_LEN: usize = PREFIX.len() + 2 * Signature::LEN + 1;
/// The extension of a signature.
const EXTENSION: &str = "sig";

/// Where the signature of `file` is by default.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    if !is_stdio(file) {
        name.push(".");
        name.push(EXTENSION);
    }
    name.into()
}

pub fn sign(job: &Job<'_>, key_file: &Path) -> Result<(), Error> {
    let key = keypair::read_private(key_file)?;
    let mut output = Output::create(job.output.unwrap_or(&beside(job.input)), job.force)?;
    let mut signer = Signer::new(DOMAIN, &key);
    Input::open(job.input, job.show_progress)?.pump(|chunk| {
        signer.update(chunk);
        Ok(())
    })?;
    let signature = signer.sign(&mut veriplex::os_rng());
    writeln!(output, "{PREFIX}{}", hex::encode(signature.to_bytes()))
        .map_err(|error| Error::write(&output.name, &error))?;
    output.commit()
}

pub fn verify(
    from: &str,
    file: &Path,
    signature: Option<&Path>,
    quiet: bool,
    show_progress: bool,
) -> Result<(), Error> {
    let key = keypair::one(from)?;
    if is_stdio(file) && signature.is_none() {
        return Err(Error::usage(
            "standard input",
            "name its signature with --signature",
        ));
    }
    let signature = read(signature.unwrap_or(&beside(file)))?;
    let mut verifier = Verifier::new(DOMAIN, &key);
    let input = Input::open(file, show_progress)?;
    let name = input.name.clone();
    input.pump(|chunk| {
        verifier.update(chunk);
        Ok(())
    })?;
    verifier
        .verify(&signature)
        .map_err(|_| Error::unverified(&name, "the signature is not one of this key for this file"))?;
    if quiet {
        return Ok(());
    }
    let mut stdout = io::stdout();
    writeln!(stdout, "{name}: OK")
        .and_then(|()| stdout.flush())
        .map_err(|error| Error::write("standard output", &error))
}

fn read(path: &Path) -> Result<Signature, Error> {
    let mut text = [0; LINE_LEN + 1];
    let text = keyfile::read_text(path, &mut text)?;
    parse(text).ok_or_else(|| {
        Error::unverified(
            &printable(path),
            "not a signature (one line: veriplex-signature-v1 and 128 hexadecimal digits)",
        )
    })
}

fn parse(text: &[u8]) -> Option<Signature> {
    let digits = text
        .strip_suffix(b"\n")
        .unwrap_or(text)
        .strip_prefix(PREFIX.as_bytes())?;
    let mut bytes = [0; Signature::LEN];
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Signature::from_bytes(&bytes).ok()
}
