//! Files sealed to public keys:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `VPX-SEAL` |
//! | 1 | version: 0x01; 0x02 if the sender is unknown |
//! | 1 | the number of receivers, 1 to 255 |
//! | 1168 for each | encapsulation (1120), sealed file key (48) |
//! | 1 | 0x00: it holds a file; 0x01: a folder, as a tar stream |
//! | the rest | [`segments`](crate::segments) under the file key |
//!
//! The file key is 32 random bytes. It is sealed for each receiver by the protocol of `veriplex::hybrid` in the domain
//! `veriplex.seal.v1`, then Mix `header` (the first ten bytes), Seal `file-key`. The header of the segments is everything
//! before them.
//!
//! The sender of version 0x02 is [`keys::of_nobody`]. Everybody has that key, so it authenticates nothing. The message
//! is as confidential as any, since confidentiality does not depend on the sender's key.

use std::collections::BTreeMap;

use veriplex::hybrid::{self, ENCAPSULATION_LEN, Fingerprint, PrivateKey, PublicKey};
use veriplex::{Key, Label, TAG_LEN, label};
use veriplex_files::crypt::{Content, Kind, Range, SALT_LEN, generator, other_version, random, read_array};
use veriplex_files::error::Error;
use veriplex_files::files::{Input, Output};
use zeroize::Zeroizing;

use crate::keys::{self, Named};
use crate::segments::Segments;

const KNOWN: u8 = 1;
const UNKNOWN: u8 = 2;
const DOMAIN: Label<'static> = label!("veriplex.seal.v1");
const FILE_KEY_LEN: usize = 32;
const STANZA_LEN: usize = ENCAPSULATION_LEN + FILE_KEY_LEN + TAG_LEN;
/// How many receivers there can be.
const MAX_RECEIVERS: usize = 255;

type FileKey = Zeroizing<[u8; FILE_KEY_LEN]>;

/// Public keys by fingerprint: each once, in an order that reveals nothing.
pub type Receivers = BTreeMap<[u8; Fingerprint::LEN], PublicKey>;

/// Seals a file so that each of these can open it, and learns its sender if there is one.
pub fn seal_file(
    input: Input,
    output: Output,
    sender: Option<&PrivateKey>,
    receivers: &Receivers,
) -> Result<(), Error> {
    let count = u8::try_from(receivers.len())
        .map_err(|_| Error::usage("--to", format_args!("more than {MAX_RECEIVERS} receivers")))?;
    let mut file_key = FileKey::default();
    random(file_key.as_mut_slice())?;
    let mut salt = [0; SALT_LEN];
    random(&mut salt)?;
    let mut header = Kind::Sealed.header(if sender.is_some() { KNOWN } else { UNKNOWN });
    header.push(count);
    let first = header.clone();
    let sender = sender.cloned().map_or_else(keys::of_nobody, Ok)?;
    let mut rng = generator()?;
    for receiver in receivers.values() {
        let (encapsulation, mut protocol) = hybrid::setup_sender(DOMAIN, &sender, receiver, &mut rng)
            .map_err(|error| Error::io("key", error))?;
        let mut sealed = file_key.clone();
        protocol.mix(label!("header"), &first);
        let tag = protocol.seal_in_place_detached(label!("file-key"), sealed.as_mut_slice());
        header.extend_from_slice(&*encapsulation);
        header.extend_from_slice(sealed.as_slice());
        header.extend_from_slice(&tag);
    }
    header.push(Content::of(&input) as u8);
    let segments = Segments {
        key: &Key::from(*file_key),
        header: &header,
        salt: &salt,
    };
    segments.seal(input, output)
}

/// Opens what one of these senders sealed, and tells which one, or what was sealed anonymously.
pub fn unseal_file<'s>(
    mut input: Input,
    output: Output,
    receiver: &PrivateKey,
    senders: Option<&'s [Named]>,
) -> Result<Option<&'s Named>, Error> {
    let version = Kind::Sealed.read_version(&mut input)?;
    let wrong = |reason| Err(Error::unverified(&input.name, reason));
    match (version, senders) {
        (KNOWN, Some(_)) | (UNKNOWN, None) => {}
        (KNOWN, None) => return wrong("has a sender: name it with --from"),
        (UNKNOWN, Some(_)) => return wrong("has no sender (--anonymous opens it all the same)"),
        _ => return Err(other_version(&input.name)),
    }
    let [count] = read_array(&mut input, "encrypted")?;
    let mut header = Kind::Sealed.header(version);
    header.push(count);
    let first = header.clone();
    let nobody;
    let candidates: Vec<_> = if let Some(senders) = senders {
        senders
            .iter()
            .map(|named| (&named.key.seal, Some(named)))
            .collect()
    } else {
        nobody = keys::of_nobody()?;
        vec![(nobody.public_key(), None)]
    };
    let mut found = None;
    for _ in 0..count {
        let stanza: [u8; STANZA_LEN] = read_array(&mut input, "encrypted")?;
        header.extend_from_slice(&stanza);
        if found.is_none() {
            found = candidates
                .iter()
                .find_map(|(sender, named)| Some((open_stanza(&stanza, &first, receiver, sender)?, *named)));
        }
    }
    let Some((file_key, sender)) = found else {
        let reason = match senders {
            None => "not sealed to this key, or its first bytes are damaged",
            Some([_]) => "not sealed to this key by this sender, or its first bytes are damaged",
            Some(_) => "not sealed to this key by one of these senders, or its first bytes are damaged",
        };
        return Err(Error::unverified(&input.name, reason));
    };
    header.extend::<[u8; 1]>(read_array(&mut input, "encrypted")?);
    let segments = Segments {
        key: &Key::from(*file_key),
        header: &header,
        salt: &read_array(&mut input, "encrypted")?,
    };
    segments.open(input, output, Range::default(), "its first bytes are damaged")?;
    Ok(sender)
}

fn open_stanza(
    stanza: &[u8; STANZA_LEN],
    first: &[u8],
    receiver: &PrivateKey,
    sender: &PublicKey,
) -> Option<FileKey> {
    let (encapsulation, rest) = stanza.split_first_chunk()?;
    let (sealed, tag) = rest.split_first_chunk()?;
    let mut file_key = Zeroizing::new(*sealed);
    let mut protocol = hybrid::setup_receiver(DOMAIN, receiver, sender, encapsulation).ok()?;
    protocol.mix(label!("header"), first);
    protocol
        .open_in_place_detached(label!("file-key"), file_key.as_mut_slice(), tag.try_into().ok()?)
        .ok()?;
    Some(file_key)
}
