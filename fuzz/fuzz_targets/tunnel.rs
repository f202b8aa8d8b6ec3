//! A tunnel whose peer has keys that are allowed, and sends what it likes under them: in the handshake, in records and in
//! renewals, over a stream that gives bytes in any pieces. The honest end takes what an honest peer may send, gives out
//! exactly that, refuses everything else for good, and relays.

#![no_main]

use std::io::ErrorKind;
use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Builder;
use veriplex::hybrid::PrivateKey;
use veriplex::{Label, Protocol, label};
use veriplex_fuzz::pipe::{Call, Pipe, poll_times};
use veriplex_fuzz::{Change, Data, Named, element, scalar};
use veriplex_spec::group::{is_element, times};
use veriplex_spec::kem;
use veriplex_tunnel::daemon::relay::{Bytes, Failure, relay};
use veriplex_tunnel::{Config, Stream, accept, connect};

const DOMAIN: Label<'static> = label!("veriplex.fuzz");
/// How often a peer may renew (rust/tunnel/src/stream.rs).
const MAX_RENEWALS: u32 = 16;

#[derive(Arbitrary, Debug)]
struct Case {
    is_server: bool,
    renews_after: u16,
    handshake: Vec<(u8, Change)>,
    calls: Vec<Call>,
    relays: bool,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    /// The peer sends.
    Data(Data),
    Frame(Vec<u8>),
    Renewal(Renewal),
    Changed(Data, Vec<Change>),
    End,
    Close,
    /// The honest end does.
    Write(Data),
    Flush,
    Shutdown,
    Read,
    /// What the stream does next.
    Calls(Vec<Call>),
}

/// A renewal, as it should be where nothing says otherwise.
#[derive(Arbitrary, Debug)]
struct Renewal {
    key: Named,
    announces: bool,
    number: i8,
    changes: Vec<(u8, Change)>,
}

/// The secrets of a hybrid key, and its public key.
#[derive(Clone)]
struct Own {
    scalar: [u8; 32],
    seed: [u8; 64],
    element: [u8; 32],
    kem: Vec<u8>,
}

impl Own {
    fn new(name: u8) -> Self {
        let seed = [name; 64];
        Self {
            scalar: scalar(name),
            seed,
            element: element(name),
            kem: kem::generate(&seed),
        }
    }

    fn private(&self) -> PrivateKey {
        let bytes = [self.scalar.as_slice(), &self.seed].concat();
        PrivateKey::try_from(bytes.as_slice()).unwrap()
    }

    fn public(&self) -> Vec<u8> {
        [self.element.as_slice(), &self.kem].concat()
    }
}

static HONEST: LazyLock<(Own, PrivateKey)> = LazyLock::new(|| (Own::new(1), Own::new(1).private()));
static PEER: LazyLock<(Own, PrivateKey)> = LazyLock::new(|| (Own::new(2), Own::new(2).private()));
static EPHEMERAL: LazyLock<Own> = LazyLock::new(|| Own::new(3));

/// Plaintext parts of a message, each with its changes.
struct Changes<'c> {
    all: &'c [(u8, Change)],
    next: u8,
    is_changed: bool,
}

impl<'c> Changes<'c> {
    fn new(all: &'c [(u8, Change)]) -> Self {
        Self {
            all,
            next: 0,
            is_changed: false,
        }
    }

    fn part(&mut self, genuine: &[u8]) -> Vec<u8> {
        let mut part = genuine.to_vec();
        for (which, change) in self.all {
            if which % 8 == self.next {
                change.apply(&mut part);
            }
        }
        self.next += 1;
        self.is_changed |= part != genuine;
        part
    }
}

/// A direction: its protocol, and the next record.
struct Direction {
    protocol: Protocol,
    next: u64,
}

impl Direction {
    fn record(&mut self) -> Protocol {
        let mut record = self.protocol.clone();
        record.mix(label!("record"), &self.next.to_le_bytes());
        self.next += 1;
        record
    }

