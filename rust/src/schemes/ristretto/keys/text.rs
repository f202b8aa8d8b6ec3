//! Hex and PEM of keys, in constant time for texts that are valid. There is one text for each key.

use pem_rfc7468::LineEnding;
use subtle::ConstantTimeEq;

use crate::Error;
use crate::base::wipe::Secret;

const LEN: usize = 32;
/// The longest PEM, of the key of an OPRF server, has 125 bytes.
pub(super) const PEM_MAX: usize = 128;

/// Writes PEM.
pub(crate) fn pem<'b>(label: &str, bytes: &[u8], buffer: &'b mut [u8]) -> &'b str {
    pem_rfc7468::encode(label, LineEnding::LF, bytes, buffer).expect("the buffer is large enough")
}

/// # Errors
///
/// [`Error::InvalidKey`] unless the text is what [`pem`] writes; only the ends of its lines may differ.
pub(super) fn from_pem(label: &str, text: &str) -> Result<Secret<[u8; LEN]>, Error> {
    from_long_pem::<LEN, PEM_MAX>(label, text)
}

/// [`from_pem`] of N bytes, whose text has at most MAX.
pub(crate) fn from_long_pem<const N: usize, const MAX: usize>(
    label: &str,
    text: &str,
) -> Result<Secret<[u8; N]>, Error> {
    let mut buffer = Secret::new([0; MAX]);
    let text = with_plain_ends(text, buffer.as_mut_slice()).ok_or(Error::InvalidKey)?;
    let mut bytes = Secret::new([0; N]);
    match pem_rfc7468::decode(text, bytes.as_mut_slice()) {
        Ok((_, decoded)) if decoded.len() == N => {}
        _ => return Err(Error::InvalidKey),
    }
    // The decoder allows any label, text before the first line and other lengths of lines.
    let mut buffer = Secret::new([0; MAX]);
    let canonical = pem(label, bytes.as_slice(), buffer.as_mut_slice()).as_bytes();
    if canonical.ct_eq(text).into() {
        Ok(bytes)
    } else {
        Err(Error::InvalidKey)
    }
}

/// The text with a newline after each line, instead of `\r\n`, blanks, or nothing after the last one; none if it does not
/// fit.
fn with_plain_ends<'b>(text: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    let mut len = 0;
    for line in text.trim_ascii_end().split('\n') {
        let line = line.trim_ascii_end().as_bytes();
        let (end, rest) = buffer.get_mut(len..)?.split_at_mut_checked(line.len())?;
        end.copy_from_slice(line);
        *rest.first_mut()? = b'\n';
        len += line.len() + 1;
    }
    buffer.get(..len)
}
