//! The verifiable random function: known answers and bad input.

use proptest::collection::vec;
use proptest::prelude::*;
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::vrf::{self, Proof};
use veriplex::{Error, Label, label};

use crate::common::{Recorded, array, bytes, cases, number, on_each_backend, text, vectors};
use crate::{key, order};

#[test]
fn known_answers() {
    on_each_backend(|_| {
        for case in cases(&vectors("vrf")) {
            let domain = Label::new(text(case, "domain").as_bytes()).unwrap();
            let key = PrivateKey::from_bytes(&array(case, "private")).unwrap();
            assert_eq!(key.public_key().to_bytes(), array(case, "public"));
            let mut output = vec![0; usize::try_from(number(case, "n")).unwrap()];
            let mut rng = Recorded::new(bytes(case, "rand"));
            let input = bytes(case, "input");
            let proof = vrf::prove(domain, &key, &input, &mut rng, &mut output).unwrap();
            assert!(rng.is_used_up());
            assert_eq!(proof.to_bytes(), array(case, "proof"));
            assert_eq!(output, bytes(case, "prf"));
            output.fill(0);
            let proof = Proof::from_bytes(&array(case, "proof")).unwrap();
            vrf::verify(domain, key.public_key(), &input, &proof, &mut output).unwrap();
            assert_eq!(output, bytes(case, "prf"));
        }
    });
}

#[test]
fn anything_changed_is_refused() {
    let (domain, key) = (label!("vrf"), key(1));
    let mut expected = [0; 40];
    let proof = vrf::prove(domain, &key, b"input", &mut Recorded::new([2; 64]), &mut expected).unwrap();
    let verify = |domain: Label<'_>, key: &PublicKey, input: &[u8], proof: &[u8], n: usize| {
        let mut output = vec![0xaa; n];
        let result = Proof::try_from(proof).and_then(|proof| {
            let result = vrf::verify(domain, key, input, &proof, &mut output);
            assert!(result.is_ok() || output == vec![0; n]);
            result
        });
        result.map(|()| output)
    };
    let (public, bytes) = (key.public_key(), proof.to_bytes());
    assert_eq!(
        verify(domain, public, b"input", &bytes, 40),
        Ok(expected.to_vec())
    );
    let wrong = Err(Error::Verification);
    for bit in 0..8 * bytes.len() {
        let mut changed = bytes;
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(verify(domain, public, b"input", &changed, 40), wrong, "bit {bit}");
    }
    let long = [bytes.as_slice(), &[0]].concat();
    for n in (0..96).chain([97]) {
        assert_eq!(verify(domain, public, b"input", &long[..n], 40), wrong);
    }
    assert_eq!(verify(label!("other"), public, b"input", &bytes, 40), wrong);
    assert_eq!(
        verify(domain, crate::key(2).public_key(), b"input", &bytes, 40),
        wrong
    );
    assert_eq!(verify(domain, public, b"other", &bytes, 40), wrong);
    // Another length gives another output.
    assert_eq!(verify(domain, public, b"input", &bytes, 39), wrong);
    // The identity as gamma, and unreduced scalars.
    for (place, encoding) in [(0, [0; 32]), (32, order()), (64, order())] {
        let mut changed = bytes;
        changed[place..place + 32].copy_from_slice(&encoding);
        assert_eq!(Proof::from_bytes(&changed), Err(Error::Verification));
    }
}

proptest! {
    /// There is one output per key, input and length, whatever the randomness.
    #[test]
    fn outputs_are_unique(
        private in any::<[u8; 64]>(),
        rand in any::<[[u8; 64]; 2]>(),
        input in vec(any::<u8>(), 0..300),
        n in 0..200_usize,
    ) {
        let key = PrivateKey::from_uniform_bytes(private).unwrap();
        let runs = rand.map(|rand| {
            let (mut output, mut verified) = (vec![0; n], vec![0; n]);
            let mut rng = Recorded::new(rand);
            let proof = vrf::prove(label!("vrf"), &key, &input, &mut rng, &mut output).unwrap();
            assert_eq!(Proof::from_bytes(&proof.to_bytes()), Ok(proof));
            vrf::verify(label!("vrf"), key.public_key(), &input, &proof, &mut verified).unwrap();
            assert_eq!(output, verified);
            (output, proof)
        });
        prop_assert_eq!(&runs[0].0, &runs[1].0);
        prop_assert!(rand[0] == rand[1] || runs[0].1 != runs[1].1);
    }
}