    fn seal(&mut self, frame: &[u8]) -> Vec<u8> {
        let mut record = self.record();
        let mut sealed = (frame.len() as u32).to_be_bytes()[1..].to_vec();
        record.mask(label!("len"), &mut sealed);
        sealed.extend(record.seal_vec(label!("frame"), frame));
        sealed
    }

    /// The frame of the next record, and how long that is, if it is there.
    fn open(&mut self, sealed: &[u8]) -> Option<(Vec<u8>, usize)> {
        let header: &[u8; 3] = sealed.first_chunk()?;
        let mut record = self.protocol.clone();
        record.mix(label!("record"), &self.next.to_le_bytes());
        let mut len = *header;
        record.unmask(label!("len"), &mut len);
        let len = u32::from_be_bytes([0, len[0], len[1], len[2]]) as usize;
        let frame = sealed.get(3..3 + len + 16)?;
        self.next += 1;
        let frame = record.open_vec(label!("frame"), frame).expect("an honest record");
        Some((frame, 3 + len + 16))
    }

    fn renew(&mut self, frame: &[u8], ec: &[u8; 32], ss: &[u8]) {
        self.protocol.mix(label!("renewal"), frame);
        self.protocol.mix(label!("renewal-ec"), ec);
        self.protocol.mix(label!("renewal-ss"), ss);
        self.protocol.ratchet(label!("epoch"));
        self.next = 0;
    }
}

/// The peer, and what it knows of the honest end.
struct Peer {
    send: Direction,
    recv: Direction,
    /// Its own ephemeral keys that the honest end may renew against, by number.
    own: Vec<Own>,
    own_used: usize,
    /// Those of the honest end, and the first one that is still there.
    honest: Vec<Vec<u8>>,
    first: usize,
    renewals: u32,
    /// What the honest end has to give out, and what it has written.
    sent: Vec<u8>,
    written: Vec<u8>,
    received: Vec<u8>,
    has_ended: bool,
    /// It has sent a renewal whose keys it does not know.
    is_lost: bool,
}

/// Whether the honest end takes something.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Taken,
    Refused,
}

impl Peer {
    fn new(protocol: Protocol, honest: Vec<u8>, is_server: bool) -> Self {
        let mut protocol = protocol;
        protocol.ratchet(label!("handshake"));
        let [from_responder, from_initiator] = protocol.fork(label!("sender"), ["responder", "initiator"]);
        let directions = [from_responder, from_initiator].map(|protocol| Direction { protocol, next: 0 });
        let [from_responder, from_initiator] = directions;
        let (send, recv) = if is_server {
            (from_initiator, from_responder)
        } else {
            (from_responder, from_initiator)
        };
        Self {
            send,
            recv,
            own: vec![EPHEMERAL.clone()],
            own_used: 0,
            honest: vec![honest],
            first: 0,
            renewals: 0,
            sent: Vec::new(),
            written: Vec::new(),
            received: Vec::new(),
            has_ended: false,
            is_lost: false,
        }
    }

    fn frame(&mut self, frame: &[u8]) -> (Vec<u8>, Fate) {
        let fate = match frame {
            [1, data @ ..] if frame.len() <= 1 << 16 => {
                self.sent.extend_from_slice(data);
                Fate::Taken
            }
            [3] => {
                self.has_ended = true;
                Fate::Taken
            }
            [2, ..] => self.fate_of_renewal(frame),
            _ => Fate::Refused,
        };
        let sealed = self.send.seal(frame);
        if let ([2, ..], Fate::Taken) = (frame, fate) {
            self.renewals += 1;
            if self.renewals > MAX_RENEWALS {
                return (sealed, Fate::Refused);
            }
        }
        (sealed, fate)
    }

    /// By the description of the format.
    fn fate_of_renewal(&mut self, frame: &[u8]) -> Fate {
        let announces = match (frame.len(), frame.get(1125)) {
            (1126, Some(0)) => false,
            (2310, Some(1)) if self.own_used + 1 == self.own.len() => true,
            _ => return Fate::Refused,
        };
        let number = u32::from_le_bytes(*frame[1..].first_chunk().unwrap()) as usize;
        let of = *frame[5..].first_chunk().unwrap();
        if !(self.first..self.honest.len()).contains(&number) || !is_element(of) || of == [0; 32] {
            return Fate::Refused;
        }
        match announces && !kem::is_key(&frame[1126..]) {
            true => Fate::Refused,
            false => Fate::Taken,
        }
    }

