//! [`Protocol`]: the operations over the duplex, framed.

#[cfg(feature = "std")]
pub(crate) mod io;
pub(crate) mod many;
#[cfg(all(test, feature = "std"))]
mod model;
#[cfg(veriplex_proofs)]
mod proofs;
mod stream;
#[cfg(feature = "alloc")]
mod vec;

use subtle::{Choice, ConstantTimeEq};

pub use stream::{MaskStream, MixStream, UnmaskStream};

use crate::base::in_out::{self, InOut};
use crate::base::timing::Timing;
use crate::base::wipe::opaque;
use crate::duplex::framing::Op;
use crate::duplex::{Duplex, FirstBlock};
use crate::{Error, Key, Label, TAG_LEN, label};

/// A transcript of operations from which outputs are drawn: the framework that every scheme is built on.
///
/// Two protocols that ran the same operations, with the same labels and data, have the same state. Any
/// difference makes their outputs independent. Every output depends on all that came before it. See
/// `design.md`, section "Protocol".
///
/// An operation that returns an error leaves the protocol as it was.
///
/// Equality is in constant time. The state is wiped on drop; [`Debug`] shows none of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Protocol {
    duplex: Duplex,
}

impl Protocol {
    /// Size in bytes of a serialised protocol.
    pub const SERIALIZED_LEN: usize = Duplex::SERIALIZED_LEN;
    /// The largest number of branches that Fork can make.
    pub const MAX_BRANCHES: usize = 255;

    /// Init: a new protocol in this domain, a string unique to the application and its purpose.
    #[must_use]
    #[inline]
    pub fn new(domain: Label<'_>) -> Self {
        let mut protocol = Self {
            duplex: Duplex::new(),
        };
        protocol.header(Op::Init, domain);
        protocol
    }

    /// How the symmetric schemes begin: Init, Mix `key`.
    pub(crate) fn keyed(domain: Label<'_>, key: &Key) -> Self {
        let mut protocol = Self::new(domain);
        protocol.mix(label!("key"), key.as_bytes());
        protocol
    }

    /// How a message begins under a key: on a copy, Mix `nonce`, Mix `ad`.
    pub(crate) fn message(&self, nonce: &[u8], ad: &[u8]) -> Self {
        let mut protocol = self.clone();
        protocol.mix(label!("nonce"), nonce);
        protocol.mix(label!("ad"), ad);
        protocol
    }

    /// How the streams begin: the same, then Mix `nonce`.
    pub(crate) fn keyed_with_nonce<const N: usize>(domain: Label<'_>, key: &Key, nonce: &[u8; N]) -> Self {
        const { assert!(N >= 16, "a nonce has at least 16 bytes") };
        let mut protocol = Self::keyed(domain, key);
        protocol.mix(label!("nonce"), nonce);
        protocol
    }

    /// Mix: takes `input` of any length into the transcript.
    #[inline]
    pub fn mix(&mut self, label: Label<'_>, input: &[u8]) {
        let _timing = Timing::independent();
        self.header(Op::Mix, label);
        self.duplex.absorb(input);
    }

