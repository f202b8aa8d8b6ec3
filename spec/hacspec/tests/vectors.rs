//! The twin against every known answer of the library.

#[path = "../../../tests/common/vectors.rs"]
mod folder;

use serde_json::Value;
use std::fs;
use veriplex_spec::duplex::{self, Duplex};
use veriplex_spec::protocol::{self, Opened};
use veriplex_spec::{
    aead, aestream, digest, group, handshake, hpke, hybrid, mac, mhf, oae2, oprf, pake, sig, signcrypt,
    simpira1024,
};
use veriplex_spec::{
    seekable, siv, stream, tree, tunnel, vrf, xoodoo, xoofff, xoofff_sane, xoofff_sanse, xoofff_wbc,
};

fn load(name: &str) -> Value {
    load_family("newplex", name)
}

fn load_family(family: &str, name: &str) -> Value {
    let path = folder::folder(family).join(name);
    let text = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let value: Value = serde_json::from_slice(&text).unwrap();
    // A test of no cases would pass.
    let lists = value.as_object().into_iter().flat_map(|file| file.values());
    for list in lists.chain([&value]).filter_map(Value::as_array) {
        assert!(!list.is_empty(), "{} has no cases", path.display());
    }
    value
}

fn text<'a>(v: &'a Value, key: &str) -> &'a [u8] {
    v[key]
        .as_str()
        .unwrap_or_else(|| panic!("no {key} in {v}"))
        .as_bytes()
}

fn unhex(hex: &[u8]) -> Vec<u8> {
    assert_eq!(hex.len() % 2, 0);
    hex.chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn bytes(v: &Value, key: &str) -> Vec<u8> {
    unhex(text(v, key))
}

fn number(v: &Value, key: &str) -> u64 {
    v[key].as_u64().unwrap_or_else(|| panic!("no {key} in {v}"))
}

fn length(v: &Value, key: &str) -> usize {
    usize::try_from(number(v, key)).unwrap()
}

fn list<'a>(v: &'a Value, key: &str) -> &'a [Value] {
    v[key].as_array().unwrap_or_else(|| panic!("no {key} in {v}"))
}

fn state(v: &Value, key: &str) -> [u8; 128] {
    bytes(v, key).try_into().unwrap()
}

/// The final duplex of a sequence or a transcript.
fn end(v: &Value) -> Duplex {
    Duplex {
        state: state(v, "state"),
        rate_idx: u8::try_from(number(v, "rate_idx")).unwrap(),
        frame_idx: u8::try_from(number(v, "frame_idx")).unwrap(),
    }
}

#[test]
fn simpira1024_vectors() {
    let file = load("simpira1024.json");
    let vectors = list(&file, "vectors");
    for v in vectors {
        assert_eq!(simpira1024::permute(state(v, "input")), state(v, "output"));
        assert_eq!(simpira1024::unpermute(state(v, "output")), state(v, "input"));
    }

    let mut x = state(&file["iterated"], "start");
    for _ in 0..number(&file["iterated"], "count") {
        x = simpira1024::permute(x);
    }
    assert_eq!(x, state(&file["iterated"], "output"));
}

#[test]
fn duplex_vectors() {
    let file = load("duplex.json");
    let sequences = list(&file, "sequences");
    for (i, sequence) in sequences.iter().enumerate() {
        let mut d = duplex::EMPTY;
        for op in list(sequence, "ops") {
            let with_output = |(next, out): (Duplex, Vec<u8>)| {
                assert_eq!(out, bytes(op, "out"), "sequence {i}");
                next
            };
            d = match op["op"].as_str().unwrap() {
                "absorb" => duplex::absorb(d, &bytes(op, "data")),
                "absorb_leb128" => {
                    // A string, because JSON numbers are exact only up to 2^53.
                    duplex::absorb_leb128(d, op["value"].as_str().unwrap().parse().unwrap())
                }
                "squeeze" => with_output(duplex::squeeze(d, length(op, "n"))),
                "encrypt" => with_output(duplex::encrypt(d, &bytes(op, "data"))),
                "decrypt" => with_output(duplex::decrypt(d, &bytes(op, "data"))),
                "frame" => duplex::frame(d, u8::try_from(number(op, "id")).unwrap()),
                "permute" => duplex::pad_permute(d),
                "ratchet" => duplex::ratchet(d),
                other => panic!("unknown operation {other}"),
            };
        }
        assert_eq!(d, end(sequence), "sequence {i}");
    }
}

