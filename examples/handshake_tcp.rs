//! A handshake over TCP, and a message in each direction:
//! `cargo run --features ristretto --example handshake_tcp`.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use veriplex::handshake::{CONFIRMATION_LEN, Initiator, REQUEST_LEN, RESPONSE_LEN, Responder, Session};
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::{Label, TAG_LEN, label, os_rng};

const DOMAIN: Label<'static> = label!("com.example.chat");

fn main() -> Result<(), Box<dyn Error>> {
    // Each side knows the public key of the other from before.
    let (alice, bob) = (
        PrivateKey::generate(&mut os_rng()),
        PrivateKey::generate(&mut os_rng()),
    );
    let (alices, bobs) = (*alice.public_key(), *bob.public_key());

    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let server = thread::spawn(move || serve(&listener, &bob, &alices).map_err(|error| error.to_string()));
    let mut stream = TcpStream::connect(address)?;
    let mut session = connect(&mut stream, &alice, &bobs)?;
    send(&mut stream, &mut session, b"hello")?;
    println!(
        "{}",
        String::from_utf8_lossy(&receive::<{ 5 + TAG_LEN }>(&mut stream, &mut session)?)
    );
    server.join().map_err(|_| "the server panicked")??;
    Ok(())
}

fn connect(stream: &mut TcpStream, key: &PrivateKey, peer: &PublicKey) -> Result<Session, Box<dyn Error>> {
    let (initiator, request) = Initiator::start_with_prologue(DOMAIN, b"version 1", key, &mut os_rng());
    stream.write_all(&request)?;
    let claimed = initiator.receive(&read::<RESPONSE_LEN>(stream)?)?;
    if claimed.peer() != peer {
        return Err("this is not Bob".into());
    }
    let (session, confirmation) = claimed.accept();
    stream.write_all(&confirmation)?;
    Ok(session)
}

fn serve(listener: &TcpListener, key: &PrivateKey, peer: &PublicKey) -> Result<(), Box<dyn Error>> {
    let mut stream = listener.accept()?.0;
    let request = read::<REQUEST_LEN>(&mut stream)?;
    let (responder, response) =
        Responder::respond_with_prologue(DOMAIN, b"version 1", key, &request, &mut os_rng())?;
    stream.write_all(&response)?;
    let claimed = responder.receive(&read::<CONFIRMATION_LEN>(&mut stream)?)?;
    if claimed.peer() != peer {
        return Err("this is not Alice".into());
    }
    let mut session = claimed.accept();
    // The first message that opens proves that Alice is there: do nothing for her before.
    let hello = receive::<{ 5 + TAG_LEN }>(&mut stream, &mut session)?;
    assert_eq!(hello, b"hello");
    send(&mut stream, &mut session, b"hi :)")
}

/// Sends a message. A real protocol also sends lengths; see the module `aestream` for streams.
fn send(stream: &mut TcpStream, session: &mut Session, message: &[u8]) -> Result<(), Box<dyn Error>> {
    Ok(stream.write_all(&session.send.seal_vec(label!("message"), message))?)
}

fn receive<const N: usize>(stream: &mut TcpStream, session: &mut Session) -> Result<Vec<u8>, Box<dyn Error>> {
    Ok(session.recv.open_vec(label!("message"), &read::<N>(stream)?)?)
}

fn read<const N: usize>(stream: &mut TcpStream) -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}
