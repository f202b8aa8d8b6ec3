//! Keys as text, one per line: its kind, its value, and perhaps a comment after a blank.
//!
//! | line | what |
//! |---|---|
//! | `veriplex-key-v1` | a symmetric key: 64 hexadecimal digits |
//! | `veriplex-private-key-v1` | a private key: 64 hexadecimal digits of its secret |
//! | `veriplex-encrypted-key-v1` | a private key under a password: 162 hexadecimal digits, see below |
//! | `veriplex-public-key-v1` | a public key: 3544 characters of base64, see below |
//!
//! Empty lines and those that begin with `#` are ignored. A list of public keys has one per line.
//!
//! # Private and public keys
//!
//! Each scheme has its own key, derived by `veriplex::kdf` in the domain `veriplex.private-key.v1`, without salt, from
//! the secret of 32 bytes and the context: `sign` (64 bytes, reduced to a scalar), `seal` and `tunnel` (each 128 bytes:
//! 64 that are reduced to a scalar, then the seed of ML-KEM). So no scheme reveals anything about the key of another
//! one.
//!
//! A public key is the public keys of these in this order, 32, 1216 and 1216 bytes, and their proof. Its fingerprint is the
//! `veriplex::digest` of the first 2464 bytes in the domain `veriplex.public-key.v1`, of 32 bytes.
//!
//! The proof shows that one holder made all three: nobody can put somebody else's part into their own key, and be taken
//! for the one who signs, seals or connects with it. It is three signatures of 64 bytes each over the first 2464 bytes,
//! by `veriplex::sig::sign_deterministic` in the domain `veriplex.public-key.proof.v1`: by the key of `sign`, and by
//! the scalars of `seal` and `tunnel`. It is verified whenever a public key is read.
//!
//! # Under a password
//!
//! | bytes | what |
//! |---|---|
//! | 1 | cost |
//! | 32 | random salt |
//! | 48 | the secret and its tag: a `veriplex::siv` in the domain `veriplex.key.v1`, without nonce, under the key that the memory-hard hash makes in the domain `veriplex.key.password.v1` of password and salt; its associated data are the bytes before |

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use base64ct::{Base64, Encoding};
use subtle::ConstantTimeEq;
use veriplex::digest::digest;
use veriplex::kdf::Kdf;
use veriplex::sig::{self, Signature};
use veriplex::siv::Siv;
use veriplex::{Key, Label, TAG_LEN, hybrid, keys, label, with_wiped_stack};
use veriplex_files::crypt::{Password, random, stretch_in};
use veriplex_files::error::{Error, Status};
use veriplex_files::files::{self, Existing, Output, Readers};
use veriplex_files::places::{is_same, is_stdio};
use veriplex_files::terminal_quoting::{quoted, visible};
use veriplex_files::text;
use zeroize::Zeroizing;

use crate::password::{self, Source};

const SYMMETRIC: &str = "veriplex-key-v1";
const PRIVATE: &str = "veriplex-private-key-v1";
const ENCRYPTED: &str = "veriplex-encrypted-key-v1";
const PUBLIC: &str = "veriplex-public-key-v1";
const PROOF: Label<'static> = label!("veriplex.public-key.proof.v1");

/// The longest file with one key, with the comments around it.
const MAX_LEN: usize = 1 << 14;
const SECRET_LEN: usize = 32;
const SALT_LEN: usize = 32;
/// Cost and salt.
const HEADER_LEN: usize = 1 + SALT_LEN;
const ENCRYPTED_LEN: usize = HEADER_LEN + SECRET_LEN + TAG_LEN;

/// A private key: the secret from which the keys for all schemes are derived. Boxed, since each move would leave a
/// copy.
pub struct Private(Box<Zeroizing<[u8; SECRET_LEN]>>);

impl Private {
    pub fn from_secret(secret: &[u8; SECRET_LEN]) -> Self {
        Self(Box::new(Zeroizing::new(*secret)))
    }

    pub fn secret(&self) -> &[u8; SECRET_LEN] {
        &self.0
    }

    fn generate() -> Result<Self, Error> {
        let mut key = Self(Box::default());
        random(key.0.as_mut_slice())?;
        Ok(key)
    }

    fn expand<const N: usize>(&self, context: &[u8]) -> Key<N> {
        Kdf::extract(label!("veriplex.private-key.v1"), b"", self.secret()).expand(context)
    }

