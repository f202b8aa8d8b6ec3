//! The server's side of the NBD protocol, fixed newstyle with simple replies
//! (<https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>), over any stream.
//!
//! There is one export, with an empty name. Nothing that a client sends takes more memory than [`MAX_TRANSFER`] and one
//! option. Block status is not offered: it needs structured replies, and could not report one sector of zeros, since a
//! hole in an encrypted image decrypts to noise.

use std::io::{self, Read, Write};

use zeroize::Zeroizing;

/// A disk as a client sees it. Reads and writes may begin and end at any byte.
pub trait Device {
    fn len(&self) -> u64;
    fn is_read_only(&self) -> bool;
    /// The unit that is read and written most efficiently.
    fn block_len(&self) -> u32;
    fn read(&self, at: u64, buffer: &mut [u8]) -> io::Result<()>;
    /// May change what it is given.
    fn write(&self, at: u64, bytes: &mut [u8]) -> io::Result<()>;
    /// Whether clients may discard data.
    fn can_trim(&self) -> bool;
    /// Until these bytes are written again, reading them returns anything.
    fn trim(&self, at: u64, len: u32) -> io::Result<()>;
    /// What was written is on the disk.
    fn flush(&self) -> io::Result<()>;
}

/// The other side of a connection.
pub trait Stream: Read + Write {
    /// The handshake is over; the client may now take its time.
    fn established(&mut self) -> io::Result<()>;
}

/// How much is read, written and kept at a time.
pub const MAX_TRANSFER: usize = 1 << 20;
/// The longest request; clients need not ask for it.
const MAX_REQUEST: u32 = 32 << 20;
/// The longest data of an option.
const MAX_OPTION: u32 = 1 << 16;

const IHAVEOPT: u64 = 0x4948_4156_454f_5054;
const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
const REQUEST: u32 = 0x2560_9513;
const SIMPLE_REPLY: u32 = 0x6744_6698;

const FIXED_NEWSTYLE: u32 = 1;
const NO_ZEROES: u32 = 2;

const EXPORT_NAME: u32 = 1;
const ABORT: u32 = 2;
const LIST: u32 = 3;
const INFO: u32 = 6;
const GO: u32 = 7;

const REPLY_ACK: u32 = 1;
const REPLY_SERVER: u32 = 2;
const REPLY_INFO: u32 = 3;
const REPLY_UNSUPPORTED: u32 = 1 << 31 | 1;
const REPLY_INVALID: u32 = 1 << 31 | 3;
const REPLY_UNKNOWN: u32 = 1 << 31 | 6;

const INFO_EXPORT: u16 = 0;
const INFO_BLOCK_SIZE: u16 = 3;

/// Flags are there; there is `FLUSH`, `FUA`; several connections see the same.
const FLAGS: u16 = 1 | 1 << 2 | 1 << 3 | 1 << 8;
const READ_ONLY: u16 = 1 << 1;
const SEND_TRIM: u16 = 1 << 5;
const SEND_WRITE_ZEROES: u16 = 1 << 6;

const READ: u16 = 0;
const WRITE: u16 = 1;
const DISCONNECT: u16 = 2;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const WRITE_ZEROES: u16 = 6;
const FUA: u16 = 1;
/// With `WRITE_ZEROES`, which makes no holes anyway.
const NO_HOLE: u16 = 1 << 1;

const EPERM: u32 = 1;
const EIO: u32 = 5;
const EINVAL: u32 = 22;
const ENOSPC: u32 = 28;
const EOVERFLOW: u32 = 75;

/// The protocol's number of what a device could not do.
#[allow(clippy::needless_pass_by_value)] // for `map_or_else`
fn number(error: io::Error) -> u32 {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => ENOSPC,
        _ => EIO,
    }
}

