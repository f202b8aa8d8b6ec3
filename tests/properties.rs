//! Properties of the operations on random input. One of them is that the backends agree; the others run on
//! whichever backend is in use.

mod common;

use std::io::{Read, Write};

use common::on_each_backend;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use subtle::ConstantTimeEq as _;
use veriplex::aead::Aead;
use veriplex::aestream::{MAX_BLOCK_LEN, OpenReader, SealWriter};
use veriplex::digest::Digest;
use veriplex::hazmat::{Backend, Duplex, RATE, STATE_LEN, set_hardware_enabled};
use veriplex::mac::{Mac, Tag};
use veriplex::mhf::{BLOCK_LEN, Mhf};
use veriplex::siv::Siv;
use veriplex::{Error, Key, Label, MixStream, Nonce, Protocol, aestream, digest, label, mac, oae2, stream};

/// Whatever of a digest fits into its first block: domains and messages of every length around it.
#[test]
fn a_digest_is_mix_and_derive() {
    let data: [u8; 130] = std::array::from_fn(|i| u8::try_from(i).unwrap() + 1);
    for domain in 0..=Label::MAX_LEN {
        let domain = Label::new(&data[..domain]).unwrap();
        for len in 0..=data.len() {
            let mut protocol = Protocol::new(domain);
            protocol.mix(label!("message"), &data[..len]);
            let expected: [u8; 32] = protocol.derive_array(label!("digest"));
            let mut output = [0; 32];
            digest::digest_into(domain, &data[..len], &mut output);
            assert_eq!(output, expected, "{domain:?}, {len}");
        }
    }
}

fn bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=max)
}

fn state() -> impl Strategy<Value = [u8; STATE_LEN]> {
    vec(any::<u8>(), STATE_LEN).prop_map(|v| v.try_into().unwrap())
}

/// A protocol in an arbitrary state, at any position in the block.
fn protocol() -> impl Strategy<Value = Protocol> {
    (bytes(91), bytes(300)).prop_map(|(domain, data)| {
        let mut protocol = Protocol::new(Label::new(&domain).unwrap());
        protocol.mix(label!("data"), &data);
        protocol
    })
}

/// Splits `data` at the cuts.
fn pieces<'d>(data: &'d [u8], cuts: &[Index]) -> Vec<&'d [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(data.len() + 1)).collect();
    cuts.sort_unstable();
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(data.len()));
    starts.zip(ends).map(|(start, end)| &data[start..end]).collect()
}

fn key() -> impl Strategy<Value = Key> {
    any::<[u8; 32]>().prop_map(Key::from)
}

fn cuts() -> impl Strategy<Value = Vec<Index>> {
    vec(any::<Index>(), 0..6)
}

