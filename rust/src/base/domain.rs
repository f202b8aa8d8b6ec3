//! What functions take as a domain, with a message of the compiler for those who give a string.

use crate::Label;

/// What a [`Label`] is, and a string is not. The functions that one calls first take it in the place of a `Label`, so that
/// the compiler's message about a string names the macro:
///
/// ```compile_fail,E0277
/// let hash = veriplex::digest::digest("com.example.files", b"message"); // error: write `label!("...")`
/// ```
///
/// ```
/// let hash = veriplex::digest::digest(veriplex::label!("com.example.files"), b"message");
/// ```
#[diagnostic::on_unimplemented(
    message = "a domain is a `Label`, not a `{Self}`",
    label = "write `label!(\"...\")`",
    note = "`Label::try_from` makes a label of a string that is known only at run time"
)]
pub trait Domain: Copy {
    /// The label.
    fn label(&self) -> Label<'_>;
}

impl Domain for Label<'_> {
    #[inline]
    fn label(&self) -> Label<'_> {
        *self
    }
}
