//! Hex and PEM of keys, in strings.

use alloc::string::String;

use zeroize::Zeroizing;

use super::text::{self, PEM_MAX};
use super::{PrivateKey, PublicKey};
use crate::base::wipe::Secret;

impl PrivateKey {
    /// The key as 64 hexadecimal digits, which are as secret as the key. `parse` decodes them.
    #[must_use]
    pub fn to_hex(&self) -> Zeroizing<String> {
        let mut hex = Secret::new([0; 2 * Self::LEN]);
        Zeroizing::new(String::from(encode_hex(
            self.scalar.as_bytes(),
            hex.as_mut_slice(),
        )))
    }

    /// The key in PEM, three lines that are as secret as the key.
    #[must_use]
    pub fn to_pem(&self) -> Zeroizing<String> {
        self.to_pem_labelled(Self::PEM_LABEL)
    }

    /// [`PrivateKey::to_pem`] with another label.
    pub(crate) fn to_pem_labelled(&self, label: &str) -> Zeroizing<String> {
        Zeroizing::new(pem(label, self.scalar.as_bytes()))
    }
}

impl PublicKey {
    /// The key in PEM, three lines.
    #[must_use]
    pub fn to_pem(&self) -> String {
        pem(Self::PEM_LABEL, &self.bytes)
    }
}

fn encode_hex<'b>(bytes: &[u8], buffer: &'b mut [u8]) -> &'b str {
    base16ct::lower::encode_str(bytes, buffer).expect("the buffer has the length of the text")
}

fn pem(label: &str, bytes: &[u8]) -> String {
    let mut buffer = Secret::new([0; PEM_MAX]);
    String::from(text::pem(label, bytes, buffer.as_mut_slice()))
}
