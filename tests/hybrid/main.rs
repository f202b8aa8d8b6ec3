//! Hybrid keys and the tunnel: known answers, the twin, and what each must refuse.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/random.rs"]
mod random;

mod envelope;
mod handshake;
mod keys;
mod known;
mod memory;
mod records;
mod twin;

use veriplex::hybrid::PrivateKey;
use veriplex::tunnel::{self, Frame, Initiator, Receiver, RenewalKeys, Responder, Sender, Session};
use veriplex::{Error, Label, label};

use common::Recorded;

const DOMAIN: Label<'static> = label!("test");

/// Bytes for any number of ephemeral keys and encapsulations.
fn rng(seed: u64) -> Recorded {
    Recorded::new(common::data(seed, 4096))
}

fn key(number: u8) -> PrivateKey {
    PrivateKey::generate(&mut rng(number.into())).unwrap()
}

/// A record of these data.
fn seal(sender: &mut Sender, data: &[u8]) -> Vec<u8> {
    let mut record = vec![0; data.len() + tunnel::DATA_OVERHEAD];
    tunnel::room(&mut record).unwrap().copy_from_slice(data);
    sender.seal(&mut record).unwrap();
    record
}

/// What a frame says, without the record.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Data(Vec<u8>),
    Renewal,
    End,
}

impl From<Frame<'_>> for Said {
    fn from(frame: Frame<'_>) -> Self {
        match frame {
            Frame::Data(data) => Self::Data(data.to_vec()),
            Frame::Renewal => Self::Renewal,
            Frame::End => Self::End,
        }
    }
}

/// What does not open is wiped.
fn open(receiver: &mut Receiver, keys: &mut RenewalKeys, record: &[u8]) -> Result<Said, Error> {
    let mut record = record.to_vec();
    let said = receiver.open(&mut record, keys).map(Said::from);
    assert!(said.is_ok() || record.iter().all(|byte| *byte == 0));
    said
}

/// Sessions of the initiator with key 1 and the responder with key 3. The initiator's first record was received.
fn connected() -> [Session; 2] {
    let (initiator, request) = Initiator::start(DOMAIN, &key(1), key(3).public_key(), &mut rng(2)).unwrap();
    let claimed = Responder::receive(DOMAIN, &key(3), &*request).unwrap();
    assert_eq!(claimed.peer(), key(1).public_key());
    let (responder, response) = claimed.accept(&mut rng(4)).unwrap();
    let mut initiator = initiator.receive(&*response).unwrap();
    assert_eq!(initiator.peer, *key(3).public_key());
    let mut first = seal(&mut initiator.sender, b"");
    assert_eq!(
        responder.record_len(first.first_chunk().unwrap()),
        Ok(first.len())
    );
    let (responder, frame) = responder.confirm(&mut first).unwrap();
    assert_eq!(frame, Frame::Data(b""));
    assert_eq!(responder.peer, *key(1).public_key());
    [initiator, responder]
}

/// What `hybrid` says of a release build, and of one with the crate of ML-KEM optimised, as it is in the tests.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn the_documented_stack_is_enough() {
    let size = if cfg!(debug_assertions) {
        128 << 10
    } else {
        96 << 10
    };
    let on_it = |work: fn()| {
        let thread = std::thread::Builder::new().stack_size(size).spawn(work);
        thread.unwrap().join().unwrap();
    };
    on_it(|| {
        let [mut a, mut b] = connected();
        let renewal = a.sender.renew(&mut a.keys, &mut rng(5)).unwrap();
        assert_eq!(open(&mut b.receiver, &mut b.keys, &renewal), Ok(Said::Renewal));
    });
    on_it(|| assert!(PrivateKey::from_pem(&key(1).to_pem()) == Ok(key(1))));
    on_it(|| {
        let sealed = veriplex::hybrid::seal(DOMAIN, &key(1), key(3).public_key(), &mut rng(5), b"message");
        let opened = veriplex::hybrid::open(DOMAIN, &key(3), key(1).public_key(), &sealed.unwrap());
        assert_eq!(opened.unwrap(), b"message");
    });
}
