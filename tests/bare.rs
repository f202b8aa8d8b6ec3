//! The core without any feature: no allocation, no `std` in the library.

use veriplex::aead::Aead;
use veriplex::mhf::{BLOCK_LEN, Mhf};
use veriplex::seekable::Seekable;
use veriplex::tree::Tree;
use veriplex::{Error, Key, Protocol, digest, label, oae2};

/// Expands a seed of the known answers.
fn expand<const N: usize>(seed: u64) -> [u8; N] {
    let mut x = seed;
    [(); N].map(|()| {
        x = x
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        x.to_be_bytes()[0]
    })
}

#[test]
fn the_core_needs_no_features() {
    let mut a = Protocol::new(label!("d"));
    a.mix(label!("key"), &[7; 32]);
    let mut b = a.clone();
    let mut message = [0x5a; 40];
    a.seal_in_place(label!("m"), &mut message).unwrap();
    assert_eq!(b.open_in_place(label!("m"), &mut message).unwrap(), [0x5a; 24]);
    assert_eq!(a, b);
    assert_ne!(
        digest::digest(label!("d"), b"a"),
        digest::digest(label!("d"), b"b")
    );

    // A failure wipes the output.
    let aead = Aead::<16>::new(label!("d"), &Key::from([7; 32]));
    let mut data = [0x5a; 24];
    let mut tag = aead.seal_in_place_detached(&[1; 16], b"", &mut data);
    tag[15] ^= 1;
    assert_eq!(
        aead.open_in_place_detached(&[1; 16], b"", &mut data, &tag),
        Err(Error::Verification)
    );
    assert_eq!(data, [0; 24]);

    if cfg!(miri) {
        return; // the rest takes Miri too long
    }

    // OAE2 block by block, and the memory-hard hash in the caller's memory.
    let mut sealer = oae2::Sealer::<8>::from_protocol(a.clone());
    let (mut block, mut last) = ([0x5a; 24], [0x5a; 24]);
    sealer.seal_block(&mut block).unwrap();
    let after = sealer.finish(&mut last, 3).unwrap();
    let mut opener = oae2::Opener::<8>::from_protocol(a);
    assert_eq!(opener.open_block(&mut block).unwrap(), [0x5a; 8]);
    assert_eq!(opener.open_last(&mut last).unwrap(), [0x5a; 3]);
    assert_eq!(opener.finish().unwrap(), after);
    let mhf = Mhf::with_any_cost(label!("d"), 0).unwrap();
    let (mut memory, mut output) = ([[0; BLOCK_LEN]; 5], [0; 32]);
    mhf.hash_into_with_memory(b"p", b"s", &mut output, &mut memory)
        .unwrap();
    assert_ne!(output, [0; 32]);

    // Trees and segments. Both digests are in tests/vectors/tree/tree.json.
    let tree = Tree::new(label!("veriplex.public"));
    let (message, expected) = (
        expand::<32>(4),
        "dcdfff9604b4bb48839b2a24079b8a5da836b60aa141d2573d2d355f87b60208",
    );
    assert_eq!(hex::encode(tree.digest(&message)), expected);
    let (message, expected) = (
        expand::<4097>(12),
        "3c7dfb67b5d4a51d23fc0b8440b2c50dfdb5f142066bbdce04dc885ac5625271",
    );
    assert_eq!(hex::encode(tree.digest(&message)), expected);
    let mut hasher = tree.hasher();
    message.chunks(777).for_each(|piece| hasher.update(piece));
    assert_eq!(hex::encode(hasher.finalize()), expected);
    let tree = Tree::keyed(label!("d"), &Key::from([7; 32]));
    let mut hasher = tree.hasher();
    [0x5a; 5000].chunks(777).for_each(|piece| hasher.update(piece));
    assert_eq!(hasher.finalize(), tree.digest(&[0x5a; 5000]));
    let sealer = Seekable::<24>::new(label!("d"), &Key::from([7; 32])).with_segment_len(64);
    let message = sealer.unwrap().message(&[1; 24], b"");
    let mut sealed = [0x5a; 100 + 2 * 16];
    message.seal_in_place(&mut sealed).unwrap();
    let mut last = [0; 36 + 16];
    last.copy_from_slice(&sealed[80..]);
    let opener = message.opener(132, &mut last).unwrap();
    assert_eq!(opener.open(0, &mut { sealed }[..80]).unwrap(), [0x5a; 64]);
    assert_eq!(message.open_in_place(&mut { sealed }).unwrap(), [0x5a; 100]);
    sealed[131] ^= 1;
    assert_eq!(message.open_in_place(&mut sealed), Err(Error::Verification));
    assert_eq!(sealed, [0; 132]);
}
