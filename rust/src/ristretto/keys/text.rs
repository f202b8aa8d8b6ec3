//! Hex and PEM of keys, in constant time for texts that are valid. There is one text for each key.

use pem_rfc7468::LineEnding;
use subtle::ConstantTimeEq;

use crate::Error;
use crate::wipe::Secret;

const LEN: usize = 32;
/// The longest PEM, of the key of an OPRF server, has 125 bytes.
const PEM_MAX: usize = 128;

/// Writes hex.
#[cfg(feature = "alloc")]
pub(super) fn hex<'b>(bytes: &[u8; LEN], buffer: &'b mut [u8; 2 * LEN]) -> &'b str {
    base16ct::lower::encode_str(bytes, buffer).expect("the buffer has the length of the text")
}

#[cfg(feature = "alloc")]
pub(super) fn pem_buffer() -> Secret<[u8; PEM_MAX]> {
    Secret::new([0; PEM_MAX])
}

/// Writes PEM.
pub(crate) fn pem<'b>(label: &str, bytes: &[u8], buffer: &'b mut [u8]) -> &'b str {
    pem_rfc7468::encode(label, LineEnding::LF, bytes, buffer).expect("the buffer is large enough")
}

/// # Errors
///
/// [`Error::InvalidKey`] unless the text is what [`pem`] writes; only the end of the last line may differ.
pub(super) fn from_pem(label: &str, text: &str) -> Result<Secret<[u8; LEN]>, Error> {
    from_long_pem::<LEN, PEM_MAX>(label, text)
}

/// [`from_pem`] of N bytes, whose text has at most MAX.
pub(crate) fn from_long_pem<const N: usize, const MAX: usize>(
    label: &str,
    text: &str,
) -> Result<Secret<[u8; N]>, Error> {
    let mut bytes = Secret::new([0; N]);
    match pem_rfc7468::decode(text.as_bytes(), bytes.as_mut_slice()) {
        Ok((_, decoded)) if decoded.len() == N => {}
        _ => return Err(Error::InvalidKey),
    }
    // The decoder allows any label, text before the first line, other line ends and other lengths of lines.
    let mut buffer = Secret::new([0; MAX]);
    let canonical = pem(label, bytes.as_slice(), buffer.as_mut_slice())
        .trim_end()
        .as_bytes();
    let text = text.strip_suffix('\n').unwrap_or(text).as_bytes();
    if canonical.ct_eq(text).into() {
        Ok(bytes)
    } else {
        Err(Error::InvalidKey)
    }
}
