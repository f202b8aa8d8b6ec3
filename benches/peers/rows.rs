//! The rows of the tables.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use aws_lc_rs::aead::{
    AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey,
};
use chacha20::cipher::{KeyIvInit, StreamCipher};
use ed25519_dalek::{Signer as _, SigningKey};
use poly1305::universal_hash::KeyInit;
use veriplex::adiantum::{Adiantum, HPolyC, WideBlockCipher};
use veriplex::aead::{Aead, Message};
use veriplex::hazmat::Backend;
use veriplex::hazmat::chacha::xchacha;
use veriplex::hazmat::nh::{self, Nh};
use veriplex::keys::PrivateKey;
use veriplex::mhf::{BLOCK_LEN, Mhf};
use veriplex::seekable::{self, SealWriter, SeekReader, Seekable};
use veriplex::tree::{CHUNK_LEN, Tree};
use veriplex::xoofff::{DomainBits, Offset, Xoofff};
use veriplex::{Protocol, digest, label, os_rng, sig};

use crate::{Plan, long, tunnel};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// Of all that need one; nothing here is secret.
const KEY: [u8; 32] = [7; 32];
const AES: &str = "AES";

pub fn all() -> Vec<Plan> {
    let mut all: Vec<Plan> = ((1..=8).chain([12, 16, 256]))
        .map(|chunks| hashed(chunks * CHUNK_LEN))
        .collect();
    all.extend(large());
    all.extend(short());
    all.extend(many());
    all.extend(siblings());
    all.extend(keys());
    all.extend(tunnel::all());
    all.extend(cores());
    all.extend(program());
    all
}

fn data(len: usize) -> Vec<u8> {
    vec![0x5a; len]
}

fn size(len: usize) -> String {
    match len {
        MIB.. => format!("{} MiB", len / MIB),
        KIB.. => format!("{} KiB", len / KIB),
        _ => format!("{len} bytes"),
    }
}

fn tree(len: usize) -> impl FnMut() {
    let (tree, data) = (Tree::new(label!("bench.tree")), data(len));
    move || {
        black_box(tree.digest(black_box(&data)));
    }
}

fn message() -> seekable::Message {
    Seekable::<24>::new(label!("bench.seekable"), &KEY.into()).message(&[1; 24], b"")
}

fn seal(len: usize) -> impl FnMut() {
    let (message, data) = (message(), data(len));
    let mut output = message.seal_vec(&data);
    move || {
        (message.seal_into(black_box(&data), &mut output)).expect("the length is right");
        black_box(&mut output);
    }
}

/// A cipher of AWS-LC.
fn aws(algorithm: &'static Algorithm) -> LessSafeKey {
    let key = &KEY[..algorithm.key_len()];
    LessSafeKey::new(UnboundKey::new(algorithm, key).expect("the length is right"))
}

/// The same in every run.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([1; 12])
}

fn aws_seal(algorithm: &'static Algorithm, len: usize) -> impl FnMut() {
    let (key, mut data) = (aws(algorithm), data(len));
    move || {
        let tag = key.seal_in_place_separate_tag(nonce(), Aad::empty(), black_box(&mut data));
        let _ = black_box(tag.expect("short enough"));
    }
}

fn aws_seal_apart(len: usize) -> impl FnMut() {
    let (key, data) = (aws(&CHACHA20_POLY1305), data(len));
    let (mut output, mut tag) = (data.clone(), [0; 16]);
    move || {
        let data = black_box(&data);
        key.seal_out_of_place_scatter(nonce(), Aad::empty(), data, &mut output, &[], &mut tag)
            .expect("the lengths are right");
        black_box((&mut output, &mut tag));
    }
}

fn aws_open_apart(len: usize) -> impl FnMut() {
    let (key, mut data) = (aws(&CHACHA20_POLY1305), data(len));
    let mut output = data.clone();
    let tag = (key.seal_in_place_separate_tag(nonce(), Aad::empty(), &mut data)).expect("short enough");
    move || {
        let data = black_box(&data);
        key.open_separate_gather(nonce(), Aad::empty(), data, tag.as_ref(), &mut output)
            .expect("nothing was changed");
        black_box(&mut output);
    }
}