proptest! {
    #[test]
    fn backends_agree(start in state(), data in vec(any::<[u8; 47]>(), 0..12)) {
        let data = data.as_flattened();
        let (blocks, _) = data.as_chunks::<RATE>();
        let run = |backend: Backend| {
            let mut states = [start; 5];
            let [permuted, absorbed, encrypted, decrypted, squeezed] = &mut states;
            let [mut e, mut d, mut s] = [blocks.to_vec(), blocks.to_vec(), blocks.to_vec()];
            backend.permute(permuted);
            backend.absorb_blocks(absorbed, blocks);
            backend.encrypt_blocks(encrypted, &mut e);
            backend.decrypt_blocks(decrypted, &mut d);
            backend.squeeze_blocks(squeezed, &mut s);
            (states, e, d, s)
        };
        let expected = run(Backend::PORTABLE);
        for backend in Backend::available() {
            prop_assert_eq!(run(backend), expected.clone(), "{:?}", backend);
        }
    }

    /// The bulk operations give the same result as the byte-wise path.
    #[test]
    fn bulk_is_bytewise(protocol in protocol(), data in bytes(400)) {
        type Operation = fn(&mut Duplex, &mut [u8]);
        let operations: [Operation; 4] =
            [|d, x| d.absorb(x), Duplex::encrypt, Duplex::decrypt, Duplex::squeeze];
        let start = Duplex::from_bytes(&protocol.to_bytes()).unwrap();
        for operation in operations {
            let (mut whole, mut single) = (start.clone(), start.clone());
            let (mut a, mut b) = (data.clone(), data.clone());
            operation(&mut whole, &mut a);
            b.chunks_mut(1).for_each(|byte| operation(&mut single, byte));
            prop_assert_eq!(&a, &b);
            prop_assert_eq!(whole.to_bytes(), single.to_bytes());
        }
    }

    #[test]
    fn mix_splits_anywhere(start in protocol(), data in bytes(400), cuts in cuts()) {
        let (mut whole, mut split) = (start.clone(), start);
        whole.mix(label!("l"), &data);
        let mut stream: MixStream<'_> = split.mix_stream(label!("l"));
        for (i, piece) in pieces(&data, &cuts).into_iter().enumerate() {
            if i % 2 == 0 {
                stream.write_all(piece).unwrap();
            } else {
                stream.update(piece);
            }
        }
        prop_assert_eq!(whole, split);
    }

    #[test]
    fn mask_and_unmask_split_anywhere(start in protocol(), data in bytes(400), cuts in cuts()) {
        let (mut whole, mut split, mut receiver) = (start.clone(), start.clone(), start.clone());
        let ciphertext = whole.mask_vec(label!("l"), &data);

        let mut out = Vec::new();
        let mut writer = split.mask_stream(label!("l")).writer(&mut out);
        for piece in pieces(&data, &cuts) {
            writer.write_all(piece).unwrap();
        }
        prop_assert_eq!(&out, &ciphertext);

        let mut out = vec![0; data.len()];
        let mut reader = receiver.unmask_stream(label!("l")).reader(ciphertext.as_slice());
        let mut rest = out.as_mut_slice();
        for piece in pieces(&data, &cuts) {
            let (now, later) = rest.split_at_mut(piece.len());
            reader.read_exact(now).unwrap();
            rest = later;
        }
        prop_assert_eq!(&out, &data);
        prop_assert_eq!(&whole, &split);
        prop_assert_eq!(&whole, &receiver);

        let (mut updating, mut back) = (start.clone(), start.clone());
        let (mut mask, mut unmask) = (updating.mask_stream(label!("l")), back.unmask_stream(label!("l")));
        let mut changed = data.clone();
        let mut rest = changed.as_mut_slice();
        for piece in pieces(&data, &cuts) {
            let (now, later) = rest.split_at_mut(piece.len());
            mask.update(now);
            let mut opened = now.to_vec();
            unmask.update(&mut opened);
            prop_assert_eq!(opened, piece);
            rest = later;
        }
        prop_assert_eq!(&changed, &ciphertext);

        let (mut reading, mut writing) = (start.clone(), start);
        let mut out = Vec::new();
        reading.mask_stream(label!("l")).reader(data.as_slice()).read_to_end(&mut out).unwrap();
        prop_assert_eq!(&out, &ciphertext);
        let mut out = Vec::new();
        writing.unmask_stream(label!("l")).writer(&mut out).write_all(&ciphertext).unwrap();
        prop_assert_eq!(&out, &data);
    }

    #[test]
    fn digest_and_mac_split_anywhere(data in bytes(400), key in key(), cuts in cuts()) {
        let mut hasher = digest::Hasher::new(label!("d"));
        let mut mac = Mac::new(label!("d"), &key);
        let mut whole = mac.clone();
        whole.update(&data);
        for piece in pieces(&data, &cuts) {
            hasher.write_all(piece).unwrap();
            mac.write_all(piece).unwrap();
        }
        prop_assert_eq!(hasher.finalize(), digest::digest(label!("d"), &data));
        prop_assert_eq!(mac.finalize(), whole.finalize());
    }

    #[test]
    fn outputs_of_any_length(data in bytes(300), key in key(), n in 0..300_usize) {
        let [mut whole, mut pieces] = [vec![0; n], vec![0; n]];
        let mut hasher = digest::Hasher::new(label!("d"));
        hasher.update(&data);
        digest::digest_into(label!("d"), &data, &mut whole);
        hasher.clone().finalize_into(&mut pieces);
        prop_assert_eq!(&whole, &pieces);
        let mut longer = vec![0; n + 1];
        hasher.finalize_into(&mut longer);
        prop_assert!(n < 8 || longer[..n] != whole);

        let mut keyed = Mac::new(label!("d"), &key);
        keyed.update(&data);
        let mut tag = [0; 16];
        keyed.clone().finalize_into(&mut tag);
        prop_assert_eq!(Tag::from(tag), mac::mac(label!("d"), &key, &data));
        prop_assert_eq!(keyed.clone().finalize_array::<16>(), Tag::from(tag));
        keyed.clone().finalize_into(&mut whole);
        keyed.finalize_into(&mut longer);
        prop_assert!(n < 8 || longer[..n] != whole);
    }

    #[test]
    fn stream_splits_anywhere(data in bytes(400), key in key(), nonce in any::<[u8; 24]>(), cuts in cuts()) {
        let mut whole = data.clone();
        stream::encrypt(label!("d"), &key, &nonce, &mut whole);
        let mut out = Vec::new();
        let mut writer = stream::Encryptor::new(label!("d"), &key, &nonce).writer(&mut out);
        for piece in pieces(&data, &cuts) {
            writer.write_all(piece).unwrap();
        }
        prop_assert_eq!(&out, &whole);
        let mut opened = Vec::new();
        let decryptor = || stream::Decryptor::new(label!("d"), &key, &nonce);
        decryptor().reader(out.as_slice()).read_to_end(&mut opened).unwrap();
        prop_assert_eq!(&opened, &data);
        opened.clear();
        decryptor().writer(&mut opened).write_all(&out).unwrap();
        prop_assert_eq!(&opened, &data);
        opened.clear();
        let encryptor = stream::Encryptor::new(label!("d"), &key, &nonce);
        encryptor.reader(data.as_slice()).read_to_end(&mut opened).unwrap();
        prop_assert_eq!(&opened, &whole);
        stream::decrypt(label!("d"), &key, &nonce, &mut whole);
        prop_assert_eq!(&whole, &data);
    }

    #[test]
    fn siv_in_place_is_out_of_place(data in bytes(400), key in key(), nonce in bytes(50), ad in bytes(50)) {
        let siv = Siv::new(label!("d"), &key);
        let (mut in_place, mut into) = (data.clone(), vec![0; data.len() + 16]);
        let tag = siv.seal_in_place_detached(&nonce, &ad, &mut in_place);
        siv.seal_into(&nonce, &ad, &data, &mut into).unwrap();
        prop_assert_eq!(&into, &[&in_place[..], &tag].concat());
        prop_assert_eq!(&siv.seal_vec(&nonce, &ad, &data), &into);
        let mut opened = vec![0; data.len()];
        siv.open_into(&nonce, &ad, &into, &mut opened).unwrap();
        prop_assert_eq!(&opened, &data);
        prop_assert_eq!(&siv.open_vec(&nonce, &ad, &into).unwrap(), &data);
        siv.open_in_place_detached(&nonce, &ad, &mut in_place, &tag).unwrap();
        prop_assert_eq!(&in_place, &data);
        let mut sealed = [&data[..], &[0; 16]].concat();
        siv.seal_in_place(&nonce, &ad, &mut sealed).unwrap();
        prop_assert_eq!(&sealed, &into);
        prop_assert_eq!(siv.open_in_place(&nonce, &ad, &mut sealed).unwrap(), &data);
    }

    /// Any pieces give what the whole message does, and a second pass over another message is an error.
    #[test]
    fn siv_in_pieces(data in bytes(400), cuts in cuts(), place in any::<Index>(), key in key(), ad in bytes(50)) {
        let siv = Siv::new(label!("d"), &key);
        let mut sealed = data.clone();
        let tag = siv.seal_in_place_detached(b"", &ad, &mut sealed);
        let mut tagger = siv.tagger(b"", &ad);
        for piece in pieces(&data, &cuts) {
            tagger.update(piece);
        }
        let (same_tag, mut encryptor) = tagger.finish();
        prop_assert_eq!(same_tag, tag);
        let (mut other, mut in_pieces) = (encryptor.clone(), Vec::new());
        for piece in pieces(&data, &cuts) {
            let mut piece = piece.to_vec();
            encryptor.update(&mut piece);
            in_pieces.extend(piece);
        }
        prop_assert_eq!(encryptor.finish(), Ok(()));
        prop_assert_eq!(&in_pieces, &sealed);
        let mut changed = data.clone();
        match changed.get_mut(place.index(data.len() + 1)) {
            Some(byte) => *byte ^= 1,
            None => changed.push(0),
        }
        other.update(&mut changed);
        prop_assert_eq!(other.finish(), Err(Error::Verification));

        let (mut decryptor, mut opened) = (siv.decryptor(b"", &ad, &tag), Vec::new());
        for piece in pieces(&sealed, &cuts) {
            let mut piece = piece.to_vec();
            decryptor.update(&mut piece);
            opened.extend(piece);
        }
        prop_assert_eq!(&opened, &data);
        let mut longer = decryptor.clone();
        longer.update(&mut [0]);
        prop_assert_eq!((decryptor.finish(), longer.finish()), (Ok(()), Err(Error::Verification)));
    }

    #[test]
    fn aead_in_place_is_out_of_place(data in bytes(400), key in key(), nonce in any::<[u8; 24]>(), ad in bytes(50)) {
        let aead = Aead::<24>::new(label!("d"), &key);
        let (mut in_place, mut into) = (data.clone(), vec![0; data.len() + 16]);
        let tag = aead.seal_in_place_detached(&nonce, &ad, &mut in_place);
        aead.seal_into(&nonce, &ad, &data, &mut into).unwrap();
        prop_assert_eq!(&into, &[&in_place[..], &tag].concat());
        prop_assert_eq!(&aead.seal_vec(&nonce, &ad, &data), &into);
        let mut sealed = [&data[..], &[0; 16]].concat();
        aead.seal_in_place(&nonce, &ad, &mut sealed).unwrap();
        prop_assert_eq!(&sealed, &into);
        let mut opened = vec![0; data.len()];
        aead.open_into(&nonce, &ad, &into, &mut opened).unwrap();
        prop_assert_eq!(&opened, &data);
        prop_assert_eq!(&aead.open_vec(&nonce, &ad, &into).unwrap(), &data);
        prop_assert_eq!(aead.open_in_place(&nonce, &ad, &mut sealed).unwrap(), &data);
        aead.open_in_place_detached(&nonce, &ad, &mut in_place, &tag).unwrap();
        prop_assert_eq!(&in_place, &data);
    }

    #[test]
    fn keys_and_tags_are_their_bytes(a in any::<[u8; 32]>(), place in 0..32_usize, change in 1_u8..) {
        let (key, mut b) = (Key::from(a), a);
        b[place] ^= change;
        prop_assert_eq!(&key, &Key::try_from(a.as_slice()).unwrap());
        prop_assert_ne!(&key, &Key::from(b));
        prop_assert_eq!(key.as_bytes(), &a);
        prop_assert_eq!(key.as_ref(), a);
        prop_assert_eq!(&hex::encode(a).parse::<Key>().unwrap(), &key);
        prop_assert!(*key.to_hex() == hex::encode(a));
        prop_assert_eq!(Tag::from(a), Tag::from(a));
        prop_assert_ne!(Tag::from(a), Tag::from(b));
        prop_assert_eq!(*Tag::from(a).as_bytes(), a);
        prop_assert_eq!(Tag::from(a).into_bytes(), a);
        prop_assert_eq!(<[u8; 32]>::from(Tag::from(a)), a);
        prop_assert_eq!(hex::encode(a).parse(), Ok(Tag::from(a)));
        prop_assert_eq!(Tag::try_from(a.as_slice()), Ok(Tag::from(a)));
        prop_assert_eq!(format!("{:?}", Tag::from(a)), "Tag { .. }");

        let (nonce, other) = (Nonce::from(a), Nonce::from(b));
        prop_assert_eq!(nonce.as_bytes(), &a);
        prop_assert_eq!(<[u8; 32]>::from(nonce), a);
        prop_assert_eq!(nonce.cmp(&other), a.cmp(&b));
        prop_assert_ne!(nonce, other);
        prop_assert_eq!(Nonce::<31>::try_from(a.as_slice()), Err(Error::Verification));
        prop_assert_eq!(Nonce::try_from(a.as_slice()), Ok(nonce));
        prop_assert_eq!(nonce.to_string().parse(), Ok(nonce));
        prop_assert_eq!(format!("{nonce:?}"), format!("Nonce({})", hex::encode(a)));
        prop_assert_eq!(*nonce, a);

        let (digest, other) = (Digest::from(a), Digest::from(b));
        prop_assert_eq!(digest.as_ref(), a);
        prop_assert_eq!(<[u8; 32]>::from(digest), a);
        prop_assert_eq!(digest.cmp(&other), a.cmp(&b));
        prop_assert_ne!(digest, other);
        prop_assert_eq!(Digest::try_from(a.as_slice()), Ok(digest));
        prop_assert_eq!(Digest::try_from(&a[1..]), Err(Error::Verification));
        prop_assert_eq!(digest.to_string(), hex::encode(a));
        prop_assert_eq!(format!("{digest:x}"), hex::encode(a));
        prop_assert_eq!(format!("{digest:?}"), format!("Digest({})", hex::encode(a)));
        prop_assert_eq!(digest.to_string().parse(), Ok(digest));
        prop_assert_eq!(digest.to_string()[1..].parse::<Digest>(), Err(Error::Verification));
    }

    #[test]
    fn in_place_is_out_of_place(start in protocol(), data in bytes(400)) {
        let n = data.len();
        let [mut a, mut b, mut c] = [start.clone(), start.clone(), start.clone()];
        let (mut in_place, mut into) = (data.clone(), vec![0; n]);
        a.mask(label!("l"), &mut in_place);
        b.mask_into(label!("l"), &data, &mut into).unwrap();
        prop_assert_eq!(&in_place, &into);
        prop_assert_eq!(&c.mask_vec(label!("l"), &data), &into);
        prop_assert_eq!(&a, &b);
        prop_assert_eq!(&a, &c);

        let [mut a, mut b, mut c] = [start.clone(), start.clone(), start.clone()];
        let (mut plain, mut into) = (in_place.clone(), vec![0; n]);
        a.unmask(label!("l"), &mut plain);
        b.unmask_into(label!("l"), &in_place, &mut into).unwrap();
        prop_assert_eq!(&plain, &data);
        prop_assert_eq!(&into, &data);
        prop_assert_eq!(&c.unmask_vec(label!("l"), &in_place), &data);

        let [mut a, mut b, mut c] = [start.clone(), start.clone(), start.clone()];
        let (mut sealed, mut into) = ([&data[..], &[0; 16]].concat(), vec![0; n + 16]);
        a.seal_in_place(label!("l"), &mut sealed).unwrap();
        b.seal_into(label!("l"), &data, &mut into).unwrap();
        prop_assert_eq!(&sealed, &into);
        prop_assert_eq!(&c.seal_vec(label!("l"), &data), &sealed);

        let [mut w, mut x, mut y, mut z] = [start.clone(), start.clone(), start.clone(), start];
        let mut into = vec![0; n];
        x.open_into(label!("l"), &sealed, &mut into).unwrap();
        prop_assert_eq!(&into, &data);
        prop_assert_eq!(&y.open_vec(label!("l"), &sealed).unwrap(), &data);
        let (message, tag) = sealed.split_at(n);
        let (mut detached, tag) = (message.to_vec(), tag.try_into().unwrap());
        w.open_in_place_detached(label!("l"), &mut detached, tag).unwrap();
        prop_assert_eq!(&detached, &data);
        prop_assert_eq!(z.open_in_place(label!("l"), &mut sealed).unwrap(), &data);
        for other in [&b, &c, &w, &x, &y, &z] {
            prop_assert_eq!(&a, other);
        }
    }

    #[test]
    fn fork_branches_differ(start in protocol(), values in vec(bytes(100), 0..12)) {
        let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        let mut root = start.clone();
        let mut all = root.fork_vec(label!("l"), &values).unwrap();
        prop_assert_eq!(all.len(), values.len());
        all.push(root.clone());
        all.push(start.clone());
        for (i, a) in all.iter().enumerate() {
            prop_assert!(all[..i].iter().all(|b| a != b));
        }

        let mut other = start;
        if let [first, second, third, ..] = *values {
            // A fork with fewer branches has the same first branches and the same root.
            let fewer = other.fork(label!("l"), [first, second, third]);
            prop_assert_eq!(&fewer[..], &all[..3]);
            prop_assert_eq!(other, root);
        }
    }

    /// Fewer than 16 bytes may be equal by chance.
    #[test]
    fn derive_depends_on_length_and_label(start in protocol(), n in 16_usize..400) {
        let run = |label, n| start.clone().derive_vec(label, n);
        prop_assert_ne!(&run(label!("a"), n + 1)[..n], &run(label!("a"), n)[..]);
        prop_assert_ne!(run(label!("a"), n), run(label!("b"), n));
        let mut ratcheted = start.clone();
        ratcheted.ratchet(label!("r"));
        prop_assert_ne!(ratcheted, start);
    }

    /// A protocol that is restored from a state with one changed byte is not equal to the original.
    #[test]
    fn equality_sees_every_byte(start in protocol(), position in 2..130_usize, change in 1_u8..) {
        let mut bytes = start.to_bytes();
        bytes[position] ^= change;
        prop_assert_ne!(Protocol::from_bytes(&bytes).unwrap(), start);
    }

    /// However a stream is written and read, the message stays the same.
    #[test]
    fn aestream_reads_what_was_written(
        keyed in protocol(), data in bytes(4000), cuts in cuts(), flush in any::<bool>(), step in 1_usize..600,
    ) {
        let mut writer = SealWriter::from_protocol(keyed.clone(), Vec::new());
        for piece in pieces(&data, &cuts) {
            writer.write_all(piece).unwrap();
            if flush {
                writer.flush().unwrap();
            }
        }
        let sealed = writer.finish().unwrap();
        let mut reader = OpenReader::from_protocol(keyed, sealed.as_slice());
        let message = read_in_steps(&mut reader, step);
        prop_assert!(reader.is_finished());
        prop_assert_eq!(message, data);
    }
}

