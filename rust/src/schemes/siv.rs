//! Authenticated encryption that survives a repeated nonce (synthetic IV): Mix `key`, `nonce`, `ad`; Fork
//! `role`; one branch derives the tag from the plaintext, the other masks the plaintext under the tag.
//!
//! Deterministic authenticated encryption: a repeated nonce reveals only whether nonce, associated data and message
//! were all the same, as long as no two different messages have the same tag. Expect equal tags only after about 2^64
//! messages under one key. A forgery succeeds with probability 2^-128 per try. The nonce may have any length, even
//! zero; the key has 32 bytes; the ciphertext is 16 bytes longer than the message, which is read twice. If nonces never
//! repeat, [`aead`](crate::aead) is about twice as fast.
//!
//! A message that is too long for memory is encrypted in two passes, by a [`Tagger`] and its [`Encryptor`], and
//! decrypted in one, by a [`Decryptor`]. However a message is divided, the ciphertext is the same.
//!
//! ```
//! use veriplex::{Key, label, os_rng, siv::Siv};
//!
//! let key = Key::generate(&mut os_rng());
//! let siv = Siv::new(label!("com.example.siv"), &key);
//! let sealed = siv.seal_vec(b"", b"header", b"message");
//! assert_eq!(siv.open_vec(b"", b"header", &sealed)?, b"message");
//! # Ok::<(), veriplex::Error>(())
//! ```

use subtle::{Choice, ConstantTimeEq};

use crate::base::forms::with_nonce;
use crate::base::in_out::{self, InOut};
use crate::{Error, Key, Label, Protocol, TAG_LEN, label};

/// A SIV cipher under one key, which is a [`Key`], not a password:
///
/// ```compile_fail,E0308
/// let siv = veriplex::siv::Siv::new(veriplex::label!("example"), "password");
/// ```
#[derive(Clone, Debug)]
pub struct Siv(Protocol);

impl zeroize::ZeroizeOnDrop for Siv {}

impl Siv {
    /// A SIV cipher under this key.
    #[must_use]
    pub fn new(domain: Label<'_>, key: &Key) -> Self {
        Self::from_protocol(Protocol::keyed(domain, key))
    }

    /// A SIV cipher under the key in a protocol: for keys of other lengths, or for a key that a longer transcript
    /// agreed on.
    ///
    /// [`Siv::new`] is this with Init `domain`, Mix `key`. Without a secret in `keyed`, anyone can open and forge.
    #[must_use]
    pub const fn from_protocol(keyed: Protocol) -> Self {
        Self(keyed)
    }

    /// Starts to encrypt a message in pieces.
    #[must_use]
    pub fn tagger(&self, nonce: &(impl AsRef<[u8]> + ?Sized), ad: &[u8]) -> Tagger {
        let branches = branches(&self.0, nonce.as_ref(), ad);
        let mut auth = branches[0].clone();
        auth.mix_begin(label!("message"));
        Tagger { auth, branches }
    }

    /// Starts to decrypt in pieces the message with this tag.
    pub fn decryptor(
        &self,
        nonce: &(impl AsRef<[u8]> + ?Sized),
        ad: &[u8],
        tag: &[u8; TAG_LEN],
    ) -> Decryptor {
        Decryptor(Pass::new(branches(&self.0, nonce.as_ref(), ad), *tag))
    }

    /// What all forms of encryption do.
    fn seal(&self, nonce: &[u8], ad: &[u8], data: InOut<'_>) -> [u8; TAG_LEN] {
        seal(&self.0, nonce, ad, data)
    }

    /// What all forms of decryption do. If the tag is wrong, the output is all zeros.
    fn open(&self, nonce: &[u8], ad: &[u8], data: InOut<'_>, received: &[u8; TAG_LEN]) -> Result<(), Error> {
        open(&self.0, nonce, ad, data, received)
    }
}

with_nonce!(Siv, [], [], (impl AsRef<[u8]> + ?Sized), 16);

/// The first pass over a message in pieces: computes the tag.
///
/// ```
/// use veriplex::{Key, label, os_rng, siv::Siv};
///
/// let siv = Siv::new(label!("com.example.siv"), &Key::generate(&mut os_rng()));
/// let mut message = *b"a long message";
/// let mut tagger = siv.tagger(b"", b"header");
/// message.chunks(4).for_each(|piece| tagger.update(piece));
/// let (tag, mut encryptor) = tagger.finish();
/// message.chunks_mut(5).for_each(|piece| encryptor.update(piece));
/// encryptor.finish()?; // it was the same message
///
/// let mut decryptor = siv.decryptor(b"", b"header", &tag);
/// message.chunks_mut(6).for_each(|piece| decryptor.update(piece));
/// decryptor.finish()?; // before this nothing is verified
/// assert_eq!(message, *b"a long message");
/// # Ok::<(), veriplex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tagger {
    auth: Protocol,
    /// As they were before the message.
    branches: [Protocol; 2],
}

