//! Detached signatures, over a file of any size, of two lines:
//!
//! ```text
//! veriplex-signature-v1 KEYID SIGNATURE
//! trusted comment: COMMENT
//! ```
//!
//! KEYID is the beginning of the public key, 16 hexadecimal digits. SIGNATURE is 128 hexadecimal digits: a
//! `veriplex::sig` in the domain `veriplex.sign.v1`, over the length of the comment (8 bytes, little-endian), the
//! comment, and the file. The comment has at most 1024 bytes of printable UTF-8, and no blank at its end.

use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::sig::{Signature, Signer, Verifier};
use veriplex::{Label, label, with_wiped_stack};
use veriplex_files::crypt::{SIGNATURE_EXTENSION, generator};
use veriplex_files::error::{Error, Status};
use veriplex_files::files::{Input, Output, beside};
use veriplex_files::places::is_stdio;
use veriplex_files::terminal_quoting::{is_printable, quoted};
use veriplex_files::text;

use crate::keys::Named;

const DOMAIN: Label<'static> = label!("veriplex.sign.v1");
const PREFIX: &str = "veriplex-signature-v1 ";
const COMMENT: &str = "trusted comment: ";
const KEY_ID_DIGITS: usize = 16;
const MAX_COMMENT_LEN: usize = 1024;
/// More than the longest file, with blanks at the ends of lines.
const MAX_LEN: usize = 2048;

/// The name of a signature's key: the beginning of what `veriplex key inspect` prints. It proves nothing.
fn key_id(key: &PublicKey) -> String {
    key.to_string()[..KEY_ID_DIGITS].into()
}

/// The time and, if there is room, the file's name.
fn default_comment(file: &Path) -> String {
    let time = format!("time:{}", humantime::format_rfc3339_seconds(SystemTime::now()));
    match file.file_name() {
        Some(name) if !is_stdio(file) => Some(format!("{time} file:{}", quoted(Path::new(name))))
            .filter(|comment| is_comment(comment))
            .unwrap_or(time),
        _ => time,
    }
}

fn is_comment(comment: &str) -> bool {
    comment.len() <= MAX_COMMENT_LEN && is_printable(comment) && comment.trim_ascii_end() == comment
}

/// What is signed before the file.
fn prefix(comment: &str) -> Vec<u8> {
    [&(comment.len() as u64).to_le_bytes(), comment.as_bytes()].concat()
}

/// Signs the content of `file`, with a comment.
pub fn sign(
    file: &Path,
    mut input: Input,
    mut output: Output,
    key: &PrivateKey,
    comment: Option<&str>,
) -> Result<(), Error> {
    let comment = comment.map_or_else(|| default_comment(file), str::to_owned);
    if !is_comment(&comment) {
        let reason = format_args!(
            "has more than {MAX_COMMENT_LEN} bytes, one that cannot be shown, or a blank at its end"
        );
        return Err(Error::usage("the comment", reason));
    }
    let mut signer = Signer::new(DOMAIN, key);
    signer.update(&prefix(&comment));
    input.pump(|chunk| {
        signer.update(chunk);
        Ok(())
    })?;
    let signature = with_wiped_stack(|| Ok(signer.sign(&mut generator()?)))?;
    let signature = base16ct::lower::encode_string(&signature.to_bytes());
    let id = key_id(key.public_key());
    writeln!(output, "{PREFIX}{id} {signature}\n{COMMENT}{comment}")
        .map_err(|error| Error::write(&output.name, &error))?;
    output.commit()
}

/// Whose signatures are accepted: one key, or several named ones.
pub enum Signers {
    Key(PublicKey),
    Named(Vec<Named>),
}

impl Signers {
    /// The key with this identifier, and its name.
    fn find(&self, id: &str) -> Result<(&PublicKey, Option<&str>), String> {
        let found = match self {
            Self::Key(key) => vec![(key, None)],
            Self::Named(keys) => keys
                .iter()
                .map(|named| (&named.key.sign, Some(&*named.name)))
                .collect(),
        };
        let others = match *found {
            [(key, _)] => key_id(key),
            _ => format!("any of {} keys", found.len()),
        };
        found
            .into_iter()
            .find(|(key, _)| key_id(key) == id)
            .ok_or_else(|| format!("signed by the key {id}, not by {others}"))
    }
}

/// Verifies the signature of a file, by default the one beside it.
pub fn verify(
    signers: &Signers,
    file: &Path,
    signature: Option<&Path>,
    quiet: bool,
    show_progress: bool,
) -> Result<(), Error> {
    let signature = match signature {
        Some(path) => read(path)?,
        None if is_stdio(file) => {
            return Err(Error::usage(
                "standard input",
                "name its signature with --signature",
            ));
        }
        None => read(&beside(file, SIGNATURE_EXTENSION))?,
    };
    let mut input = Input::open(file, show_progress)?;
    let name = input.name.clone();
    let (key, signer) = signers
        .find(&signature.key_id)
        .map_err(|reason| Error::unverified(&name, reason))?;
    let mut verifier = Verifier::new(DOMAIN, key);
    verifier.update(&prefix(&signature.comment));
    input.pump(|chunk| {
        verifier.update(chunk);
        Ok(())
    })?;
    verifier
        .verify(&signature.signature)
        .map_err(|_| Error::unverified(&name, "the file or its signature was changed"))?;
    if quiet {
        return Ok(());
    }
    let signer = signer.map_or(String::new(), |name| format!("signed by: {name}\n"));
    let comment = match signature.comment.as_str() {
        "" => String::new(),
        comment => format!("{COMMENT}{comment}\n"),
    };
    let mut stdout = io::stdout();
    write!(stdout, "{name}: OK\n{signer}{comment}")
        .and_then(|()| stdout.flush())
        .map_err(|error| Error::write("standard output", &error))
}

/// What a signature file says.
struct Stored {
    key_id: String,
    signature: Signature,
    comment: String,
}

fn read(path: &Path) -> Result<Stored, Error> {
    text::parse(
        path,
        MAX_LEN,
        Status::Unverified,
        "not a signature made by veriplex",
        parse,
    )
}

fn parse(text: &str) -> Option<Stored> {
    let (first, second) = text.strip_prefix(PREFIX)?.split_once('\n')?;
    let (key_id, digits) = first.trim_ascii_end().split_once(' ')?;
    let is_id =
        key_id.len() == KEY_ID_DIGITS && key_id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    // The blank before an empty comment does not count.
    let comment = match second.strip_prefix(COMMENT.trim_ascii_end())? {
        "" => "",
        comment => comment.strip_prefix(' ')?,
    };
    if !is_id || !is_comment(comment) {
        return None;
    }
    let mut bytes = [0; Signature::LEN];
    base16ct::mixed::decode(digits, &mut bytes)
        .ok()
        .filter(|decoded| decoded.len() == Signature::LEN)?;
    Some(Stored {
        key_id: key_id.into(),
        signature: Signature::from_bytes(&bytes).ok()?,
        comment: comment.into(),
    })
}
