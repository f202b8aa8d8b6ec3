//! Files sealed to a public key.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `VPX-SEAL` |
//! | 1 | version, 0x01 |
//! | 32 | ephemeral public key |
//! | the rest | the plaintext as an aestream, to its end; nothing follows |
//!
//! The stream's protocol is that of `veriplex::hpke` in the domain `veriplex.seal.v1`, then Mix `header` (the first nine bytes).

use std::path::Path;

use veriplex::{Label, Protocol, hpke, label};

use crate::crypt::{Job, open_stream, read_array, seal_stream};
use crate::error::Error;
use crate::files::printable;
use crate::keypair;

const HEADER: &[u8; 9] = b"VPX-SEAL\x01";
const MAGIC_LEN: usize = 8;
const DOMAIN: Label<'static> = label!("veriplex.seal.v1");
/// The extension of a sealed file.
const EXTENSION: &str = "sealed";
/// How it is made.
const SEALED: &str = "sealed";

fn with_header(mut protocol: Protocol) -> Protocol {
    protocol.mix(label!("header"), HEADER);
    protocol
}

pub fn seal_file(job: &Job<'_>, key_file: &Path, to: &str) -> Result<(), Error> {
    let sender = keypair::read_private(key_file)?;
    let receiver = keypair::one(to)?;
    let (ephemeral, protocol) = hpke::setup_sender(DOMAIN, &sender, &receiver, &mut veriplex::os_rng())
        .map_err(|error| Error::io(&printable(key_file), error))?;
    let output = job.output_of_ciphertext(EXTENSION)?;
    let input = job.input(&output)?;
    seal_stream(&[HEADER, &ephemeral], with_header(protocol), input, output)
}

pub fn unseal_file(job: &Job<'_>, key_file: &Path, from: &str) -> Result<(), Error> {
    let destination = job.decrypted(EXTENSION)?;
    let receiver = keypair::read_private(key_file)?;
    let sender = keypair::one(from)?;
    let output = job.output(&destination)?;
    let mut input = job.input(&output)?;
    let header: [u8; HEADER.len()] = read_array(&mut input, SEALED)?;
    if header[..MAGIC_LEN] != HEADER[..MAGIC_LEN] {
        return Err(Error::unverified(&input.name, "not sealed by veriplex"));
    }
    if header != *HEADER {
        return Err(Error::unverified(
            &input.name,
            "made by another version of veriplex",
        ));
    }
    let ephemeral = read_array(&mut input, SEALED)?;
    let protocol = hpke::setup_receiver(DOMAIN, &receiver, &sender, &ephemeral)
        .map_err(|error| Error::unverified(&input.name, error))?;
    open_stream(with_header(protocol), input, output)
}
