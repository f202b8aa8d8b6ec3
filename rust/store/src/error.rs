//! Why an object cannot be read or written.

use std::error::Error;
use std::fmt;
use std::iter;

use object_store::path::Path;

/// The name under which this crate's errors appear in [`object_store::Error::Generic`].
pub(crate) const STORE: &str = "veriplex-store";

/// Why an object cannot be read or written: the source of an [`object_store::Error::Generic`] of this crate.
///
/// It names the object. It holds no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectError {
    path: Path,
    reason: Reason,
}

/// What is wrong with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// No sealed object has this length: it was cut, or it is not a sealed object.
    Length,
    /// It does not begin as a sealed object does.
    Header,
    /// It was sealed in segments of this other length.
    SegmentLength(u32),
    /// It was sealed under another key or context, or its header was damaged.
    Key,
    /// The key is right, but the object was damaged or cut, or sealed for another path.
    Verification,
    /// The store returned other bytes than it was asked for, or fewer.
    Answer,
    /// The object was replaced again and again while it was read.
    Changed,
    /// The range asked for is empty or begins after the object's end.
    Range(String),
    /// The object would be too large.
    TooLarge,
    /// An upload was completed before all its parts were uploaded, or it was used after its end.
    Upload,
}

impl ObjectError {
    pub(crate) fn new(path: &Path, reason: Reason) -> Self {
        let path = path.clone();
        Self { path, reason }
    }

    /// The object's path in the store.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is wrong with it.
    #[must_use]
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    /// The error of this crate in an error of the store, if it is one.
    #[must_use]
    pub fn of(error: &object_store::Error) -> Option<&Self> {
        match error {
            object_store::Error::Generic { source, .. } => source.downcast_ref(),
            _ => None,
        }
    }

    /// The error of this crate in what an engine made of it: it is searched for among the sources.
    #[must_use]
    pub fn in_chain<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        iter::successors(Some(error), |&error| error.source()).find_map(|error| error.downcast_ref())
    }
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object {:?}: ", self.path.as_ref())?;
        match &self.reason {
            Reason::Length => {
                f.write_str("no sealed object has this length: it was cut, or it is not sealed")
            }
            Reason::Header => f.write_str("it does not begin as a sealed object"),
            Reason::SegmentLength(found) => write!(f, "it was sealed in segments of {found} bytes"),
            Reason::Key => f.write_str("wrong key or context, or a damaged header"),
            Reason::Verification => f.write_str("damaged, cut, or sealed for another path"),
            Reason::Answer => f.write_str("the store did not return the bytes it was asked for"),
            Reason::Changed => f.write_str("it was replaced again and again while it was read"),
            Reason::Range(error) => f.write_str(error),
            Reason::TooLarge => f.write_str("too large"),
            Reason::Upload => f.write_str("the upload has unfinished parts, or has ended"),
        }
    }
}

impl Error for ObjectError {}

impl From<ObjectError> for object_store::Error {
    fn from(error: ObjectError) -> Self {
        Self::Generic {
            store: STORE,
            source: error.into(),
        }
    }
}
