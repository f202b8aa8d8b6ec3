//! Files sealed to public keys.
//!
//! To one:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `VPX-SEAL` |
//! | 1 | version, 0x01 |
//! | 32 | ephemeral public key |
//! | the rest | the plaintext as an aestream, to its end; nothing follows |
//!
//! The stream's protocol is that of `veriplex::hpke` in the domain `veriplex.seal.v1`, then Mix `header` (the first nine bytes).
//!
//! To several:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `VPX-SEAL` |
//! | 1 | version, 0x02 |
//! | 1 | the number of receivers, 1 to 255 |
//! | 80 for each | ephemeral public key (32), sealed file key (48) |
//! | the rest | the plaintext as an aestream, to its end; nothing follows |
//!
//! The file key is 32 random bytes. It is sealed for each receiver by the protocol of `veriplex::hpke` in the domain
//! `veriplex.seal.v2`, then Mix `header` (the first ten bytes), Seal `file-key`. The stream's protocol is Init
//! `veriplex.seal.v2.stream`, Mix `header` (everything before the stream), Mix `key` (the file key).

use std::collections::HashSet;

use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::{Label, Protocol, TAG_LEN, hpke, label, with_wiped_stack};
use zeroize::Zeroizing;

use crate::crypt::{Job, Range, open_stream, random, read_array, seal_stream};
use crate::error::Error;
use crate::files::Input;

/// What every sealed file begins with.
pub const MAGIC: &[u8; 8] = b"VPX-SEAL";
const VERSION_1: u8 = 1;
const VERSION_2: u8 = 2;
const DOMAIN: Label<'static> = label!("veriplex.seal.v1");
const DOMAIN_2: Label<'static> = label!("veriplex.seal.v2");
const FILE_KEY_LEN: usize = 32;
const STANZA_LEN: usize = PublicKey::LEN + FILE_KEY_LEN + TAG_LEN;
/// How many receivers there can be.
const MAX_RECEIVERS: usize = 255;
/// The extension of a sealed file.
const EXTENSION: &str = "sealed";
/// How it is made.
const SEALED: &str = "sealed";

fn header(version: u8) -> Vec<u8> {
    [MAGIC.as_slice(), &[version]].concat()
}

fn with_header(mut protocol: Protocol, header: &[u8]) -> Protocol {
    protocol.mix(label!("header"), header);
    protocol
}

/// The stream of version 2.
fn stream(head: &[u8], file_key: &[u8; FILE_KEY_LEN]) -> Protocol {
    let mut protocol = with_header(Protocol::new(label!("veriplex.seal.v2.stream")), head);
    protocol.mix(label!("key"), file_key);
    protocol
}

/// Seals a file so that each of these can open it.
pub fn seal_file(job: &Job<'_>, sender: &PrivateKey, receivers: &HashSet<PublicKey>) -> Result<(), Error> {
    let failed = |error| Error::io("key", error);
    let mut rng = veriplex::os_rng();
    let receivers: Vec<&PublicKey> = receivers.iter().collect();
    let (head, keyed) = if let [receiver] = receivers[..] {
        let mut head = header(VERSION_1);
        let (ephemeral, protocol) =
            with_wiped_stack(|| hpke::setup_sender(DOMAIN, sender, receiver, &mut rng)).map_err(failed)?;
        let keyed = with_header(protocol, &head);
        head.extend_from_slice(&ephemeral);
        (head, keyed)
    } else {
        let count = u8::try_from(receivers.len())
            .map_err(|_| Error::usage("--to", format_args!("more than {MAX_RECEIVERS} receivers")))?;
        let mut file_key = Zeroizing::new([0; FILE_KEY_LEN]);
        random(file_key.as_mut_slice())?;
        let mut head = header(VERSION_2);
        head.push(count);
        let first = head.clone();
        for receiver in receivers {
            let (ephemeral, protocol) =
                with_wiped_stack(|| hpke::setup_sender(DOMAIN_2, sender, receiver, &mut rng))
                    .map_err(failed)?;
            let mut sealed = file_key.clone();
            let tag = with_header(protocol, &first)
                .seal_in_place_detached(label!("file-key"), sealed.as_mut_slice());
            head.extend_from_slice(&ephemeral);
            head.extend_from_slice(sealed.as_slice());
            head.extend_from_slice(&tag);
        }
        let keyed = stream(&head, &file_key);
        (head, keyed)
    };
    let output = job.output_of_ciphertext(EXTENSION)?;
    let input = job.input(&output)?;
    seal_stream(&[&head], keyed, input, output)
}

/// Opens what one sender sealed to one or several keys.
pub fn unseal_file(job: &Job<'_>, receiver: &PrivateKey, sender: &PublicKey) -> Result<(), Error> {
    let output = job.output_of_plaintext(&job.decrypted(EXTENSION)?)?;
    let mut input = job.ciphertext(&output)?;
    let found: [u8; MAGIC.len()] = read_array(&mut input, SEALED)?;
    if found != *MAGIC {
        let reason = if found == *b"VERIPLEX" {
            "encrypted with a key or a password: veriplex decrypt opens it"
        } else {
            "not a sealed veriplex file: it does not begin with VPX-SEAL"
        };
        return Err(Error::unverified(&input.name, reason));
    }
    let keyed = match read_array(&mut input, SEALED)? {
        [VERSION_1] => {
            let ephemeral = read_array(&mut input, SEALED)?;
            let protocol = with_wiped_stack(|| hpke::setup_receiver(DOMAIN, receiver, sender, &ephemeral))
                .map_err(|error| Error::unverified(&input.name, error))?;
            with_header(protocol, &header(VERSION_1))
        }
        [VERSION_2] => read_stanzas(&mut input, receiver, sender)?,
        _ => {
            return Err(Error::unverified(
                &input.name,
                "made by another version of veriplex",
            ));
        }
    };
    open_stream(keyed, input, output, Range::default())
}

/// The stream of version 2, whose file key one of the receivers' parts gives.
fn read_stanzas(input: &mut Input, receiver: &PrivateKey, sender: &PublicKey) -> Result<Protocol, Error> {
    let mut head = header(VERSION_2);
    let [count] = read_array(input, SEALED)?;
    head.push(count);
    let first = head.clone();
    let mut found = None;
    for _ in 0..count {
        let stanza: [u8; STANZA_LEN] = read_array(input, SEALED)?;
        head.extend_from_slice(&stanza);
        if found.is_none() {
            found = open_stanza(&stanza, &first, receiver, sender);
        }
    }
    match found {
        Some(file_key) => Ok(stream(&head, &file_key)),
        None => Err(Error::unverified(
            &input.name,
            "verification failed: not sealed to this key by this sender, or damaged",
        )),
    }
}

fn open_stanza(
    stanza: &[u8; STANZA_LEN],
    first: &[u8],
    receiver: &PrivateKey,
    sender: &PublicKey,
) -> Option<Zeroizing<[u8; FILE_KEY_LEN]>> {
    let (ephemeral, rest) = stanza.split_first_chunk()?;
    let (sealed, tag) = rest.split_first_chunk()?;
    let mut file_key = Zeroizing::new(*sealed);
    let protocol = with_wiped_stack(|| hpke::setup_receiver(DOMAIN_2, receiver, sender, ephemeral)).ok()?;
    with_header(protocol, first)
        .open_in_place_detached(label!("file-key"), file_key.as_mut_slice(), tag.try_into().ok()?)
        .ok()?;
    Some(file_key)
}
