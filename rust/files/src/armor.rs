//! Files as text, where binary data cannot pass: lines of base64 between a first and a last line that name them.
//!
//! ```text
//! -----BEGIN VERIPLEX FILE-----
//! (64 characters in each line but the last, which has fewer or as many)
//! -----END VERIPLEX FILE-----
//! ```
//!
//! White space may follow each line (so it may end in `\r\n`) and the end. Otherwise only what we write is accepted.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

use base64ct::{Base64, Encoding};

/// The first line, by which armor is recognised.
pub const BEGIN: &[u8] = b"-----BEGIN VERIPLEX FILE-----";
const END: &[u8] = b"-----END VERIPLEX FILE-----";
/// Bytes and characters of a line.
const LINE_BYTES: usize = 48;
const LINE_CHARS: usize = 64;
/// How much is read to find the end of a line.
const MAX_LINE_LEN: u64 = 128;

/// Bytes that wait for a full line.
pub struct Encoder {
    line: [u8; LINE_BYTES],
    filled: usize,
    /// Lines that are written together.
    text: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    pub fn new() -> Self {
        let mut text = BEGIN.to_vec();
        text.push(b'\n');
        Self {
            line: [0; LINE_BYTES],
            filled: 0,
            text,
        }
    }

    /// Writes the full lines.
    pub fn encode(&mut self, mut bytes: &[u8], to: &mut impl Write) -> io::Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(LINE_BYTES - self.filled));
            self.line[self.filled..][..now.len()].copy_from_slice(now);
            self.filled += now.len();
            bytes = later;
            if self.filled == LINE_BYTES {
                self.end_line()?;
            }
        }
        self.write(to)
    }

    /// Writes the rest.
    pub fn finish(mut self, to: &mut impl Write) -> io::Result<()> {
        if self.filled > 0 {
            self.end_line()?;
        }
        self.text.extend_from_slice(END);
        self.text.push(b'\n');
        self.write(to)
    }

    fn end_line(&mut self) -> io::Result<()> {
        let mut chars = [0; LINE_CHARS];
        let line = Base64::encode(&self.line[..self.filled], &mut chars).map_err(io::Error::other)?;
        self.text.extend_from_slice(line.as_bytes());
        self.text.push(b'\n');
        self.filled = 0;
        Ok(())
    }

    fn write(&mut self, to: &mut impl Write) -> io::Result<()> {
        let result = to.write_all(&self.text);
        self.text.clear();
        result
    }
}

/// What is wrong with armor: reading returns it in an error of kind `InvalidData`.
#[derive(Debug)]
pub struct Malformed {
    line: u64,
    what: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in armor, line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Malformed {}

fn malformed(line: u64, what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, Malformed { line, what })
}

/// The line that holds this byte.
pub fn line_of(offset: u64) -> u64 {
    2 + offset / LINE_BYTES as u64
}

/// Why a file that begins like this is not recognised as armor, although it is.
pub fn problem(begin: &[u8]) -> Option<&'static str> {
    let text: Vec<u8> = begin.iter().copied().filter(|&byte| byte != 0).collect();
    let at = text.windows(BEGIN.len()).position(|window| window == BEGIN)?;
    Some(if text.len() < begin.len() {
        "in UTF-16; save it as UTF-8"
    } else if text[..at] == *"\u{feff}".as_bytes() {
        "begins with a byte order mark; save it without one"
    } else {
        "unexpected data before -----BEGIN VERIPLEX FILE----- (also remove blanks and empty lines)"
    })
}

/// Reads what armor holds.
pub struct Decoder<R> {
    inner: BufReader<R>,
    line: [u8; LINE_BYTES],
    /// The part of the line that was not returned yet.
    ready: std::ops::Range<usize>,
    state: State,
    /// The number of the line that is read.
    number: u64,
}

#[derive(PartialEq, Eq)]
enum State {
    Begin,
    Lines,
    /// A line was short: the end must follow.
    LastLine,
    Ended,
}

impl<R: Read> Decoder<R> {
    /// Of a reader of which nothing was read yet.
    pub fn new(inner: R) -> Self {
        Self {
            inner: BufReader::new(inner),
            line: [0; LINE_BYTES],
            ready: 0..0,
            state: State::Begin,
            number: 0,
        }
    }