fn large() -> Vec<Plan> {
    const TABLE: &str = "Large data";
    const CHACHA: &str = "ChaCha20-Poly1305 of AWS-LC";
    let mut plans = Vec::new();
    for len in [16 * KIB, 64 * KIB, MIB] {
        let new = |name: &str, run: Box<dyn FnMut()>| {
            let plan = Plan::new(TABLE, format!("{name}, {}", size(len)), run).bytes(len);
            plan.limit(AES, move |measured| measured.aes(len, 0))
        };
        plans.push(new("`seekable`: seal", Box::new(seal(len))).peer(CHACHA, aws_seal_apart(len)));
        // Each segment is where it is sealed: nothing is copied.
        let sealer = message().sealer(len as u64).expect("short enough");
        let mut slots = message().seal_vec(&data(len));
        let in_place = move || {
            sealer
                .seal(0, black_box(&mut slots))
                .expect("the length is right");
        };
        plans.push(
            new("`seekable`: seal in place", Box::new(in_place))
                .peer(CHACHA, aws_seal(&CHACHA20_POLY1305, len)),
        );
        let (message, mut output) = (message(), data(len));
        let ciphertext = message.seal_vec(&output);
        let open = move || {
            (message.open_into(black_box(&ciphertext), &mut output)).expect("nothing was changed");
            black_box(&mut output);
        };
        plans.push(new("`seekable`: open", Box::new(open)).peer(CHACHA, aws_open_apart(len)));
    }
    let new = |name: &str, run: Box<dyn FnMut()>| {
        let plan = Plan::new(TABLE, format!("{name}, 1 MiB"), run).bytes(MIB);
        plan.limit(AES, |measured| measured.aes(MIB, MIB))
    };
    let [hashed, again, mut sealed] = [(); 3].map(|()| data(MIB));
    let serial = move || {
        black_box(digest::digest(label!("bench.hash"), black_box(&hashed)));
    };
    plans.push(
        new("`digest`", Box::new(serial)).peer("the crate sha2: SHA-256", move || {
            use sha2::Digest as _;
            black_box(sha2::Sha256::digest(black_box(&again)));
        }),
    );
    let aead = Aead::<16>::new(label!("bench.aead"), &KEY.into());
    let in_place = move || {
        black_box(aead.seal_in_place_detached(&[1; 16], b"", black_box(&mut sealed)));
    };
    plans.push(new("`aead`", Box::new(in_place)).peer("AES-256-GCM of AWS-LC", aws_seal(&AES_256_GCM, MIB)));
    plans
}

fn hashed(len: usize) -> Plan {
    let same = data(len);
    let plan = Plan::new(
        "`tree`, in chunks of 4 KiB",
        format!("`tree`, {}", size(len)),
        tree(len),
    );
    plan.bytes(len)
        .limit(AES, move |measured| measured.aes(len, CHUNK_LEN))
        .peer("blake3", move || {
            black_box(blake3::hash(black_box(&same)));
        })
}

fn short() -> Vec<Plan> {
    const TABLE: &str = "Short strings";
    const PERMUTE: &str = "`permute`";
    let mut state = [0; veriplex::hazmat::STATE_LEN];
    let permute = move || Backend::current().permute(black_box(&mut state));
    let aead = Aead::<16>::new(label!("bench.aead"), &KEY.into());
    let keyed = Xoofff::new(&KEY).expect("a short key");
    let crate_keyed = xoofff::Xoofff::new(&KEY);
    vec![
        Plan::new(TABLE, PERMUTE, permute).limit("36 AES rounds", |measured| measured.one_after_the_other),
        Plan::new(TABLE, "`digest` of 16 bytes", || {
            black_box(digest::digest(label!("bench.hash"), black_box(&[0x5a; 16])));
        })
        .limit("a permutation", |measured| measured.row(PERMUTE))
        .peer("blake3", || {
            black_box(blake3::hash(black_box(&[0x5a; 16])));
        }),
        Plan::new(TABLE, "`aead`: seal 16 bytes", move || {
            black_box(aead.seal_in_place_detached(&[1; 16], b"", black_box(&mut [0x5a; 16])));
        })
        .limit("three permutations", |measured| 3.0 * measured.row(PERMUTE))
        .peer("AES-128-GCM of AWS-LC", aws_seal(&AES_128_GCM, 16)),
        Plan::new(TABLE, "`xoofff`: 32 bytes in and out", move || {
            let mut strings = keyed.clone();
            strings.absorb(black_box(&[0x5a; 32]));
            let mut out = [0; 32];
            strings.finalize(DomainBits::NONE, Offset::ZERO).squeeze(&mut out);
            black_box(out);
        })
        .peer("the crate xoofff", move || {
            let mut strings = crate_keyed;
            strings.absorb(black_box(&[0x5a; 32]));
            strings.finalize(0, 0, 0);
            let mut out = [0; 32];
            strings.squeeze(&mut out);
            black_box(out);
        }),
    ]
}