/// All that there is to read, at most `step` bytes at a time.
fn read_in_steps(mut reader: impl Read, step: usize) -> Vec<u8> {
    let (mut message, mut buffer) = (Vec::new(), vec![0; step]);
    loop {
        let n = reader.read(&mut buffer).unwrap();
        message.extend_from_slice(&buffer[..n]);
        if n == 0 {
            return message;
        }
    }
}

/// However a stream is written and read, it equals what the one-shot form makes of the message.
fn oae2_reads_what_was_written<const N: usize>(keyed: &Protocol, data: &[u8], cuts: &[Index], step: usize) {
    let mut writer = oae2::SealWriter::<_, N>::from_protocol(keyed.clone(), Vec::new());
    for piece in pieces(data, cuts) {
        writer.write_all(piece).unwrap();
        writer.flush().unwrap();
    }
    let sealed = writer.finish().unwrap();
    assert_eq!(sealed.len(), (data.len() / N + 1) * (N + 16));
    assert_eq!(
        sealed,
        oae2::Sealer::<N>::from_protocol(keyed.clone()).seal_vec(data)
    );
    assert_eq!(
        oae2::Opener::<N>::from_protocol(keyed.clone())
            .open_vec(&sealed)
            .unwrap(),
        data
    );
    let mut reader = oae2::OpenReader::<_, N>::from_protocol(keyed.clone(), sealed.as_slice());
    let message = read_in_steps(&mut reader, step);
    assert!(reader.is_finished());
    assert_eq!(message, data);
    // Both sides continue with the same protocol.
    let mut sealer = oae2::Sealer::<N>::from_protocol(keyed.clone());
    let (blocks, last) = data.as_chunks::<N>();
    for block in blocks {
        sealer
            .seal_block(&mut [block.as_slice(), &[0; 16]].concat())
            .unwrap();
    }
    let mut end = [last, &vec![0; N + 16 - last.len()]].concat();
    let after = sealer.finish(&mut end, last.len()).unwrap();
    assert_eq!(reader.finish().unwrap().0, after);
}