impl zeroize::ZeroizeOnDrop for Tagger {}

impl Tagger {
    /// Absorbs the next piece of the message.
    pub fn update(&mut self, input: &[u8]) {
        self.auth.mix_more(input);
    }

    /// The tag, 16 bytes, and the second pass.
    pub fn finish(mut self) -> ([u8; TAG_LEN], Encryptor) {
        let tag = self.auth.derive_array(label!("tag"));
        (tag, Encryptor(Pass::new(self.branches, tag)))
    }
}

/// The second pass over a message in pieces: encrypts it. Made by [`Tagger::finish`].
///
/// It must be the same message. Ciphertexts of two messages under one tag show how far they agree, and the XOR of what
/// follows. So if the message can change between the passes, release no ciphertext before [`Encryptor::finish`]
/// succeeds.
#[must_use = "call `finish` at the end: without it the message may be another one than that of the tag"]
#[derive(Clone, Debug)]
pub struct Encryptor(Pass<TAG_LEN>);

impl zeroize::ZeroizeOnDrop for Encryptor {}

impl Encryptor {
    /// Encrypts the next piece in place.
    pub fn update(&mut self, in_out: &mut [u8]) {
        self.0.auth.mix_more(in_out);
        self.0.conf.mask_more(in_out);
    }

    /// Ends the message.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if this was not the message of the first pass.
    pub fn finish(self) -> Result<(), Error> {
        self.0.finish()
    }
}

/// Decrypts a message in pieces. Made by [`Siv::decryptor`].
///
/// Its output is unverified until [`Decryptor::finish`] succeeds. Do not release it before, and wipe it if it does not.
#[must_use = "call `finish` at the end: without it nothing is verified"]
#[derive(Clone, Debug)]
pub struct Decryptor(Pass<TAG_LEN>);

impl zeroize::ZeroizeOnDrop for Decryptor {}

impl Decryptor {
    /// Decrypts the next piece in place.
    pub fn update(&mut self, in_out: &mut [u8]) {
        self.0.conf.unmask_more(&mut *in_out);
        self.0.auth.mix_more(in_out);
    }

    /// Verifies the message.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if nonce, associated data, ciphertext or tag are not what was sealed.
    pub fn finish(self) -> Result<(), Error> {
        self.0.finish()
    }
}

/// A pass over a message whose tag is known: both branches have begun with it.
#[derive(Clone, Debug)]
struct Pass<const N: usize> {
    auth: Protocol,
    conf: Protocol,
    tag: [u8; N],
}

impl<const N: usize> Pass<N> {
    fn new([mut auth, conf]: [Protocol; 2], tag: [u8; N]) -> Self {
        auth.mix_begin(label!("message"));
        Self {
            auth,
            conf: masking(conf, &tag),
            tag,
        }
    }

    fn verified(&mut self) -> Choice {
        self.auth.derive_array::<N>(label!("tag")).ct_eq(&self.tag)
    }

    fn finish(mut self) -> Result<(), Error> {
        in_out::release_or_wipe(self.verified(), &mut [])
    }
}

/// Encrypts under the key in `keyed`, with a tag of `N` bytes.
pub(crate) fn seal<const N: usize>(keyed: &Protocol, nonce: &[u8], ad: &[u8], data: InOut<'_>) -> [u8; N] {
    let [mut auth, conf] = branches(keyed, nonce, ad);
    auth.mix(label!("message"), data.input());
    let tag = auth.derive_array(label!("tag"));
    masking(conf, &tag).mask_more(data);
    tag
}

/// Decrypts. If the tag is wrong, the output is all zeros.
pub(crate) fn open<const N: usize>(
    keyed: &Protocol,
    nonce: &[u8],
    ad: &[u8],
    mut data: InOut<'_>,
    received: &[u8; N],
) -> Result<(), Error> {
    let mut pass = Pass::new(branches(keyed, nonce, ad), *received);
    pass.conf.unmask_more(data.reborrow());
    pass.auth.mix_more(data.output());
    in_out::release_or_wipe(pass.verified(), data.output())
}

fn branches(keyed: &Protocol, nonce: &[u8], ad: &[u8]) -> [Protocol; 2] {
    keyed.message(nonce, ad).fork(label!("role"), ["auth", "conf"])
}

/// The branch that masks or unmasks the message with this tag.
fn masking(mut conf: Protocol, tag: &[u8]) -> Protocol {
    conf.mix(label!("tag"), tag);
    conf.mask_begin(label!("message"));
    conf
}