/// Many messages at once, beside one by one.
fn many() -> Vec<Plan> {
    const MESSAGES: usize = 256;
    const ONE_BY_ONE: &str = "one by one";
    let new = |name: &str, len: usize, run: Box<dyn FnMut()>| {
        let name = format!("`{name}`, {MESSAGES} messages of {len} bytes");
        Plan::new("Many messages", name, run)
    };
    let hashes = [64, 1024].map(|len| {
        let messages = vec![data(len); MESSAGES];
        let mut digests = vec![[0; 32]; MESSAGES];
        let (same, mut results) = (messages.clone(), digests.clone());
        let at_once = move || {
            digest::digest_many(label!("bench.hash"), black_box(&messages), &mut digests).expect("as many");
        };
        new("digest_many", len, Box::new(at_once)).peer(ONE_BY_ONE, move || {
            for (message, digest) in black_box(&same).iter().zip(&mut results) {
                *digest = digest::digest(label!("bench.hash"), message).to_bytes();
            }
        })
    });
    let ciphers = [64, 1400].map(|len| {
        let aead = Aead::<16>::new(label!("bench.aead"), &KEY.into());
        let mut buffers = vec![data(len + 16); MESSAGES];
        let (same, mut results) = (aead.clone(), buffers.clone());
        let at_once = move || {
            let in_outs = buffers.iter_mut();
            let mut messages: Vec<_> = in_outs
                .map(|in_out| Message {
                    nonce: &[1; 16],
                    ad: b"",
                    in_out,
                })
                .collect();
            aead.seal_many(black_box(&mut messages)).expect("room for tags");
        };
        new("seal_many", len, Box::new(at_once)).peer(ONE_BY_ONE, move || {
            for buffer in black_box(&mut results) {
                same.seal_in_place(&[1; 16], b"", buffer)
                    .expect("room for the tag");
            }
        })
    });
    hashes.into_iter().chain(ciphers).collect()
}

type Cipher = Box<dyn WideBlockCipher>;