proptest! {
    #[test]
    fn oae2_streams(keyed in protocol(), data in bytes(600), cuts in cuts(), step in 1_usize..200) {
        oae2_reads_what_was_written::<1>(&keyed, &data[..data.len() / 8], &[], step);
        oae2_reads_what_was_written::<16>(&keyed, &data, &cuts, step);
        oae2_reads_what_was_written::<94>(&keyed, &data, &cuts, step);
        oae2_reads_what_was_written::<1024>(&keyed, &data, &cuts, step);
    }
}

/// The hash is the same in the caller's memory as in allocated memory, and the caller's memory is wiped.
#[test]
fn mhf_in_memory() {
    for cost in 0..6 {
        let mhf = Mhf::with_any_cost(label!("d"), cost).unwrap();
        let [mut allocated, mut given, mut other] = [[0; 40]; 3];
        let mut memory = vec![[0x5a; BLOCK_LEN]; mhf.memory_blocks()];
        mhf.hash_into(b"password", b"salt", &mut allocated).unwrap();
        mhf.hash_into_with_memory(b"password", b"salt", &mut given, &mut memory)
            .unwrap();
        assert_eq!(allocated, given);
        assert_eq!(mhf.derive_key(b"password", b"salt"), Ok(Key::from(allocated)));
        assert!(memory.as_flattened().iter().all(|&byte| byte == 0));
        // Every input matters: password, salt, cost, domain, length.
        for (domain, password, salt, cost) in [
            (label!("e"), "password", "salt", cost),
            (label!("d"), "passwords", "alt", cost),
            (label!("d"), "password", "salu", cost),
            (label!("d"), "password", "salt", cost + 1),
        ] {
            let mhf = Mhf::with_any_cost(domain, cost).unwrap();
            mhf.hash_into(password.as_bytes(), salt.as_bytes(), &mut other)
                .unwrap();
            assert_ne!(allocated, other);
        }
        mhf.hash_into(b"password", b"salt", &mut other[..39]).unwrap();
        assert_ne!(allocated[..39], other[..39]);
    }
}

