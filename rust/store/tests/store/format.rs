//! The bytes of an object are those of README.md, "Format".

use object_store::ObjectStoreExt as _;
use object_store::memory::InMemory;
use object_store::path::Path;
use veriplex::kdf::Kdf;
use veriplex::label;
use veriplex::mac::Mac;
use veriplex::seekable::Seekable;

use crate::{content, key, read, sealed};

/// An object of the README, made without the crate.
fn by_hand(path: &str, nonce: [u8; 32], plaintext: &[u8]) -> Vec<u8> {
    let keys = Kdf::extract(label!("veriplex.store.keys.v1"), b"context", key(1).as_bytes());
    let key = keys.expand(&nonce);
    let header = [b"vpxstor\x01", &[64, 0, 0, 0][..], &nonce].concat();
    let mut mac = Mac::new(label!("veriplex.store.header.v1"), &key);
    mac.update(&header);
    let seekable = Seekable::<32>::new(label!("veriplex.store.v1"), &key);
    let message = seekable
        .with_segment_len(64)
        .unwrap()
        .message(&nonce, path.as_bytes());
    let sealed = message.seal_vec(plaintext);
    [&header, mac.finalize().as_bytes().as_slice(), &sealed].concat()
}

#[tokio::test]
async fn objects_made_by_hand_open() {
    let inner = InMemory::new();
    let path = Path::from("folder/ä b");
    let name = "folder/%C3%A4 b"; // what the store has for it
    assert_eq!(path.as_ref(), name);
    for len in [0, 1, 64, 200] {
        let object = by_hand(name, [9; 32], &content(len));
        inner.put(&path, object.into()).await.unwrap();
        let store = sealed(inner.fork());
        assert_eq!(read(&store, &path).await.unwrap(), content(len));
    }
}

#[tokio::test]
async fn objects_open_by_hand() {
    let inner = std::sync::Arc::new(InMemory::new());
    let path = Path::from("folder/object");
    let store = sealed(inner.clone());
    store.put(&path, content(200).into()).await.unwrap();
    let object = read(&*inner, &path).await.unwrap();
    let nonce = object[12..44].try_into().unwrap();
    assert_eq!(object, by_hand("folder/object", nonce, &content(200)));
}

/// The bytes never change.
#[tokio::test]
async fn known_answer() {
    let object = by_hand("object", [9; 32], b"message");
    let inner = InMemory::new();
    let path = Path::from("object");
    inner.put(&path, object.clone().into()).await.unwrap();
    assert_eq!(read(&sealed(inner), &path).await.unwrap(), "message");
    let object: String = (object.iter()).map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(object, KNOWN);
}

/// Header; nonce; tag; segment.
const KNOWN: &str = concat!(
    "76707873746f720140000000",
    "0909090909090909090909090909090909090909090909090909090909090909",
    "05da0ad511d61e262bd2605c4285eb51",
    "ad1f3c49bad74897082dccf9fdba530bf74fdf0e1e5475",
);