/// What is not Newplex.
fn siblings() -> Vec<Plan> {
    const TABLE: &str = "Poly1305, ChaCha, NH and disk sectors";
    const CHACHA: &str = "XChaCha12, 4 KiB";
    const NH: &str = "NH, 1 KiB";
    const POLY1305: &str = "Poly1305, 64 KiB";
    fn chacha<const ROUNDS: usize, C: KeyIvInit + StreamCipher>(len: usize) -> Plan {
        let [mut ours, mut theirs] = [(); 2].map(|()| data(len));
        let name = format!("XChaCha{ROUNDS}, {}", size(len));
        let plan = Plan::new(TABLE, name, move || {
            xchacha::<ROUNDS>(&KEY, &[1; 24], black_box(&mut ours));
        });
        plan.bytes(len).peer("the crate chacha20", move || {
            let mut cipher = C::new_from_slices(&KEY, &[1; 24]).expect("their sizes");
            cipher.apply_keystream(black_box(&mut theirs));
        })
    }
    let mut plans = vec![
        chacha::<12, chacha20::XChaCha12>(4 * KIB),
        chacha::<12, chacha20::XChaCha12>(64 * KIB),
        chacha::<20, chacha20::XChaCha20>(64 * KIB),
    ];
    for len in [64, 4 * KIB, 64 * KIB] {
        let [ours, theirs] = [(); 2].map(|()| data(len));
        let plan = Plan::new(TABLE, format!("Poly1305, {}", size(len)), move || {
            black_box(veriplex::poly1305::auth(KEY, black_box(&ours)));
        });
        plans.push(plan.bytes(len).peer("the crate poly1305", move || {
            black_box(poly1305::Poly1305::new(&KEY.into()).compute_unpadded(black_box(&theirs)));
        }));
    }
    let (nh, hashed) = (Nh::new(&[7; nh::KEY_LEN]), data(KIB));
    let hash = move || {
        black_box(nh.hash(black_box(&hashed))).expect("at most 1024 bytes");
    };
    plans.push(Plan::new(TABLE, NH, hash).bytes(KIB));

    let adiantum: fn() -> Cipher = || Box::new(Adiantum::<12>::new(&KEY));
    let hpolyc: fn() -> Cipher = || Box::new(HPolyC::<12>::new(&KEY));
    for (name, new, hash, times) in [
        ("Adiantum", adiantum, NH, 8.0),
        ("HPolyC", hpolyc, POLY1305, 2.0 / 16.0),
    ] {
        let (cipher, mut sector) = (new(), data(4 * KIB));
        let plan = Plan::new(TABLE, format!("{name}, 4 KiB"), move || {
            (cipher.encrypt_in_place(&[1; 32], black_box(&mut sector))).expect("16 bytes or more");
        });
        let limit = move |measured: &crate::Measured| measured.row(CHACHA) + times * measured.row(hash);
        plans.push(plan.bytes(4 * KIB).limit("ChaCha and twice the hash", limit));
        for len in [512, 4 * KIB] {
            let ([cipher, same], [mut sectors, mut each]) =
                ([(); 2].map(|()| new()), [(); 2].map(|()| data(256 * len)));
            let plan = Plan::new(
                TABLE,
                format!("{name}, 256 sectors of {}", size(len)),
                move || {
                    cipher
                        .encrypt_sectors(len, 0, black_box(&mut sectors))
                        .expect("whole sectors");
                },
            );
            plans.push(plan.bytes(256 * len).peer("one by one", move || {
                for (number, sector) in (0_u64..).zip(each.chunks_exact_mut(len)) {
                    let mut tweak = [0; 32];
                    tweak[..8].copy_from_slice(&number.to_le_bytes());
                    same.encrypt_in_place(&tweak, black_box(sector))
                        .expect("a sector");
                }
            }));
        }
    }
    plans
}

fn keys() -> Vec<Plan> {
    const TABLE: &str = "Public keys and passwords";
    const MESSAGE: [u8; 64] = [0x5a; 64];
    let own = PrivateKey::generate(&mut os_rng());
    let signature = sig::sign(label!("bench.sig"), &own, &MESSAGE, &mut os_rng());
    let public = *own.public_key();
    let theirs = SigningKey::from_bytes(&KEY);
    let their_public = theirs.verifying_key();
    let their_signature = theirs.sign(&MESSAGE);
    let cost = if long(usize::MAX) == usize::MAX {
        Mhf::RECOMMENDED_COST
    } else {
        Mhf::MIN_COST
    };
    let mhf = Mhf::new(label!("bench.mhf"), cost).expect("it is allowed");
    let mut memory = vec![0; (9 * BLOCK_LEN) << cost];
    vec![
        Plan::new(TABLE, "`sig`: sign 64 bytes", move || {
            black_box(sig::sign(
                label!("bench.sig"),
                &own,
                black_box(&MESSAGE),
                &mut os_rng(),
            ));
        })
        .peer("ed25519-dalek", move || {
            black_box(theirs.sign(black_box(&MESSAGE)));
        }),
        Plan::new(TABLE, "`sig`: verify", move || {
            sig::verify(label!("bench.sig"), &public, black_box(&MESSAGE), &signature).expect("it is right");
        })
        .peer("ed25519-dalek", move || {
            (their_public.verify_strict(black_box(&MESSAGE), &their_signature)).expect("it is right");
        }),
        Plan::new(TABLE, format!("`mhf`, cost {cost}"), move || {
            let mut output = [0; 32];
            mhf.hash_into(b"correct horse battery staple", &[7; 16], &mut output)
                .expect("there is memory");
            black_box(output);
        })
        // All 5N nodes absorb a block and squeeze one; all but a few of 4N absorb a second one.
        .peer("one Mix and one Derive of as much", move || {
            let mut protocol = Protocol::new(label!("bench.mhf"));
            protocol.mix(label!("in"), black_box(&memory));
            protocol.derive(label!("out"), &mut memory[..(5 * BLOCK_LEN) << cost]);
        }),
    ]
}

