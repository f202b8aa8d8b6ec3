use veriplex::Error;
use veriplex::keys::{PrivateKey, PublicKey};

use crate::common::{array, cases, vectors};

#[test]
fn known_answers() {
    for case in cases(&vectors("sig")) {
        let private = PrivateKey::from_uniform_bytes(array(case, "private_uniform")).unwrap();
        assert_eq!(private.to_bytes(), array(case, "private"));
        assert_eq!(private.public_key().to_bytes(), array(case, "public"));
        assert_eq!(PrivateKey::from_bytes(&private.to_bytes()), Ok(private));
    }
}

#[test]
fn bad_encodings() {
    // Zero and the identity, the order of the group, and an encoding above the field's prime.
    let order = hex::decode("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010").unwrap();
    assert_eq!(PrivateKey::from_bytes(&[0; 32]), Err(Error::InvalidKey));
    assert_eq!(
        PrivateKey::from_bytes(&order.try_into().unwrap()),
        Err(Error::InvalidKey)
    );
    assert_eq!(PublicKey::from_bytes(&[0; 32]), Err(Error::InvalidKey));
    assert_eq!(PublicKey::from_bytes(&[0xff; 32]), Err(Error::InvalidKey));
}

#[test]
fn debug_shows_no_private_key() {
    let key = PrivateKey::from_uniform_bytes([7; 64]).unwrap();
    assert_eq!(format!("{key:?}"), "PrivateKey { .. }");
}
