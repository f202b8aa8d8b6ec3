//! Data-independent timing: what is set, when, and that it is restored.

use veriplex::with_data_independent_timing;

#[test]
fn the_result_is_that_of_the_function() {
    assert_eq!(with_data_independent_timing(|| 7), 7);
    let panicked = std::panic::catch_unwind(|| with_data_independent_timing(|| panic!("as it should")));
    assert!(panicked.is_err());
}

#[cfg(target_arch = "aarch64")]
mod dit {
    use std::arch::{asm, is_aarch64_feature_detected};
    use std::panic::catch_unwind;

    use super::with_data_independent_timing;

    /// Whether it is set, where there is such a thing.
    fn is_set() -> Option<bool> {
        is_aarch64_feature_detected!("dit").then(|| {
            let dit: u64;
            // SAFETY: the register exists, and is only read.
            unsafe { asm!("mrs {}, s3_3_c4_c2_5", out(reg) dit) };
            dit & 1 << 24 != 0
        })
    }

    /// It ends as it began, also after a panic and inside of another.
    #[test]
    fn it_is_set_inside_and_restored() {
        let Some(before) = is_set() else { return };
        assert!(!before, "nobody else sets it in this test");
        with_data_independent_timing(|| {
            assert_eq!(is_set(), Some(true));
            with_data_independent_timing(|| assert_eq!(is_set(), Some(true)));
            assert_eq!(is_set(), Some(true), "the inner one leaves it");
            let panicked = catch_unwind(|| with_data_independent_timing(|| panic!("as it should")));
            assert!(panicked.is_err());
            assert_eq!(is_set(), Some(true));
        });
        assert_eq!(is_set(), Some(false));
        let panicked = catch_unwind(|| with_data_independent_timing(|| panic!("as it should")));
        assert!(panicked.is_err());
        assert_eq!(is_set(), Some(false));
    }

    /// A generator is asked in the middle of an operation.
    #[cfg(feature = "ristretto")]
    #[test]
    fn operations_on_secrets_set_it() {
        use veriplex::keys::PrivateKey;
        use veriplex::{label, oprf, pake, signcrypt};

        struct Asking(Option<bool>);

        impl rand_core::TryRng for Asking {
            type Error = std::convert::Infallible;

            fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
                unimplemented!("the schemes ask for bytes")
            }

            fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
                unimplemented!("the schemes ask for bytes")
            }

            fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
                self.0 = is_set();
                bytes.fill(7);
                Ok(())
            }
        }

        impl rand_core::TryCryptoRng for Asking {}

        if is_set().is_none() {
            return;
        }
        let key = PrivateKey::from_uniform_bytes([7; 64]).unwrap();
        let names = pake::Names {
            initiator: b"a",
            responder: b"b",
            session: b"1",
        };
        let operations: [&dyn Fn(&mut Asking); 3] = [
            &|rng| drop(oprf::blind(label!("test"), b"input", rng).unwrap()),
            &|rng| {
                drop(signcrypt::seal_vec(label!("test"), &key, key.public_key(), rng, b"message").unwrap())
            },
            &|rng| drop(pake::Initiator::start(label!("test"), &names, b"password", rng).unwrap()),
        ];
        for operation in operations {
            let mut rng = Asking(None);
            operation(&mut rng);
            assert_eq!(rng.0, Some(true));
            assert_eq!(is_set(), Some(false));
        }
    }
}
