//! A library for C.

/// The first byte of a digest.
#[unsafe(no_mangle)]
pub extern "C" fn dependent(byte: u8) -> u8 {
    veriplex::digest::digest(veriplex::label!("dependent"), &[byte; 1000]).as_bytes()[0]
}
