//! Records and renewal.

use veriplex::Error;
use veriplex::tunnel::{DATA_OVERHEAD, Frame, MAX_DATA_LEN, MAX_RECORD_LEN, Session, room};

use crate::random::Random;
use crate::{Said, connected, open, rng, seal};

const WRONG: Result<Said, Error> = Err(Error::Verification);

/// Sends a record from one end to the other.
fn pass(from: &mut Session, to: &mut Session, data: &[u8]) {
    let record = seal(&mut from.sender, data);
    assert_eq!(
        open(&mut to.receiver, &mut to.keys, &record),
        Ok(Said::Data(data.to_vec()))
    );
}

/// Renews what one end sends with; whether it announced a key.
fn renew(from: &mut Session, to: &mut Session, seed: u64) -> bool {
    let record = from.sender.renew(&mut from.keys, &mut rng(seed)).unwrap();
    assert_eq!(open(&mut to.receiver, &mut to.keys, &record), Ok(Said::Renewal));
    assert!([1145, 2329].contains(&record.len()));
    record.len() == 2329
}

#[test]
fn records_of_every_kind_of_length() {
    let [mut a, mut b] = connected();
    for len in (0..300).chain([4096, 65534, MAX_DATA_LEN]) {
        let data = crate::common::data(9, len);
        pass(&mut a, &mut b, &data);
        pass(&mut b, &mut a, &data);
    }
}

#[test]
fn lengths_that_no_record_has() {
    let [mut a, mut b] = connected();
    for len in (0..DATA_OVERHEAD).chain([MAX_RECORD_LEN + 1, 100_000]) {
        let mut record = vec![0; len];
        assert_eq!(room(&mut record).unwrap_err(), Error::BufferLength);
        assert_eq!(a.sender.seal(&mut record), Err(Error::BufferLength));
        assert_eq!(record, vec![0; len], "nothing is written");
    }
    pass(&mut a, &mut b, b"the number did not change");
}

/// No change is accepted, and after all of them the right record still is.
#[test]
fn every_change_is_an_error() {
    let [mut a, mut b] = connected();
    let record = seal(&mut a.sender, b"attack at dawn");
    let next = seal(&mut a.sender, b"attack at dusk");
    for bit in 0..8 * record.len() {
        let mut changed = record.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(open(&mut b.receiver, &mut b.keys, &changed), WRONG, "bit {bit}");
    }
    for len in 0..record.len() {
        assert_eq!(open(&mut b.receiver, &mut b.keys, &record[..len]), WRONG);
    }
    let longer = [&record[..], &[0]].concat();
    for other in [&longer, &next] {
        assert_eq!(open(&mut b.receiver, &mut b.keys, other), WRONG);
    }
    // Not to the sender itself either.
    assert_eq!(open(&mut a.receiver, &mut a.keys, &record), WRONG);
    let mut random = Random(7);
    for _ in 0..1000 {
        let mut junk = vec![0; random.below(200)];
        junk.fill_with(|| random.next().to_le_bytes()[0]);
        assert_eq!(open(&mut b.receiver, &mut b.keys, &junk), WRONG);
    }
    let opened = Ok(Said::Data(b"attack at dawn".to_vec()));
    assert_eq!(open(&mut b.receiver, &mut b.keys, &record), opened);
    assert_eq!(open(&mut b.receiver, &mut b.keys, &record), WRONG, "twice");
    let opened = Ok(Said::Data(b"attack at dusk".to_vec()));
    assert_eq!(open(&mut b.receiver, &mut b.keys, &next), opened);
}

/// What does not verify is wiped.
#[test]
fn no_unverified_plaintext() {
    let [mut a, mut b] = connected();
    let mut record = seal(&mut a.sender, &[0x5a; 100]);
    let last = record.len() - 1;
    record[last] ^= 1;
    assert!(b.receiver.open(&mut record, &mut b.keys).is_err());
    assert_eq!(record[3..104], [0; 101]);
}

#[test]
fn nothing_follows_the_end() {
    let [a, mut b] = connected();
    let [same, _] = connected();
    let mut before = same.sender.finish().unwrap().to_vec();
    let end = a.sender.finish().unwrap();
    assert_eq!(end[..], before[..]);
    assert_eq!(b.receiver.open(&mut before, &mut b.keys), Ok(Frame::End));
    assert_eq!(open(&mut b.receiver, &mut b.keys, &end), WRONG);
    let [mut c, _] = connected();
    let _first = seal(&mut c.sender, b"");
    let late = seal(&mut c.sender, b"late");
    assert_eq!(open(&mut b.receiver, &mut b.keys, &late), WRONG);
    assert_eq!(
        b.receiver.record_len(late.first_chunk().unwrap()),
        Err(Error::Verification)
    );
}

#[test]
fn renewals_in_every_order() {
    let mut random = Random(3);
    for _ in 0..20 {
        let [mut a, mut b] = connected();
        for step in 0..30 {
            match random.below(4) {
                0 => drop(renew(&mut a, &mut b, random.next())),
                1 => drop(renew(&mut b, &mut a, random.next())),
                2 => pass(&mut a, &mut b, format!("from a, {step}").as_bytes()),
                _ => pass(&mut b, &mut a, format!("from b, {step}").as_bytes()),
            }
        }
    }
}

/// Renewals that cross on their way: each is against the key that its sender knew.
#[test]
fn renewals_cross() {
    let [mut a, mut b] = connected();
    for round in 0..10 {
        let from_a = a.sender.renew(&mut a.keys, &mut rng(10 + round)).unwrap();
        let from_b = b.sender.renew(&mut b.keys, &mut rng(50 + round)).unwrap();
        assert_eq!(open(&mut a.receiver, &mut a.keys, &from_b), Ok(Said::Renewal));
        assert_eq!(open(&mut b.receiver, &mut b.keys, &from_a), Ok(Said::Renewal));
        pass(&mut a, &mut b, b"from a");
        pass(&mut b, &mut a, b"from b");
    }
}

/// A side never holds more than two keys: it announces one when the peer has used the last.
#[test]
fn keys_are_announced_one_at_a_time() {
    let [mut a, mut b] = connected();
    assert!(renew(&mut a, &mut b, 10), "number 0 was used in the handshake");
    assert!(!renew(&mut a, &mut b, 11), "number 1 was not used");
    assert!(!renew(&mut a, &mut b, 12));
    assert!(renew(&mut b, &mut a, 13), "uses a's number 1");
    assert!(renew(&mut a, &mut b, 14), "announces 2, uses b's 1");
    assert!(renew(&mut b, &mut a, 15));
    assert!(!renew(&mut b, &mut a, 16));
}

/// Sessions that are equal up to a renewal, and there have different random numbers, are apart afterwards.
#[test]
fn a_renewal_changes_the_key() {
    let [mut a, mut b] = connected();
    let [mut other_a, _] = connected();
    renew(&mut a, &mut b, 10);
    let renewal = other_a.sender.renew(&mut other_a.keys, &mut rng(11)).unwrap();
    let record = seal(&mut other_a.sender, b"of another renewal");
    assert_eq!(open(&mut b.receiver, &mut b.keys, &record), WRONG);
    assert_eq!(open(&mut b.receiver, &mut b.keys, &renewal), WRONG);
}
