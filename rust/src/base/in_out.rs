//! The ways to seal and open a message: in place, from one buffer into another, or into a new vector, with the extra
//! bytes of the sealed message around the ciphertext or in a buffer of their own (detached).

#[cfg(feature = "alloc")]
use alloc::{vec, vec::Vec};

use subtle::Choice;

use crate::Error;
use crate::base::wipe::wipe;

/// The data of an operation: one buffer transformed in place, or an input and an output of the same length.
#[derive(Default)]
pub(crate) struct InOut<'b> {
    input: Option<&'b [u8]>,
    output: &'b mut [u8],
}

impl<'b> From<&'b mut [u8]> for InOut<'b> {
    fn from(in_out: &'b mut [u8]) -> Self {
        Self {
            input: None,
            output: in_out,
        }
    }
}

impl<'b> InOut<'b> {
    /// # Errors
    ///
    /// [`Error::BufferLength`] if the lengths differ.
    pub(crate) fn out_of_place(input: &'b [u8], output: &'b mut [u8]) -> Result<Self, Error> {
        if input.len() != output.len() {
            return Err(Error::BufferLength);
        }
        Ok(Self {
            input: Some(input),
            output,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.output.len()
    }

    /// The data still to be transformed.
    pub(crate) fn input(&self) -> &[u8] {
        self.input.unwrap_or(self.output)
    }

    /// The output, whether transformed or to be wiped.
    pub(crate) fn output(&mut self) -> &mut [u8] {
        self.output
    }

    /// Reborrows the data, for one of several operations.
    pub(crate) fn reborrow(&mut self) -> InOut<'_> {
        InOut {
            input: self.input,
            output: self.output,
        }
    }

    /// The input, if it is separate.
    #[inline(always)]
    pub(crate) const fn apart(&self) -> Option<&'b [u8]> {
        self.input
    }

    /// The input, if it is separate, and the output.
    pub(crate) fn buffers(self) -> (Option<&'b [u8]>, &'b mut [u8]) {
        (self.input, self.output)
    }
}

/// Copies between buffers of the same length.
///
/// # Errors
///
/// [`Error::BufferLength`] if the lengths differ.
#[cfg(any(feature = "adiantum", feature = "xoofff"))]
pub(crate) fn copy(from: &[u8], to: &mut [u8]) -> Result<(), Error> {
    if from.len() != to.len() {
        return Err(Error::BufferLength);
    }
    to.copy_from_slice(from);
    Ok(())
}

/// Releases the opened plaintext if it is verified, otherwise wipes it.
#[cfg_attr(not(veriplex_proofs), inline(never))] // tests/ct refers to it by name: the result is public
#[cfg_attr(veriplex_proofs, inline(always))] // SAW cannot run how LLVM returns it: as a pair of which a part is undefined
pub(crate) fn release_or_wipe(verified: Choice, opened: &mut [u8]) -> Result<(), Error> {
    if verified.into() {
        Ok(())
    } else {
        wipe(opened);
        Err(Error::Verification)
    }
}