/// Runs one operation of a transcript, and compares its outputs.
fn step(p: Duplex, op: &Value) -> Duplex {
    let label = text(op, "label");
    match op["op"].as_str().unwrap() {
        "mix" => protocol::mix(p, label, &bytes(op, "input")),
        "derive" => {
            let (next, output) = protocol::derive(p, label, length(op, "n"));
            assert_eq!(output, bytes(op, "output"));
            next
        }
        "mask" => {
            let (next, ciphertext) = protocol::mask(p, label, &bytes(op, "plaintext"));
            assert_eq!(ciphertext, bytes(op, "ciphertext"));
            next
        }
        "unmask" => {
            let (next, plaintext) = protocol::unmask(p, label, &bytes(op, "ciphertext"));
            assert_eq!(plaintext, bytes(op, "plaintext"));
            next
        }
        "seal" => {
            let (plaintext, sealed) = (bytes(op, "plaintext"), bytes(op, "sealed"));
            let (next, made) = protocol::seal(p, label, &plaintext);
            assert_eq!(made, sealed);
            let opened = Opened { ok: true, plaintext };
            assert_eq!(protocol::open(p, label, &sealed), (next, opened));
            next
        }
        "fork" => {
            let values = list(op, "values");
            let branches: Vec<Duplex> = (1..)
                .zip(values)
                .map(|(i, v)| protocol::fork_branch(p, label, i, &unhex(v.as_str().unwrap().as_bytes())))
                .collect();
            let root = protocol::fork_root(p, label);
            for (branch, want) in branches.iter().zip(list(op, "branch_states")) {
                let want = unhex(want.as_str().unwrap().as_bytes());
                assert_eq!(duplex::serialize(*branch)[..], want);
            }
            assert_eq!(branches.len(), list(op, "branch_states").len());
            assert_eq!(duplex::serialize(root)[..], bytes(op, "root_state"));
            match length(op, "continue_with") {
                0 => root,
                i => branches[i - 1],
            }
        }
        "ratchet" => protocol::ratchet(p, label),
        other => panic!("unknown operation {other}"),
    }
}

#[test]
fn protocol_vectors() {
    let file = load("protocol.json");
    for (section, count) in [("transcripts", 80), ("long_labels", 20)] {
        let transcripts = list(&file, section);
        for (i, transcript) in transcripts.iter().enumerate() {
            let p = protocol::init(text(transcript, "domain"));
            let p = list(transcript, "ops").iter().fold(p, step);
            assert_eq!(p, end(transcript), "{section} {i}");
        }
        assert_eq!(transcripts.len(), count);
    }
}

/// The flaw of the original: with a label of 92 bytes, which this library refuses, two transcripts reach one state.
#[test]
fn label_92_collision() {
    let file = load("protocol.json");
    let collision = &file["label_92_collision"];
    let run = |side, want| {
        let mut p = protocol::init(text(collision, "domain"));
        for op in list(collision, side) {
            assert_eq!(op["op"], "mix");
            p = duplex::absorb(protocol::header(p, 0x02, text(op, "label")), &bytes(op, "input"));
        }
        assert_eq!(duplex::serialize(p)[..], bytes(collision, want));
        p
    };
    assert_ne!(collision["left"], collision["right"]);
    assert_eq!(run("left", "state_left"), run("right", "state_right"));
}

#[test]
fn digest_vectors() {
    let file = load("digest.json");
    let cases = file.as_array().unwrap();
    for v in cases {
        let (domain, message) = (text(v, "domain"), bytes(v, "message"));
        assert_eq!(digest::digest(domain, &message, 32), bytes(v, "digest"));
        assert_eq!(
            mac::mac(domain, &bytes(v, "key"), &message, 16),
            bytes(v, "keyed_digest")
        );
    }
}

