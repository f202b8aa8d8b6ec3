//! Records and renewal.

use veriplex::Error;
use veriplex::tunnel::{self, DATA_OVERHEAD, Frame, MAX_DATA_LEN, MAX_RECORD_LEN, Session, room};

use crate::common::{on_each_lane_backend, refusal};
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
fn nothing_secret_is_printed() {
    let [a, _] = connected();
    let chain = "Chain { .. }";
    assert_eq!(format!("{:?}", a.sender), format!("Sender({chain})"));
    assert_eq!(
        format!("{:?}", a.receiver),
        format!("Receiver {{ chain: {chain}, has_ended: false }}")
    );
    assert_eq!(format!("{:?}", a.keys), "RenewalKeys { .. }");
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
        let wrong = Err(refusal(&record[..len], DATA_OVERHEAD));
        assert_eq!(open(&mut b.receiver, &mut b.keys, &record[..len]), wrong, "{len}");
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
        let wrong = Err(refusal(&junk, DATA_OVERHEAD));
        assert_eq!(open(&mut b.receiver, &mut b.keys, &junk), wrong);
    }
    let opened = Ok(Said::Data(b"attack at dawn".to_vec()));
    assert_eq!(open(&mut b.receiver, &mut b.keys, &record), opened);
    assert_eq!(open(&mut b.receiver, &mut b.keys, &record), WRONG, "twice");
    let opened = Ok(Said::Data(b"attack at dusk".to_vec()));
    assert_eq!(open(&mut b.receiver, &mut b.keys, &next), opened);
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

