//! Signs a message and verifies it from what was stored as text:
//! `cargo run --features ristretto --example sign`.

use veriplex::{keys::PrivateKey, keys::PublicKey, label, os_rng, sig};

fn main() -> Result<(), veriplex::Error> {
    let domain = label!("com.example.releases");
    let key = PrivateKey::generate(&mut os_rng());
    let signature = sig::sign(domain, &key, b"release 1.0", &mut os_rng());

    // What a verifier has: the public key, which it knows from before, the message and the signature.
    let public = key.public_key().to_bytes();
    let signature = signature.to_bytes();

    let public = PublicKey::from_bytes(&public)?;
    let signature = sig::Signature::from_bytes(&signature)?;
    sig::verify(domain, &public, b"release 1.0", &signature)?;
    assert!(sig::verify(domain, &public, b"release 1.1", &signature).is_err());
    println!("verified");
    Ok(())
}