#[test]
fn mac_stream_vectors() {
    let file = load("mac_stream.json");
    let cases = file.as_array().unwrap();
    for v in cases {
        let (key, nonce, message) = (bytes(v, "key"), bytes(v, "nonce"), bytes(v, "message"));
        let mut tag: [u8; 16] = bytes(v, "tag").try_into().unwrap();
        assert_eq!(mac::mac(text(v, "mac_domain"), &key, &message, 16), tag);
        assert!(mac::verify(text(v, "mac_domain"), &key, &message, tag));
        tag[15] ^= 1;
        assert!(!mac::verify(text(v, "mac_domain"), &key, &message, tag));

        let (domain, ciphertext) = (text(v, "stream_domain"), bytes(v, "ciphertext"));
        assert_eq!(stream::encrypt(domain, &key, &nonce, &message), ciphertext);
        assert_eq!(stream::decrypt(domain, &key, &nonce, &ciphertext), message);
    }
}

type Seal = fn(&[u8], &[u8], &[u8], &[u8], &[u8]) -> Vec<u8>;
type Open = fn(&[u8], &[u8], &[u8], &[u8], &[u8]) -> Opened;

fn sealed_vectors(name: &str, seal: Seal, open: Open) {
    let file = load(name);
    let cases = file.as_array().unwrap();
    let mut forged = 0;
    for v in cases {
        let (domain, key, nonce) = (text(v, "domain"), bytes(v, "key"), bytes(v, "nonce"));
        let (ad, ciphertext) = (bytes(v, "ad"), bytes(v, "ciphertext"));
        let opened = open(domain, &key, &nonce, &ad, &ciphertext);
        if v["valid"].as_bool().unwrap() {
            let plaintext = bytes(v, "plaintext");
            assert_eq!(seal(domain, &key, &nonce, &ad, &plaintext), ciphertext);
            assert_eq!(opened, Opened { ok: true, plaintext });
        } else {
            let plaintext = vec![0; ciphertext.len().saturating_sub(16)];
            assert_eq!(opened, Opened { ok: false, plaintext });
            forged += 1;
        }
        for n in 0..16 {
            let plaintext = Vec::new();
            assert_eq!(
                open(domain, &key, &nonce, &ad, &ciphertext[..n]),
                Opened { ok: false, plaintext }
            );
        }
    }
    assert!(forged > 0 && forged < cases.len());
}

#[test]
fn aead_vectors() {
    sealed_vectors("aead.json", aead::seal, aead::open);
}

#[test]
fn siv_vectors() {
    sealed_vectors("siv.json", siv::seal, siv::open);
}

/// The transcript of a case, after its key.
fn keyed(v: &Value) -> Duplex {
    protocol::mix(protocol::init(text(v, "domain")), b"key", &bytes(v, "key"))
}

#[test]
fn aestream_vectors() {
    let file = load("aestream.json");
    let cases = file.as_array().unwrap();
    for v in cases {
        let blocks: Vec<Vec<u8>> = list(v, "writes")
            .iter()
            .map(|write| unhex(write.as_str().unwrap().as_bytes()))
            .flat_map(|write| write.chunks(65535).map(<[u8]>::to_vec).collect::<Vec<_>>())
            .collect();
        let ciphertext = bytes(v, "ciphertext");
        let (after, sealed) = aestream::seal(keyed(v), &blocks);
        assert_eq!(sealed, ciphertext);
        assert_eq!(duplex::serialize(after)[..], bytes(v, "final_state"));
        let plaintext = blocks.concat();
        let opened = Opened { ok: true, plaintext };
        assert_eq!(aestream::open(keyed(v), &ciphertext), opened);
        let refused = aestream::open(keyed(v), &ciphertext[..ciphertext.len() - 1]);
        assert!(!refused.ok && refused.plaintext.is_empty());
    }
}

#[test]
fn oae2_vectors() {
    let file = load("oae2.json");
    let cases = file.as_array().unwrap();
    for v in cases {
        let (b, plaintext, ciphertext) = (
            length(v, "block_size"),
            bytes(v, "plaintext"),
            bytes(v, "ciphertext"),
        );
        assert_eq!(oae2::seal(keyed(v), b, &plaintext).1, ciphertext);
        let opened = Opened { ok: true, plaintext };
        assert_eq!(oae2::open(keyed(v), b, &ciphertext), opened);
        let refused = oae2::open(keyed(v), b, &ciphertext[..ciphertext.len() - b - 16]);
        assert!(!refused.ok && refused.plaintext.is_empty());
    }
}

