//! The crate beside the specification (`spec/hacspec`), which has another ML-KEM, on random input and on every backend;
//! and, with the specification as a peer that holds keys, frames that no honest peer sends.

use proptest::collection::vec;
use proptest::prelude::*;
use veriplex::hybrid::PrivateKey;
use veriplex::tunnel::{Frame, Initiator, Responder, Session};
use veriplex::{Error, Label};
use veriplex_spec::duplex::Duplex;
use veriplex_spec::{hybrid, protocol, tunnel};

use crate::common::{Recorded, asked_cases, data, on_each_backend};
use crate::{Said, connected, key, open, seal};

fn cases() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(asked_cases().div_ceil(50))
    }
}

/// A private key out of what a generator gives.
fn generated(randomness: &[u8]) -> Vec<u8> {
    [
        &veriplex_spec::group::wide(&randomness[..64]),
        &randomness[64..128],
    ]
    .concat()
}

fn private() -> impl Strategy<Value = PrivateKey> {
    vec(any::<u8>(), 128).prop_map(|random| PrivateKey::generate(&mut Recorded::new(random)).unwrap())
}

/// What both sides of a connection know, as the specification has it.
struct Specified {
    from_initiator: Duplex,
    from_responder: Duplex,
    request: Vec<u8>,
    response: Vec<u8>,
    ephemeral: [Vec<u8>; 2],
}

