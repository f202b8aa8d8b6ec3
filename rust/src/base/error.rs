//! The errors that modules share.

use core::fmt;

/// What can go wrong in more than one module. No variant reveals anything about a secret.
///
/// A [`Protocol`](crate::Protocol) is as it was before a call that returned an error. A stream that has failed stays
/// failed: every later call is an error.
///
/// A message that a peer did not send, or should not have sent, is [`Error::Verification`], whatever is wrong with it.
/// Decoding a key, an element or a state on its own has its own errors: [`Error::InvalidKey`], [`Error::InvalidState`].
///
/// What goes wrong in one module only has an error of that module, `frost::Error` or [`mhf::Error`](crate::mhf::Error).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// A label or domain is longer than [`Label::MAX_LEN`](crate::Label::MAX_LEN) bytes.
    LabelTooLong,
    /// A buffer of the caller has the wrong length for this operation.
    BufferLength,
    /// Fork was asked for more than 255 branches.
    TooManyBranches,
    /// A ciphertext, tag, message of a protocol, signature, proof or stream is not what its owner made: forged,
    /// changed, cut or badly encoded.
    Verification,
    /// A sealed message is shorter than any that its scheme makes.
    TooShort,
    /// Serialised bytes are not a state.
    InvalidState,
    /// Bytes are not a key or an element: of the wrong length, not a canonical encoding, or that of the identity or of
    /// zero. Or random bytes gave zero or the identity: a probability of about 2^-252, unless the generator is broken.
    InvalidKey,
    /// A bound of the scheme is reached; the function that returns it says which.
    LimitReached,
    /// A number is outside of the range that the function names.
    OutOfRange,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LabelTooLong => "label longer than 91 bytes",
            Self::BufferLength => "buffer of the wrong length",
            Self::TooManyBranches => "more than 255 branches",
            Self::Verification => "verification failed",
            Self::TooShort => "message shorter than any that is sealed",
            Self::InvalidState => "not a serialised state",
            Self::InvalidKey => "not a valid key or element",
            Self::LimitReached => "a bound of the scheme is reached",
            Self::OutOfRange => "number out of range",
        })
    }
}

impl core::error::Error for Error {}

/// With this error inside. The kind is `InvalidData` for what somebody else sent or stored, as the readers of this crate
/// have it, and `InvalidInput` for what the caller did.
#[cfg(feature = "std")]
impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        use std::io::ErrorKind;

        let kind = match error {
            Error::Verification | Error::TooShort | Error::InvalidState | Error::InvalidKey => {
                ErrorKind::InvalidData
            }
            Error::LabelTooLong
            | Error::BufferLength
            | Error::TooManyBranches
            | Error::LimitReached
            | Error::OutOfRange => ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}
