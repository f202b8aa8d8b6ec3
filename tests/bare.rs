//! The core without any feature: no allocation, no `std` in the library.

use veriplex::aead::Aead;
use veriplex::{Error, Protocol, digest, label};

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

    // A failure wipes the output also without `zeroize`.
    let aead = Aead::<16>::new(label!("d"), &[7; 32]);
    let mut data = [0x5a; 24];
    let mut tag = aead.seal_in_place_detached(&[1; 16], b"", &mut data);
    tag[15] ^= 1;
    assert_eq!(
        aead.open_in_place_detached(&[1; 16], b"", &mut data, &tag),
        Err(Error::Verification)
    );
    assert_eq!(data, [0; 24]);
}
