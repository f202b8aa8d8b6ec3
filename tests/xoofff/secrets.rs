//! Values that hold secrets are not printed, and leave nothing in memory when they are dropped.

use veriplex::xoofff::{DomainBits, Offset, Sane, Sanse, Wbc, WbcAe, Xoofff};

use crate::{KEY, data};

fn strings() -> Xoofff {
    let mut strings = Xoofff::new(&KEY).unwrap();
    strings.absorb(&data(143));
    strings
}

#[test]
fn nothing_secret_is_printed() {
    let output = strings().finalize(DomainBits::NONE, Offset::ZERO);
    assert_eq!(format!("{:?}", strings()), "Xoofff { .. }");
    assert_eq!(format!("{output:?}"), "Output { .. }");
    assert_eq!(format!("{:?}", Sane::new(&KEY, b"").unwrap()), "Sane { .. }");
    assert_eq!(format!("{:?}", Sanse::new(&KEY).unwrap()), "Sanse { .. }");
    assert_eq!(format!("{:?}", Wbc::new(&KEY).unwrap()), "Wbc { .. }");
    assert_eq!(format!("{:?}", WbcAe::new(&KEY).unwrap()), "WbcAe { .. }");
}

/// The number of nonzero bytes in a value before and after it is dropped in place.
fn remains<T>(value: T) -> (usize, usize) {
    let mut value = Box::new(std::mem::ManuallyDrop::new(value));
    let count = |at: *const T| {
        let bytes = at.cast::<u8>();
        // SAFETY: the box holds that many bytes. Padding bytes may have any value, so the read is volatile.
        let byte = |i| unsafe { bytes.add(i).read_volatile() };
        (0..size_of::<T>()).filter(|i| byte(*i) != 0).count()
    };
    let before = count((&raw const *value).cast());
    // SAFETY: the value is not used after this.
    unsafe { std::mem::ManuallyDrop::drop(&mut value) };
    (before, count((&raw const *value).cast()))
}

/// What may remain is public: a position in a block, a bit and, in a session with a nonce, the last tag.
#[test]
fn dropped_values_are_wiped() {
    let mut output = strings().finalize(DomainBits::NONE, Offset::ZERO);
    let _ = output.squeeze_vec(60);
    let mut sane = Sane::new(&KEY, b"").unwrap();
    let mut sanse = Sanse::new(&KEY).unwrap();
    let _ = (
        sane.seal_vec(b"ad", b"message"),
        sanse.seal_vec(b"ad", b"message"),
    );
    for (name, (before, after), public) in [
        ("Xoofff", remains(strings()), 8),
        ("Output", remains(output), 8),
        ("Sane", remains(sane), 8 + 16 + 1),
        ("Sanse", remains(sanse), 8 + 1),
        ("Wbc", remains(Wbc::new(&KEY).unwrap()), 8),
        ("WbcAe", remains(WbcAe::new(&KEY).unwrap()), 8),
    ] {
        // There is at least a mask of 48 bytes.
        assert!(before > public + 30, "{name}: {before}");
        assert!(after <= public, "{name}: {after}");
    }
    // The test notices what is not wiped.
    assert_eq!(remains([1_u8; 100]), (100, 100));
}