#[cfg(feature = "getrandom")]
#[test]
fn random_keys_differ() {
    let [a, b]: [Key; 2] = [(); 2].map(|()| Key::generate(&mut veriplex::os_rng()));
    assert_ne!(a, b);
    let [a, b]: [Nonce; 2] = [(); 2].map(|()| Nonce::generate(&mut veriplex::os_rng()));
    assert_ne!(a, b);
}

#[cfg(feature = "rand_core")]
#[test]
fn generated_keys_are_the_generators_bytes() {
    let mut rng = common::Recorded::new(0..32);
    assert_eq!(
        Key::<32>::generate(&mut rng),
        Key::try_from((0..32).collect::<Vec<u8>>().as_slice()).unwrap()
    );
    assert!(rng.is_used_up());
    let mut rng = common::Recorded::new(0..24);
    let nonce: Nonce = Nonce::generate(&mut rng);
    assert_eq!(nonce.as_ref(), (0..24).collect::<Vec<u8>>());
    assert!(rng.is_used_up());
}

#[test]
fn aestream_blocks_are_as_large_as_possible() {
    let keyed = Protocol::new(label!("d"));
    for (len, blocks) in [
        (0, 0),
        (1, 1),
        (MAX_BLOCK_LEN, 1),
        (MAX_BLOCK_LEN + 1, 2),
        (2 * MAX_BLOCK_LEN, 2),
        (200_000, 4),
    ] {
        let data = vec![7; len];
        let mut writer = SealWriter::from_protocol(keyed.clone(), Vec::new());
        writer.write_all(&data).unwrap();
        let sealed = writer.finish().unwrap();
        assert_eq!(sealed.len(), len + 18 * (blocks + 1));
        assert_eq!(
            sealed,
            aestream::Sealer::from_protocol(keyed.clone()).seal_vec(&data)
        );
        let mut opened = Vec::new();
        OpenReader::from_protocol(keyed.clone(), sealed.as_slice())
            .read_to_end(&mut opened)
            .unwrap();
        assert_eq!(opened, data);
    }
}

