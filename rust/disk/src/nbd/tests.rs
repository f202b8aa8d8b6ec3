//! The NBD server, given bytes as a client sends them.

use std::cell::{Cell, RefCell};

use super::*;

const LEN: usize = 10_000;

/// A disk in memory, which can break.
struct Memory {
    bytes: RefCell<Vec<u8>>,
    is_read_only: bool,
    can_trim: bool,
    broken: Cell<Option<io::ErrorKind>>,
    flushed: Cell<usize>,
}

impl Memory {
    fn new(len: usize) -> Self {
        Self {
            bytes: RefCell::new((0..len).map(|i| (i % 251).to_le_bytes()[0]).collect()),
            is_read_only: false,
            can_trim: false,
            broken: Cell::new(None),
            flushed: Cell::new(0),
        }
    }

    fn check(&self) -> io::Result<()> {
        self.broken.get().map_or(Ok(()), |kind| Err(kind.into()))
    }
}

impl Device for Memory {
    fn len(&self) -> u64 {
        self.bytes.borrow().len() as u64
    }

    fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    fn block_len(&self) -> u32 {
        4096
    }

    fn read(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.check()?;
        assert!(buffer.len() <= MAX_TRANSFER);
        buffer.copy_from_slice(&self.bytes.borrow()[usize::try_from(at).unwrap()..][..buffer.len()]);
        Ok(())
    }

    fn write(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.check()?;
        assert!(bytes.len() <= MAX_TRANSFER && !self.is_read_only);
        self.bytes.borrow_mut()[usize::try_from(at).unwrap()..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn can_trim(&self) -> bool {
        self.can_trim
    }

    fn trim(&self, at: u64, len: u32) -> io::Result<()> {
        self.check()?;
        assert!(self.can_trim && !self.is_read_only);
        self.bytes.borrow_mut()[usize::try_from(at).unwrap()..][..len as usize].fill(0xee);
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        self.check()?;
        self.flushed.set(self.flushed.get() + 1);
        Ok(())
    }
}

/// What a client sends, and what it gets.
struct Recorded<'a> {
    sent: &'a [u8],
    got: Vec<u8>,
}

impl Read for Recorded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.sent.read(buffer)
    }
}

