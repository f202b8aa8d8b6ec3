//! The asynchronous readers and writers over a stream that waits and fails when it likes, by callers that give calls up and
//! go on with others. What is written opens, with the readers of `std`, to what was taken; what is read is what was sealed,
//! or the beginning of it and an error.

#![no_main]

use std::io::{self, ErrorKind, Read, SeekFrom};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncSeekExt, AsyncWrite, AsyncWriteExt};
use veriplex::{Key, Label, Protocol, aestream, label, oae2, seekable};
use veriplex_fuzz::pipe::{Call, Pipe, poll_times};
use veriplex_fuzz::{Change, Data};

const DOMAIN: Label<'static> = label!("veriplex.fuzz");

#[derive(Arbitrary, Debug)]
struct Case {
    scheme: Scheme,
    writes: Vec<Write>,
    write_calls: Vec<Call>,
    changes: Vec<Change>,
    reads: Vec<Get>,
    read_calls: Vec<Call>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Scheme {
    Aestream,
    Oae2,
    Segments,
    /// Segments, with seeks.
    Places,
}

#[derive(Arbitrary, Debug)]
enum Write {
    Data(Data, u8),
    Flush(u8),
    /// Given up when it has not ended after some polls.
    Shutdown(u8),
}

#[derive(Arbitrary, Debug)]
enum Get {
    Read(u8, u8),
    Seek(u16, u8),
}

fn keyed() -> Protocol {
    let mut protocol = Protocol::new(DOMAIN);
    protocol.mix(label!("key"), &[7; 32]);
    protocol
}

fn message() -> seekable::Message {
    let seekable = seekable::Seekable::<24>::new(DOMAIN, &Key::from([7; 32]));
    seekable.with_segment_len(64).unwrap().message(&[1; 24], b"ad")
}

/// Writes as the script says, then to the end. What was taken.
fn write(mut writer: impl AsyncWrite + Unpin, case: &Case, pipe: &Pipe) -> Vec<u8> {
    let mut taken = Vec::new();
    let mut is_ending = false;
    pipe.ends_mut().calls = case.write_calls.iter().copied().take(200).collect();
    pipe.ends_mut().may_fail = true;
    for step in case.writes.iter().take(30) {
        let result = match step {
            Write::Data(data, polls) => {
                let data = data.bytes();
                let result = poll_times((polls % 4).into(), writer.write(&data));
                if let Some(Ok(n)) = result {
                    assert!(!is_ending || n == 0, "taken after the end");
                    assert!(n <= data.len() && (n > 0 || data.is_empty()));
                    taken.extend_from_slice(&data[..n]);
                }
                result.map(|result| result.map(drop))
            }
            Write::Flush(polls) => poll_times((polls % 4).into(), writer.flush()),
            Write::Shutdown(polls) => {
                // It may have begun even if it has not ended. What can be written before it has begun is its caller's to
                // know, who does not.
                is_ending |= polls % 4 > 0;
                let result = poll_times((polls % 4).into(), writer.shutdown());
                if is_ending {
                    break;
                }
                result
            }
        };
        if let Some(Err(error)) = result {
            assert!(error.kind() == ErrorKind::TimedOut || is_ending, "{error:?}");
        }
    }
    pipe.ends_mut().calls.clear();
    poll_times(1, writer.shutdown()).expect("nothing waits").unwrap();
    assert!(pipe.ends().is_shut);
    let sealed = pipe.ends().outgoing.clone();
    assert!(
        poll_times(1, writer.write(b"late"))
            .expect("nothing waits")
            .is_err()
    );
    poll_times(1, writer.shutdown()).expect("nothing waits").unwrap();
    assert!(pipe.ends().outgoing == sealed, "the end was written twice");
    taken
}

/// Reads as the script says, then to the end: what came, and whether it was the end.
fn read(mut reader: impl AsyncRead + Unpin, reads: &[Get], pipe: &Pipe) -> (Vec<u8>, io::Result<()>) {
    let mut given = Vec::new();
    let mut buffer = [0; 300];
    for step in reads.iter().take(30) {
        let Get::Read(len, polls) = step else { continue };
        let room = &mut buffer[..usize::from(*len) + 1];
        match poll_times((polls % 4).into(), reader.read(room)) {
            Some(Ok(0)) => break,
            Some(Ok(n)) => given.extend_from_slice(&room[..n]),
            Some(Err(error)) if error.kind() != ErrorKind::TimedOut => {
                return failed(error, reader, given, pipe);
            }
            Some(Err(_)) | None => {}
        }
    }
    pipe.ends_mut().calls.clear();
    loop {
        match poll_times(1, reader.read(&mut buffer)).expect("nothing waits") {
            Ok(0) => {
                assert_eq!(poll_times(1, reader.read(&mut buffer)).unwrap().unwrap(), 0);
                return (given, Ok(()));
            }
            Ok(n) => given.extend_from_slice(&buffer[..n]),
            Err(error) => return failed(error, reader, given, pipe),
        }
    }
}

/// An error stays.
fn failed(
    error: io::Error,
    mut reader: impl AsyncRead + Unpin,
    given: Vec<u8>,
    pipe: &Pipe,
) -> (Vec<u8>, io::Result<()>) {
    pipe.ends_mut().calls.clear();
    let again = poll_times(1, reader.read(&mut [0; 9])).expect("nothing waits");
    assert!(again.is_err());
    (given, Err(error))
}

/// As [`read`], from any places.
fn read_places(reader: &mut seekable::SeekReader<Pipe>, case: &Case, plaintext: &[u8], is_genuine: bool) {
    let mut place = 0;
    for step in case.reads.iter().take(30) {
        match step {
            Get::Read(len, polls) => {
                let mut room = vec![0xa5; usize::from(*len) + 1];
                match poll_times((polls % 4).into(), reader.read(&mut room)) {
                    Some(Ok(n)) => {
                        let expected = plaintext.get(place..).unwrap_or_default();
                        assert!(expected.starts_with(&room[..n]));
                        assert!(n > 0 || expected.is_empty());
                        place += n;
                    }
                    Some(Err(error)) => {
                        assert!(error.kind() == ErrorKind::TimedOut || !is_genuine, "{error:?}");
                        assert!(room.iter().all(|byte| [0, 0xa5].contains(byte)), "not verified");
                    }
                    None => {}
                }
            }
            Get::Seek(to, polls) => {
                let to = u64::from(to % 2000);
                // Given up before it began, it has done nothing.
                match poll_times((polls % 4).into(), reader.seek(SeekFrom::Start(to))) {
                    Some(Ok(at)) => {
                        assert_eq!(at, to);
                        place = to as usize;
                    }
                    Some(Err(error)) => panic!("{error:?}"),
                    None => {
                        place = poll_times(1, reader.stream_position()).unwrap().unwrap() as usize;
                    }
                }
            }
        }
    }
}

fuzz_target!(|case: Case| {
    let to = Pipe::default();
    let (taken, mut opened) = match case.scheme {
        Scheme::Aestream => {
            let taken = write(
                aestream::SealWriter::from_protocol(keyed(), to.clone()),
                &case,
                &to,
            );
            let sealed = &to.ends().outgoing;
            let mut opened = Vec::new();
            let mut reader = aestream::OpenReader::from_protocol(keyed(), sealed.as_slice());
            Read::read_to_end(&mut reader, &mut opened).unwrap();
            (taken, opened)
        }
        Scheme::Oae2 => {
            let taken = write(
                oae2::SealWriter::<_, 16>::from_protocol(keyed(), to.clone()),
                &case,
                &to,
            );
            let sealed = &to.ends().outgoing;
            assert!(*sealed == oae2::Sealer::<16>::from_protocol(keyed()).seal_vec(&taken));
            let mut opened = Vec::new();
            let mut reader = oae2::OpenReader::<_, 16>::from_protocol(keyed(), sealed.as_slice());
            Read::read_to_end(&mut reader, &mut opened).unwrap();
            (taken, opened)
        }
        Scheme::Segments | Scheme::Places => {
            let taken = write(seekable::SealWriter::new(&message(), to.clone()), &case, &to);
            let sealed = &to.ends().outgoing;
            assert!(*sealed == message().seal_vec(&taken));
            (taken, message().open_vec(sealed).unwrap())
        }
    };
    assert!(opened == taken);

    let genuine = to.ends().outgoing.clone();
    let mut received = genuine.clone();
    case.changes.iter().for_each(|change| change.apply(&mut received));
    let from = Pipe::default();
    {
        let mut ends = from.ends_mut();
        ends.incoming = received.clone();
        ends.is_closed = true;
        ends.may_fail = true;
        ends.calls = case.read_calls.iter().copied().take(200).collect();
    }
    let is_genuine = received == genuine;
    let result;
    (opened, result) = match case.scheme {
        Scheme::Aestream => {
            let reader = aestream::OpenReader::from_protocol(keyed(), from.clone());
            let (opened, result) = read(reader, &case.reads, &from);
            // What follows stays in the inner reader.
            let is_whole = received.starts_with(&genuine);
            assert_eq!(result.is_ok(), is_whole);
            if is_whole {
                assert_eq!(from.ends().place, genuine.len());
            }
            (opened, result)
        }
        Scheme::Oae2 => {
            let reader = oae2::OpenReader::<_, 16>::from_protocol(keyed(), from.clone());
            read(reader, &case.reads, &from)
        }
        Scheme::Segments => read(
            seekable::OpenReader::new(&message(), from.clone()),
            &case.reads,
            &from,
        ),
        Scheme::Places => {
            let reader = poll_times(300, seekable::SeekReader::new_async(&message(), from.clone()));
            return match reader.expect("every poll uses up a call") {
                Ok(mut reader) => read_places(&mut reader, &case, &taken, is_genuine),
                Err(error) => assert!(!is_genuine || error.kind() == ErrorKind::TimedOut, "{error:?}"),
            };
        }
    };
    assert!(taken.starts_with(&opened));
    match result {
        Ok(()) => assert!(opened == taken && (is_genuine || matches!(case.scheme, Scheme::Aestream))),
        Err(error) => {
            assert!(received != genuine, "{error:?}");
            assert!([ErrorKind::InvalidData, ErrorKind::UnexpectedEof].contains(&error.kind()));
        }
    }
});
