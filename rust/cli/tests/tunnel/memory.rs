//! What a thief of the memory of both ends finds of a connection: as the attack did, from `/proc/PID/mem` and what passed
//! on the wire.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

use veriplex::keys;
use veriplex_spec::hybrid::{public, receive_request, receive_response, shared};
use veriplex_spec::protocol::{mask, mix, open, seal, unmask};
use veriplex_spec::{duplex::Duplex, kem, tunnel};

use super::process::{count, memory};
use super::{CLIENT, End, LONG, SERVER, echo_server, exchange, private};

const REQUEST_LEN: usize = veriplex::tunnel::REQUEST_LEN;
const RESPONSE_LEN: usize = veriplex::tunnel::RESPONSE_LEN;

/// The scalar of this public key, wherever in memory it is, and the 64 bytes after it.
fn find_private(memory: &[Vec<u8>], element: &[u8]) -> Option<[u8; 96]> {
    let is_it = |bytes: &&[u8]| {
        let scalar = bytes.first_chunk::<32>().unwrap();
        let mut seen = [false; 256];
        for byte in scalar {
            seen[usize::from(*byte)] = true;
        }
        let is_random = seen.iter().filter(|seen| **seen).count() > 20;
        is_random
            && scalar[31] <= 0x10
            && keys::PrivateKey::from_bytes(scalar).is_ok_and(|key| key.public_key().as_bytes() == element)
    };
    let mut windows = memory.iter().flat_map(|piece| piece.windows(96).step_by(8));
    windows.find(is_it).map(|bytes| bytes.try_into().unwrap())
}

/// The forms in which curve25519-dalek computes with a scalar: 64 digits to the base 16 from -8 to 8, and five limbs of 52
/// bits.
fn forms(scalar: &[u8]) -> [Vec<u8>; 2] {
    let mut digits: Vec<i8> = scalar
        .iter()
        .flat_map(|byte| [byte & 15, byte >> 4])
        .map(u8::cast_signed)
        .collect();
    for i in 0..63 {
        let carry = (digits[i] + 8) >> 4;
        digits[i] -= carry << 4;
        digits[i + 1] += carry;
    }
    let limbs = (0..5).map(|limb| {
        (0..52).fold(0_u64, |value, bit| {
            let bit = limb * 52 + bit;
            let is_set = scalar.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
            value | u64::from(is_set) << (bit % 52)
        })
    });
    [
        digits.into_iter().map(i8::cast_unsigned).collect(),
        limbs.flat_map(u64::to_le_bytes).collect(),
    ]
}

/// What has to be nowhere once a handshake is over: what the two exchanges gave, and the transcript's states.
fn of_handshake(asked: &[u8], answer: &[u8], ie: &[u8], re: &[u8]) -> (Vec<(String, Vec<u8>)>, [Duplex; 2]) {
    let [rs, is] = [SERVER, CLIENT].map(|number| private(number).to_bytes());
    let claim = receive_request(b"veriplex.tunnel.v2", &rs, asked).unwrap();
    let (after, peer) = receive_response(claim.p, &is, ie, answer).unwrap();
    assert_eq!((public(ie), public(re)), (claim.ie.clone(), peer));
    let answered = tunnel::answer(
        claim.p,
        &answer[..32],
        &shared(re, &claim.ie),
        &shared(re, &claim.is),
    );
    let (masked, is_ct) = unmask(answered, b"is-ct", &answer[32..1120]);
    let is_ss = kem::decapsulate(&is[32..], &is_ct);
    let named = mix(masked, b"is-ss", &is_ss);
    let (_, ie_ct) = open(named, b"ie-ct", &answer[1120..2224]);
    let secrets = [
        ("ie-rs", shared(ie, &public(&rs)).to_vec()),
        ("is-rs", shared(&is, &public(&rs)).to_vec()),
        ("ie-re", shared(ie, &public(re)).to_vec()),
        ("is-re", shared(&is, &public(re)).to_vec()),
        ("rs-ss", kem::decapsulate(&rs[32..], &asked[32..1120])),
        ("is-ss", is_ss),
        ("ie-ss", kem::decapsulate(&ie[32..], &ie_ct.plaintext)),
        ("state after the request", of_state(&claim.p)),
        ("state after ie-re and is-re", of_state(&answered)),
        ("state after is-ct", of_state(&masked)),
        ("state at the end", of_state(&after)),
    ];
    let secrets = secrets.map(|(name, bytes)| (name.to_owned(), bytes)).into();
    (
        secrets,
        [tunnel::from_responder(after), tunnel::from_initiator(after)],
    )
}

/// Of an ephemeral key.
fn of_key(name: &str, key: &[u8]) -> Vec<(String, Vec<u8>)> {
    let [digits, limbs] = forms(&key[..32]);
    [
        ("scalar", key[..32].to_vec()),
        ("scalar in digits", digits),
        ("scalar in limbs", limbs),
        ("d", key[32..64].to_vec()),
        ("z", key[64..].to_vec()),
        ("decapsulation key", kem::expanded(&key[32..])[..32].to_vec()),
    ]
    .map(|(part, bytes)| (format!("{name}: {part}"), bytes))
    .into()
}