#[test]
fn mhf_vectors() {
    let file = load("mhf.json");
    let cases = file.as_array().unwrap();
    for v in cases {
        let cost = u8::try_from(number(v, "cost")).unwrap();
        if cost <= 4 {
            // The twin takes 50 ms per block. The crate's own tests run the larger ones.
            let (password, salt) = (bytes(v, "password"), bytes(v, "salt"));
            let output = mhf::hash(cost, text(v, "domain"), &password, &salt, length(v, "n"));
            assert_eq!(output, bytes(v, "output"), "cost {cost}");
        }
    }
}

/// Expands a seed in the known answers to the bytes it stands for.
fn data(v: &Value) -> Vec<u8> {
    let mut x = number(v, "seed");
    let bytes = (0..number(v, "len")).map(|_| {
        x = x
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        x.to_be_bytes()[0]
    });
    bytes.collect()
}

/// The digest that the known answers give in place of a long output.
fn fingerprint(output: &[u8]) -> Vec<u8> {
    digest::digest(b"veriplex.test.digest", output, 32)
}

/// Longer messages take the twin minutes. The crate's own tests run them.
const LONG: u64 = 20_000;

#[test]
fn tree_vectors() {
    let file = load_family("tree", "tree.json");
    let short = |v: &&Value| number(v, "len") <= LONG;
    let cases = list(&file, "tree").iter().filter(short);
    let mut count = 0;
    for v in cases {
        let p = match &v["key"] {
            Value::Null => tree::base(text(v, "domain")),
            _ => tree::keyed_base(text(v, "domain"), &bytes(v, "key")),
        };
        assert_eq!(
            tree::digest(p, &data(v), length(v, "out_len")),
            bytes(v, "digest")
        );
        count += 1;
    }
    assert_eq!(count, 30);

    let mut count = 0;
    for v in list(&file, "outboard").iter().filter(short) {
        let p = tree::base(text(v, "domain"));
        let message = data(v);
        assert_eq!(tree::digest(p, &message, 32), bytes(v, "digest"));
        // The strings of the levels above 0, highest first.
        let (mut outboard, mut string) = (Vec::new(), message);
        for level in 0.. {
            if string.len() <= tree::CHUNK_LEN {
                break;
            }
            string = tree::above(p, level, &string);
            outboard = [string.clone(), outboard].concat();
        }
        assert_eq!(fingerprint(&outboard), bytes(v, "outboard_digest"));
        count += 1;
    }
    assert_eq!(count, 3);
}

#[test]
fn seekable_vectors() {
    let file = load_family("seekable", "seekable.json");
    let mut count = 0;
    for v in list(&file, "seekable") {
        if number(v, "len") > LONG {
            continue;
        }
        let (s, key) = (length(v, "segment_len"), bytes(v, "key").try_into().unwrap());
        let p = seekable::base(s, text(v, "domain"), &key, &bytes(v, "nonce"), &bytes(v, "ad"));
        let message = data(v);
        let sealed = seekable::seal(p, s, &message);
        assert_eq!(sealed.len(), length(v, "ciphertext_len"));
        assert_eq!(sealed[..sealed.len().min(256)], bytes(v, "ciphertext_first_256"));
        assert_eq!(fingerprint(&sealed), bytes(v, "ciphertext_digest"));
        let opened = seekable::open(p, s, &sealed);
        assert_eq!((opened.ok, opened.plaintext), (true, message));
        count += 1;
    }
    assert_eq!(count, 60);
}

#[test]
fn deserialize_refuses_a_bad_index() {
    let mut bytes = duplex::serialize(Duplex {
        state: [7; 128],
        rate_idx: 93,
        frame_idx: 93,
    });
    let (ok, d) = duplex::deserialize(bytes);
    assert!(ok);
    assert_eq!(duplex::serialize(d), bytes);
    for i in [0, 1] {
        bytes[i] = 94;
        assert_eq!(duplex::deserialize(bytes), (false, duplex::EMPTY));
        bytes[i] = 93;
    }
}

fn array(v: &Value, key: &str) -> [u8; 32] {
    bytes(v, key).try_into().unwrap()
}