    fn hybrid(&self, context: &[u8]) -> Result<hybrid::PrivateKey, veriplex::Error> {
        with_wiped_stack(|| {
            let key: Key<128> = self.expand(context);
            let (scalar, seed) = key.as_bytes().split_first_chunk().expect("it is longer");
            let scalar = Zeroizing::new(keys::PrivateKey::from_uniform_bytes(*scalar)?.to_bytes());
            let mut bytes = Zeroizing::new([0; hybrid::PrivateKey::LEN]);
            bytes[..SECRET_LEN].copy_from_slice(scalar.as_slice());
            bytes[SECRET_LEN..].copy_from_slice(seed);
            hybrid::PrivateKey::from_bytes(&bytes)
        })
    }

    /// Signs the parts of the public key with the scalar of a hybrid key.
    fn prove(key: &hybrid::PrivateKey, parts: &[u8]) -> Result<Signature, Error> {
        with_wiped_stack(|| {
            let bytes = Zeroizing::new(key.to_bytes());
            let scalar = bytes.first_chunk().expect("it is longer");
            keys::PrivateKey::from_bytes(scalar).map(|key| sig::sign_deterministic(PROOF, &key, parts))
        })
        .map_err(|error| Error::io("key", error))
    }

    /// # Errors
    ///
    /// This error and the following ones concern one of 2^252 keys.
    pub fn sign(&self) -> Result<keys::PrivateKey, Error> {
        with_wiped_stack(|| keys::PrivateKey::from_uniform_bytes(*self.expand(b"sign").as_bytes()))
            .map_err(|error| Error::io("key", error))
    }

    pub fn seal(&self) -> Result<hybrid::PrivateKey, Error> {
        self.hybrid(b"seal").map_err(|error| Error::io("key", error))
    }

    pub fn tunnel(&self) -> Result<hybrid::PrivateKey, Error> {
        self.hybrid(b"tunnel").map_err(|error| Error::io("key", error))
    }

    pub fn public(&self) -> Result<Public, Error> {
        let (sign, seal, tunnel) = (self.sign()?, self.seal()?, self.tunnel()?);
        let mut key = Public {
            sign: *sign.public_key(),
            seal: seal.public_key().clone(),
            tunnel: tunnel.public_key().clone(),
            proof: Vec::new(),
        };
        let parts = key.parts();
        let proof = [
            sig::sign_deterministic(PROOF, &sign, &parts),
            Self::prove(&seal, &parts)?,
            Self::prove(&tunnel, &parts)?,
        ];
        key.proof = proof.map(|signature| signature.to_bytes()).concat();
        Ok(key)
    }

    /// The line, protected by a password with this cost if there is one.
    fn line(&self, protection: Option<(&Password, u8)>) -> Result<Zeroizing<String>, Error> {
        let Some((password, cost)) = protection else {
            return Ok(hex_line(PRIVATE, self.secret()));
        };
        let mut bytes = [0; ENCRYPTED_LEN];
        let (header, sealed) = bytes.split_at_mut(HEADER_LEN);
        header[0] = cost;
        random(&mut header[1..])?;
        let siv = protecting(password, header)?;
        let mut secret = self.0.clone();
        let tag = siv.seal_in_place_detached(b"", header, secret.as_mut_slice());
        sealed[..SECRET_LEN].copy_from_slice(secret.as_slice());
        sealed[SECRET_LEN..].copy_from_slice(&tag);
        Ok(hex_line(ENCRYPTED, &bytes))
    }
}

fn protecting(password: &Password, header: &[u8]) -> Result<Siv, Error> {
    let key = stretch_in(
        label!("veriplex.key.password.v1"),
        password,
        header[0],
        &header[1..],
    )?;
    Ok(Siv::new(label!("veriplex.key.v1"), &key))
}

/// A private key under a password.
pub struct Encrypted(Box<[u8; ENCRYPTED_LEN]>);

impl Encrypted {
    fn cost(&self) -> u8 {
        self.0[0]
    }

    fn decrypt(&self, name: &str, source: &Source) -> Result<Private, Error> {
        let (header, rest) = self.0.split_at(HEADER_LEN);
        let (secret, tag) = rest.split_first_chunk().expect("it is longer");
        let (cost, most) = (self.cost(), *password::COSTS.end());
        if cost > most {
            let reason = format_args!("its cost {cost} is above {most}, the limit for private keys");
            return Err(Error::unverified(name, reason));
        }
        let siv = protecting(&source.read(name)?, header)?;
        let mut key = Private::from_secret(secret);
        let tag = tag.try_into().expect("the length is right");
        siv.open_in_place_detached(b"", header, key.0.as_mut_slice(), tag)
            .map_err(|_| Error::unverified(name, "wrong password"))?;
        Ok(key)
    }
}