    fn renewal(&mut self, renewal: &Renewal) -> (Vec<u8>, Fate) {
        let own = Own::new(renewal.key.0);
        let newest = self.honest.len() - 1;
        let number = (newest as u32).wrapping_add_signed(renewal.number.into());
        let is_known = (self.first..=newest).contains(&(number as usize));
        let used = &self.honest[if is_known { number as usize } else { newest }];
        let (ct, ss) = kem::encapsulate(&used[32..], &[renewal.key.0; 32]);
        let ec = times(own.scalar, *used.first_chunk().unwrap());
        let announces = renewal.announces && self.own_used + 1 == self.own.len();
        let mut changes = Changes::new(&renewal.changes);
        let mut frame = [2].to_vec();
        frame.extend(changes.part(&number.to_le_bytes()));
        frame.extend(changes.part(&own.element));
        frame.extend(changes.part(&ct));
        frame.extend(changes.part(&[announces.into()]));
        if announces {
            frame.extend(changes.part(&own.kem));
        }
        frame.truncate(1 << 16);
        let (sealed, fate) = self.frame(&frame);
        if changes.is_changed || !is_known {
            // It may be taken, but then nobody knows the keys.
            self.is_lost = true;
            return (sealed, Fate::Refused);
        }
        self.send.renew(&frame, &ec, &ss);
        self.first = number as usize;
        if announces {
            self.own.push(own);
        }
        (sealed, fate)
    }

    /// Reads what the honest end has sent.
    fn receive(&mut self, pipe: &Pipe) {
        if self.is_lost {
            return;
        }
        let outgoing = &mut pipe.ends_mut().outgoing;
        let mut read = 0;
        while let Some((frame, len)) = self.recv.open(&outgoing[read..]) {
            read += len;
            match &*frame {
                [1, data @ ..] => self.received.extend_from_slice(data),
                [3] => assert_eq!(outgoing.len(), read),
                [2, ..] => {
                    let number = u32::from_le_bytes(*frame[1..].first_chunk().unwrap()) as usize;
                    // Against the newest that it has read of, which may not be the newest.
                    assert!((self.own_used..self.own.len()).contains(&number));
                    self.own_used = number;
                    let own = &self.own[number];
                    let public = *frame[5..].first_chunk().unwrap();
                    let ec = times(own.scalar, public);
                    let ss = kem::decapsulate(&own.seed, &frame[37..1125]);
                    self.recv.renew(&frame, &ec, &ss);
                    if frame[1125] == 1 {
                        self.honest.push([&public, &frame[1126..]].concat());
                    }
                }
                _ => panic!("{frame:?}"),
            }
        }
        outgoing.drain(..read);
        assert!(self.written.starts_with(&self.received));
    }
}

/// The request of the peer, and the transcript after it.
fn request(changes: &mut Changes<'_>) -> (Vec<u8>, Protocol) {
    let (is, rs, ie) = (&PEER.0, &HONEST.0, &*EPHEMERAL);
    let mut protocol = Protocol::new(DOMAIN);
    let mut message = changes.part(&ie.element);
    protocol.mix(label!("rs"), &rs.public());
    protocol.mix(label!("ie-ec"), &message);
    protocol.mix(label!("ie-rs"), &times(ie.scalar, rs.element));
    let (ct, ss) = kem::encapsulate(&rs.kem, &[5; 32]);
    let ct = changes.part(&ct);
    protocol.mix(label!("rs-ct"), &ct);
    protocol.mix(label!("rs-ss"), &ss);
    message.extend(ct);
    message.extend(protocol.seal_vec(label!("is"), &changes.part(&is.public())));
    protocol.mix(label!("is-rs"), &times(is.scalar, rs.element));
    message.extend(protocol.seal_vec(label!("ie-kem"), &changes.part(&ie.kem)));
    (changes.part(&message), protocol)
}