#[test]
fn sig_vectors() {
    let file = load("sig.json");
    for case in file.as_array().unwrap() {
        let (domain, message) = (text(case, "domain"), bytes(case, "message"));
        let (private, public) = (array(case, "private"), array(case, "public"));
        assert_eq!(group::wide(&bytes(case, "private_uniform")), private);
        assert_eq!(group::times(private, group::generator()), public);
        let signature = bytes(case, "signature");
        assert_eq!(
            sig::sign(domain, private, &bytes(case, "hedge"), &message),
            signature
        );
        assert!(sig::verify(domain, public, &message, &signature));
        let bad = sig::verify(domain, public, &message, &bytes(case, "bad_signature"));
        assert_eq!(bad, case["bad_valid"].as_bool().unwrap());
    }
}

type SealTo = fn(&[u8], [u8; 32], [u8; 32], &[u8], &[u8]) -> Vec<u8>;
type OpenFrom = fn(&[u8], [u8; 32], [u8; 32], &[u8]) -> Opened;

fn public_key_vectors(name: &str, seal: SealTo, open: OpenFrom) {
    let file = load(name);
    for case in file.as_array().unwrap() {
        let domain = text(case, "domain");
        let sealed = seal(
            domain,
            array(case, "sender_private"),
            array(case, "receiver_public"),
            &bytes(case, "rand"),
            &bytes(case, "plaintext"),
        );
        assert_eq!(sealed, bytes(case, "ciphertext"));
        let opened = open(
            domain,
            array(case, "receiver_private"),
            array(case, "sender_public"),
            &sealed,
        );
        assert!(opened.ok);
        assert_eq!(opened.plaintext, bytes(case, "plaintext"));
    }
}

#[test]
fn hpke_vectors() {
    public_key_vectors("hpke.json", hpke::seal_message, hpke::open_message);
}

#[test]
fn signcrypt_vectors() {
    public_key_vectors("signcrypt.json", signcrypt::seal, signcrypt::open);
}

#[test]
fn handshake_vectors() {
    let file = load("handshake.json");
    for case in file.as_array().unwrap() {
        let domain = text(case, "domain");
        let (ours, theirs) = (bytes(case, "initiator_rand"), bytes(case, "responder_rand"));
        let request = handshake::request(&ours);
        assert_eq!(request, array(case, "request"));
        let (p, response) =
            handshake::respond(domain, b"", array(case, "responder_private"), &theirs, request);
        assert_eq!(response, bytes(case, "response"));
        let confirmed = handshake::confirm(domain, b"", array(case, "initiator_private"), &ours, &response);
        let (initiator, confirmation) = confirmed.unwrap();
        assert_eq!(confirmation, bytes(case, "confirmation"));
        let responder = handshake::finish(p, &theirs, &confirmation).unwrap();
        assert_eq!(initiator.peer, array(case, "responder_public"));
        assert_eq!(responder.peer, array(case, "initiator_public"));
        for session in [initiator, responder] {
            assert_eq!(serialized(session.initiator), bytes(case, "initiator_send"));
            assert_eq!(serialized(session.responder), bytes(case, "responder_send"));
        }
    }
}

#[test]
fn pake_vectors() {
    let file = load("pake.json");
    for case in file.as_array().unwrap() {
        let [initiator, responder, session, password] =
            ["initiator", "responder", "session", "password"].map(|key| bytes(case, key));
        let (ours, theirs) = (bytes(case, "initiator_rand"), bytes(case, "responder_rand"));
        let (p, generator) = pake::start(text(case, "domain"), &initiator, &responder, &session, &password);
        let (i, r) = (pake::message(generator, &ours), pake::message(generator, &theirs));
        assert_eq!(i, array(case, "initiator_message"));
        assert_eq!(r, array(case, "responder_message"));
        for end in [pake::finish(p, &ours, r, i, r), pake::finish(p, &theirs, i, i, r)] {
            assert_eq!(serialized(end), bytes(case, "state"));
        }
    }
}

fn serialized(p: Duplex) -> Vec<u8> {
    [&[p.rate_idx, p.frame_idx], &p.state[..]].concat()
}

#[test]
fn vrf_vectors() {
    let file = load("vrf.json");
    for case in file.as_array().unwrap() {
        let (domain, input, n) = (text(case, "domain"), bytes(case, "input"), length(case, "n"));
        let (output, proof) = vrf::prove(domain, array(case, "private"), &input, &bytes(case, "rand"), n);
        assert_eq!(output, bytes(case, "prf"));
        assert_eq!(proof, bytes(case, "proof"));
        assert_eq!(
            vrf::verify(domain, array(case, "public"), &input, &proof, n),
            Some(output)
        );
    }
}

