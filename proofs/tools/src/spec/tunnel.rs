//! The known answers of `tests/vectors/tunnel` as cases for Cryptol, which has the symmetric part: the twin computes what
//! the two key exchanges give.

use super::Folders;
use super::cases::{self, Case, bytes, duplex};
use super::cryptol::Job;
use super::vectors::{BATCH, Json, load};
use std::io;
use std::path::Path;
use veriplex_spec::duplex::Duplex;
use veriplex_spec::{hybrid, kem, tunnel};

pub fn jobs(root: &Path, folders: &Folders) -> io::Result<Vec<Job>> {
    let file = load(&root.join("tests/vectors/tunnel"), "tunnel.json")?;
    let mut cases = Vec::new();
    for v in Json(&file).get("tunnel").list() {
        let keys = Keys::of(&v);
        let (end, handshake) = handshake(&v, &keys);
        cases.push(handshake);
        cases.extend(records(&v, keys, end));
    }
    cases::jobs(folders, false, "tunnel", "import Tunnel\n", &cases, BATCH)
}

/// The private keys of both sides, static and ephemeral.
struct Keys {
    is: Vec<u8>,
    ie: Vec<u8>,
    rs: Vec<u8>,
    re: Vec<u8>,
}

impl Keys {
    fn of(v: &Json) -> Self {
        Self {
            is: v.bytes("initiator_private_key"),
            ie: v.bytes("initiator_ephemeral"),
            rs: v.bytes("responder_private_key"),
            re: v.bytes("responder_ephemeral"),
        }
    }
}

/// A handshake, and the transcript at its end.
fn handshake(v: &Json, Keys { is, ie, rs, re }: &Keys) -> (Duplex, Case) {
    let [public_is, public_ie, public_rs, public_re] = [is, ie, rs, re].map(|key| hybrid::public(key));
    let m: Vec<_> = v
        .get("encapsulation_randomness")
        .list()
        .map(|m| m.unhex())
        .collect();
    let [(c0, ss0), (c1, ss1), (c2, ss2)] = [(&public_rs, &m[0]), (&public_is, &m[1]), (&public_ie, &m[2])]
        .map(|(key, m)| kem::encapsulate(&key[32..], m));
    let shared = |private: &[u8], public: &[u8]| bytes(&hybrid::shared(private, public));
    let domain = v.text("domain");
    let (ie_element, re_element) = (bytes(&public_ie[..32]), bytes(&public_re[..32]));

    let (p, request) = hybrid::request(&domain, is, &public_rs, ie, &m[0]);
    let claim = hybrid::Claim {
        p,
        is: public_is.clone(),
        ie: public_ie.clone(),
    };
    let (end, response) = hybrid::respond(&claim, re, &m[1], &m[2]);
    assert!(
        request == v.bytes("request") && response == v.bytes("response"),
        "the twin agrees"
    );
    let lines = [
        format!(
            "p0 = start {} {} {ie_element} {} {} {}",
            bytes(&domain),
            bytes(&public_rs),
            shared(ie, &public_rs),
            bytes(&c0),
            bytes(&ss0)
        ),
        format!(
            "(p1, sealed) = seal_initiator p0 {} {} {}",
            bytes(&public_is),
            shared(is, &public_rs),
            bytes(&public_ie[32..])
        ),
        format!(
            "p2 = answer p1 {re_element} {} {}",
            shared(ie, &public_re),
            shared(is, &public_re)
        ),
        format!(
            "(p3, hidden) = seal_responder p2 {} {} {} {} {}",
            bytes(&c1),
            bytes(&ss1),
            bytes(&c2),
            bytes(&ss2),
            bytes(&public_re[32..])
        ),
    ];
    let conditions = [
        format!(
            "fingerprint {} == {}",
            bytes(&public_rs),
            bytes(&v.bytes("responder_fingerprint"))
        ),
        format!("{ie_element} # {} # sealed == {}", bytes(&c0), bytes(&request)),
        format!("{re_element} # hidden == {}", bytes(&response)),
        format!("p3 == {}", duplex(&end)),
    ];
    let expression = format!(
        "and\n    [ {} ]\n  where\n    {}",
        conditions.join("\n    , "),
        lines.join("\n    ")
    );
    (
        end,
        Case {
            expression,
            cost: 120,
        },
    )
}

/// The records after a handshake, each sealed and opened, and what renewals make of a direction.
fn records(v: &Json, Keys { ie, re, .. }: Keys, end: Duplex) -> Vec<Case> {
    let mut directions = [tunnel::from_initiator(end), tunnel::from_responder(end)];
    let mut cases = vec![Case {
        expression: format!(
            "[from_initiator {0}, from_responder {0}] == [{1}, {2}]",
            duplex(&end),
            duplex(&directions[0]),
            duplex(&directions[1])
        ),
        cost: 6,
    }];
    // Of each side: its keys by number, and the number of the next record.
    let mut keys = [vec![ie], vec![re]];
    let mut next = [0, 0];
    for record in v.get("records").list() {
        let from = usize::from(record.text("from") == b"responder");
        let (frame, sealed) = (record.bytes("frame"), record.bytes("record"));
        let (d, i, n) = (duplex(&directions[from]), next[from], frame.len());
        let (plaintext, sealed) = (bytes(&frame), bytes(&sealed));
        let mut expression = format!(
            "seal_record {d} {i} {plaintext} == {sealed} /\\ \
             open_record`{{{n}}} {d} {i} {sealed} == {{ ok = True, plaintext = {plaintext} }}"
        );
        next[from] += 1;
        if frame[0] == 2 {
            let own = &keys[1 - from][usize::from(frame[1])];
            let renewed = hybrid::receive_renewal(directions[from], own, &frame);
            let ss = kem::decapsulate(&own[32..], &frame[37..1125]);
            let ec = hybrid::shared(own, &frame[5..37]);
            expression = format!(
                "{expression} /\\ renew {d} {plaintext} {} {} == {}",
                bytes(&ec),
                bytes(&ss),
                duplex(&renewed)
            );
            (directions[from], next[from]) = (renewed, 0);
            if frame.len() > 1126 {
                keys[from].push(record.bytes("renewal_private_key"));
            }
        }
        cases.push(Case {
            expression,
            cost: 10 + n / 30,
        });
    }
    cases
}