fn malformed(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Serves one connection to its end.
///
/// # Errors
///
/// If the stream fails, or the client sends something that has no answer.
pub fn serve(stream: &mut impl Stream, device: &impl Device) -> io::Result<()> {
    if negotiate(stream, device)? {
        stream.established()?;
        transmit(stream, device)
    } else {
        Ok(())
    }
}

fn read<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn flags(device: &impl Device) -> u16 {
    if device.is_read_only() {
        return FLAGS | READ_ONLY;
    }
    FLAGS | SEND_WRITE_ZEROES | if device.can_trim() { SEND_TRIM } else { 0 }
}

/// What `EXPORT_NAME` and `INFO_EXPORT` say.
fn export(device: &impl Device) -> [u8; 10] {
    let mut export = [0; 10];
    export[..8].copy_from_slice(&device.len().to_be_bytes());
    export[8..].copy_from_slice(&flags(device).to_be_bytes());
    export
}

/// Answers options; returns whether requests follow.
fn negotiate(stream: &mut impl Stream, device: &impl Device) -> io::Result<bool> {
    let flags = FIXED_NEWSTYLE | NO_ZEROES;
    let greeting = [
        b"NBDMAGIC".as_slice(),
        &IHAVEOPT.to_be_bytes(),
        &flags.to_be_bytes()[2..],
    ];
    stream.write_all(&greeting.concat())?;
    let chosen = u32::from_be_bytes(read(stream)?);
    if chosen & !flags != 0 {
        return Err(malformed("unsupported flags"));
    }
    loop {
        if u64::from_be_bytes(read(stream)?) != IHAVEOPT {
            return Err(malformed("not an NBD option"));
        }
        let option = u32::from_be_bytes(read(stream)?);
        let len = u32::from_be_bytes(read(stream)?);
        if len > MAX_OPTION {
            return Err(malformed("option longer than 65536 bytes"));
        }
        let mut data = vec![0; len as usize];
        stream.read_exact(&mut data)?;
        let mut reply = |kind, data: &[u8]| reply(stream, option, kind, data);
        match option {
            // It has no error replies.
            EXPORT_NAME if !data.is_empty() => return Err(malformed("unknown export")),
            EXPORT_NAME => {
                let zeros = if chosen & NO_ZEROES == 0 { 124 } else { 0 };
                stream.write_all(&[&export(device)[..], &vec![0; zeros]].concat())?;
                return Ok(true);
            }
            ABORT => {
                // The client need not wait for it.
                let _ = reply(REPLY_ACK, &[]);
                return Ok(false);
            }
            LIST if !data.is_empty() => reply(REPLY_INVALID, b"LIST takes no data")?,
            LIST => {
                reply(REPLY_SERVER, &0_u32.to_be_bytes())?;
                reply(REPLY_ACK, &[])?;
            }
            INFO | GO => match parse_info(&data) {
                None => reply(REPLY_INVALID, b"malformed")?,
                Some(name) if !name.is_empty() => {
                    reply(REPLY_UNKNOWN, b"unknown export: the only one has an empty name")?;
                }
                Some(_) => {
                    reply(
                        REPLY_INFO,
                        &[&INFO_EXPORT.to_be_bytes()[..], &export(device)].concat(),
                    )?;
                    let sizes = [1, device.block_len(), MAX_REQUEST].map(u32::to_be_bytes);
                    let sizes = sizes.as_flattened();
                    reply(REPLY_INFO, &[&INFO_BLOCK_SIZE.to_be_bytes()[..], sizes].concat())?;
                    reply(REPLY_ACK, &[])?;
                    if option == GO {
                        return Ok(true);
                    }
                }
            },
            _ => reply(REPLY_UNSUPPORTED, b"not supported")?,
        }
    }
}

fn reply(stream: &mut impl Write, option: u32, kind: u32, data: &[u8]) -> io::Result<()> {
    let len = u32::try_from(data.len()).map_err(io::Error::other)?;
    let reply = [
        &OPTION_REPLY.to_be_bytes()[..],
        &option.to_be_bytes(),
        &kind.to_be_bytes(),
        &len.to_be_bytes(),
        data,
    ];
    stream.write_all(&reply.concat())
}

/// The name in the data of `INFO` and `GO`, if these are well-formed: the name with its length, and kinds of
/// information with their number.
fn parse_info(data: &[u8]) -> Option<&[u8]> {
    let (len, rest) = data.split_first_chunk()?;
    let len = usize::try_from(u32::from_be_bytes(*len)).ok()?;
    let (name, rest) = rest.split_at_checked(len)?;
    let (kinds, rest) = rest.split_first_chunk()?;
    (rest.len() == 2 * usize::from(u16::from_be_bytes(*kinds))).then_some(name)
}

/// A request, without the data of a write.
struct Request {
    flags: u16,
    kind: u16,
    cookie: [u8; 8],
    at: u64,
    len: u32,
}

impl Request {
    fn read(stream: &mut impl Read) -> io::Result<Self> {
        let request: [u8; 28] = read(stream)?;
        let mut rest = request.as_slice();
        if u32::from_be_bytes(read(&mut rest)?) != REQUEST {
            return Err(malformed("not an NBD request"));
        }
        Ok(Self {
            flags: u16::from_be_bytes(read(&mut rest)?),
            kind: u16::from_be_bytes(read(&mut rest)?),
            cookie: read(&mut rest)?,
            at: u64::from_be_bytes(read(&mut rest)?),
            len: u32::from_be_bytes(read(&mut rest)?),
        })
    }

    /// Why it is refused, if it is.
    fn refused(&self, device: &impl Device) -> Option<u32> {
        let is_beyond = self
            .at
            .checked_add(self.len.into())
            .is_none_or(|end| end > device.len());
        let (carries_data, writes, flags) = match self.kind {
            READ => (true, false, FUA),
            WRITE => (true, true, FUA),
            FLUSH => (false, false, FUA),
            TRIM if device.can_trim() => (false, true, FUA),
            WRITE_ZEROES => (false, true, FUA | NO_HOLE),
            _ => return Some(EINVAL),
        };
        // Clients may set `FUA` with any request, even if it writes nothing.
        if self.flags & !flags != 0 {
            Some(EINVAL)
        } else if self.kind == FLUSH {
            (self.at != 0 || self.len != 0).then_some(EINVAL)
        } else if writes && device.is_read_only() {
            Some(EPERM)
        } else if carries_data && self.len > MAX_REQUEST {
            // `EOVERFLOW` is for requests without data.
            Some(if self.kind == WRITE { EINVAL } else { EOVERFLOW })
        } else if is_beyond {
            Some(match self.kind {
                WRITE | WRITE_ZEROES => ENOSPC,
                _ => EINVAL,
            })
        } else {
            None
        }
    }

    /// Flushes if the request says so.
    fn finish(&self, device: &impl Device, done: io::Result<()>) -> u32 {
        let is_flushed = self.flags & FUA != 0;
        done.and_then(|()| if is_flushed { device.flush() } else { Ok(()) })
            .map_or_else(number, |()| 0)
    }

    fn answer(&self, stream: &mut impl Write, error: u32) -> io::Result<()> {
        let mut answer = [0; 16];
        answer[..4].copy_from_slice(&SIMPLE_REPLY.to_be_bytes());
        answer[4..8].copy_from_slice(&error.to_be_bytes());
        answer[8..].copy_from_slice(&self.cookie);
        stream.write_all(&answer)
    }
}

/// The pieces of a request: where, and how long.
fn pieces(at: u64, len: u32) -> impl Iterator<Item = (u64, usize)> {
    (0..u64::from(len)).step_by(MAX_TRANSFER).map(move |done| {
        let left = usize::try_from(u64::from(len) - done).unwrap_or(MAX_TRANSFER);
        (at.saturating_add(done), left.min(MAX_TRANSFER))
    })
}

/// Answers requests until the client leaves.
fn transmit(stream: &mut impl Stream, device: &impl Device) -> io::Result<()> {
    let mut buffer = Zeroizing::new(Vec::<u8>::new());
    loop {
        let request = Request::read(stream)?;
        let refused = request.refused(device);
        match request.kind {
            DISCONNECT => return Ok(()),
            READ if refused.is_none() => send(stream, device, &request, &mut buffer)?,
            WRITE => {
                let error = receive(stream, device, &request, refused, &mut buffer)?;
                request.answer(stream, error)?;
            }
            FLUSH if refused.is_none() => {
                request.answer(stream, device.flush().map_or_else(number, |()| 0))?;
            }
            TRIM if refused.is_none() => {
                let done = device.trim(request.at, request.len);
                request.answer(stream, request.finish(device, done))?;
            }
            WRITE_ZEROES if refused.is_none() => {
                let done = pieces(request.at, request.len).try_for_each(|(at, len)| {
                    let bytes = resized(&mut buffer, len);
                    bytes.fill(0);
                    device.write(at, bytes)
                });
                request.answer(stream, request.finish(device, done))?;
            }
            _ => request.answer(stream, refused.unwrap_or(EINVAL))?,
        }
    }
}

/// At least as large as this request needs it.
fn resized(buffer: &mut Zeroizing<Vec<u8>>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        // The old content is wiped; a growing vector would leave copies.
        *buffer = Zeroizing::new(vec![0; len.next_power_of_two()]);
    }
    &mut buffer[..len]
}