/// A public key: one for each scheme, and the proof that they have one holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Public {
    pub sign: keys::PublicKey,
    pub seal: hybrid::PublicKey,
    pub tunnel: hybrid::PublicKey,
    proof: Vec<u8>,
}

impl Public {
    const PARTS_LEN: usize = keys::PublicKey::LEN + 2 * hybrid::PublicKey::LEN;
    const LEN: usize = Self::PARTS_LEN + 3 * Signature::LEN;
    const CHARS: usize = Self::LEN.div_ceil(3) * 4;

    /// Also nothing if a part is somebody else's.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (parts, proof) = bytes.split_at_checked(Self::PARTS_LEN)?;
        let (sign, rest) = parts.split_at_checked(keys::PublicKey::LEN)?;
        let (seal, tunnel) = rest.split_at_checked(hybrid::PublicKey::LEN)?;
        let (signatures, []) = proof.as_chunks() else {
            return None;
        };
        let [by_sign, by_seal, by_tunnel] = signatures else {
            return None;
        };
        for (key, signature) in [(sign, by_sign), (seal, by_seal), (tunnel, by_tunnel)] {
            let key = keys::PublicKey::from_bytes(key.first_chunk()?).ok()?;
            let signature = Signature::from_bytes(signature).ok()?;
            sig::verify(PROOF, &key, parts, &signature).ok()?;
        }
        Some(Self {
            sign: sign.try_into().ok()?,
            seal: seal.try_into().ok()?,
            tunnel: tunnel.try_into().ok()?,
            proof: proof.to_vec(),
        })
    }

    /// What the fingerprint and the proof are of.
    fn parts(&self) -> Vec<u8> {
        let parts = [
            &self.sign.as_bytes()[..],
            self.seal.as_bytes(),
            self.tunnel.as_bytes(),
        ];
        parts.concat()
    }

    /// The fingerprint, which people compare instead of the key.
    pub fn fingerprint(&self) -> String {
        digest(label!("veriplex.public-key.v1"), &self.parts()).to_string()
    }

    pub fn line(&self) -> String {
        let bytes = [self.parts(), self.proof.clone()].concat();
        format!("{PUBLIC} {}\n", Base64::encode_string(&bytes))
    }
}

/// A public key, and its owner's name: the comment, the file's name if it has one key, or the fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub key: Public,
    pub name: String,
}

fn hex_line(prefix: &str, bytes: &[u8]) -> Zeroizing<String> {
    let digits = Zeroizing::new(base16ct::lower::encode_string(bytes));
    // As long as it can become, because growing would leave copies.
    let mut line = Zeroizing::new(String::with_capacity(prefix.len() + digits.len() + 2));
    for part in [prefix, " ", &digits, "\n"] {
        line.push_str(part);
    }
    line
}

/// A line.
enum Parsed {
    Symmetric(Box<Key>),
    Private(Private),
    Encrypted(Encrypted),
    Public(Box<Public>),
}

impl Parsed {
    /// The key in a line, and the comment.
    fn parse(line: &str) -> Option<(Self, &str)> {
        let (prefix, rest) = line.split_once(' ')?;
        let chars = match prefix {
            SYMMETRIC | PRIVATE => 2 * SECRET_LEN,
            ENCRYPTED => 2 * ENCRYPTED_LEN,
            PUBLIC => Public::CHARS,
            _ => return None,
        };
        // The value is found by its length, without looking at any digit of a secret.
        let (value, comment) = rest.split_at_checked(chars)?;
        if !comment.is_empty() && !comment.starts_with([' ', '\t']) {
            return None;
        }
        let key = match prefix {
            SYMMETRIC => Self::Symmetric(Box::new(Key::from(**hex(value)?))),
            PRIVATE => Self::Private(Private(hex(value)?)),
            ENCRYPTED => Self::Encrypted(Encrypted(Box::new(**hex(value)?))),
            _ => Self::Public(Box::new(Public::from_bytes(&Base64::decode_vec(value).ok()?)?)),
        };
        Some((key, comment.trim()))
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Symmetric(_) => "a symmetric key",
            Self::Private(_) => "a private key",
            Self::Encrypted(_) => "a private key under a password",
            Self::Public(_) => "a public key",
        }
    }

    fn instead_of(&self, name: &str, needed: &str) -> Error {
        Error::io(name, format_args!("is {}, where {needed} is needed", self.kind()))
    }
}

