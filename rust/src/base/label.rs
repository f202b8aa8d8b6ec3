//! Labels, and the macro for constant ones.

use core::fmt;

use crate::Error;

/// The name of an operation, or the domain of a protocol: at most 91 bytes.
///
/// Labels separate uses of a protocol from each other and are part of its transcript. They are public
/// constants of the application; write them with [`label!`](crate::label), which checks the length at
/// compile time. For strings known only at run time, [`Label::new`] returns an error.
///
/// # Why 91 bytes
///
/// Newplex allows labels of any length, and so its framing is not injective. A frame that begins at rate
/// position 93 leaves no trace in the state, because the byte that it writes there completes the block
/// and resets the frame index. With a label of 92 bytes (or 92 more than a multiple of the 94-byte rate)
/// both frames of one operation can fall on that position. Then a transcript with that operation reaches
/// the same state as a different one without it. With at most 91 bytes, at most one of the two frames can
/// vanish, and a transcript can be decoded in only one way. With labels of up to 91 bytes, the outputs are
/// those of Newplex.
///
/// ```
/// use veriplex::{Error, Label, label};
///
/// let constant = label!("com.example.app");
/// let run_time = Label::new(b"com.example.app")?;
/// assert_eq!(constant, run_time);
/// assert_eq!(Label::new(&[b'x'; 92]), Err(Error::LabelTooLong));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label<'a>(&'a [u8]);

impl<'a> Label<'a> {
    /// The longest label in bytes: the rate of 94 minus three.
    pub const MAX_LEN: usize = 91;

    /// A label of these bytes. Any bytes will do, as in Newplex; of a string at run time,
    /// `Label::try_from(text)` is the same as of its UTF-8.
    ///
    /// ```
    /// use veriplex::{Label, label};
    ///
    /// let tenant = format!("com.example.app.{}", 7);
    /// assert_eq!(Label::try_from(tenant.as_str())?, label!("com.example.app.7"));
    /// # Ok::<(), veriplex::Error>(())
    /// ```
    ///
    /// Two strings that look alike may have different bytes, and so be different labels. Do not put secrets into a
    /// label: its length decides branches, and `Debug` shows it.
    ///
    /// # Errors
    ///
    /// [`Error::LabelTooLong`] for more than [`Label::MAX_LEN`] bytes.
    pub const fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        if bytes.len() > Self::MAX_LEN {
            return Err(Error::LabelTooLong);
        }
        Ok(Self(bytes))
    }

    /// The bytes of the label.
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }
}

impl<'a> TryFrom<&'a [u8]> for Label<'a> {
    type Error = Error;

    fn try_from(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::new(bytes)
    }
}

impl<'a> TryFrom<&'a str> for Label<'a> {
    type Error = Error;

    fn try_from(text: &'a str) -> Result<Self, Error> {
        Self::new(text.as_bytes())
    }
}

impl fmt::Debug for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Label(\"{}\")", self.0.escape_ascii())
    }
}

/// A constant [`Label`], its length checked at compile time.
///
/// ```
/// use veriplex::label;
///
/// assert_eq!(label!("key").as_bytes(), b"key");
/// ```
///
/// A label of 92 bytes does not compile:
///
/// ```compile_fail
/// veriplex::label!("92 bytes: ..................................................................................");
/// ```
///
/// A label of 91 bytes does:
///
/// ```
/// veriplex::label!("91 bytes: .................................................................................");
/// ```
#[macro_export]
macro_rules! label {
    ($text:expr) => {{
        // An item, because `cargo check` does not evaluate a `const` block.
        const LABEL: $crate::Label<'static> = match $crate::Label::new(str::as_bytes($text)) {
            Ok(label) => label,
            Err(_) => panic!("a label has at most 91 bytes"),
        };
        LABEL
    }};
}
