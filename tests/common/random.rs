//! A small generator (Marsaglia's xorshift64), so that every run gets the same inputs.
#![allow(dead_code)] // each test binary uses a part

use std::io::{Cursor, Read, Seek, SeekFrom};

pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(n).unwrap()).unwrap()
    }
}

/// Reads up to `most` bytes and seeks, at random: the reader of this plaintext does what a cursor over it does.
pub fn reads_like_a_cursor(
    mut reader: impl Read + Seek,
    plaintext: &[u8],
    random: &mut Random,
    rounds: usize,
    most: usize,
) {
    let len = plaintext.len();
    let mut model = Cursor::new(plaintext);
    for _ in 0..rounds {
        if random.below(3) == 0 {
            let way = i64::try_from(random.below(len + 100)).unwrap();
            let to = match random.below(3) {
                0 => SeekFrom::Start(way.unsigned_abs()),
                1 => SeekFrom::Current(way / 2 - i64::try_from(len / 4).unwrap()),
                _ => SeekFrom::End(50 - way),
            };
            let (a, b) = (reader.seek(to), model.seek(to));
            assert_eq!(a.map_err(|e| e.kind()), b.map_err(|e| e.kind()));
        }
        let mut output = vec![0; random.below(most)];
        let n = reader.read(&mut output).unwrap();
        let mut expected = vec![0; n];
        model.read_exact(&mut expected).unwrap();
        assert_eq!(output[..n], expected);
        assert!(n > 0 || output.is_empty() || model.position() >= len as u64);
    }
}