/// What the peer answers, the transcript, and the initiator's ephemeral key.
fn respond(request: &[u8], changes: &mut Changes<'_>) -> (Vec<u8>, Protocol, Vec<u8>) {
    let (rs, re) = (&PEER.0, &*EPHEMERAL);
    let mut protocol = Protocol::new(DOMAIN);
    let ie: [u8; 32] = *request.first_chunk().unwrap();
    protocol.mix(label!("rs"), &rs.public());
    protocol.mix(label!("ie-ec"), &ie);
    protocol.mix(label!("ie-rs"), &times(rs.scalar, ie));
    protocol.mix(label!("rs-ct"), &request[32..1120]);
    protocol.mix(label!("rs-ss"), &kem::decapsulate(&rs.seed, &request[32..1120]));
    let is = protocol.open_vec(label!("is"), &request[1120..2352]).unwrap();
    assert_eq!(is, HONEST.0.public());
    protocol.mix(label!("is-rs"), &times(rs.scalar, HONEST.0.element));
    let ie_kem = protocol.open_vec(label!("ie-kem"), &request[2352..]).unwrap();

    let mut message = changes.part(&re.element);
    protocol.mix(label!("re-ec"), &message);
    protocol.mix(label!("ie-re"), &times(re.scalar, ie));
    protocol.mix(label!("is-re"), &times(re.scalar, HONEST.0.element));
    let (ct, ss) = kem::encapsulate(&HONEST.0.kem, &[6; 32]);
    let mut masked = changes.part(&ct);
    protocol.mask(label!("is-ct"), &mut masked);
    message.extend(masked);
    protocol.mix(label!("is-ss"), &ss);
    let (ct, ss) = kem::encapsulate(&ie_kem, &[7; 32]);
    message.extend(protocol.seal_vec(label!("ie-ct"), &changes.part(&ct)));
    protocol.mix(label!("ie-ss"), &ss);
    message.extend(protocol.seal_vec(label!("re-kem"), &changes.part(&re.kem)));
    (
        changes.part(&message),
        protocol,
        [ie.as_slice(), &ie_kem].concat(),
    )
}

/// The ephemeral key and the transcript after the honest end's response.
fn read_response(mut protocol: Protocol, response: &[u8]) -> (Protocol, Vec<u8>) {
    let (is, ie) = (&PEER.0, &*EPHEMERAL);
    let re: [u8; 32] = *response.first_chunk().unwrap();
    protocol.mix(label!("re-ec"), &re);
    protocol.mix(label!("ie-re"), &times(ie.scalar, re));
    protocol.mix(label!("is-re"), &times(is.scalar, re));
    let mut ct = response[32..1120].to_vec();
    protocol.unmask(label!("is-ct"), &mut ct);
    protocol.mix(label!("is-ss"), &kem::decapsulate(&is.seed, &ct));
    let ct = protocol.open_vec(label!("ie-ct"), &response[1120..2224]).unwrap();
    protocol.mix(label!("ie-ss"), &kem::decapsulate(&ie.seed, &ct));
    let re_kem = protocol.open_vec(label!("re-kem"), &response[2224..]).unwrap();
    (protocol, [re.as_slice(), &re_kem].concat())
}

