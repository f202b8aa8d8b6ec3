//! The known answers.

use serde_json::Value;
use veriplex::hybrid::{PrivateKey, PublicKey};
use veriplex::tunnel::{Initiator, Receiver, RenewalKeys, Responder, Sender, Session};
use veriplex::{Error, Label};

use crate::common::{Recorded, bytes, cases, family_vectors, on_each_backend, text};
use crate::{Said, open, seal};

/// What a generator must give so that `generate` makes this private key: its scalar and zeros, its seed.
fn randomness_of(key: &[u8]) -> Vec<u8> {
    [&key[..32], &[0; 32], &key[32..]].concat()
}

fn private(case: &Value, key: &str) -> PrivateKey {
    PrivateKey::try_from(&bytes(case, key)[..]).unwrap()
}

fn public(case: &Value, key: &str) -> PublicKey {
    PublicKey::try_from(&bytes(case, key)[..]).unwrap()
}

/// A session whose sender is used up when it ends its direction.
struct End {
    sender: Option<Sender>,
    receiver: Receiver,
    keys: RenewalKeys,
}

impl From<Session> for End {
    fn from(session: Session) -> Self {
        Self {
            sender: Some(session.sender),
            receiver: session.receiver,
            keys: session.keys,
        }
    }
}

/// Seals the frame of a known answer, and returns the record.
fn sent(end: &mut End, case: &Value) -> Vec<u8> {
    let sender = end.sender.as_mut().unwrap();
    let frame = bytes(case, "frame");
    match frame[0] {
        1 => seal(sender, &frame[1..]),
        2 => {
            let key = bytes(case, "renewal_private_key");
            // Without an announcement only an element is made.
            let mut randomness = randomness_of(&key);
            randomness.truncate(if frame.len() == 1126 { 64 } else { 128 });
            randomness.extend(bytes(case, "encapsulation_randomness"));
            let mut rng = Recorded::new(randomness);
            let record = sender.renew(&mut end.keys, &mut rng).unwrap();
            assert!(rng.is_used_up());
            record
        }
        _ => {
            assert_eq!(frame, [3]);
            end.sender.take().unwrap().finish().unwrap().to_vec()
        }
    }
}

#[test]
fn known_answers() {
    let file = family_vectors("tunnel", "tunnel");
    on_each_backend(|_| cases(&file["tunnel"]).iter().for_each(known_answer));
}

fn known_answer(case: &Value) {
    let domain = Label::new(text(case, "domain").as_bytes()).unwrap();
    let (is, rs) = (
        private(case, "initiator_private_key"),
        private(case, "responder_private_key"),
    );
    assert_eq!(*is.public_key(), public(case, "initiator_public_key"));
    assert_eq!(*rs.public_key(), public(case, "responder_public_key"));
    assert_eq!(is.to_bytes()[..], bytes(case, "initiator_private_key"));
    let fingerprint = rs.public_key().fingerprint();
    assert_eq!(fingerprint.to_string(), text(case, "responder_fingerprint"));
    let encapsulations: Vec<Vec<u8>> = cases(&case["encapsulation_randomness"])
        .iter()
        .map(|m| hex::decode(m.as_str().unwrap()).unwrap())
        .collect();

    let ephemeral = randomness_of(&bytes(case, "initiator_ephemeral"));
    let mut rng = Recorded::new([ephemeral, encapsulations[0].clone()].concat());
    let (initiator, request) = Initiator::start(domain, &is, rs.public_key(), &mut rng).unwrap();
    assert!(rng.is_used_up());
    assert_eq!(request[..], bytes(case, "request"));

    let claimed = Responder::receive(domain, &rs, &*request).unwrap();
    assert_eq!(claimed.peer(), is.public_key());
    let ephemeral = randomness_of(&bytes(case, "responder_ephemeral"));
    let mut rng = Recorded::new([ephemeral, encapsulations[1..].concat()].concat());
    let (responder, response) = claimed.accept(&mut rng).unwrap();
    assert!(rng.is_used_up());
    assert_eq!(response[..], bytes(case, "response"));
    let mut initiator = End::from(initiator.receive(&*response).unwrap());

    let records = cases(&case["records"]);
    let (first, others) = records.split_first().unwrap();
    assert_eq!(text(first, "from"), "initiator");
    let mut record = sent(&mut initiator, first);
    assert_eq!(record, bytes(first, "record"));
    let (responder, frame) = responder.confirm(&mut record).unwrap();
    let mut responder = End::from(responder);
    assert_eq!(Said::from(frame), Said::Data(b"hello".to_vec()));

    let mut kinds = [0; 4];
    for case in others {
        let (from, to) = match text(case, "from") {
            "initiator" => (&mut initiator, &mut responder),
            _ => (&mut responder, &mut initiator),
        };
        let frame = bytes(case, "frame");
        kinds[usize::from(frame[0])] += 1;
        let record = sent(from, case);
        assert_eq!(record, bytes(case, "record"));
        let header = record.first_chunk().unwrap();
        assert_eq!(to.receiver.record_len(header), Ok(record.len()));
        let said = match frame[0] {
            1 => Said::Data(frame[1..].to_vec()),
            2 => Said::Renewal,
            _ => Said::End,
        };
        assert_eq!(open(&mut to.receiver, &mut to.keys, &record), Ok(said));
        // Nothing is received twice.
        assert_eq!(
            open(&mut to.receiver, &mut to.keys, &record),
            Err(Error::Verification)
        );
    }
    assert_eq!(kinds, [0, 6, 3, 2]);
}
