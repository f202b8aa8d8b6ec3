//! The known answers of Xoofff and its modes. Keys, strings and plaintexts are secret; lengths, domain bits and
//! ciphertexts are public.
//!
//! Whether a tag is right is public, also inside the function that opens: see `public.supp`.

use serde_json::Value;
use veriplex::Error;
use veriplex::hazmat::xoodoo;
use veriplex::xoofff::{DomainBits, Offset, Sane, Sanse, Wbc, WbcAe, Xoofff};

use crate::linux::{cases, expect, family_file, hidden, known};

pub fn vectors() -> usize {
    let (xoofff, modes) = (family_file("xoofff", "xoofff"), family_file("xoofff", "modes"));
    let sane = |case: &Value| Sane::new(&hidden(case, "key"), &known(case, "nonce")).expect("a short key");
    let sanse = |case: &Value| Sanse::new(&hidden(case, "key")).expect("a short key");
    permutation(&xoofff)
        + deck_function(&xoofff)
        + sessions(
            &modes["sane"],
            sane,
            |s, ad, message| s.seal_in_place_detached(ad, message).to_vec(),
            |s, ad, message, tag| s.open_in_place_detached(ad, message, &tag.try_into().expect("a tag")),
        )
        + sessions(
            &modes["sanse"],
            sanse,
            |s, ad, message| s.seal_in_place_detached(ad, message).to_vec(),
            |s, ad, message, tag| s.open_in_place_detached(ad, message, &tag.try_into().expect("a tag")),
        )
        + wide_blocks(&modes)
}

fn permutation(file: &Value) -> usize {
    let cases = cases(&file["xoodoo"]);
    for case in cases {
        let mut six: [u8; 48] = hidden(case, "input").try_into().expect("48 bytes");
        let mut twelve = six;
        xoodoo::<6>(&mut six);
        xoodoo::<12>(&mut twelve);
        expect(six.to_vec(), &known(case, "rounds_6"));
        expect(twelve.to_vec(), &known(case, "rounds_12"));
    }
    cases.len()
}

fn deck_function(file: &Value) -> usize {
    let cases = cases(&file["xoofff"]);
    let number = |value: &Value| usize::try_from(value.as_u64().expect("a number")).expect("a small one");
    for case in cases {
        let mut strings = Xoofff::new(&hidden(case, "key")).expect("a short key");
        let offset = Offset::new(number(&case["offset"])).expect("a small one");
        for string in case["strings"].as_array().expect("an array") {
            strings.absorb(&hidden(string, "data"));
            let [bits, len] = ["domain", "domain_bits"].map(|key| number(&string[key]).to_le_bytes()[0]);
            let mut output = strings.finalize(DomainBits::new(bits, len.into()).expect("few bits"), offset);
            for (place, key) in [(string, "output_after"), (case, "output")] {
                // The output of the case itself is the one after its last string, which has none of its own.
                if place.get(key).is_some()
                    && (key == "output_after" || case["strings"].as_array().map(Vec::len) == Some(1))
                {
                    let expected = known(place, key);
                    let mut out = vec![0; expected.len()];
                    output.squeeze(&mut out);
                    expect(out, &expected);
                }
            }
            strings = output.restart();
        }
    }
    cases.len()
}

fn sessions<S>(
    file: &Value,
    start: impl Fn(&Value) -> S,
    seal: impl Fn(&mut S, &[u8], &mut [u8]) -> Vec<u8>,
    open: impl Fn(&mut S, &[u8], &mut [u8], Vec<u8>) -> Result<(), Error>,
) -> usize {
    let mut n = 0;
    for case in cases(file) {
        let (mut sender, mut receiver) = (start(case), start(case));
        for message in cases(&case["messages"])
            .iter()
            .filter(|message| message.get("valid").is_none())
        {
            let (ad, mut in_out) = (known(message, "ad"), hidden(message, "plaintext"));
            let tag = seal(&mut sender, &ad, &mut in_out);
            expect(in_out, &known(message, "ciphertext"));
            expect(tag, &known(message, "tag"));
            let mut in_out = known(message, "ciphertext");
            open(&mut receiver, &ad, &mut in_out, known(message, "tag")).expect("the right tag");
            expect(in_out, &known(message, "plaintext"));
            n += 1;
        }
    }
    n
}

fn wide_blocks(file: &Value) -> usize {
    for case in cases(&file["wbc"]) {
        let cipher = Wbc::new(&hidden(case, "key")).expect("a short key");
        let mut in_out = hidden(case, "plaintext");
        cipher.encipher(&known(case, "tweak"), &mut in_out);
        expect(in_out, &known(case, "ciphertext"));
        let mut in_out = known(case, "ciphertext");
        cipher.decipher(&known(case, "tweak"), &mut in_out);
        expect(in_out, &known(case, "plaintext"));
    }
    let sealed = cases(&file["wbc_ae"])
        .iter()
        .filter(|case| case.get("valid").is_none());
    for case in sealed.clone() {
        let cipher = WbcAe::new(&hidden(case, "key")).expect("a short key");
        let sealed = cipher.seal_vec(&known(case, "ad"), &hidden(case, "plaintext"));
        expect(sealed, &known(case, "ciphertext"));
    }
    cases(&file["wbc"]).len() + sealed.count()
}