/// Decodes digits of either case; neither branches nor looks up by one.
fn hex<const N: usize>(digits: &str) -> Option<Box<Zeroizing<[u8; N]>>> {
    let mut bytes = Box::new(Zeroizing::new([0; N]));
    let decoded = base16ct::mixed::decode(digits, bytes.as_mut_slice()).ok()?;
    (decoded.len() == N).then_some(bytes)
}

const NOT_A_KEY: &str = "not a key file (one line, made by veriplex key generate)";

/// The key that is alone in a file.
fn read_one(path: &Path) -> Result<Parsed, Error> {
    text::parse(path, MAX_LEN, Status::Io, NOT_A_KEY, the_one)
}

fn the_one(text: &str) -> Option<Parsed> {
    let mut lines = text::lines(text).map(|(line, _)| line);
    let key = Parsed::parse(lines.next()?)?.0;
    lines.next().is_none().then_some(key)
}

/// Reads a symmetric key, and leaves no other copy of it than `mix` does.
pub fn read_symmetric<K>(path: &Path, mix: impl FnOnce(&Key) -> K) -> Result<K, Error> {
    with_wiped_stack(|| match read_one(path)? {
        Parsed::Symmetric(key) => Ok(mix(&key)),
        other => Err(other.instead_of(&quoted(path), "a symmetric key")),
    })
}

/// Reads a symmetric key of 32 bytes that is not text.
pub fn read_raw<K>(path: &Path, mix: impl FnOnce(&Key) -> K) -> Result<K, Error> {
    with_wiped_stack(|| {
        let bytes = text::read(text::open(path)?, path, SECRET_LEN)?;
        match <&[u8; SECRET_LEN]>::try_from(bytes.as_slice()) {
            Ok(key) => Ok(mix(&Key::from(*key))),
            Err(_) => Err(Error::io(&quoted(path), "not a raw key: that has 32 bytes")),
        }
    })
}

/// Reads a private key, whose password comes from `source` if it has one.
pub fn read_private(path: &Path, source: &Source) -> Result<Private, Error> {
    with_wiped_stack(|| private(read_one(path)?, path, source))
}

fn private(key: Parsed, path: &Path, source: &Source) -> Result<Private, Error> {
    match key {
        Parsed::Private(key) => Ok(key),
        Parsed::Encrypted(key) => key.decrypt(&quoted(path), source),
        other => Err(other.instead_of(&quoted(path), "a private key")),
    }
}

/// The public key in a line of a list.
pub fn parse_public(line: &str) -> Result<(Public, &str), String> {
    match Parsed::parse(line) {
        Some((Parsed::Public(key), comment)) => Ok((*key, comment)),
        Some((other, _)) => Err(format!("is {}, where a public key is needed", other.kind())),
        None => Err("not a public key (made by veriplex key generate --private)".into()),
    }
}

/// The public keys in a file, one in each line; at least one.
pub fn read_public(path: &Path) -> Result<Vec<Named>, Error> {
    named(text::open(path)?, path)
}

fn named(file: File, path: &Path) -> Result<Vec<Named>, Error> {
    let found = text::list(file, path, parse_public)?;
    if found.is_empty() {
        return Err(Error::io(&quoted(path), "has no public key"));
    }
    let named = found.into_iter().map(|(key, name)| Named {
        name: if name.is_empty() {
            key.fingerprint()
        } else {
            visible(&name)
        },
        key,
    });
    Ok(named.collect())
}

/// The one public key in a regular file, which is read again with the settings.
pub fn read_one_public(path: &Path) -> Result<Public, Error> {
    match <[Named; 1]>::try_from(named(text::open_regular(path)?, path)?) {
        Ok([named]) => Ok(named.key),
        Err(_) => Err(Error::usage(
            &quoted(path),
            "has several public keys, where one is needed",
        )),
    }
}

/// The key with which anonymous files are sealed. Everybody has it.
pub fn of_nobody() -> Result<hybrid::PrivateKey, Error> {
    Private::from_secret(&[0; SECRET_LEN]).seal()
}

fn create(path: &Path, readers: Readers) -> Result<Output, Error> {
    Output::create(path, Existing::Refused, readers)
}

pub fn write(output: Output, text: &[u8]) -> Result<(), Error> {
    written(output, text)?.commit()
}