/// Transforms into a new vector.
#[cfg(feature = "alloc")]
pub(crate) fn transform_vec(input: &[u8], transform: impl FnOnce(InOut<'_>)) -> Vec<u8> {
    let mut output = vec![0; input.len()];
    transform(InOut {
        input: Some(input),
        output: &mut output,
    });
    output
}

/// Seals in place the plaintext between room for `HEAD` and `TAIL` bytes, which `seal` returns.
pub(crate) fn seal_in_place<const HEAD: usize, const TAIL: usize>(
    in_out: &mut [u8],
    seal: impl FnOnce(InOut<'_>) -> Result<([u8; HEAD], [u8; TAIL]), Error>,
) -> Result<(), Error> {
    let (head, message, tail) = parts_mut(in_out).ok_or(Error::BufferLength)?;
    (*head, *tail) = seal(message.into())?;
    Ok(())
}

/// Seals into another buffer: `HEAD` bytes, ciphertext, `TAIL` bytes.
pub(crate) fn seal_into<const HEAD: usize, const TAIL: usize>(
    plaintext: &[u8],
    sealed: &mut [u8],
    seal: impl FnOnce(InOut<'_>) -> Result<([u8; HEAD], [u8; TAIL]), Error>,
) -> Result<(), Error> {
    let (head, message, tail) = parts_mut(sealed).ok_or(Error::BufferLength)?;
    (*head, *tail) = seal(InOut::out_of_place(plaintext, message)?)?;
    Ok(())
}

/// [`seal_into`] a new vector.
#[cfg(feature = "alloc")]
pub(crate) fn seal_vec<const HEAD: usize, const TAIL: usize, E>(
    plaintext: &[u8],
    seal: impl FnOnce(InOut<'_>) -> Result<([u8; HEAD], [u8; TAIL]), E>,
) -> Result<Vec<u8>, E> {
    let mut sealed = vec![0; HEAD + plaintext.len() + TAIL];
    let (first, rest) = sealed.split_at_mut(HEAD);
    let (message, last) = rest.split_at_mut(plaintext.len());
    let (head, tail) = seal(InOut {
        input: Some(plaintext),
        output: message,
    })?;
    first.copy_from_slice(&head);
    last.copy_from_slice(&tail);
    Ok(sealed)
}

/// Opens in place a message sealed by [`seal_in_place`]. `open` wipes any data that it cannot verify.
pub(crate) fn open_in_place<const HEAD: usize, const TAIL: usize>(
    in_out: &mut [u8],
    open: impl FnOnce(&[u8; HEAD], InOut<'_>, &[u8; TAIL]) -> Result<(), Error>,
) -> Result<&mut [u8], Error> {
    let (head, message, tail) = parts_mut(in_out).ok_or(Error::TooShort)?;
    open(head, InOut::from(&mut *message), tail)?;
    Ok(message)
}

/// Opens into another buffer. `open` wipes any data that it cannot verify.
pub(crate) fn open_into<const HEAD: usize, const TAIL: usize>(
    sealed: &[u8],
    plaintext: &mut [u8],
    open: impl FnOnce(&[u8; HEAD], InOut<'_>, &[u8; TAIL]) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some((head, message, tail)) = parts(sealed) else {
        wipe(plaintext);
        return Err(Error::TooShort);
    };
    open(head, InOut::out_of_place(message, plaintext)?, tail)
}

/// Opens into a new vector.
#[cfg(feature = "alloc")]
pub(crate) fn open_vec<const HEAD: usize, const TAIL: usize>(
    sealed: &[u8],
    open: impl FnOnce(&[u8; HEAD], InOut<'_>, &[u8; TAIL]) -> Result<(), Error>,
) -> Result<Vec<u8>, Error> {
    let mut plaintext = vec![0; sealed.len().saturating_sub(HEAD + TAIL)];
    open_into(sealed, &mut plaintext, open)?;
    Ok(plaintext)
}

type Parts<'b, const HEAD: usize, const TAIL: usize> = (&'b [u8; HEAD], &'b [u8], &'b [u8; TAIL]);
type PartsMut<'b, const HEAD: usize, const TAIL: usize> =
    (&'b mut [u8; HEAD], &'b mut [u8], &'b mut [u8; TAIL]);

fn parts<const HEAD: usize, const TAIL: usize>(sealed: &[u8]) -> Option<Parts<'_, HEAD, TAIL>> {
    let (head, rest) = sealed.split_first_chunk()?;
    let (message, tail) = rest.split_last_chunk()?;
    Some((head, message, tail))
}

fn parts_mut<const HEAD: usize, const TAIL: usize>(sealed: &mut [u8]) -> Option<PartsMut<'_, HEAD, TAIL>> {
    let (head, rest) = sealed.split_first_chunk_mut()?;
    let (message, tail) = rest.split_last_chunk_mut()?;
    Some((head, message, tail))
}