#[test]
fn oprf_vectors() {
    let file = load("oprf.json");
    for case in file.as_array().unwrap() {
        let (domain, input, n) = (text(case, "domain"), bytes(case, "input"), length(case, "n"));
        let recorded = |key: &str| unhex(list(case, key)[0].as_str().unwrap().as_bytes());
        let (private, blind) = (array(case, "private"), array(case, "blind"));
        assert_eq!(group::wide(&recorded("blind_rand")), blind);
        let blinded = oprf::blind(domain, &input, blind);
        assert_eq!(blinded, array(case, "blinded"));
        let evaluated = group::times(private, blinded);
        assert_eq!(evaluated, array(case, "evaluated"));
        let output = bytes(case, "output");
        assert_eq!(oprf::finalize(domain, &input, blind, evaluated, n), output);
        assert_eq!(oprf::evaluate(domain, private, &input, n), output);
        let proof = oprf::prove(domain, private, &[blinded], &[evaluated], &recorded("proof_rand"));
        assert_eq!(proof, [bytes(case, "proof_c"), bytes(case, "proof_s")].concat());
        assert!(oprf::verify(
            domain,
            array(case, "public"),
            &[blinded],
            &[evaluated],
            &proof
        ));
    }
}

#[test]
fn xoodoo_vectors() {
    let file = load_family("xoofff", "xoofff.json");
    let cases = list(&file, "xoodoo");
    for case in cases {
        let input = bytes(case, "input").try_into().unwrap();
        assert_eq!(xoodoo::permute(6, input)[..], bytes(case, "rounds_6"));
        assert_eq!(xoodoo::permute(12, input)[..], bytes(case, "rounds_12"));
    }
}

#[test]
fn xoofff_vectors() {
    let file = load_family("xoofff", "xoofff.json");
    let cases = list(&file, "xoofff");
    for case in cases {
        let mut deck = xoofff::start(&bytes(case, "key"));
        let offset = length(case, "offset");
        let check = |deck, want: Vec<u8>| assert_eq!(xoofff::output(deck, offset, want.len()), want);
        for string in list(case, "strings") {
            let [domain, bits] =
                ["domain", "domain_bits"].map(|key| u8::try_from(number(string, key)).unwrap());
            deck = xoofff::append(deck, &bytes(string, "data"), domain, bits);
            if string.get("output_after").is_some() {
                check(deck, bytes(string, "output_after"));
            }
        }
        if case.get("output").is_some() {
            check(deck, bytes(case, "output"));
        }
    }
}

/// Seals every message of a session, and opens or refuses it.
macro_rules! sessions {
    ($mode:ident, $start:expr, $name:literal, $tag0:expr) => {{
        let file = load_family("xoofff", "modes.json");
        let (mut genuine, mut refused) = (0, 0);
        for case in list(&file, $name) {
            let mut session = $start(case);
            assert_eq!($tag0(session), case.get("tag0").map(|_| bytes(case, "tag0")));
            for message in list(case, "messages") {
                let [ad, ciphertext, tag] = ["ad", "ciphertext", "tag"].map(|key| bytes(message, key));
                let (after, opened) = $mode::open(session, &ad, &ciphertext, &tag);
                if message.get("valid").is_some() {
                    let plaintext = vec![0; ciphertext.len()];
                    assert_eq!((after, opened), (session, Opened { ok: false, plaintext }));
                    refused += 1;
                } else {
                    let plaintext = bytes(message, "plaintext");
                    assert_eq!($mode::seal(session, &ad, &plaintext), (after, ciphertext, tag));
                    assert_eq!(opened, Opened { ok: true, plaintext });
                    genuine += 1;
                }
                session = after;
            }
        }
        assert_eq!((genuine, refused), (78, 10));
    }};
}

#[test]
fn xoofff_sane_vectors() {
    let start = |case| xoofff_sane::start(&bytes(case, "key"), &bytes(case, "nonce"));
    let tag0 = |session| Some(xoofff_sane::tag(session));
    sessions!(xoofff_sane, start, "sane", tag0);
}

