//! What the fuzz targets share.

pub mod pipe;

use arbitrary::Arbitrary;
use veriplex::Label;
use veriplex::hazmat::RATE;
use veriplex::keys::PrivateKey;

/// A label or a domain: the first 91 bytes of the input.
#[derive(Clone, Arbitrary, Debug)]
pub struct Name(Vec<u8>);

impl Name {
    pub fn bytes(&self) -> &[u8] {
        &self.0[..self.0.len().min(Label::MAX_LEN)]
    }

    pub fn label(&self) -> Label<'_> {
        Label::new(self.bytes()).expect("at most 91 bytes")
    }
}

/// A key, named by a small number, so that the same ones come again.
#[derive(Clone, Copy, Arbitrary, Debug, PartialEq, Eq)]
pub struct Named(pub u8);

/// The private key of this name: a canonical scalar, not zero.
pub fn scalar(name: u8) -> [u8; 32] {
    let mut scalar = [0; 32];
    scalar[0] = name;
    scalar[1] = 1;
    scalar
}

/// The public key of this name.
pub fn element(name: u8) -> [u8; 32] {
    *PrivateKey::from_bytes(&scalar(name))
        .expect("a scalar")
        .public_key()
        .as_bytes()
}

/// Data that is often longer than the input it is made from, so that it soon fills blocks.
#[derive(Clone, Arbitrary, Debug)]
pub enum Data {
    Bytes(Vec<u8>),
    Repeated {
        byte: u8,
        len: u16,
    },
    /// About the size of this many duplex blocks.
    Edge {
        byte: u8,
        blocks: u8,
        more: u8,
    },
}

impl Data {
    pub fn bytes(&self) -> Vec<u8> {
        match *self {
            Self::Bytes(ref bytes) => bytes.clone(),
            Self::Repeated { byte, len } => vec![byte; usize::from(len % 600)],
            Self::Edge { byte, blocks, more } => {
                vec![byte; usize::from(blocks % 5) * RATE + usize::from(more % 5)]
            }
        }
    }
}

/// A change to bytes in transit.
#[derive(Clone, Arbitrary, Debug)]
pub enum Change {
    Flip { place: usize, bit: u8 },
    Cut { place: usize },
    Insert { place: usize, bytes: Vec<u8> },
    Remove { start: usize, len: usize },
    Repeat { start: usize, len: usize },
    Replace(Vec<u8>),
}

impl Change {
    pub fn apply(&self, bytes: &mut Vec<u8>) {
        // We reduce places modulo the length, so that nearly every change has an effect.
        let within = |place: usize, n: usize| place.checked_rem(n).unwrap_or(0);
        let n = bytes.len();
        let range = |start, len| {
            let start = within(start, n);
            start..start + within(len, n - start + 1)
        };
        match self {
            Self::Flip { .. } if n == 0 => {}
            Self::Flip { place, bit } => bytes[within(*place, n)] ^= 1 << (bit % 8),
            Self::Cut { place } => bytes.truncate(within(*place, n + 1)),
            Self::Insert { place, bytes: more } => {
                let place = within(*place, n + 1);
                bytes.splice(place..place, more.iter().copied());
            }
            Self::Remove { start, len } => drop(bytes.drain(range(*start, *len))),
            // Stop repeated doubling.
            Self::Repeat { .. } if n > 1 << 16 => {}
            Self::Repeat { start, len } => {
                let again = bytes[range(*start, *len)].to_vec();
                let end = range(*start, *len).end;
                bytes.splice(end..end, again);
            }
            Self::Replace(other) => bytes.clone_from(other),
        }
    }
}
