//! Values that hold secrets are not printed, and nothing is left of them where they were dropped.

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

/// How many bytes of a value are not zero, before and after it is dropped where it is.
fn remains<T>(value: T) -> (usize, usize) {
    let mut value = Box::new(std::mem::ManuallyDrop::new(value));
    let count = |at: *const T| {
        let bytes = at.cast::<u8>();
        // SAFETY: the box holds that many bytes; those of padding have whatever value, which is read as volatile.
        let byte = |i| unsafe { bytes.add(i).read_volatile() };
        (0..size_of::<T>()).filter(|i| byte(*i) != 0).count()
    };
    let before = count((&raw const *value).cast());
    // SAFETY: it is not used as a value any more.
    unsafe { std::mem::ManuallyDrop::drop(&mut value) };
    (before, count((&raw const *value).cast()))
}

/// The public rest is a position in a block, a bit and, in a session with a nonce, the last tag.
#[cfg(feature = "zeroize")]
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
        // A mask at least, of 48 bytes.
        assert!(before > public + 30, "{name}: {before}");
        assert!(after <= public, "{name}: {after}");
    }
    // The test sees what is not wiped.
    assert_eq!(remains([1_u8; 100]), (100, 100));
}