/// A protocol that is serialised and restored continues in the same way, at every rate position, on every backend.
#[test]
fn serialise_and_restore_at_every_position() {
    on_each_backend(|_| {
        for len in 0..2 * RATE {
            let mut saved = Protocol::new(label!("d"));
            saved.mix(label!("data"), &vec![3; len]);
            let mut restored = Protocol::from_bytes(&saved.to_bytes()).unwrap();
            assert_eq!(saved, restored);
            assert_eq!(saved.to_bytes(), restored.to_bytes());
            for protocol in [&mut saved, &mut restored] {
                protocol.mix(label!("more"), &[9; 200]);
            }
            assert_eq!(
                saved.derive_array::<32>(label!("o")),
                restored.derive_array::<32>(label!("o"))
            );
        }
        // Also states that no transcript reaches: a frame index with no data before it.
        for position in 0..94 {
            for frame in 0..94 {
                let mut bytes = [0x5a; 130];
                (bytes[0], bytes[1]) = (position, frame);
                let mut whole = Duplex::from_bytes(&bytes).unwrap();
                assert_eq!(whole.to_bytes(), bytes);
                let mut single = whole.clone();
                whole.absorb(&[1; 300]);
                (0..300).for_each(|_| single.absorb(&[1]));
                assert_eq!(whole, single);
            }
        }
    });
}

