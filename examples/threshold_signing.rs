//! Three people make a key that nobody has, and two of them sign with it:
//! `cargo run --features ristretto --example threshold_signing`.

use veriplex::frost::{Error, Identifier, SigningPackage, dkg};
use veriplex::{label, os_rng, sig};

fn main() -> Result<(), Error> {
    let domain = label!("com.example.treasury");

    // Each starts, and sends a commitment to all others. The context names this run: another run needs another.
    let (states, commitments): (Vec<_>, Vec<_>) = (1..=3)
        .filter_map(Identifier::new)
        .map(|identifier| dkg::start(domain, b"treasury of 2026", identifier, 2, 3, &mut os_rng()))
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .unzip();

    // Each checks the others' commitments, and sends each of them a share over an encrypted, authenticated channel.
    let mut waiting = Vec::new();
    let mut mail = Vec::new();
    for (i, state) in states.into_iter().enumerate() {
        let mut others = commitments.clone();
        others.remove(i);
        let (state, shares) = state.receive(&others)?;
        waiting.push(state);
        mail.extend(shares);
    }

    // Each checks the shares that came for it. All have the same group key.
    let mut participants = Vec::new();
    for (i, state) in waiting.into_iter().enumerate() {
        let (mine, rest): (Vec<_>, Vec<_>) = mail
            .into_iter()
            .partition(|share| usize::from(share.receiver().get()) == i + 1);
        mail = rest;
        participants.push(state.finish(&mine)?);
    }
    let group = participants[0].0.clone();
    println!("group key {}", group.public_key());

    // Two sign. The context is a counter that each keeps: it must not repeat, even if the generator does.
    let (alice, carol) = (&participants[0].1, &participants[2].1);
    let (alices_nonces, alices_commitments) =
        alice.commit_in_context(domain, b"signature 1", &mut os_rng())?;
    let (carols_nonces, carols_commitments) =
        carol.commit_in_context(domain, b"signature 1", &mut os_rng())?;
    let package = SigningPackage::new(
        domain,
        &group,
        &[alices_commitments, carols_commitments],
        b"pay 10",
    )?;
    let signature = package.aggregate(&[
        alice.sign(alices_nonces, &package)?,
        carol.sign(carols_nonces, &package)?,
    ])?;

    // It is an ordinary signature of the group's key.
    sig::verify(domain, group.public_key(), b"pay 10", &signature)?;
    println!("verified");
    Ok(())
}
