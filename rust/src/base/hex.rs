//! Hexadecimal digits, two for each byte, in constant time.

use core::fmt;

use crate::Error;

/// Displays bytes as hexadecimal digits, in lower case, without a table.
pub(crate) struct Hex<'b>(pub(crate) &'b [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|&byte| {
            let mut digits = [0; 2];
            f.write_str(base16ct::lower::encode_str(&[byte], &mut digits).map_err(|_| fmt::Error)?)
        })
    }
}

/// Fills `bytes` from as many pairs of hexadecimal digits, lower case; no digit of valid ones decides a branch or an
/// address.
///
/// # Errors
///
/// `error` for any other text.
#[inline(never)] // tests/ct knows it by name: the answer is public
pub(crate) fn decode_hex(text: &str, bytes: &mut [u8], error: Error) -> Result<(), Error> {
    let len = bytes.len();
    match base16ct::lower::decode(text, bytes) {
        Ok(decoded) if decoded.len() == len => Ok(()),
        // Opaque, so that the compiler branches here: what is returned is then public.
        _ => Err(core::hint::black_box(error)),
    }
}