/// Equality sees each bit of the state and of both indices.
#[test]
fn protocols_that_differ_in_a_bit_are_not_equal() {
    let mut bytes = [0x5a; 130];
    (bytes[0], bytes[1]) = (40, 8);
    let protocol = Protocol::from_bytes(&bytes).unwrap();
    let mut compared = 0;
    for (at, bit) in (0..130).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut other = bytes;
        other[at] ^= 1 << bit;
        // Some changed indices no protocol has.
        if let Ok(other) = Protocol::from_bytes(&other) {
            assert_ne!(protocol, other, "bit {bit} of byte {at}");
            assert!(!bool::from(protocol.ct_eq(&other)), "bit {bit} of byte {at}");
            compared += 1;
        }
    }
    assert!(compared > 128 * 8 + 8, "{compared}");
    let same = Protocol::from_bytes(&bytes).unwrap();
    assert_eq!(protocol, same);
    assert!(bool::from(protocol.ct_eq(&same)));
}

#[test]
fn fork_has_255_branches_at_most() {
    let values = vec![b"v".as_slice(); 256];
    let start = Protocol::new(label!("d"));

    let mut root = start.clone();
    assert_eq!(
        root.fork_vec(label!("l"), &values).unwrap_err(),
        Error::TooManyBranches
    );
    assert_eq!(root, start);

    let branches = root.fork_vec(label!("l"), &values[..255]).unwrap();
    assert_eq!(branches.len(), 255);
    let mut numbers = Vec::new();
    let mut again = start.clone();
    again
        .fork_each(label!("l"), &values[..255], |number, branch| {
            assert_eq!(branch, branches[usize::from(number) - 1]);
            numbers.push(number);
        })
        .unwrap();
    assert_eq!(numbers, (1..=255).collect::<Vec<u8>>());
    assert_eq!(again, root);
    // Of one value, too.
    let outputs = branches
        .into_iter()
        .map(|mut branch| branch.derive_array::<32>(label!("o")));
    assert_eq!(outputs.collect::<std::collections::BTreeSet<_>>().len(), 255);
}

/// `Debug` prints nothing of a state.
#[test]
fn debug_shows_no_state() {
    let mut protocol = Protocol::new(label!("d"));
    protocol.mix(label!("key"), &[0xab; 32]);
    let siv = Siv::new(label!("d"), &Key::from([0xab; 32]));
    assert_eq!(format!("{protocol:?}"), "Protocol { .. }");
    assert_eq!(format!("{siv:?}"), "Siv(Protocol { .. })");
    assert_eq!(format!("{:?}", Duplex::new()), "Duplex { .. }");
    assert_eq!(format!("{:?}", Key::from([0xab; 32])), "Key { .. }");
    let writer = oae2::SealWriter::<_, 16>::from_protocol(protocol.clone(), Vec::<u8>::new());
    assert_eq!(format!("{writer:?}"), "SealWriter { .. }");
    let reader = oae2::OpenReader::<_, 16>::from_protocol(protocol, [0xab; 64].as_slice());
    assert_eq!(format!("{reader:?}"), "OpenReader { .. }");
}

#[test]
fn clear_leaves_nothing() {
    let mut protocol = Protocol::new(label!("d"));
    protocol.mix(label!("key"), &[0xab; 32]);
    protocol.clear();
    assert_eq!(protocol.to_bytes(), [0; 130]);
}

