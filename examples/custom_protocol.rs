//! A protocol of one's own, built from `Protocol`: a client and a server share a key, and exchange a request and an answer
//! that are bound to each other. `cargo run --example custom_protocol`.

use veriplex::{Error, Key, Nonce, Protocol, label, os_rng};

/// What both sides know before the first message. Operations and labels are the protocol's specification.
fn start(key: &Key, nonce: &Nonce) -> Protocol {
    let mut protocol = Protocol::new(label!("com.example.thermostat.v1"));
    protocol.mix(label!("key"), key.as_bytes());
    protocol.mix(label!("nonce"), nonce.as_bytes()); // without it, equal requests would be encrypted equally
    protocol
}

fn main() -> Result<(), Error> {
    let key = Key::generate(&mut os_rng());

    // The client makes a nonce, which is public but must never repeat, and sends it with the request.
    let nonce = Nonce::<24>::generate(&mut os_rng());
    let mut client = start(&key, &nonce);
    let request = client.seal_vec(label!("request"), b"set 21 degrees");

    // The server does the same operations, with Open in place of Seal.
    let mut server = start(&key, &nonce);
    let opened = server.open_vec(label!("request"), &request)?;
    println!("server: {}", String::from_utf8_lossy(&opened));
    server.ratchet(label!("forget")); // whoever steals the state from here on learns nothing about the request

    // The answer depends on everything before it, so it is the answer to this request and to no other.
    let answer = server.seal_vec(label!("answer"), b"done");
    client.ratchet(label!("forget"));
    println!(
        "client: {}",
        String::from_utf8_lossy(&client.open_vec(label!("answer"), &answer)?)
    );

    // Both sides can derive keys for what follows.
    let session: [u8; 32] = client.derive_array(label!("session key"));
    assert_eq!(session, server.derive_array(label!("session key")));
    Ok(())
}
