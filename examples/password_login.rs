//! Stores a password so that it is hard to guess, and checks a login:
//! `cargo run --features rustcrypto --example password_login`.

use veriplex::rustcrypto::traits::password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash};
use veriplex::rustcrypto::{Domain, password_hash::Mhf};
use veriplex::{Label, label};

/// The domain of this application's passwords.
enum Logins {}

impl Domain for Logins {
    const DOMAIN: Label<'static> = label!("com.example.logins");
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hasher = Mhf::<Logins>::default();

    // At registration: this string, with salt and cost in it, goes into the database.
    let stored = hasher.hash_password(b"correct horse battery staple")?.to_string();
    println!("{stored}");

    // At login.
    let stored = PasswordHash::new(&stored)?;
    assert!(
        hasher
            .verify_password(b"correct horse battery staple", &stored)
            .is_ok()
    );
    assert!(hasher.verify_password(b"Tr0ub4dor&3", &stored).is_err());
    Ok(())
}