/// The peer may use a key, also more than once, until it knows of the next.
#[test]
fn a_renewal_that_is_late() {
    let [mut a, mut b] = connected();
    let late = a.sender.renew(&mut a.keys, &mut rng(10)).unwrap();
    renew(&mut b, &mut a, 11);
    renew(&mut b, &mut a, 12);
    assert_eq!(open(&mut b.receiver, &mut b.keys, &late), Ok(Said::Renewal));
    renew(&mut b, &mut a, 13);
    renew(&mut b, &mut a, 14);
    pass(&mut a, &mut b, b"from a");
    pass(&mut b, &mut a, b"from b");
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

/// It is authentic, but not against a key that was announced.
#[test]
fn a_renewal_with_keys_of_another_session() {
    let [mut a, mut b] = connected();
    let [mut other, mut peer] = connected();
    renew(&mut other, &mut peer, 10);
    renew(&mut peer, &mut other, 11);
    let renewal = a.sender.renew(&mut other.keys, &mut rng(12)).unwrap();
    assert_eq!(open(&mut b.receiver, &mut b.keys, &renewal), WRONG);
}

/// What is in one stream of records: the same, whether they were sealed one by one or at once.
fn sealed(sender: &mut tunnel::Sender, data: &[u8], share: usize) -> Vec<u8> {
    let mut records = Vec::new();
    for part in data.chunks(share) {
        records.extend(seal(sender, part));
    }
    records
}

/// The same at once.
fn sealed_at_once(sender: &mut tunnel::Sender, data: &[u8], share: usize) -> Vec<u8> {
    let mut records = Vec::new();
    for part in data.chunks(share) {
        let mut record = vec![0; part.len() + DATA_OVERHEAD];
        room(&mut record).unwrap().copy_from_slice(part);
        records.extend(record);
    }
    sender.seal_many(&mut records, share + DATA_OVERHEAD).unwrap();
    records
}

/// Opens all that is whole: what was said, and how many bytes it took.
fn opened(to: &mut Session, records: &mut [u8]) -> (Vec<Said>, Result<usize, Error>) {
    let (mut said, mut used) = (Vec::new(), 0);
    loop {
        let take = |frame: Frame<'_>| said.push(Said::from(frame));
        match to.receiver.open_many(&mut records[used..], &mut to.keys, take) {
            Ok(0) => return (said, Ok(used)),
            Ok(n) => used += n,
            Err(error) => return (said, Err(error)),
        }
    }
}

fn said(data: &[u8], share: usize) -> Vec<Said> {
    data.chunks(share).map(|part| Said::Data(part.to_vec())).collect()
}

#[test]
fn many_at_once_are_the_same_as_one_by_one() {
    let ([mut a, _], [mut one, mut b]) = (connected(), connected());
    // 1125 and 2309 bytes of data: records as long as a renewal.
    for (len, share) in [
        (1, 1),
        (1, 100),
        (7, 1),
        (30, 1),
        (300, 100),
        (3000, 187),
        (9000, 1125),
        (9000, 2309),
        (40_000, 4096),
        (65_536, 8192),
        (65_536, 65_535),
        (200_000, 7000),
    ] {
        let data = crate::common::data(9, len);
        let mut records = sealed_at_once(&mut a.sender, &data, share);
        assert!(records == sealed(&mut one.sender, &data, share), "{len} {share}");
        let all = records.len();
        assert_eq!(opened(&mut b, &mut records), (said(&data, share), Ok(all)));
    }
    // They go on with the same number.
    assert_eq!(seal(&mut a.sender, b"next"), seal(&mut one.sender, b"next"));
}

/// A caller's function that panics has had the frames before; of those after there is nothing left.
#[test]
fn what_a_panic_leaves_behind() {
    const EACH: usize = 100 + DATA_OVERHEAD;
    for last in 0..8 {
        let [mut a, mut b] = connected();
        let mut records = sealed_at_once(&mut a.sender, &[0x5a; 800], 100);
        let mut taken = 0;
        let open = std::panic::AssertUnwindSafe(|| {
            b.receiver.open_many(&mut records, &mut b.keys, |_| {
                taken += 1;
                if taken > last {
                    std::panic::resume_unwind(Box::new(()));
                }
            })
        });
        std::panic::catch_unwind(open).unwrap_err();
        for (i, record) in records.chunks(EACH).enumerate() {
            let is_open = record[4..104] == [0x5a; 100];
            assert_eq!(is_open, i <= last, "{last}, {i}");
        }
    }
}

/// What is not whole stays as it is, and is opened when the rest has come.
#[test]
fn many_records_in_pieces() {
    let data = crate::common::data(5, 12_000);
    let [mut a, _] = connected();
    let records = sealed_at_once(&mut a.sender, &data, 1000);
    for piece in [1, 2, 700, 1019, 1020, 1021, 5000, 12_000] {
        let [_, mut b] = connected();
        let (mut rest, mut heard) = (Vec::new(), Vec::new());
        for come in records.chunks(piece) {
            rest.extend_from_slice(come);
            let (said, used) = opened(&mut b, &mut rest);
            heard.extend(said);
            rest.drain(..used.unwrap());
        }
        assert_eq!((heard, rest.len()), (said(&data, 1000), 0), "{piece}");
    }
}

/// Renewals and the end keep their places among records that are opened at once.
#[test]
fn many_records_and_others_among_them() {
    let [mut a, mut b] = connected();
    let mut all = Vec::new();
    let mut expected = Vec::new();
    for round in 0..4 {
        let data = crate::common::data(round, 10_000);
        all.extend(sealed_at_once(&mut a.sender, &data, 1200));
        expected.extend(said(&data, 1200));
        all.extend(a.sender.renew(&mut a.keys, &mut rng(round)).unwrap());
        expected.push(Said::Renewal);
    }
    all.extend(a.sender.finish().unwrap());
    expected.push(Said::End);
    let len = all.len();
    assert_eq!(opened(&mut b, &mut all), (expected, Ok(len)));
    all.extend([0; 100]);
    let (said, result) = opened(&mut b, &mut all[len..]);
    assert_eq!(
        (said, result),
        (vec![], Err(Error::Verification)),
        "after the end"
    );
}

/// Records before the one that is wrong are right; of it and those opened with it nothing is left.
#[test]
fn many_records_one_of_them_wrong() {
    let data = crate::common::data(3, 20_000);
    let [mut a, _] = connected();
    let records = sealed_at_once(&mut a.sender, &data, 2000);
    for at in (0..records.len()).step_by(97) {
        let mut changed = records.clone();
        changed[at] ^= 4;
        let [_, mut b] = connected();
        let (heard, result) = opened(&mut b, &mut changed);
        let right = at / 2020;
        assert_eq!(heard, said(&data[..right * 2000], 2000), "{at}");
        if at % 2020 < 3 {
            // Another length: the rest is wrong, or does not come.
            assert!(
                result == Err(Error::Verification) || result == Ok(right * 2020),
                "{at}"
            );
        } else {
            assert_eq!(result, Err(Error::Verification), "{at}");
            let end = ((right / 8 + 1) * 8 * 2020).min(records.len());
            for (record, plaintext) in changed[right * 2020..end]
                .chunks(2020)
                .zip(data[right * 2000..].chunks(2000))
            {
                assert!(record[4..2004] != *plaintext, "{at}: not verified, and given out");
                assert!(record[3..2004].iter().all(|byte| *byte == 0), "{at}");
            }
        }
    }
    // In another order.
    let mut swapped = [&records[2020..4040], &records[..2020], &records[4040..]].concat();
    let [_, mut b] = connected();
    assert!(opened(&mut b, &mut swapped).0.is_empty());
}

#[test]
fn many_records_of_lengths_that_none_has() {
    let [mut a, mut b] = connected();
    for (len, each) in [
        (0, 100),
        (100, 0),
        (100, DATA_OVERHEAD - 1),
        (100, 90),
        (MAX_RECORD_LEN + 1, MAX_RECORD_LEN + 1),
    ] {
        let mut records = vec![0; len];
        let result = a.sender.seal_many(&mut records, each);
        assert_eq!(result, Err(Error::BufferLength), "{len} {each}");
        assert_eq!(records, vec![0; len], "nothing is written");
    }
    pass(&mut a, &mut b, b"the number did not change");
}

/// As much as a record can have where lanes gain nothing. Elsewhere an eighth, but enough that a record is worth it, and
/// no more than is needed.
#[test]
fn shares_are_what_is_fastest() {
    on_each_lane_backend(|backend| {
        let shares = [0, 1, 1000, 8192, 8193, 65_535, 65_537, usize::MAX].map(tunnel::share);
        let right = if backend.name().ends_with("serial") {
            [1, 1, 1000, 8192, 8193, 65_535, 65_535, 65_535]
        } else {
            [1024, 1024, 1024, 1024, 1025, 8192, 8192, 8192]
        };
        assert_eq!(shares, right, "{}", backend.name());
    });
}