impl Write for Recorded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.got.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Recorded<'_> {
    fn established(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The end of the connection, and what came after the greeting.
fn talk(device: &Memory, sent: &[u8]) -> (Result<(), io::ErrorKind>, Vec<u8>) {
    let mut stream = Recorded {
        sent,
        got: Vec::new(),
    };
    let end = serve(&mut stream, device).map_err(|error| error.kind());
    let greeting = b"NBDMAGICIHAVEOPT\x00\x03";
    assert_eq!(&stream.got[..18], greeting);
    (end, stream.got.split_off(18))
}

fn option(number: u32, data: &[u8]) -> Vec<u8> {
    let len = u32::try_from(data.len()).unwrap();
    [
        b"IHAVEOPT".as_slice(),
        &number.to_be_bytes()[..],
        &len.to_be_bytes(),
        data,
    ]
    .concat()
}

fn answer(number: u32, kind: u32, data: &[u8]) -> Vec<u8> {
    let mut answer = Vec::new();
    reply(&mut answer, number, kind, data).unwrap();
    answer
}

fn request(flags: u16, kind: u16, at: u64, len: u32) -> Vec<u8> {
    [
        &0x2560_9513_u32.to_be_bytes()[..],
        &flags.to_be_bytes(),
        &kind.to_be_bytes(),
        b"a cookie",
        &at.to_be_bytes(),
        &len.to_be_bytes(),
    ]
    .concat()
}

fn simple(error: u32, data: &[u8]) -> Vec<u8> {
    [
        &0x6744_6698_u32.to_be_bytes()[..],
        &error.to_be_bytes(),
        b"a cookie",
        data,
    ]
    .concat()
}

/// Requests after the shortest handshake, and their answers.
fn transmission(device: &Memory, requests: &[Vec<u8>]) -> (Result<(), io::ErrorKind>, Vec<u8>) {
    let sent = [3_u32.to_be_bytes().to_vec(), option(1, b""), requests.concat()].concat();
    let (end, mut got) = talk(device, &sent);
    assert_eq!(got[..8], device.len().to_be_bytes());
    let flags = match (device.is_read_only, device.can_trim) {
        (true, _) => 0b1_0000_1111_u16,
        (false, true) => 0b1_0110_1101,
        (false, false) => 0b1_0100_1101,
    };
    assert_eq!(got[8..10], flags.to_be_bytes());
    (end, got.split_off(10))
}

const DISC: [u8; 28] = [
    0x25, 0x60, 0x95, 0x13, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

#[test]
fn handshakes() {
    let device = Memory::new(LEN);
    let export = [&(LEN as u64).to_be_bytes()[..], &[1, 0b100_1101]].concat();
    let info = |number: u32| {
        [
            answer(number, 3, &[&[0, 0][..], &export].concat()),
            answer(
                number,
                3,
                b"\x00\x03\x00\x00\x00\x01\x00\x00\x10\x00\x02\x00\x00\x00",
            ),
            answer(number, 1, b""),
        ]
        .concat()
    };
    let sent = |flags: u32, options: &[Vec<u8>]| [flags.to_be_bytes().to_vec(), options.concat()].concat();
    // With 124 zeros, and without.
    let old = sent(1, &[option(1, b""), DISC.to_vec()]);
    assert_eq!(
        talk(&device, &old),
        (Ok(()), [export.clone(), vec![0; 124]].concat())
    );
    let new = sent(3, &[option(1, b""), DISC.to_vec()]);
    assert_eq!(talk(&device, &new), (Ok(()), export.clone()));
    // Everything there is, in one connection.
    let all = sent(
        3,
        &[
            option(3, b""),
            option(3, b"x"),
            option(6, b"\x00\x00\x00\x00\x00\x00"),
            option(6, b"\x00\x00\x00\x02no\x00\x00"),
            option(8, b""),
            option(5, &vec![7; 65536]),
            option(7, b"\x00\x00\x00\x00\x00\x02\x00\x03\x00\x01"),
            request(0, 0, 0, 3),
            DISC.to_vec(),
        ],
    );
    let (end, got) = talk(&device, &all);
    let expected = [
        [answer(3, 2, &[0; 4]), answer(3, 1, b"")].concat(),
        answer(3, REPLY_INVALID, b"LIST takes no data"),
        info(6),
        answer(
            6,
            REPLY_UNKNOWN,
            b"unknown export: the only one has an empty name",
        ),
        answer(8, REPLY_UNSUPPORTED, b"not supported"),
        answer(5, REPLY_UNSUPPORTED, b"not supported"),
        info(7),
        simple(0, &[0, 1, 2]),
    ]
    .concat();
    assert_eq!((end, got), (Ok(()), expected));
    let abort = sent(3, &[option(2, b""), request(0, 0, 0, 3)]);
    assert_eq!(talk(&device, &abort), (Ok(()), answer(2, 1, b"")));
}

#[test]
fn malformed_handshakes() {
    let device = Memory::new(LEN);
    let cut = Err(io::ErrorKind::InvalidData);
    for sent in [
        [&4_u32.to_be_bytes()[..], &option(1, b"")].concat(),
        [&3_u32.to_be_bytes()[..], &[0; 16]].concat(),
        [
            &3_u32.to_be_bytes()[..],
            b"IHAVEOPT\x00\x00\x00\x07\x00\x01\x00\x01",
        ]
        .concat(),
        [
            &3_u32.to_be_bytes()[..],
            b"IHAVEOPT\x00\x00\x00\x07\xff\xff\xff\xff",
        ]
        .concat(),
        [&3_u32.to_be_bytes()[..], &option(1, b"other")].concat(),
    ] {
        assert_eq!(talk(&device, &sent), (cut, Vec::new()));
    }
    // Of GO: too short, a name that is longer than it is, kinds that are fewer or more than said.
    for data in [
        &b""[..],
        b"\x00\x00\x00",
        b"\x00\x00\x00\x00\x00",
        b"\x00\x00\x00\x01\x00\x00",
        b"\xff\xff\xff\xff\x00\x00",
        b"\x00\x00\x00\x00\x00\x01\x00",
        b"\x00\x00\x00\x00\xff\xff\x00\x00",
        b"\x00\x00\x00\x00\x00\x00\x00",
    ] {
        let sent = [&3_u32.to_be_bytes()[..], &option(7, data), &option(2, b"")].concat();
        let expected = [answer(7, REPLY_INVALID, b"malformed"), answer(2, 1, b"")].concat();
        assert_eq!(talk(&device, &sent), (Ok(()), expected), "{data:?}");
    }
    // A client that goes at any place.
    let sent = [
        &3_u32.to_be_bytes()[..],
        &option(7, &[0; 6]),
        &request(0, 0, 0, 8),
    ]
    .concat();
    for len in 0..sent.len() {
        assert_eq!(
            talk(&device, &sent[..len]).0,
            Err(io::ErrorKind::UnexpectedEof),
            "{len}"
        );
    }
}

#[test]
fn requests() {
    let device = Memory::new(LEN);
    let before = device.bytes.borrow().clone();
    let (end, got) = transmission(
        &device,
        &[
            request(0, READ, 700, 1000),
            request(0, READ, LEN as u64, 0),
            request(0, WRITE, 9990, 10),
            b"0123456789".to_vec(),
            request(FUA, WRITE, 0, 1),
            b"x".to_vec(),
            request(FUA, FLUSH, 0, 0),
            request(FUA, READ, 9988, 12),
            DISC.to_vec(),
            b"nothing more is read".to_vec(),
        ],
    );
    let expected = [
        simple(0, &before[700..1700]),
        simple(0, b""),
        simple(0, b""),
        simple(0, b""),
        simple(0, b""),
        simple(0, &[&before[9988..9990], b"0123456789"].concat()),
    ];
    assert_eq!((end, got), (Ok(()), expected.concat()));
    assert_eq!((device.bytes.borrow()[0], device.flushed.get()), (b'x', 2));
}

#[test]
fn long_requests_come_in_pieces() {
    let device = Memory::new(5 * MAX_TRANSFER + 7);
    let data = vec![9; 3 * MAX_TRANSFER + 1];
    let len = u32::try_from(data.len()).unwrap();
    let requests = [
        request(0, WRITE, 5, len),
        data.clone(),
        request(0, READ, 4, len + 2),
        DISC.to_vec(),
    ];
    let (end, got) = transmission(&device, &requests);
    let expected = [
        simple(0, b""),
        simple(
            0,
            &[&[4][..], &data, &device.bytes.borrow()[5 + data.len()..][..1]].concat(),
        ),
    ];
    assert_eq!(end, Ok(()));
    assert!(got == expected.concat());
}

#[test]
fn requests_without_data() {
    let mut device = Memory::new(2 * MAX_TRANSFER + LEN);
    device.can_trim = true;
    let mut expected = device.bytes.borrow().clone();
    let len = u32::try_from(MAX_TRANSFER + 10).unwrap();
    let (end, got) = transmission(
        &device,
        &[
            request(0, WRITE_ZEROES, 5, len),
            request(NO_HOLE | FUA, WRITE_ZEROES, 9000, 1),
            request(0, TRIM, 1_050_000, len - 5),
            request(FUA, TRIM, 9001, 1),
            request(0, TRIM, device.len(), 0),
            DISC.to_vec(),
        ],
    );
    assert_eq!((end, got), (Ok(()), simple(0, b"").repeat(5)));
    expected[5..][..len as usize].fill(0);
    expected[1_050_000..][..len as usize - 5].fill(0xee);
    expected[9001] = 0xee;
    assert!(*device.bytes.borrow() == expected);
    assert_eq!(device.flushed.get(), 2);
}

/// Each gives an error, and the next request is answered.
#[test]
fn refused_requests() {
    let mut device = Memory::new(LEN);
    let before = device.bytes.borrow().clone();
    let refused = |device: &Memory, bad: &[u8], data: &[u8], error: u32| {
        let requests = [bad.to_vec(), data.to_vec(), request(0, READ, 1, 1), DISC.to_vec()];
        let (end, got) = transmission(device, &requests);
        assert_eq!(
            (end, got),
            (Ok(()), [simple(error, b""), simple(0, &[1])].concat()),
            "{bad:?}"
        );
        assert!(*device.bytes.borrow() == before);
    };
    for (at, len) in [
        (LEN as u64, 1),
        (0, 10_001),
        (u64::MAX, 1),
        (u64::MAX - 1, 2),
        (9_999, 2),
    ] {
        refused(&device, &request(0, READ, at, len), b"", EINVAL);
        refused(
            &device,
            &request(0, WRITE, at, len),
            &vec![1; len as usize],
            ENOSPC,
        );
    }
    refused(&device, &request(0, READ, 0, MAX_REQUEST + 1), b"", EOVERFLOW);
    refused(&device, &request(0, READ, 0, u32::MAX), b"", EOVERFLOW);
    for (at, len) in [(LEN as u64, 1), (0, 10_001), (u64::MAX, 1), (0, u32::MAX)] {
        device.can_trim = true;
        refused(&device, &request(0, TRIM, at, len), b"", EINVAL);
        refused(&device, &request(0, WRITE_ZEROES, at, len), b"", ENOSPC);
        device.can_trim = false;
        refused(&device, &request(0, TRIM, 0, 1), b"", EINVAL);
    }
    refused(&device, &request(4, WRITE_ZEROES, 0, 1), b"", EINVAL);
    let long = vec![1; MAX_REQUEST as usize + 1];
    refused(&device, &request(0, WRITE, 0, MAX_REQUEST + 1), &long, EINVAL);
    for kind in [4, 5, 7, 8, 0xffff] {
        refused(&device, &request(0, kind, 0, 1), b"", EINVAL);
    }
    refused(&device, &request(2, READ, 0, 1), b"", EINVAL);
    refused(&device, &request(4, READ, 0, 1), b"", EINVAL);
    refused(&device, &request(0x8000, WRITE, 0, 1), b"x", EINVAL);
    refused(&device, &request(0, FLUSH, 1, 0), b"", EINVAL);
    refused(&device, &request(0, FLUSH, 0, 1), b"", EINVAL);
    device.is_read_only = true;
    refused(&device, &request(0, WRITE, 0, 1), b"x", EPERM);
    refused(&device, &request(0, WRITE, 0, 0), b"", EPERM);
    refused(&device, &request(0, WRITE_ZEROES, 0, 1), b"", EPERM);
    device.can_trim = true;
    refused(&device, &request(0, TRIM, 0, 1), b"", EPERM);
    // What is no request ends the connection.
    let (end, got) = transmission(&device, &[vec![0; 28]]);
    assert_eq!((end, got.len()), (Err(io::ErrorKind::InvalidData), 0));
}

#[test]
fn a_disk_that_breaks() {
    let mut device = Memory::new(LEN);
    device.can_trim = true;
    let requests = [
        request(0, READ, 0, 10),
        request(0, WRITE, 0, 3),
        b"abc".to_vec(),
        request(0, WRITE_ZEROES, 0, 3),
        request(0, TRIM, 0, 3),
        request(0, FLUSH, 0, 0),
        request(FUA, WRITE, 0, 0),
        DISC.to_vec(),
    ];
    for (kind, number) in [
        (io::ErrorKind::Other, EIO),
        (io::ErrorKind::StorageFull, ENOSPC),
        (io::ErrorKind::QuotaExceeded, ENOSPC),
    ] {
        device.broken.set(Some(kind));
        let (end, got) = transmission(&device, &requests);
        assert_eq!((end, got), (Ok(()), simple(number, b"").repeat(6)), "{kind}");
    }
}

/// Sequences of requests and noise, some right, some nearly so.
#[test]
fn random_clients() {
    let mut random = 7_u64;
    let mut next = |below: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut ends = [0; 3];
    for _ in 0..20_000 {
        let mut device = Memory::new(LEN);
        device.can_trim = next(2) == 0;
        let mut sent = 3_u32.to_be_bytes().to_vec();
        for _ in 0..next(3) {
            let data: Vec<u8> = (0..next(9)).map(|_| next(2).to_le_bytes()[0]).collect();
            sent.extend(option(u32::try_from(next(10)).unwrap(), &data));
        }
        sent.extend(option(7, &[0; 6]));
        for _ in 0..next(4) {
            let [flags, kind] = [next(3), next(9)].map(|n| u16::try_from(n).unwrap());
            let len = u32::try_from(next(LEN as u64 + 50)).unwrap();
            sent.extend(request(flags, kind, next(LEN as u64 + 50), len));
            if kind == WRITE {
                sent.resize(sent.len() + len as usize, 5);
            }
        }
        for _ in 0..next(3) {
            let place = usize::try_from(next(sent.len() as u64)).unwrap();
            sent[place] ^= 1 << next(8);
        }
        let (end, _) = talk(&device, &sent);
        let end = match end {
            Ok(()) => 0,
            Err(io::ErrorKind::UnexpectedEof) => 1,
            Err(io::ErrorKind::InvalidData) => 2,
            Err(other) => panic!("{other}"),
        };
        ends[end] += 1;
        assert_eq!(device.len(), LEN as u64);
    }
    // All of that happens.
    assert!(ends.iter().all(|&n| n > 500), "{ends:?}");
}