fn send(
    stream: &mut impl Stream,
    device: &impl Device,
    request: &Request,
    buffer: &mut Zeroizing<Vec<u8>>,
) -> io::Result<()> {
    let mut is_answered = false;
    for (at, len) in pieces(request.at, request.len) {
        let bytes = resized(buffer, len);
        match (device.read(at, bytes), is_answered) {
            (Ok(()), true) => {}
            (Ok(()), false) => request.answer(stream, 0)?,
            (Err(error), false) => return request.answer(stream, number(error)),
            // Now only closing the connection can report it.
            (Err(error), true) => return Err(error),
        }
        is_answered = true;
        stream.write_all(bytes)?;
    }
    if is_answered {
        Ok(())
    } else {
        request.answer(stream, 0)
    }
}

/// Reads the data of a write, which follow even if it is refused.
fn receive(
    stream: &mut impl Stream,
    device: &impl Device,
    request: &Request,
    refused: Option<u32>,
    buffer: &mut Zeroizing<Vec<u8>>,
) -> io::Result<u32> {
    let mut done = Ok(());
    for (at, len) in pieces(request.at, request.len) {
        let bytes = resized(buffer, len);
        stream.read_exact(bytes)?;
        if refused.is_none() && done.is_ok() {
            done = device.write(at, bytes);
        }
    }
    Ok(refused.unwrap_or_else(|| request.finish(device, done)))
}

#[cfg(test)]
mod tests;
