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

use veriplex::{Error as SchemeError, Label, Protocol, hpke, label};

use crate::crypt::{Job, open, read_array, read_header, seal};
use crate::error::Error;
use crate::files::printable;
use crate::keypair;

const HEADER: &[u8; 9] = b"VPX-SEAL\x01";
const DOMAIN: Label<'static> = label!("veriplex.seal.v1");
/// The extension of a sealed file.
const EXTENSION: &str = "sealed";

fn with_header(mut protocol: Protocol) -> Protocol {
    protocol.mix(label!("header"), HEADER);
    protocol
}

pub fn seal_file(job: &Job<'_>, key_file: &Path, to: &str) -> Result<(), Error> {
    let sender = keypair::read_private(key_file)?;
    let receiver = keypair::one(to)?;
    let (ephemeral, protocol) = hpke::setup_sender(DOMAIN, &sender, &receiver, &mut veriplex::os_rng())
        .map_err(|error| Error::io(&printable(key_file), error))?;
    let (input, output) = job.open_to_seal(EXTENSION)?;
    seal(input, output, &[HEADER, &ephemeral], with_header(protocol))
}

pub fn unseal_file(job: &Job<'_>, key_file: &Path, from: &str) -> Result<(), Error> {
    let destination = job.destination_of_opened(EXTENSION)?;
    let receiver = keypair::read_private(key_file)?;
    let sender = keypair::one(from)?;
    let (mut input, output) = job.open_to_open(&destination)?;
    read_header(&mut input, HEADER, "sealed")?;
    let ephemeral = read_array(&mut input, "sealed")?;
    let protocol = hpke::setup_receiver(DOMAIN, &receiver, &sender, &ephemeral)
        .map_err(|error: SchemeError| Error::unverified(&input.get_ref().name, error))?;
    open(input, output, with_header(protocol))
}