#[test]
fn xoofff_sanse_vectors() {
    let start = |case| xoofff_sanse::start(&bytes(case, "key"));
    sessions!(xoofff_sanse, start, "sanse", |_| None);
}

#[test]
fn xoofff_wbc_vectors() {
    let file = load_family("xoofff", "modes.json");
    let cases = list(&file, "wbc");
    for case in cases {
        let [key, tweak, plaintext, ciphertext] =
            ["key", "tweak", "plaintext", "ciphertext"].map(|name| bytes(case, name));
        assert_eq!(xoofff_wbc::encipher(&key, &tweak, &plaintext), ciphertext);
        assert_eq!(xoofff_wbc::decipher(&key, &tweak, &ciphertext), plaintext);
    }
    let cases = list(&file, "wbc_ae");
    for case in cases {
        let [key, ad, ciphertext] = ["key", "ad", "ciphertext"].map(|name| bytes(case, name));
        let opened = xoofff_wbc::open(&key, &ad, &ciphertext);
        if case.get("valid").is_some() {
            let plaintext = vec![0; ciphertext.len() - 16];
            assert_eq!(opened, Opened { ok: false, plaintext });
        } else {
            let plaintext = bytes(case, "plaintext");
            assert_eq!(xoofff_wbc::seal(&key, &ad, &plaintext), ciphertext);
            assert_eq!(opened, Opened { ok: true, plaintext });
        }
    }
}

/// The twin's ML-KEM is not the one that the vectors were made with.
#[test]
fn tunnel_vectors() {
    let file = load_family("tunnel", "tunnel.json");
    for case in list(&file, "tunnel") {
        let domain = text(case, "domain");
        let [is, ie, rs, re] = [
            "initiator_private_key",
            "initiator_ephemeral",
            "responder_private_key",
            "responder_ephemeral",
        ]
        .map(|key| bytes(case, key));
        let public = hybrid::public(&rs);
        assert_eq!(public, bytes(case, "responder_public_key"));
        assert_eq!(hybrid::public(&is), bytes(case, "initiator_public_key"));
        assert_eq!(tunnel::fingerprint(&public), bytes(case, "responder_fingerprint"));
        let m: Vec<_> = list(case, "encapsulation_randomness")
            .iter()
            .map(|m| unhex(m.as_str().unwrap().as_bytes()))
            .collect();
        let (p, request) = hybrid::request(domain, &is, &public, &ie, &m[0]);
        assert_eq!(request, bytes(case, "request"));
        let claim = hybrid::receive_request(domain, &rs, &request).unwrap();
        assert_eq!((claim.p, &claim.is), (p, &hybrid::public(&is)));
        let (end, response) = hybrid::respond(&claim, &re, &m[1], &m[2]);
        assert_eq!(response, bytes(case, "response"));
        let received = hybrid::receive_response(p, &is, &ie, &response);
        assert_eq!(received, Some((end, hybrid::public(&re))));

        let mut directions = [tunnel::from_initiator(end), tunnel::from_responder(end)];
        // Of each side: its keys by number, and the number of the next record.
        let mut keys = [vec![ie], vec![re]];
        let mut next = [0, 0];
        for record in list(case, "records") {
            let from = usize::from(text(record, "from") == b"responder");
            let (frame, sealed) = (bytes(record, "frame"), bytes(record, "record"));
            let d = directions[from];
            assert_eq!(tunnel::seal_record(d, next[from], &frame), sealed);
            let opened = tunnel::open_record(d, next[from], &sealed);
            assert_eq!((opened.ok, &opened.plaintext), (true, &frame));
            next[from] += 1;
            if frame[0] == 2 {
                let e = bytes(record, "renewal_private_key");
                let m = bytes(record, "encapsulation_randomness");
                let number = frame[1];
                let own = &keys[1 - from][usize::from(number)];
                let announce = frame.len() > 1126;
                let (renewed, made) =
                    hybrid::send_renewal(d, number.into(), &hybrid::public(own), &e, &m, announce);
                assert_eq!(made, frame);
                assert_eq!(hybrid::receive_renewal(d, own, &frame), renewed);
                (directions[from], next[from]) = (renewed, 0);
                if announce {
                    keys[from].push(e);
                }
            }
        }
    }
}