/// The memory of a value after its drop. All of its bytes must be initialised.
fn dropped<T>(value: T) -> Vec<u8> {
    let mut value = std::mem::ManuallyDrop::new(value);
    let at: *const u8 = (&raw const *value).cast();
    // SAFETY: the value is dropped once, its memory still belongs to this function, and `T` has no padding.
    unsafe {
        std::mem::ManuallyDrop::drop(&mut value);
        std::slice::from_raw_parts(at, size_of::<T>()).to_vec()
    }
}

/// Dropping a protocol or a key zeroes its memory.
#[test]
fn drop_wipes() {
    let mut protocol = Protocol::new(label!("d"));
    protocol.mix(label!("key"), &[0xab; 32]);
    let after = dropped(protocol);
    // The two indices may remain: they are not secret.
    assert!(after.iter().filter(|&&byte| byte != 0).count() <= 2, "{after:?}");
    assert_eq!(dropped(Key::from([0xab; 32])), [0; 32]);
}

/// So does dropping what the schemes hold, which is a protocol.
#[test]
fn drop_wipes_schemes() {
    use veriplex::{committing, kdf::Kdf, tree::Tree};

    fn check<T: zeroize::ZeroizeOnDrop>(value: T) {
        check_all_but(2, value); // the indices of a protocol
    }
    fn check_all_but<T: zeroize::ZeroizeOnDrop>(most: usize, value: T) {
        let after = dropped(value);
        let left = after.iter().filter(|&&byte| byte != 0).count();
        assert!(left <= most, "{}: {after:?}", std::any::type_name::<T>());
    }
    let (d, key, nonce) = (label!("d"), Key::from([0xab; 32]), [0xcd; 24]);
    check(Aead::<24>::new(d, &key));
    check(Siv::new(d, &key));
    let tagger = Siv::new(d, &key).tagger(b"", b"");
    let (tag, encryptor) = tagger.clone().finish();
    check_all_but(6, tagger);
    check_all_but(4 + 16, encryptor); // with the tag, which is no secret
    check_all_but(4 + 16, Siv::new(d, &key).decryptor(b"", b"", &tag));
    check(committing::Aead::<24>::new(d, &key));
    check(committing::Siv::new(d, &key));
    check(Mac::new(d, &key));
    check(Kdf::extract(d, b"salt", key.as_bytes()));
    check(stream::Encryptor::new(d, &key, &nonce));
    check(stream::Decryptor::new(d, &key, &nonce));
    check(aestream::Sealer::new(d, &key, &nonce));
    check(oae2::Sealer::<16>::new(d, &key, &nonce));
    check(digest::Hasher::new(d));
    check(Tree::keyed(d, &key));
}

/// What a writer passed on does not stay on the stack: it is plaintext when the writer decrypts.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn writers_wipe_what_they_passed_on() {
    use std::os::unix::fs::FileExt as _;

    /// Where it was written from, and what.
    #[derive(Default)]
    struct Passed(u64, Vec<u8>);
    impl Write for Passed {
        fn write(&mut self, input: &[u8]) -> std::io::Result<usize> {
            *self = Self(input.as_ptr().addr() as u64, input.to_vec());
            Ok(input.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let memory = std::fs::File::open("/proc/self/mem").unwrap();
    let mut after = vec![0; 4096];
    let mut protocol = Protocol::new(label!("d"));
    let mut passed = Passed::default();
    let mut writer = protocol.unmask_stream(label!("m")).writer(&mut passed);
    writer.write_all(&[0; 4096]).unwrap();
    memory.read_exact_at(&mut after, passed.0).unwrap();
    // A few bytes agree by chance, and reading overwrites others.
    let left = after
        .iter()
        .zip(&passed.1)
        .filter(|(now, then)| now == then)
        .count();
    assert!(passed.1.len() == 4096 && left < 100, "{left}");
}

#[test]
fn the_hardware_backend_can_be_disabled() {
    on_each_backend(|backend| {
        assert_eq!(Backend::current().name(), backend.name());
        set_hardware_enabled(false);
        if cfg!(not(any(
            veriplex_backend = "x86_64",
            veriplex_backend = "aarch64"
        ))) {
            assert_eq!(veriplex::backend(), "portable");
        }
        set_hardware_enabled(true);
    });
    println!("backends: {:?}", Backend::available().collect::<Vec<_>>());
    assert!(Backend::available().any(|backend| backend.name() == "portable"));
    #[cfg(target_arch = "aarch64")]
    if std::arch::is_aarch64_feature_detected!("aes") && cfg!(not(veriplex_backend = "portable")) {
        assert!(Backend::available().any(|backend| backend.name() == "aarch64"));
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("aes")
        && std::arch::is_x86_feature_detected!("avx")
        && cfg!(not(veriplex_backend = "portable"))
    {
        assert!(Backend::available().any(|backend| backend.name() == "x86_64"));
    }
}