/// The handshake: both ends, if the peer kept to it.
fn shake_hands(case: &Case, config: &Config, pipe: &Pipe) -> Option<(Stream<Pipe>, Peer)> {
    let mut changes = Changes::new(&case.handshake);
    pipe.ends_mut().calls = case.calls.iter().copied().take(100).collect();
    let mut cx = Context::from_waker(Waker::noop());
    let (stream, peer) = if case.is_server {
        let (request, protocol) = request(&mut changes);
        pipe.ends_mut().incoming = request;
        let mut accepting = pin!(accept(pipe.clone(), config, &HONEST.1, |peer| peer
            == PEER.1.public_key()));
        // Each poll uses up a call of the script.
        for _ in 0..102 {
            if let Poll::Ready(result) = accepting.as_mut().poll(&mut cx) {
                assert!(result.is_err() && changes.is_changed);
                return None;
            }
        }
        if pipe.ends().outgoing.is_empty() {
            assert!(changes.is_changed);
            return None;
        }
        let response = std::mem::take(&mut pipe.ends_mut().outgoing);
        assert_eq!(response.len(), veriplex::tunnel::RESPONSE_LEN);
        // Changes that a request survives: the peer does not know what it sent.
        if changes.is_changed {
            return None;
        }
        let (protocol, re) = read_response(protocol, &response);
        let mut peer = Peer::new(protocol, re, true);
        let (first, _) = peer.frame(&[1]);
        pipe.ends_mut().incoming.extend(first);
        match accepting.as_mut().poll(&mut cx) {
            Poll::Ready(Ok(stream)) => (stream, peer),
            Poll::Ready(Err(error)) => panic!("{error}"),
            Poll::Pending => panic!("it waits for more"),
        }
    } else {
        let mut connecting = pin!(connect(pipe.clone(), config, &HONEST.1, PEER.1.public_key()));
        for _ in 0..102 {
            assert!(connecting.as_mut().poll(&mut cx).is_pending());
        }
        let request = std::mem::take(&mut pipe.ends_mut().outgoing);
        let (response, protocol, ie) = respond(&request, &mut changes);
        pipe.ends_mut().incoming = response;
        pipe.ends_mut().is_closed = changes.is_changed;
        match connecting.as_mut().poll(&mut cx) {
            Poll::Ready(Ok(stream)) if !changes.is_changed => (stream, Peer::new(protocol, ie, false)),
            Poll::Ready(Ok(_)) => {
                // Ciphertext and key may differ from what it should be, but not so that it works.
                return None;
            }
            Poll::Ready(Err(error)) => {
                assert!(changes.is_changed, "{error}");
                return None;
            }
            Poll::Pending => panic!("it waits for more"),
        }
    };
    assert_eq!(stream.peer(), PEER.1.public_key());
    Some((stream, peer))
}