    /// Mix in pieces: the same as one [`Protocol::mix`] of their concatenation.
    ///
    /// The stream borrows the protocol, so nothing else can use it until the stream is dropped:
    ///
    /// ```compile_fail,E0499
    /// # use veriplex::{Protocol, label};
    /// let mut protocol = Protocol::new(label!("example"));
    /// let mut stream = protocol.mix_stream(label!("data"));
    /// protocol.ratchet(label!("too early"));
    /// stream.update(b"more");
    /// ```
    pub fn mix_stream(&mut self, label: Label<'_>) -> MixStream<'_> {
        let _timing = Timing::independent();
        self.header(Op::Mix, label);
        MixStream(&mut self.duplex)
    }

    /// Derive: fills `output` with pseudorandom bytes that depend on the transcript and on their number.
    #[inline]
    pub fn derive(&mut self, label: Label<'_>, output: &mut [u8]) {
        let _timing = Timing::independent();
        self.derive_begin(label, output.len());
        self.duplex.squeeze(output);
    }

    /// [`Protocol::derive`] of an array.
    #[inline]
    #[must_use]
    pub fn derive_array<const N: usize>(&mut self, label: Label<'_>) -> [u8; N] {
        let mut output = [0; N];
        self.derive(label, &mut output);
        output
    }

    /// Mask: encrypts in place, without authentication. The ciphertext enters the transcript.
    pub fn mask(&mut self, label: Label<'_>, in_out: &mut [u8]) {
        self.mask_stream(label).update(in_out);
    }

    /// Unmask: the inverse of [`Protocol::mask`].
    pub fn unmask(&mut self, label: Label<'_>, in_out: &mut [u8]) {
        self.unmask_stream(label).update(in_out);
    }

    /// [`Protocol::mask`] from one buffer into another.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if the lengths differ.
    pub fn mask_into(
        &mut self,
        label: Label<'_>,
        plaintext: &[u8],
        ciphertext: &mut [u8],
    ) -> Result<(), Error> {
        let data = InOut::out_of_place(plaintext, ciphertext)?;
        self.mask_begin(label);
        self.mask_more(data);
        Ok(())
    }

    /// [`Protocol::unmask`] from one buffer into another.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if the lengths differ.
    pub fn unmask_into(
        &mut self,
        label: Label<'_>,
        ciphertext: &[u8],
        plaintext: &mut [u8],
    ) -> Result<(), Error> {
        let data = InOut::out_of_place(ciphertext, plaintext)?;
        self.mask_begin(label);
        self.unmask_more(data);
        Ok(())
    }

    /// Mask in pieces: the same as one [`Protocol::mask`] of their concatenation.
    pub fn mask_stream(&mut self, label: Label<'_>) -> MaskStream<'_> {
        self.mask_begin(label);
        MaskStream(&mut self.duplex)
    }

    /// Unmask in pieces: the same as one [`Protocol::unmask`] of their concatenation.
    pub fn unmask_stream(&mut self, label: Label<'_>) -> UnmaskStream<'_> {
        self.mask_begin(label);
        UnmaskStream(&mut self.duplex)
    }

    /// Seal: encrypts in place and returns the tag of 16 bytes.
    #[must_use = "without its tag, what was sealed cannot be opened"]
    pub fn seal_in_place_detached(&mut self, label: Label<'_>, in_out: &mut [u8]) -> [u8; TAG_LEN] {
        self.seal(label, in_out)
    }

    /// Open: decrypts in place if the tag is right.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if the tag is wrong; `in_out` is then all zeros.
    pub fn open_in_place_detached(
        &mut self,
        label: Label<'_>,
        in_out: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Error> {
        self.open(label, in_out, tag)
    }

    /// Seal in place: the last 16 bytes of `in_out` are room for the tag.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if `in_out` has fewer than 16 bytes.
    pub fn seal_in_place(&mut self, label: Label<'_>, in_out: &mut [u8]) -> Result<(), Error> {
        in_out::seal_in_place(in_out, |data| Ok(([], self.seal(label, data))))
    }

    /// Open in place: `in_out` is the ciphertext with its tag of 16 bytes; returns the plaintext.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if the tag is wrong, and then the ciphertext is overwritten with zeros;
    /// [`Error::TooShort`] if there are fewer than 16 bytes.
    pub fn open_in_place<'b>(
        &mut self,
        label: Label<'_>,
        in_out: &'b mut [u8],
    ) -> Result<&'b mut [u8], Error> {
        in_out::open_in_place(in_out, |[], data, tag| self.open(label, data, tag))
    }

    /// Seal from one buffer into another, which is 16 bytes longer.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if it is not.
    pub fn seal_into(&mut self, label: Label<'_>, plaintext: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        in_out::seal_into(plaintext, sealed, |data| Ok(([], self.seal(label, data))))
    }

    /// Open from one buffer into another, which is 16 bytes shorter.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if the tag is wrong, [`Error::TooShort`] if `sealed` has fewer than 16 bytes; `plaintext` is
    /// then all zeros. [`Error::BufferLength`] if `plaintext` has the wrong length.
    pub fn open_into(&mut self, label: Label<'_>, sealed: &[u8], plaintext: &mut [u8]) -> Result<(), Error> {
        in_out::open_into(sealed, plaintext, |[], data, tag| self.open(label, data, tag))
    }

    /// Fork: `N` branches, each with its number and value mixed in, independent of each other and of the
    /// protocol itself, which goes on as the root.
    ///
    /// More than 255 branches do not compile:
    ///
    /// ```compile_fail
    /// # use veriplex::{Protocol, label};
    /// # fn main() {
    /// let mut protocol = Protocol::new(label!("example"));
    /// let branches = protocol.fork(label!("role"), [b"".as_slice(); 256]);
    /// # }
    /// ```
    ///
    /// ```
    /// # use veriplex::{Protocol, label};
    /// let mut protocol = Protocol::new(label!("example"));
    /// let [mut alice, mut bob] = protocol.fork(label!("role"), ["alice", "bob"]);
    /// assert_ne!(alice.derive_array::<32>(label!("key")), bob.derive_array::<32>(label!("key")));
    /// ```
    #[must_use]
    pub fn fork<const N: usize, V: AsRef<[u8]>>(&mut self, label: Label<'_>, values: [V; N]) -> [Self; N] {
        let _timing = Timing::independent();
        const { assert!(N <= Self::MAX_BRANCHES, "at most 255 branches") };
        let base = self.fork_base(label);
        let mut number = 0;
        values.map(|value| {
            number += 1;
            base.branch(number, value.as_ref())
        })
    }

    /// Fork into as many branches as there are values, without allocation: `take` receives them in order,
    /// each with its number, which starts at 1.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyBranches`] for more than 255 values.
    #[allow(clippy::missing_panics_doc)] // the numbers fit: their count was checked
    pub fn fork_each(
        &mut self,
        label: Label<'_>,
        values: &[&[u8]],
        mut take: impl FnMut(u8, Self),
    ) -> Result<(), Error> {
        let _timing = Timing::independent();
        let count = u8::try_from(values.len()).map_err(|_| Error::TooManyBranches)?;
        let base = self.fork_base(label);
        for (number, value) in (1..=count).zip(values) {
            take(number, base.branch(number, value));
        }
        Ok(())
    }

    /// Ratchet: makes it infeasible to run the state backwards.
    pub fn ratchet(&mut self, label: Label<'_>) {
        let _timing = Timing::independent();
        self.header(Op::Ratchet, label);
        self.duplex.ratchet();
    }

    /// Wipes the state. What remains is a protocol without domain, key or transcript: start again with
    /// [`Protocol::new`]. Dropping a protocol wipes it too.
    pub fn clear(&mut self) {
        self.duplex.clear();
    }

    /// The state as 130 bytes, to be restored by [`Protocol::from_bytes`]. They are as secret as the protocol.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::SERIALIZED_LEN] {
        self.duplex.to_bytes()
    }

    /// Restores a state.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidState`] if an index is not below 94, or the frame index is neither 0 nor below the rate index.
    /// No protocol has such indices; all others, with any 128 bytes, are taken for a state.
    pub fn from_bytes(bytes: &[u8; Self::SERIALIZED_LEN]) -> Result<Self, Error> {
        // An operation absorbs at least the byte that begins its last frame. So that byte, if it is in this block, lies
        // before the cursor.
        let [rate_idx, frame_idx, ..] = *bytes;
        if frame_idx != 0 && frame_idx >= rate_idx {
            return Err(Error::InvalidState);
        }
        Duplex::from_bytes(bytes).map(|duplex| Self { duplex })
    }

    /// Becomes a copy.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.duplex.copy_from(&other.duplex);
    }

