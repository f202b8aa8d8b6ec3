//! A program with all kernels and nothing else, which the tests of `veriplex-audit` and of the site audit.

/// An executable with the proved bytes and one byte between the kernels, without sections and symbols.
pub fn executable(kernels: &[Vec<u8>]) -> Vec<u8> {
    let text: Vec<u8> = kernels
        .iter()
        .flat_map(|bytes| [&[0xcc], bytes.as_slice()].concat())
        .collect();
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0\x01\0\0\0".to_vec();
    let len = (64 + 56 + text.len()) as u64;
    for word in [
        0x40_0000,
        64,
        0,
        0x38_0040_0000_0000,
        0x40_0001,
        0x5_0000_0001,
        0,
        0x40_0000,
        0x40_0000,
        len,
        len,
        0x1000_u64,
    ] {
        file.extend(word.to_le_bytes());
    }
    file.extend(text);
    file
}

/// The kernels for x86-64, and the table.
pub fn kernels() -> Vec<Vec<u8>> {
    let mut kernels: Vec<(&str, Vec<u8>)> = Vec::new();
    for line in include_str!("../../../generated/kernels.txt").lines() {
        if line.ends_with(':') {
            kernels.push((line, Vec::new()));
        } else {
            kernels.last_mut().unwrap().1.extend(hex::decode(line).unwrap());
        }
    }
    kernels.retain(|(name, _)| !name.starts_with("armv8/"));
    kernels.into_iter().map(|(_, bytes)| bytes).collect()
}
