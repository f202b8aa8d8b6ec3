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

    /// How often an operation is interrupted to look.
    #[cfg(all(target_os = "linux", feature = "hybrid"))]
    const SAMPLES: usize = 300;

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

    /// A generator that looks when it is asked.
    #[cfg(feature = "ristretto")]
    struct Asking(Option<bool>);

    #[cfg(feature = "ristretto")]
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

    #[cfg(feature = "ristretto")]
    impl rand_core::TryCryptoRng for Asking {}

    /// For which part of an operation's time it is set, as an interrupting signal finds it.
    #[cfg(all(target_os = "linux", feature = "hybrid"))]
    #[allow(clippy::cast_precision_loss)]
    fn part_set(operation: &dyn Fn()) -> f64 {
        use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

        static FOUND: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
        extern "C" fn look(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
            // SAFETY: the system passes what was interrupted.
            let state = unsafe { &*context.cast::<libc::ucontext_t>() }.uc_mcontext.pstate;
            FOUND[usize::from(state & 1 << 24 != 0)].fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the handler does nothing that a signal's must not.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = look as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            assert_eq!(
                libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()),
                0
            );
        }
        for count in &FOUND {
            count.store(0, Ordering::Relaxed);
        }
        let done = AtomicBool::new(false);
        // SAFETY: of this thread, which waits for the other.
        let this = unsafe { libc::pthread_self() };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..SAMPLES {
                    std::thread::sleep(std::time::Duration::from_millis(2));
                    // SAFETY: it still runs.
                    assert_eq!(unsafe { libc::pthread_kill(this, libc::SIGUSR1) }, 0);
                }
                done.store(true, Ordering::Relaxed);
            });
            while !done.load(Ordering::Relaxed) {
                operation();
            }
        });
        let [clear, set] = FOUND.each_ref().map(|count| count.load(Ordering::Relaxed) as f64);
        set / (clear + set)
    }

    /// A generator is asked in the middle of an operation.
    #[cfg(feature = "ristretto")]
    #[test]
    fn operations_on_secrets_set_it() {
        use veriplex::keys::PrivateKey;
        use veriplex::{label, oprf, pake, signcrypt};

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

    /// It is set nearly all the time: what a user calls has a little around it.
    #[cfg(all(
        target_os = "linux",
        feature = "hybrid",
        feature = "xoofff",
        feature = "adiantum",
        feature = "poly1305"
    ))]
    #[test]
    fn operations_on_secrets_keep_it_set() {
        use veriplex::aead::{Aead, Message};
        use veriplex::{Key, Protocol, hpke, hybrid, keys, label, mac, seekable, sig, siv, vrf};

        fn used<T>(value: T) {
            std::hint::black_box(value);
        }

        if is_set().is_none() {
            return;
        }
        let domain = label!("test");
        let key = Key::from([7; 32]);
        let alice = keys::PrivateKey::from_uniform_bytes([7; 64]).unwrap();
        let bob = keys::PrivateKey::from_uniform_bytes([8; 64]).unwrap();
        let own = hybrid::PrivateKey::generate(&mut Asking(None)).unwrap();
        let peer = hybrid::PrivateKey::generate(&mut Asking(None)).unwrap();
        let hybrid_bytes = own.to_bytes();
        let sealed = hybrid::seal(domain, &own, peer.public_key(), &mut Asking(None), &[1; 100]).unwrap();
        let sealed_hpke =
            hpke::seal_vec(domain, &alice, bob.public_key(), &mut Asking(None), &[1; 100]).unwrap();
        let aead = Aead::<16>::new(domain, &key);
        let siv = siv::Siv::new(domain, &key);
        let many = |seal: bool| {
            let mut buffers = [[3; 1000]; 20];
            let mut messages = buffers.each_mut().map(|in_out| Message {
                nonce: &[1; 16],
                ad: b"",
                in_out,
            });
            if seal {
                aead.seal_many(&mut messages).unwrap();
            } else {
                aead.open_many(&mut messages, |_, opened| assert!(opened.is_err()));
            }
        };
        let file = seekable::Seekable::new(domain, &key).message(&[1; 24], b"");
        let operations: [(&str, &dyn Fn()); 19] = [
            ("aead", &|| used(aead.seal_vec(&[1; 16], b"", &[1; 1000]))),
            ("aead, many sealed", &|| many(true)),
            ("aead, many opened", &|| many(false)),
            ("siv", &|| used(siv.seal_vec(&[1; 16], b"", &[1; 1000]))),
            ("mac, many", &|| {
                let mut tags = [(); 20].map(|()| mac::mac(domain, &key, b""));
                mac::mac_many(domain, &key, &[[1; 1000]; 20], &mut tags).unwrap();
            }),
            ("seekable", &|| used(file.seal_vec(&[1; 10_000]))),
            ("headers", &|| {
                let mut protocol = Protocol::new(domain);
                for _ in 0..100 {
                    used(protocol.mix_stream(label!("a label")));
                }
            }),
            ("hybrid key", &|| {
                used(hybrid::PrivateKey::from_bytes(&hybrid_bytes).unwrap())
            }),
            ("hybrid seal", &|| {
                used(hybrid::seal(domain, &own, peer.public_key(), &mut Asking(None), b"x").unwrap());
            }),
            ("hybrid open", &|| {
                used(hybrid::open(domain, &peer, own.public_key(), &sealed).unwrap())
            }),
            ("key", &|| {
                used(keys::PrivateKey::from_uniform_bytes([9; 64]).unwrap())
            }),
            ("sig", &|| {
                used(sig::sign_deterministic(domain, &alice, b"message"))
            }),
            ("hpke seal", &|| {
                used(
                    hpke::seal_vec(domain, &alice, bob.public_key(), &mut Asking(None), b"message").unwrap(),
                );
            }),
            ("hpke open", &|| {
                used(hpke::open_vec(domain, &bob, alice.public_key(), &sealed_hpke).unwrap())
            }),
            ("vrf", &|| {
                used(vrf::prove(
                    domain,
                    &alice,
                    b"input",
                    &mut Asking(None),
                    &mut [0; 32],
                ))
            }),
            ("xoofff", &|| {
                used(
                    veriplex::xoofff::Sane::new(&[1; 32], &[1; 16])
                        .unwrap()
                        .seal_vec(b"", &[1; 1000]),
                );
            }),
            ("xoofff-wbc", &|| {
                veriplex::xoofff::Wbc::new(&[1; 32])
                    .unwrap()
                    .encipher(b"", &mut [1; 1000]);
            }),
            ("adiantum", &|| {
                let cipher = <veriplex::adiantum::Adiantum>::new(&[1; 32]);
                veriplex::adiantum::WideBlockCipher::encrypt_in_place(&cipher, b"", &mut [1; 1000]).unwrap();
            }),
            ("poly1305", &|| {
                used(veriplex::poly1305::auth([1; 32], &[1; 1000]))
            }),
        ];
        for (name, operation) in operations {
            let part = part_set(operation);
            assert!(part > 0.8, "{name}: {part:.2}");
        }
    }
}