fn specified(domain: &[u8], is: &PrivateKey, rs: &PrivateKey, random: [&[u8]; 2]) -> Specified {
    let (is, rs) = (is.to_bytes(), rs.to_bytes());
    let [ie, re] = random.map(generated);
    let (p, request) = hybrid::request(domain, &is, &hybrid::public(&rs), &ie, &random[0][128..160]);
    let claim = hybrid::receive_request(domain, &rs, &request).unwrap();
    assert_eq!((claim.p, &claim.is), (p, &hybrid::public(&is)));
    assert_eq!(claim.ie, hybrid::public(&ie));
    let (end, response) = hybrid::respond(&claim, &re, &random[1][128..160], &random[1][160..192]);
    let received = hybrid::receive_response(p, &is, &ie, &response);
    assert_eq!(received, Some((end, hybrid::public(&re))));
    Specified {
        from_initiator: tunnel::from_initiator(end),
        from_responder: tunnel::from_responder(end),
        request,
        response,
        ephemeral: [ie, re],
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn envelopes(
        (domain, sender, receiver) in (vec(any::<u8>(), 0..=91), private(), private()),
        (random, message) in (vec(any::<u8>(), 96), vec(any::<u8>(), 0..300)),
        (at, change) in (any::<proptest::sample::Index>(), 0..=255_u8),
    ) {
        let (s, r) = (sender.to_bytes(), receiver.to_bytes());
        let (a, b) = (hybrid::public(&s), hybrid::public(&r));
        let e = veriplex_spec::group::wide(&random[..64]);
        let specified = hybrid::seal_message(&domain, &s, &b, e, &random[64..], &message);
        let opened = hybrid::open_message(&domain, &r, &a, &specified);
        assert_eq!((opened.ok, &opened.plaintext), (true, &message));
        let mut changed = specified.clone();
        changed[at.index(specified.len())] ^= change;
        assert_eq!(hybrid::open_message(&domain, &r, &a, &changed).ok, change == 0);
        on_each_backend(|_| {
            let domain = Label::new(&domain).unwrap();
            let mut rng = Recorded::new(random.clone());
            let sealed =
                veriplex::hybrid::seal(domain, &sender, receiver.public_key(), &mut rng, &message).unwrap();
            assert_eq!(sealed, specified);
            assert!(rng.is_used_up());
            let opened = veriplex::hybrid::open(domain, &receiver, sender.public_key(), &sealed);
            assert_eq!(opened.as_ref(), Ok(&message));
            let opened = veriplex::hybrid::open(domain, &receiver, sender.public_key(), &changed);
            assert_eq!(opened.is_ok(), change == 0);
        });
    }

    #[test]
    fn connections(
        (domain, is, rs) in (vec(any::<u8>(), 0..=91), private(), private()),
        (one, two) in (vec(any::<u8>(), 160), vec(any::<u8>(), 192)),
        (renewals, frames) in (vec(vec(any::<u8>(), 160), 3), vec(vec(any::<u8>(), 0..300), 4)),
        (at, change) in (any::<proptest::sample::Index>(), 1..=255_u8),
    ) {
        let spec = specified(&domain, &is, &rs, [&one, &two]);
        on_each_backend(|_| {
            let domain_label = Label::new(&domain).unwrap();
            let (initiator, request) =
                Initiator::start(domain_label, &is, rs.public_key(), &mut Recorded::new(one.clone())).unwrap();
            assert_eq!(request[..], spec.request);
            let claimed = Responder::receive(domain_label, &rs, &*request).unwrap();
            let (responder, response) = claimed.accept(&mut Recorded::new(two.clone())).unwrap();
            assert_eq!(response[..], spec.response);

            // Changed messages: neither accepts any.
            let mut changed = request.to_vec();
            changed[at.index(request.len())] ^= change;
            assert_eq!(hybrid::receive_request(&domain, &rs.to_bytes(), &changed), None);
            assert_eq!(Responder::receive(domain_label, &rs, &changed).unwrap_err(), Error::Verification);
            let p = hybrid::receive_request(&domain, &rs.to_bytes(), &*request).unwrap().p;
            let mut changed = response.to_vec();
            changed[at.index(response.len())] ^= change;
            assert_eq!(hybrid::receive_response(p, &is.to_bytes(), &spec.ephemeral[0], &changed), None);

            let mut initiator = initiator.receive(&*response).unwrap();
            let mut d = spec.from_initiator;
            let mut first = seal(&mut initiator.sender, &frames[0]);
            assert_eq!(first, tunnel::seal_record(d, 0, &[&[1], &frames[0][..]].concat()));
            let (mut responder, _) = responder.confirm(&mut first).unwrap();

            // The initiator renews: it announces a key with its first renewal, and not with the next.
            let peers = hybrid::public(&spec.ephemeral[1]);
            for (i, announce) in [(1, true), (0, false)] {
                let random = &renewals[usize::from(announce)];
                let (e, m) = if announce { (generated(random), &random[128..]) } else {
                    ([&veriplex_spec::group::wide(&random[..64])[..], &[0; 64]].concat(), &random[64..96])
                };
                let (next, frame) = hybrid::send_renewal(d, 0, &peers, &e, m, announce);
                let record = initiator.sender.renew(&mut initiator.keys, &mut Recorded::new(random.clone())).unwrap();
                assert_eq!(record, tunnel::seal_record(d, i, &frame));
                assert_eq!(hybrid::receive_renewal(d, &spec.ephemeral[1], &frame), next);
                assert_eq!(open(&mut responder.receiver, &mut responder.keys, &record), Ok(Said::Renewal));
                d = next;
            }
            for (i, data) in (0..).zip(&frames[1..]) {
                let record = seal(&mut initiator.sender, data);
                let frame = [&[1], &data[..]].concat();
                assert_eq!(record, tunnel::seal_record(d, i, &frame));
                assert_eq!(tunnel::open_record(d, i, &record).plaintext, frame);
                assert_eq!(open(&mut responder.receiver, &mut responder.keys, &record), Ok(Said::Data(data.clone())));
                let mut changed = record.clone();
                changed[at.index(record.len())] ^= change;
                assert!(!tunnel::open_record(d, i, &changed).ok);
            }

            // And the responder, against the key that was announced.
            let random = &renewals[2];
            let announced = hybrid::public(&generated(&renewals[1]));
            let (next, frame) =
                hybrid::send_renewal(spec.from_responder, 1, &announced, &generated(random), &random[128..], true);
            let record = responder.sender.renew(&mut responder.keys, &mut Recorded::new(random.clone())).unwrap();
            assert_eq!(record, tunnel::seal_record(spec.from_responder, 0, &frame));
            assert_eq!(hybrid::receive_renewal(spec.from_responder, &generated(&renewals[1]), &frame), next);
            assert_eq!(open(&mut initiator.receiver, &mut initiator.keys, &record), Ok(Said::Renewal));
        });
    }
}

/// The specification as the initiator of [`connected`].
struct Peer {
    d: Duplex,
    /// The number of the next record.
    i: u64,
    /// The responder's ephemeral key.
    re: Vec<u8>,
}

impl Peer {
    fn new() -> (Self, Session) {
        let random = [data(2, 160), data(4, 192)];
        let spec = specified(b"test", &key(1), &key(3), [&random[0], &random[1]]);
        let peer = Self {
            d: spec.from_initiator,
            i: 1,
            re: hybrid::public(&spec.ephemeral[1]),
        };
        let [_, session] = connected();
        (peer, session)
    }

    /// Sends a frame. If it is accepted, the number of the next record grows.
    fn sends(&mut self, to: &mut Session, frame: &[u8]) -> Result<Said, Error> {
        let record = tunnel::seal_record(self.d, self.i, frame);
        let opened = open(&mut to.receiver, &mut to.keys, &record);
        self.i += u64::from(opened.is_ok());
        opened
    }

    /// The frame of a renewal that announces key 20, and what comes of it.
    fn renewal(&self, number: u32, announce: bool) -> (Duplex, Vec<u8>) {
        hybrid::send_renewal(self.d, number, &self.re, &key(20).to_bytes(), &[9; 32], announce)
    }
}

const WRONG: Result<Said, Error> = Err(Error::Verification);

#[test]
fn frames_that_are_none() {
    let (mut peer, mut session) = Peer::new();
    for kind in (0..=255).filter(|kind| ![1, 2, 3].contains(kind)) {
        assert_eq!(peer.sends(&mut session, &[kind]), WRONG, "type {kind}");
        assert_eq!(peer.sends(&mut session, &[kind, 0, 0]), WRONG, "type {kind}");
    }
    assert_eq!(peer.sends(&mut session, &[3, 0]), WRONG, "an end with data");
    assert_eq!(
        peer.sends(&mut session, &[]),
        Err(Error::TooShort),
        "an empty frame"
    );
    // One that is too long is refused by its length alone.
    let long = tunnel::seal_record(peer.d, peer.i, &vec![1; 65537]);
    assert_eq!(
        session.receiver.record_len(long.first_chunk().unwrap()),
        Err(Error::Verification)
    );
    assert_eq!(open(&mut session.receiver, &mut session.keys, &long), WRONG);
    // So is one whose length is another than its header says, though both are the peer's.
    for said in [1, 2, 4, 7] {
        let (p, header) = protocol::mask(tunnel::numbered(peer.d, peer.i), b"len", &[0, 0, said]);
        let other = [header, protocol::seal(p, b"frame", &[1, 7, 7]).1].concat();
        let opened = open(&mut session.receiver, &mut session.keys, &other);
        assert_eq!(opened, WRONG, "{said}");
    }
    // After all that the connection goes on.
    assert_eq!(peer.sends(&mut session, &[1, 7]), Ok(Said::Data(vec![7])));
    let longest = [vec![1], vec![8; 65535]].concat();
    assert_eq!(peer.sends(&mut session, &longest), Ok(Said::Data(vec![8; 65535])));
    assert_eq!(peer.sends(&mut session, &[3]), Ok(Said::End));
    assert_eq!(peer.sends(&mut session, &[1]), WRONG);
}

/// What is opened at once is what comes before a header that no record has, or is the end alone: nothing follows it.
#[test]
fn many_records_until_no_more_can_come() {
    let (peer, mut session) = Peer::new();
    let record = |i, frame: &[u8]| tunnel::seal_record(peer.d, peer.i + i, frame);
    let mut at_once = |records: &[Vec<u8>]| {
        let mut said = Vec::new();
        let take = |frame: Frame<'_>| said.push(Said::from(frame));
        let mut records = records.concat();
        let result = session.receiver.open_many(&mut records, &mut session.keys, take);
        (said, result)
    };
    assert_eq!(
        at_once(&[record(0, &[1, 5]), record(1, &[])]),
        (vec![Said::Data(vec![5])], Ok(21))
    );
    assert_eq!(at_once(&[record(1, &[])]), (vec![], Err(Error::Verification)));
    assert_eq!(
        at_once(&[record(1, &[3]), record(2, &[1, 6])]),
        (vec![Said::End], Ok(20))
    );
    // Numbers that would be next if this direction had not ended.
    let late = [record(1, &[1, 6]), record(2, &[1, 7])];
    assert_eq!(at_once(&late), (vec![], Err(Error::Verification)));
    assert_eq!(
        session.receiver.record_len(late[0].first_chunk().unwrap()),
        Err(Error::Verification)
    );
}

#[test]
fn renewals_that_are_none() {
    let (mut peer, mut session) = Peer::new();
    let (_, short) = peer.renewal(0, false);
    let (_, long) = peer.renewal(0, true);
    for frame in [&short, &long] {
        for len in 1..frame.len() {
            if len != short.len() || frame[1125] == 1 {
                assert_eq!(peer.sends(&mut session, &frame[..len]), WRONG, "{len} bytes");
            }
        }
        assert_eq!(peer.sends(&mut session, &[&frame[..], &[0]].concat()), WRONG);
        let changed = |at: usize, bytes: &[u8]| {
            let mut frame = frame.clone();
            frame[at..at + bytes.len()].copy_from_slice(bytes);
            frame
        };
        for number in [1, 2, 256, u32::MAX] {
            let frame = changed(1, &number.to_le_bytes());
            assert_eq!(peer.sends(&mut session, &frame), WRONG, "key number {number}");
        }
        for element in [[0; 32], [0xff; 32]] {
            assert_eq!(peer.sends(&mut session, &changed(5, &element)), WRONG);
        }
        for announces in [frame[1125] ^ 1, 2, 255] {
            assert_eq!(peer.sends(&mut session, &changed(1125, &[announces])), WRONG);
        }
    }
    let mut not_a_key = long.clone();
    not_a_key[1126..1129].fill(0xff);
    assert_eq!(peer.sends(&mut session, &not_a_key), WRONG);
    assert_eq!(
        peer.sends(&mut session, b"\x01still here"),
        Ok(Said::Data(b"still here".to_vec()))
    );

    // It announces key 1, and may not announce another before it was used.
    let (next, frame) = peer.renewal(0, true);
    assert_eq!(peer.sends(&mut session, &frame), Ok(Said::Renewal));
    (peer.d, peer.i) = (next, 0);
    let (_, frame) = peer.renewal(0, true);
    assert_eq!(peer.sends(&mut session, &frame), WRONG);
    let (next, frame) = peer.renewal(0, false);
    assert_eq!(peer.sends(&mut session, &frame), Ok(Said::Renewal));
    (peer.d, peer.i) = (next, 0);
    let record = session
        .sender
        .renew(&mut session.keys, &mut crate::rng(30))
        .unwrap();
    assert_eq!(record.len(), 2329, "uses 1, announces the responder's 1");
    let announced = PrivateKey::generate(&mut crate::rng(30)).unwrap();
    let (_, frame) = peer.renewal(0, true);
    assert_eq!(
        peer.sends(&mut session, &[&frame[..1126], &[0xff; 1184]].concat()),
        WRONG
    );
    // The responder's key 1 may be used from now on, and key 0 not any more after that.
    let re = peer.re.clone();
    peer.re = announced.public_key().as_bytes().to_vec();
    let (next, frame) = peer.renewal(1, true);
    assert_eq!(peer.sends(&mut session, &frame), Ok(Said::Renewal));
    (peer.d, peer.i, peer.re) = (next, 0, re);
    let (_, frame) = peer.renewal(0, false);
    assert_eq!(
        peer.sends(&mut session, &frame),
        WRONG,
        "a key that was forgotten"
    );
    assert_eq!(
        peer.sends(&mut session, b"\x01the end"),
        Ok(Said::Data(b"the end".to_vec()))
    );
}
