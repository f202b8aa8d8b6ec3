//! Files sealed to public keys:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `VPX-SEAL` |
//! | 1 | version, 0x01 |
//! | 1 | the number of receivers, 1 to 255 |
//! | 80 for each | ephemeral public key (32), sealed file key (48) |
//! | the rest | [`segments`](crate::segments) under the file key |
//!
//! The file key is 32 random bytes. It is sealed for each receiver by the protocol of `veriplex::hpke` in the domain
//! `veriplex.seal.v1`, then Mix `header` (the first ten bytes), Seal `file-key`. The header of the segments is everything
//! before them.

use std::collections::HashSet;

use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::{Key, Label, Protocol, TAG_LEN, hpke, label, with_wiped_stack};
use zeroize::Zeroizing;

use crate::crypt::{Kind, Range, SALT_LEN, other_version, random, read_array};
use crate::error::Error;
use crate::files::{Input, Output};
use crate::segments::Segments;

const VERSION: u8 = 1;
const DOMAIN: Label<'static> = label!("veriplex.seal.v1");
const FILE_KEY_LEN: usize = 32;
const STANZA_LEN: usize = PublicKey::LEN + FILE_KEY_LEN + TAG_LEN;
/// How many receivers there can be.
const MAX_RECEIVERS: usize = 255;

type FileKey = Zeroizing<[u8; FILE_KEY_LEN]>;

fn with_header(mut protocol: Protocol, header: &[u8]) -> Protocol {
    protocol.mix(label!("header"), header);
    protocol
}

/// Seals a file so that each of these can open it.
pub fn seal_file(
    input: Input,
    output: Output,
    sender: &PrivateKey,
    receivers: &HashSet<PublicKey>,
) -> Result<(), Error> {
    let count = u8::try_from(receivers.len())
        .map_err(|_| Error::usage("--to", format_args!("more than {MAX_RECEIVERS} receivers")))?;
    let mut file_key = FileKey::default();
    random(file_key.as_mut_slice())?;
    let mut salt = [0; SALT_LEN];
    random(&mut salt)?;
    let mut header = Kind::Sealed.header(VERSION);
    header.push(count);
    let first = header.clone();
    let mut rng = veriplex::os_rng();
    for receiver in receivers {
        let (ephemeral, protocol) =
            with_wiped_stack(|| hpke::setup_sender(DOMAIN, sender, receiver, &mut rng))
                .map_err(|error| Error::io("key", error))?;
        let mut sealed = file_key.clone();
        let tag =
            with_header(protocol, &first).seal_in_place_detached(label!("file-key"), sealed.as_mut_slice());
        header.extend_from_slice(&ephemeral);
        header.extend_from_slice(sealed.as_slice());
        header.extend_from_slice(&tag);
    }
    let segments = Segments {
        key: &Key::from(*file_key),
        header: &header,
        salt: &salt,
    };
    segments.seal(input, output)
}

/// Opens what one sender sealed to one or several keys.
pub fn unseal_file(
    mut input: Input,
    output: Output,
    receiver: &PrivateKey,
    sender: &PublicKey,
) -> Result<(), Error> {
    let version = Kind::Sealed.read_version(&mut input)?;
    if version != VERSION {
        return Err(other_version(&input.name));
    }
    let [count] = read_array(&mut input, "encrypted")?;
    let mut header = Kind::Sealed.header(version);
    header.push(count);
    let first = header.clone();
    let mut found = None;
    for _ in 0..count {
        let stanza: [u8; STANZA_LEN] = read_array(&mut input, "encrypted")?;
        header.extend_from_slice(&stanza);
        if found.is_none() {
            found = open_stanza(&stanza, &first, receiver, sender);
        }
    }
    let Some(file_key) = found else {
        return Err(Error::unverified(
            &input.name,
            "not sealed to this key by this sender, or its first bytes are damaged",
        ));
    };
    let segments = Segments {
        key: &Key::from(*file_key),
        header: &header,
        salt: &read_array(&mut input, "encrypted")?,
    };
    segments.open(input, output, Range::default(), "its first bytes are damaged")
}

fn open_stanza(
    stanza: &[u8; STANZA_LEN],
    first: &[u8],
    receiver: &PrivateKey,
    sender: &PublicKey,
) -> Option<FileKey> {
    let (ephemeral, rest) = stanza.split_first_chunk()?;
    let (sealed, tag) = rest.split_first_chunk()?;
    let mut file_key = Zeroizing::new(*sealed);
    let protocol = with_wiped_stack(|| hpke::setup_receiver(DOMAIN, receiver, sender, ephemeral)).ok()?;
    with_header(protocol, first)
        .open_in_place_detached(label!("file-key"), file_key.as_mut_slice(), tag.try_into().ok()?)
        .ok()?;
    Some(file_key)
}