fuzz_target!(|case: Case| {
    let pipe = Pipe::default();
    let config = Config::new(DOMAIN).renewal_bytes(case.renews_after.into());
    let Some((mut stream, mut peer)) = shake_hands(&case, &config, &pipe) else {
        return;
    };
    let mut fate = Fate::Taken;
    let mut is_closed = false;
    let mut given = Vec::new();
    let mut is_shut = false;
    // The relay takes from here what it puts into the tunnel, and puts here what it takes out.
    let plain = Pipe::default();
    for step in case.steps.iter().take(40) {
        // What comes after what is refused, or after the end, does not matter.
        let may_send = !peer.has_ended && !is_closed && fate == Fate::Taken;
        let mut sends = |(record, then): (Vec<u8>, Fate)| {
            pipe.ends_mut().incoming.extend(record);
            fate = then;
        };
        match step {
            Step::Data(_) | Step::Frame(_) | Step::Renewal(_) | Step::Changed(..) | Step::End
                if !may_send => {}
            Step::Data(data) => sends(peer.frame(&[&[1], &*data.bytes()].concat())),
            Step::Frame(frame) if frame.is_empty() || frame[0] == 2 => {}
            Step::Frame(frame) => sends(peer.frame(frame)),
            Step::Renewal(renewal) => sends(peer.renewal(renewal)),
            Step::Changed(data, changes) => {
                let genuine = peer.send.seal(&[&[1], &*data.bytes()].concat());
                let mut record = genuine.clone();
                changes.iter().for_each(|change| change.apply(&mut record));
                if record.starts_with(&genuine) {
                    peer.sent.extend(data.bytes());
                }
                // What is left of it may be the beginning of one that never ends.
                let then = if record == genuine {
                    Fate::Taken
                } else {
                    Fate::Refused
                };
                sends((record, then));
            }
            Step::End => sends(peer.frame(&[3])),
            Step::Close => {
                is_closed = true;
                pipe.ends_mut().is_closed = true;
            }
            Step::Calls(calls) => {
                pipe.ends_mut().calls = calls.iter().copied().take(50).collect();
                plain.ends_mut().calls = calls.iter().rev().copied().take(20).collect();
            }
            Step::Write(data) if case.relays => plain.ends_mut().incoming.extend(data.bytes()),
            Step::Shutdown if case.relays => plain.ends_mut().is_closed = true,
            Step::Read | Step::Flush if case.relays => {}
            Step::Write(data) => {
                let data = data.bytes();
                match poll_times(1, stream.write(&data)) {
                    Some(Ok(n)) => {
                        assert!(n > 0 || data.is_empty());
                        peer.written.extend_from_slice(&data[..n]);
                    }
                    Some(Err(error)) => assert!(is_shut && error.kind() == ErrorKind::BrokenPipe),
                    None => {}
                }
            }
            Step::Flush => {
                if let Some(result) = poll_times(2, stream.flush()) {
                    result.unwrap();
                }
            }
            Step::Shutdown => {
                is_shut = true;
                if let Some(result) = poll_times(2, stream.shutdown()) {
                    result.unwrap();
                }
            }
            Step::Read => {
                let mut buffer = [0; 700];
                match poll_times(1, stream.read(&mut buffer)) {
                    Some(Ok(n)) => given.extend_from_slice(&buffer[..n]),
                    Some(Err(error)) => {
                        let expected = match fate {
                            Fate::Refused if !is_closed => [ErrorKind::InvalidData; 2],
                            _ => [ErrorKind::InvalidData, ErrorKind::UnexpectedEof],
                        };
                        assert!(expected.contains(&error.kind()), "{error:?}");
                        assert!(fate == Fate::Refused || is_closed && !peer.has_ended, "{error:?}");
                        let again = poll_times(1, stream.read(&mut buffer)).expect("an error stays");
                        assert!(again.is_err());
                    }
                    None => {}
                }
                assert!(peer.sent.starts_with(&given));
            }
        }
        peer.receive(&pipe);
    }
    if case.relays {
        plain.ends_mut().is_closed = true;
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let _timers = runtime.enter();
        // What is relayed in pieces: a relay that is dropped drops what it holds, so it is one.
        let (mut relayed, bytes) = (plain.clone(), Bytes::default());
        let mut relaying = pin!(relay(&mut relayed, &mut stream, &bytes));
        let mut cx = Context::from_waker(Waker::noop());
        let mut done = None;
        for _ in 0..200 {
            peer.written = plain.ends().incoming.clone();
            if let Poll::Ready(result) = relaying.as_mut().poll(&mut cx) {
                done = Some(result);
                break;
            }
            peer.receive(&pipe);
        }
        peer.receive(&pipe);
        let ends = plain.ends();
        assert!(peer.sent.starts_with(&ends.outgoing));
        match done {
            Some(Ok(())) => {
                assert!(peer.has_ended && fate == Fate::Taken && ends.is_shut);
                assert!(ends.outgoing == peer.sent && peer.received == ends.incoming);
            }
            Some(Err(Failure::Tunnel(error))) => {
                assert!(!ends.is_shut, "a cut looks like an end");
                assert!(fate == Fate::Refused || is_closed && !peer.has_ended, "{error:?}");
            }
            Some(Err(Failure::Connection(error))) => panic!("{error:?}"),
            None => assert!(!peer.has_ended && !is_closed),
        }
    } else {
        // All that was sent is given out, and all that was written arrives.
        pipe.ends_mut().calls.clear();
        let mut rest = Vec::new();
        let result = poll_times(1, stream.read_to_end(&mut rest));
        given.extend(rest);
        assert!(peer.sent.starts_with(&given));
        match result {
            Some(Ok(_)) => assert!(peer.has_ended && fate == Fate::Taken && given == peer.sent),
            Some(Err(_)) => assert!(fate == Fate::Refused || is_closed),
            None => assert!(!is_closed && !peer.has_ended || fate == Fate::Refused),
        }
        if fate == Fate::Taken && !peer.has_ended {
            assert!(given == peer.sent);
        }
        poll_times(1, stream.flush()).unwrap().unwrap();
        peer.receive(&pipe);
        assert!(peer.is_lost || peer.received == peer.written);
    }
});