    /// The next line, without its end and blanks before that. Only the last one may lack its end.
    fn line(&mut self) -> io::Result<Vec<u8>> {
        self.number += 1;
        let mut line = Vec::new();
        let mut limited = (&mut self.inner).take(MAX_LINE_LEN);
        limited.read_until(b'\n', &mut line)?;
        let is_cut = limited.limit() > 0 && !line.ends_with(b"\n");
        line.truncate(line.trim_ascii_end().len());
        if is_cut && line != END {
            return Err(malformed(self.number, "truncated"));
        }
        Ok(line)
    }

    fn next(&mut self) -> io::Result<()> {
        let line = self.line()?;
        let number = self.number;
        let damaged = || malformed(number, "damaged");
        match self.state {
            State::Begin if line == BEGIN => self.state = State::Lines,
            State::Lines | State::LastLine if line == END => {
                self.state = State::Ended;
                loop {
                    match self.inner.fill_buf()? {
                        [] => break,
                        rest if rest.iter().all(u8::is_ascii_whitespace) => {
                            let n = rest.len();
                            self.inner.consume(n);
                        }
                        _ => return Err(malformed(number, "unexpected data after the end")),
                    }
                }
            }
            State::Lines => {
                let bytes = Base64::decode(&line, &mut self.line).map_err(|_| damaged())?;
                if bytes.is_empty() {
                    return Err(damaged());
                }
                self.ready = 0..bytes.len();
                if bytes.len() < LINE_BYTES {
                    self.state = State::LastLine;
                }
            }
            _ => return Err(damaged()),
        }
        Ok(())
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() && self.state != State::Ended && !output.is_empty() {
            self.next()?;
        }
        let n = output.len().min(self.ready.len());
        output[..n].copy_from_slice(&self.line[self.ready.start..][..n]);
        self.ready.start += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn armored(bytes: &[u8], piece: usize) -> Vec<u8> {
        let mut encoder = Encoder::new();
        let mut text = Vec::new();
        for piece in bytes.chunks(piece) {
            encoder.encode(piece, &mut text).unwrap();
        }
        encoder.finish(&mut text).unwrap();
        text
    }

    fn read(text: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        Decoder::new(text).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    #[test]
    fn roundtrip() {
        let bytes: Vec<u8> = (0..=255).collect();
        for len in [0, 1, 2, 3, 47, 48, 49, 95, 96, 97, 256] {
            let text = armored(&bytes[..len], 1);
            assert_eq!(text, armored(&bytes[..len], 100));
            let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
            assert_eq!(lines.len(), 3 + len.div_ceil(LINE_BYTES));
            assert_eq!(read(&text).unwrap(), &bytes[..len]);
            let crlf = String::from_utf8(text.clone()).unwrap().replace('\n', "\r\n");
            assert_eq!(read(crlf.as_bytes()).unwrap(), &bytes[..len]);
            assert_eq!(read(text.trim_ascii_end()).unwrap(), &bytes[..len]);
            assert_eq!(read(&[&text[..], b" \r\n\n"].concat()).unwrap(), &bytes[..len]);
        }
    }

    #[test]
    fn nothing_else_is_armor() {
        let text = armored(&[7; 100], 100);
        let good = String::from_utf8(text.clone()).unwrap();
        for cut in 0..text.len() - 1 {
            let error = read(&text[..cut]).unwrap_err();
            #[allow(clippy::redundant_closure_for_method_calls)] // its path is longer
            let malformed = error.get_ref().is_some_and(|inner| inner.is::<Malformed>());
            assert!(malformed, "{cut}");
        }
        let (first, rest) = good.split_once('\n').unwrap();
        for bad in [
            format!("x{good}"),
            format!("\n{good}"),
            format!("{good}x"),
            format!("{good}{good}"),
            good.replace("FILE", "FILES"),
            good.replacen("Bw", "B w", 1),
            good.replacen("Bw", "B*", 1),
            format!("{first}\n\n{rest}"),
            format!("{first}\nBwcH\n{rest}"),
            good.replace("Bw==", "Bw="),
            good.replace("Bw==", "Bx=="),
            good.replace("Bw==\n", "Bw==\nBwcH\n"),
        ] {
            assert_ne!(bad, good);
            assert!(read(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