/// Before it is committed.
fn written(mut output: Output, text: &[u8]) -> Result<Output, Error> {
    output
        .write_all(text)
        .and_then(|()| output.flush())
        .map_err(|error| Error::write(&output.name, &error))?;
    Ok(output)
}

/// Generates a symmetric key in a new file that only its owner may read; `-` prints it.
pub fn generate_symmetric(path: &Path) -> Result<(), Error> {
    let output = create(path, Readers::Owner)?;
    let mut key = Zeroizing::new([0; SECRET_LEN]);
    random(key.as_mut_slice())?;
    write(output, hex_line(SYMMETRIC, key.as_slice()).as_bytes())
}

/// Generates a private key file, and beside it `.pub` with the public key: both or neither, but after a kill perhaps
/// only the private key. `-` prints the private key. It may be protected by a password with this cost.
pub fn generate_private(path: &Path, protection: Option<(&Source, u8)>) -> Result<(), Error> {
    if let Some((_, cost)) = protection {
        check_new_cost(cost)?;
    }
    // Notice existing files, or a closed stream, before asking anybody.
    files::stdout()?;
    let private = create(path, Readers::Owner)?;
    let public = if is_stdio(path) {
        None
    } else {
        Some(create(&public_beside(path), Readers::Any)?)
    };
    let password = protection
        .map(|(source, _)| source.read_new(&quoted(path)))
        .transpose()?;
    let key = Private::generate()?;
    let line = key.line(password.as_ref().zip(protection.map(|(_, cost)| cost)))?;
    let private = written(private, line.as_bytes())?;
    let Some(output) = public else {
        return private.commit();
    };
    let key = key.public()?;
    let public = written(output, key.line().as_bytes())?;
    // This one first, since the other can be derived from it.
    let place = private.place();
    private.commit()?;
    public.commit().inspect_err(|_| {
        let _ = place.map(|place| fs::remove_file(place.path));
    })?;
    print(&format!("{}\n", key.fingerprint()))
}

fn public_beside(path: &Path) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".pub");
    beside.into()
}

/// No command that reads a private key has an option for a higher cost.
fn check_new_cost(cost: u8) -> Result<(), Error> {
    if cost > *password::COSTS.end() {
        let reason = format_args!("a private key's is at most {}", password::COSTS.end());
        return Err(Error::usage("the cost", reason));
    }
    password::warn_of_cost(cost);
    Ok(())
}

fn print(text: &str) -> Result<(), Error> {
    let mut stdout = io::stdout();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|error| Error::write("standard output", &error))
}

/// Prints the public key of a private key.
pub fn print_public(path: &Path, source: &Source) -> Result<(), Error> {
    print(&read_private(path, source)?.public()?.line())
}

/// Prints what the keys in a file are, and nothing secret. No password is needed.
pub fn inspect(path: &Path) -> Result<(), Error> {
    let name = quoted(path);
    let shown = with_wiped_stack(|| {
        text::parse(path, text::MAX_LIST_LEN, Status::Io, NOT_A_KEY, |text| {
            let keys = text::lines(text).map(|(line, _)| Parsed::parse(line));
            let keys: Vec<_> = keys.collect::<Option<_>>()?;
            (!keys.is_empty()).then(|| {
                let lines = keys.iter().map(|(key, comment)| describe(&name, key, comment));
                lines.collect::<Result<String, Error>>()
            })
        })
    })?;
    print(&shown?)
}

fn describe(name: &str, key: &Parsed, comment: &str) -> Result<String, Error> {
    let (cost, public) = match key {
        Parsed::Symmetric(_) => (None, None),
        Parsed::Encrypted(key) => (Some(key.cost()), None),
        Parsed::Private(key) => (None, Some(key.public()?)),
        Parsed::Public(key) => (None, Some((**key).clone())),
    };
    let cost = cost.map_or(String::new(), |cost| format!(" of cost {cost}"));
    let line = |title, value: &str| format!("  {title:<19} {value}\n");
    let mut lines = vec![format!("{name}: {}{cost}\n", key.kind())];
    if !comment.is_empty() {
        lines.push(line("comment:", &visible(comment)));
    }
    if let Some(key) = public {
        lines.push(line("fingerprint:", &key.fingerprint()));
        lines.push(line("verify --from-key:", &key.sign.to_string()));
        lines.push(line("tunnel --peer:", &key.tunnel.fingerprint().to_string()));
    }
    Ok(lines.concat())
}