/// 4 KiB at places of a sealed file that no pattern predicts.
fn read_at() -> std::io::Result<impl FnMut()> {
    let len = long(256 * MIB);
    let path = std::env::temp_dir().join(format!("veriplex-bench-{}", std::process::id()));
    let mut file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    let mut writer = SealWriter::new(&message(), &file);
    let block = data(MIB);
    for _ in 0..len / MIB {
        writer.write_all(&block)?;
    }
    writer.finish()?;
    file.rewind()?;
    let mut reader = SeekReader::new(&message(), BufReader::new(file))?;
    let (mut place, mut output) = (1_u64, data(4 * KIB));
    Ok(move || {
        // Knuth's generator (MMIX).
        place = place
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let at = (place >> 20) % (len as u64 / 4096) * 4096;
        (reader
            .seek(SeekFrom::Start(at))
            .and_then(|_| reader.read_exact(&mut output)))
        .expect("nothing was changed");
        black_box(&mut output);
    })
}

fn cores() -> Vec<Plan> {
    const TABLE: &str = "All cores, and files";
    let len = long(64 * MIB);
    let (all, hashed) = (Tree::new(label!("bench.tree")), data(len));
    let (message, plaintext) = (message(), data(len));
    let mut sealed = message.seal_vec(&plaintext);
    vec![
        Plan::new(TABLE, format!("`tree`, {}", size(len)), move || {
            let mut output = [0; 32];
            all.digest_into_rayon(black_box(&hashed), black_box(&mut output));
        })
        .bytes(len)
        .peer("on one core", tree(len)),
        Plan::new(TABLE, format!("`seekable`: seal {}", size(len)), move || {
            (message.seal_into_rayon(black_box(&plaintext), &mut sealed)).expect("the length is right");
            black_box(&mut sealed);
        })
        .bytes(len)
        .peer("on one core", seal(len)),
        Plan::new(
            TABLE,
            "`seekable`: 4 KiB at random of a large file, on one core",
            read_at().expect("there is room"),
        ),
    ]
}

/// The program that the environment's `PROGRAM` names.
fn program() -> Vec<Plan> {
    const TABLE: &str = "The program, as a process";
    const FILES: usize = 3000;
    let len = long(256 * MIB);
    let Ok(program) = std::env::var("PROGRAM") else {
        return Vec::new();
    };
    let folder = Folder::new();
    for number in 0..FILES {
        File::create(folder.0.join(number.to_string())).expect("there is room");
    }
    std::fs::write(folder.0.join("large"), data(len)).expect("there is room");
    let folder = std::rc::Rc::new(folder);
    let run = |arguments: &[&str], names: Vec<String>| {
        let mut command = Command::new(&program);
        command
            .args(arguments)
            .args(names)
            .current_dir(&folder.0)
            .stdout(Stdio::null());
        let folder = folder.clone();
        move || {
            let _ = &folder;
            assert!(
                command.status().is_ok_and(|status| status.success()),
                "{command:?}"
            );
        }
    };
    let empty = || (0..FILES).map(|number| number.to_string()).collect();
    let large = || vec!["large".to_owned()];
    vec![
        Plan::new(TABLE, "`veriplex sum`, 3,000 empty files", run(&["sum"], empty()))
            .peer("`veriplex digest`", run(&["digest"], empty())),
        Plan::new(
            TABLE,
            format!("`veriplex sum`, {}", size(len)),
            run(&["sum"], large()),
        )
        .bytes(len)
        .peer("with one thread", run(&["sum", "--threads", "1"], large())),
    ]
}

/// A temporary folder.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("veriplex-bench-files-{}", std::process::id()));
        std::fs::create_dir(&path).expect("there is room");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