    /// Opens a Mix whose data follows through [`Protocol::mix_more`]: for schemes that own their protocol.
    pub(crate) fn mix_begin(&mut self, label: Label<'_>) {
        let _timing = Timing::independent();
        self.header(Op::Mix, label);
    }

    /// Data of the Mix that [`Protocol::mix_begin`] opened.
    pub(crate) fn mix_more(&mut self, input: &[u8]) {
        let _timing = Timing::independent();
        self.duplex.absorb(input);
    }

    /// Opens a Mask or an Unmask whose data follows through [`Protocol::mask_more`] or [`Protocol::unmask_more`].
    pub(crate) fn mask_begin(&mut self, label: Label<'_>) {
        let _timing = Timing::independent();
        self.header(Op::Mask, label);
        self.duplex.permute();
    }

    /// Encrypts data of the Mask that [`Protocol::mask_begin`] opened.
    pub(crate) fn mask_more<'b>(&mut self, data: impl Into<InOut<'b>>) {
        let _timing = Timing::independent();
        match data.into().buffers() {
            (None, in_out) => self.duplex.encrypt(in_out),
            (Some(plaintext), ciphertext) => self.duplex.encrypt_into(plaintext, ciphertext),
        }
    }

    /// Decrypts data of the Unmask that [`Protocol::mask_begin`] opened.
    pub(crate) fn unmask_more<'b>(&mut self, data: impl Into<InOut<'b>>) {
        let _timing = Timing::independent();
        match data.into().buffers() {
            (None, in_out) => self.duplex.decrypt(in_out),
            (Some(ciphertext), plaintext) => self.duplex.decrypt_into(ciphertext, plaintext),
        }
    }

    /// Seal in every form.
    pub(crate) fn seal<'b>(&mut self, label: Label<'_>, data: impl Into<InOut<'b>>) -> [u8; TAG_LEN] {
        let _timing = Timing::independent();
        let data = data.into();
        self.seal_begin(label, data.len());
        self.mask_more(data);
        self.tag()
    }

    /// Open in every form. If the tag is wrong, the output is all zeros, and the protocol is as it was.
    #[cfg_attr(veriplex_proofs, inline(always))]
    pub(crate) fn open<'b>(
        &mut self,
        label: Label<'_>,
        data: impl Into<InOut<'b>>,
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Error> {
        let before = self.clone();
        let opened = self.open_last(label, data, tag);
        if opened.is_err() {
            *self = before;
        }
        opened
    }

    /// [`Protocol::open`], where a protocol that failed is not used again: it is not as it was.
    #[cfg_attr(veriplex_proofs, inline(always))]
    pub(crate) fn open_last<'b>(
        &mut self,
        label: Label<'_>,
        data: impl Into<InOut<'b>>,
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Error> {
        let _timing = Timing::independent();
        let mut data = data.into();
        self.seal_begin(label, data.len());
        self.unmask_more(data.reborrow());
        in_out::release_or_wipe(self.tag().ct_eq(tag), data.output())
    }

    #[cfg_attr(veriplex_proofs, inline(never))]
    fn seal_begin(&mut self, label: Label<'_>, len: usize) {
        self.header(Op::Seal, label);
        self.duplex.number(len);
        self.duplex.permute();
    }

    /// A number as data of that Mix, as unsigned LEB128.
    pub(crate) fn mix_more_leb128(&mut self, number: usize) {
        let _timing = Timing::independent();
        self.duplex.number(number);
    }

    /// Init, Mix of each input, Derive. What does not complete a block is put together at once.
    #[inline]
    pub(crate) fn derive_from<const N: usize>(
        domain: Label<'_>,
        inputs: [(Label<'_>, &[u8]); N],
        label: Label<'_>,
        output: &mut [u8],
    ) {
        let _timing = Timing::independent();
        let mut block = FirstBlock::new();
        if Self::derive_begin_in(&mut block, domain, inputs, label, output.len()).is_some() {
            let duplex = block.as_duplex();
            duplex.permute();
            return duplex.squeeze(output);
        }
        let mut protocol = Self::new(domain);
        for (label, input) in inputs {
            protocol.mix(label, input);
        }
        protocol.derive(label, output);
    }

    #[inline(always)]
    fn derive_begin_in<const N: usize>(
        block: &mut FirstBlock,
        domain: Label<'_>,
        inputs: [(Label<'_>, &[u8]); N],
        label: Label<'_>,
        len: usize,
    ) -> Option<()> {
        block.header(Op::Init.code(), domain.as_bytes())?;
        for (label, input) in inputs {
            block.header(Op::Mix.code(), label.as_bytes())?;
            block.absorb(input)?;
        }
        block.header(Op::Derive.code(), label.as_bytes())?;
        block.number(len)
    }

    /// [`Protocol::derive`], whose output is also data of the Mix that is open in `other`.
    pub(crate) fn derive_and_mix(&mut self, label: Label<'_>, output: &mut [u8], other: &mut Self) {
        let _timing = Timing::independent();
        self.derive_begin(label, output.len());
        self.duplex.squeeze_and_absorb(output, &mut other.duplex);
    }

    /// Opens a Derive of `len` bytes, which [`Protocol::derive_more`] gives.
    #[inline]
    pub(crate) fn derive_begin(&mut self, label: Label<'_>, len: usize) {
        let _timing = Timing::independent();
        self.header(Op::Derive, label);
        self.duplex.number(len);
        self.duplex.permute();
    }

    /// The next bytes of the Derive that [`Protocol::derive_begin`] opened.
    #[cfg(feature = "rustcrypto")]
    pub(crate) fn derive_more(&mut self, output: &mut [u8]) {
        let _timing = Timing::independent();
        self.duplex.squeeze(output);
    }

    #[inline]
    fn header(&mut self, op: Op, label: Label<'_>) {
        self.duplex.header(op.code(), label.as_bytes());
    }

    #[cfg_attr(veriplex_proofs, inline(never))]
    fn tag(&mut self) -> [u8; TAG_LEN] {
        let mut tag = [0; TAG_LEN];
        self.duplex.permute();
        self.duplex.squeeze(&mut tag);
        tag
    }

    /// Completes the Fork of this protocol, before code of the caller, which may panic, sees a branch. Returns what the
    /// branches start from.
    fn fork_base(&mut self, label: Label<'_>) -> Self {
        self.header(Op::Fork, label);
        let base = self.clone();
        self.duplex.absorb_byte(0);
        base
    }

    /// A branch of this base.
    fn branch(&self, number: u8, value: &[u8]) -> Self {
        let mut branch = self.clone();
        branch.duplex.absorb_byte(number);
        branch.duplex.absorb(value);
        branch
    }
}

impl ConstantTimeEq for Protocol {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.duplex.ct_eq(&other.duplex)
    }
}

impl zeroize::ZeroizeOnDrop for Protocol {}

impl TryFrom<&[u8]> for Protocol {
    type Error = Error;

    /// [`Protocol::from_bytes`], where any length but 130 is an error too.
    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes(bytes.try_into().map_err(|_| Error::InvalidState)?)
    }
}

opaque!(Protocol);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duplex::framing::{RATE, leb128, leb128_len};

    /// The definition: digits of seven bits, the least first, the top bit set on all but the last, none of them needless.
    fn digits(number: u64) -> ([u8; 10], usize) {
        let mut digits = [0; 10];
        let len = (u64::BITS - number.leading_zeros()).div_ceil(7).max(1) as usize;
        for (i, digit) in digits[..len].iter_mut().enumerate() {
            *digit = u8::try_from((number >> (7 * i)) & 0x7f).unwrap() | if i + 1 < len { 0x80 } else { 0 };
        }
        (digits, len)
    }

    #[test]
    fn numbers_are_leb128_at_every_boundary() {
        assert_eq!(digits(0), ([0; 10], 1));
        assert_eq!(digits(300), ([0xac, 0x02, 0, 0, 0, 0, 0, 0, 0, 0], 2));
        assert_eq!(digits(u64::MAX).1, 10);
        let start = Protocol::new(crate::label!("veriplex.test.leb128"));
        let powers = (0..u64::BITS).map(|k| 1 << k);
        for number in powers
            .flat_map(|power: u64| [power - 1, power, power + 1])
            .chain([u64::MAX - 1, u64::MAX])
        {
            // Where `usize` is smaller there is no such length.
            let Ok(length) = usize::try_from(number) else {
                continue;
            };
            let (digits, len) = digits(number);
            let (mut computed, mut defined) = (start.clone(), start.clone());
            computed.duplex.number(length);
            defined.duplex.absorb(&digits[..len]);
            assert_eq!(computed.to_bytes(), defined.to_bytes(), "{number}");
            // As many at once compute it, byte by byte.
            assert_eq!(leb128_len(length), len, "{number}");
            for (place, digit) in digits[..len].iter().enumerate() {
                assert_eq!(leb128(length >> (7 * place)).0, *digit, "{number}, {place}");
            }
        }
    }

    /// Whether or not it completes a block.
    #[test]
    fn derive_from_is_init_mix_derive() {
        let data: [u8; 200] = core::array::from_fn(|i| u8::try_from(i).unwrap());
        let label = |len: usize| Label::new(&data[100..][..len]).unwrap();
        let check = |domain: usize, inputs: [(usize, usize); 2], derive: usize, len: usize| {
            let [first, second] = inputs.map(|(name, len)| (label(name), &data[..len]));
            let mut defined = Protocol::new(label(domain));
            defined.mix(first.0, first.1);
            let mut of_one = [0; 200];
            defined.clone().derive(label(derive), &mut of_one[..len]);
            defined.mix(second.0, second.1);
            let mut of_two = [0; 200];
            defined.derive(label(derive), &mut of_two[..len]);

            let mut output = [0; 200];
            Protocol::derive_from(label(domain), [first], label(derive), &mut output[..len]);
            assert_eq!(output, of_one, "{domain} {inputs:?} {derive} {len}");
            output.fill(0);
            Protocol::derive_from(label(domain), [first, second], label(derive), &mut output[..len]);
            assert_eq!(output, of_two, "{domain} {inputs:?} {derive} {len}");
        };
        for len in [0, 1, 16, 32, 127, 128, 200] {
            for long in 0..=Label::MAX_LEN {
                check(long, [(7, 16), (3, 2)], 6, len);
                check(10, [(long, 16), (3, 2)], 6, len);
                check(10, [(7, 16), (3, 2)], long, len);
            }
            for long in 0..=data.len() {
                check(10, [(7, long), (3, 2)], 6, len);
                check(10, [(7, 16), (3, long)], 6, len);
            }
        }
    }

    /// At every position of a block, with and without a frame: from buffer to buffer as in place, and two duplexes in
    /// turns as one after the other.
    #[test]
    fn forms_of_the_duplex_agree() {
        let data: [u8; 300] = core::array::from_fn(|i| u8::try_from(i % 251).unwrap());
        let at = |position: usize, framed: bool| {
            let mut duplex = Duplex::new();
            if framed {
                duplex.frame(5);
            }
            duplex.absorb(&data[..position]);
            duplex
        };
        for (position, framed) in (0..RATE).flat_map(|position| [(position, false), (position, true)]) {
            for len in [0, 1, 43, 93, 94, 95, 188, 300] {
                let (mut a, mut b) = (at(position, framed), at(position, framed));
                let (mut separate, mut in_place) = ([0; 300], data);
                a.encrypt_into(&data[..len], &mut separate[..len]);
                b.encrypt(&mut in_place[..len]);
                assert_eq!(separate[..len], in_place[..len], "encrypt {len} at {position}");
                assert!(a == b, "encrypt {len} at {position}");

                in_place = data;
                a.decrypt_into(&data[..len], &mut separate[..len]);
                b.decrypt(&mut in_place[..len]);
                assert_eq!(separate[..len], in_place[..len], "decrypt {len} at {position}");
                assert!(a == b, "decrypt {len} at {position}");

                let (mut c, mut d) = (at(RATE - position, framed), at(RATE - position, framed));
                a.squeeze_and_absorb(&mut separate[..len], &mut c);
                b.squeeze(&mut in_place[..len]);
                d.absorb(&in_place[..len]);
                assert_eq!(separate[..len], in_place[..len], "squeeze {len} at {position}");
                assert!(a == b && c == d, "squeeze {len} at {position}");
            }
        }
    }

    #[test]
    fn a_duplex_has_indices_below_the_rate() {
        for (index, good) in [(0, true), (93, true), (94, false), (255, false)] {
            for place in [0, 1] {
                let mut bytes = [0; Duplex::SERIALIZED_LEN];
                bytes[place] = index;
                assert_eq!(Duplex::from_bytes(&bytes).is_ok(), good, "{index} at {place}");
            }
        }
    }
}