/// Replaces a private key file by one with a new password of this cost, or without one. Comments in it are kept.
pub fn change_password(path: &Path, old: &Source, new: Option<(&Source, u8)>) -> Result<(), Error> {
    if is_stdio(path) {
        return Err(Error::usage("-", "must be a file"));
    }
    if let Some((_, cost)) = new {
        check_new_cost(cost)?;
    }
    let output = Output::create(path, Existing::Replaced, Readers::OwnerAlways)?;
    let name = quoted(path);
    let failed = |error: io::Error| Error::io(&name, error);
    let (mut output, file, place) = output.changing()?;
    let owner = file.metadata().map_err(failed)?;
    if let Some(new) = output.file()
        && new.metadata().map_err(failed)?.uid() != owner.uid()
    {
        fchown(new, Some(owner.uid()), Some(owner.gid()))
            .map_err(|error| Error::io(&name, format_args!("cannot keep its owner: {error}")))?;
    }
    let read = || {
        let mut file = file.try_clone().map_err(failed)?;
        file.rewind().map_err(failed)?;
        text::read(file, path, MAX_LEN)
    };
    let before = read()?;
    let key = with_wiped_stack(|| {
        let key = text::parse_read(&before, path, MAX_LEN, Status::Io, NOT_A_KEY, the_one)?;
        private(key, path, old)
    })?;
    let password = new
        .map(|(source, _)| source.read_new(&quoted(path)))
        .transpose()?;
    with_wiped_stack(|| {
        let line = key.line(password.as_ref().zip(new.map(|(_, cost)| cost)))?;
        let text = text::parse_read(&before, path, MAX_LEN, Status::Io, NOT_A_KEY, |text| {
            // As long as it can become, because growing would leave copies.
            let mut changed = Zeroizing::new(String::with_capacity(text.len() + line.len()));
            for old in text.split_inclusive('\n') {
                match Parsed::parse(old.trim()) {
                    None => changed.push_str(old),
                    Some((_, comment)) => {
                        changed.push_str(line.trim_ascii_end());
                        if !comment.is_empty() {
                            changed.push(' ');
                            changed.push_str(comment);
                        }
                        changed.push('\n');
                    }
                }
            }
            Some(changed)
        })?;
        let too_long = format!("would be too long: more than {MAX_LEN} bytes with its comments");
        text::parse_read(text.as_bytes(), path, MAX_LEN, Status::Io, &too_long, the_one)?;
        // Another key may have appeared there while somebody was asked.
        if !is_same(&file, fs::symlink_metadata(&place)) || !bool::from(read()?.ct_eq(&before)) {
            return Err(Error::io(&name, "changed meanwhile"));
        }
        write(output, text.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_key(line: &str) -> bool {
        Parsed::parse(line).is_some()
    }

    #[test]
    fn parse_is_strict() {
        let public = Private::from_secret(&[0x0f; 32]).public().ok().unwrap();
        let lines = [
            format!("{SYMMETRIC} {}", "0f".repeat(32)),
            format!("{PRIVATE} {}", "0f".repeat(32)),
            format!("{ENCRYPTED} {}", "0f".repeat(81)),
            public.line().trim_end().into(),
        ];
        for good in &lines {
            assert!(is_key(good), "{good}");
            let commented = format!("{good} \t Alice's laptop \t");
            let (_, comment) = Parsed::parse(&commented).unwrap();
            assert_eq!(comment, "Alice's laptop");
            for n in 0..good.len() {
                assert!(!is_key(&good[..n]), "cut to {n}");
            }
            let (prefix, value) = good.split_once(' ').unwrap();
            for i in 0..=prefix.len() {
                let mut bad = good.as_bytes().to_vec();
                bad[i] ^= 1;
                assert!(!is_key(str::from_utf8(&bad).unwrap()), "prefix {i}");
            }
            for bad in [
                format!("{prefix}  {value}"),
                format!("{prefix} {value}0"),
                format!("{prefix} {value}\u{a0}x"),
                format!("{good}{good}"),
                format!(" {good}"),
                good.replacen("-v1", "-v2", 1),
                format!("{prefix} {}*", &value[..value.len() - 1]),
                format!("{prefix} {}", "é".repeat(value.len() / 2)),
            ] {
                assert!(!is_key(&bad), "{bad:?}");
            }
        }
        assert_eq!(lines[3].len(), PUBLIC.len() + 1 + Public::CHARS);
        assert_eq!(Public::CHARS, 3544);
    }
}