/// The states while records were made: each can be run backwards, up to the last Ratchet.
fn of_records(direction: Duplex, name: &str, frames: &[&[u8]]) -> Vec<(String, Vec<u8>)> {
    let mut states = vec![(name.to_owned(), of_state(&direction))];
    for (frame, i) in frames.iter().zip(0..) {
        let numbered = tunnel::numbered(direction, i);
        let len = u32::try_from(frame.len()).unwrap().to_be_bytes();
        let (masked, _) = mask(numbered, b"len", &len[1..]);
        let (sealed, _) = seal(masked, b"frame", frame);
        for (state, when) in [(numbered, "number"), (masked, "length"), (sealed, "frame")] {
            states.push((format!("{name}, record {i}, after its {when}"), of_state(&state)));
        }
    }
    states
}

/// Its capacity, which no input changes but through the permutation.
fn of_state(p: &Duplex) -> Vec<u8> {
    p.state[96..].to_vec()
}

/// Passes a connection on, and tells the first bytes of each direction.
fn tap(to: std::net::SocketAddr) -> (std::net::SocketAddr, mpsc::Receiver<[Vec<u8>; 2]>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut server = TcpStream::connect(to).unwrap();
            let pass = |from: &mut TcpStream, to: &mut TcpStream, len: usize| {
                let mut message = vec![0; len];
                from.read_exact(&mut message).unwrap();
                to.write_all(&message).unwrap();
                message
            };
            let asked = pass(&mut client, &mut server, REQUEST_LEN);
            let answer = pass(&mut server, &mut client, RESPONSE_LEN);
            sender.send([asked, answer]).unwrap();
            let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut from, &mut to));
            thread::spawn(move || std::io::copy(&mut server, &mut client));
        }
    });
    (address, receiver)
}

#[test]
fn memory_gives_no_closed_connection_away() {
    if cfg!(not(target_arch = "x86_64")) {
        println!("skipped: under qemu this would read the emulator's memory");
        return;
    }
    let server = End::start("serve", SERVER, &[CLIENT], echo_server(), &[]);
    let (wire, messages) = tap(server.address);
    let client = End::start("connect", CLIENT, &[SERVER], wire, &[]);
    let mut stream = client.connect();
    stream.write_all(b"data").unwrap();
    let mut echo = [0; 4];
    stream.read_exact(&mut echo).unwrap();
    let [asked, answer] = messages.recv_timeout(LONG).unwrap();

    // While the connection is young, each side has its key for renewals, once: the thief finds it, and can go on from there.
    let both = [&client, &server].map(|end| memory(&end.child));
    let ie =
        find_private(&both[0], &asked[..32]).expect("the client keeps its ephemeral key until a renewal");
    let re =
        find_private(&both[1], &answer[..32]).expect("the server keeps its ephemeral key until a renewal");
    let (mut secrets, directions) = of_handshake(&asked, &answer, &ie, &re);
    let mut wrong = Vec::new();
    let mut check =
        |when: &str, memory: &[Vec<u8>], whose: &str, secret: &(String, Vec<u8>), expected: usize| {
            let found = count(memory, &secret.1);
            if found != expected {
                wrong.push(format!(
                    "{when}, {whose}: {} is there {found} times, not {expected}",
                    secret.0
                ));
            }
        };
    for (memory, whose, own, other) in [(&both[0], "client", ie, re), (&both[1], "server", re, ie)] {
        for secret in &secrets {
            check("open", memory, whose, secret, 0);
        }
        for (part, times) in of_key("own key", &own).iter().zip([1, 0, 0, 1, 1, 0]) {
            check("open", memory, whose, part, times);
        }
        for part in of_key("the other's key", &other) {
            check("open", memory, whose, &part, 0);
        }
        // Both branches of a Fork have the same capacity: one for each direction.
        let chains = ("state of a direction".to_owned(), of_state(&directions[0]));
        assert_eq!(of_state(&directions[1]), chains.1);
        check("open", memory, whose, &chains, 2);
    }

    // Afterwards there is nothing.
    drop(exchange(stream, b"").unwrap());
    server.says(&super::fingerprint(CLIENT), "closed");
    client.says(&super::fingerprint(SERVER), "closed");
    secrets.extend(of_key("the client's key", &ie));
    secrets.extend(of_key("the server's key", &re));
    let [from_server, from_client] = directions;
    secrets.extend(of_records(
        from_server,
        "from the server",
        &[b"\x01data", b"\x03"],
    ));
    secrets.extend(of_records(
        from_client,
        "from the client",
        &[b"\x01", b"\x01data", b"\x03"],
    ));
    for (end, whose, long_term) in [(&client, "client", CLIENT), (&server, "server", SERVER)] {
        let memory = memory(&end.child);
        for secret in &secrets {
            check("closed", &memory, whose, secret, 0);
        }
        // Its long-term key is there once, as it is used (z in both forms of the half for ML-KEM), and not as it was read.
        let key = private(long_term);
        for (part, times) in of_key("long-term key", &key.to_bytes())
            .iter()
            .zip([1, 0, 0, 1, 2, 1])
        {
            check("closed", &memory, whose, part, times);
        }
        let line = super::private_line(long_term);
        for (what, bytes) in [
            ("secret of the key", super::identity::secret(long_term).to_vec()),
            ("line of the key file", line.as_bytes()[24..].to_vec()),
        ] {
            check("closed", &memory, whose, &(what.into(), bytes), 0);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
