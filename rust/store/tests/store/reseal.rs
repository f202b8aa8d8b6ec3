//! Objects under another key.

use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{Attribute, Attributes, GetOptions, ObjectStore, ObjectStoreExt as _, PutOptions};
use veriplex_store::{Reason, SealedStore};

use crate::spy::Spy;
use crate::{content, key, read, reason};

fn keys<T: Clone>(inner: &T) -> [SealedStore<T>; 2] {
    [1, 2].map(|byte| SealedStore::new(inner.clone(), &key(byte), b"context"))
}

/// None; one segment; one part; several.
const LENGTHS: [usize; 4] = [0, 100, 8 << 20, 20_000_000];

#[tokio::test]
async fn objects_change_keys_one_by_one() {
    let inner = Arc::new(InMemory::new());
    let [old, new] = keys(&inner);
    let paths = LENGTHS.map(|len| Path::from(format!("folder/{len}")));
    for (path, len) in paths.iter().zip(LENGTHS) {
        old.put(path, content(len).into()).await.unwrap();
        read(&old, path).await.unwrap();
    }
    // Interrupted after two of them, and begun anew.
    for path in &paths[..2] {
        assert!(new.reseal(path, &old).await.unwrap());
    }
    for (i, (path, len)) in paths.iter().zip(LENGTHS).enumerate() {
        assert_eq!(new.reseal(path, &old).await.unwrap(), i >= 2, "{path}");
        assert!(!new.reseal(path, &old).await.unwrap());
        assert_eq!(read(&new, path).await.unwrap(), content(len));
        let error = read(&old, path).await.unwrap_err();
        assert_eq!(reason(&error, path), Reason::Key);
    }
}

#[tokio::test]
async fn what_cannot_be_read_stays_as_it_is() {
    let inner = Arc::new(InMemory::new());
    let [old, new] = keys(&inner);
    let other = SealedStore::new(inner.clone(), &key(3), b"context");
    for (len, damaged) in [(100, 70), (20_000_000, 15_000_000)] {
        let path = Path::from(format!("{len}"));
        old.put(&path, content(len).into()).await.unwrap();
        let before = read(&*inner, &path).await.unwrap();
        let error = new.reseal(&path, &other).await.unwrap_err();
        assert_eq!(reason(&error, &path), Reason::Key);
        assert_eq!(read(&*inner, &path).await.unwrap(), before);

        let mut bytes = before.to_vec();
        bytes[damaged] ^= 1;
        inner.put(&path, bytes.clone().into()).await.unwrap();
        let error = new.reseal(&path, &old).await.unwrap_err();
        assert_eq!(reason(&error, &path), Reason::Verification);
        assert_eq!(read(&*inner, &path).await.unwrap(), bytes);
    }
    let path = Path::from("none");
    let error = new.reseal(&path, &old).await.unwrap_err();
    assert!(matches!(error, object_store::Error::NotFound { .. }), "{error}");
}

#[tokio::test]
async fn an_upload_that_fails_is_aborted() {
    let spy = Spy::new();
    let [old, new] = keys(&spy);
    let path = Path::from("object");
    old.put(&path, content(20_000_000).into()).await.unwrap();
    *spy.failing.lock().unwrap() = true;
    new.reseal(&path, &old).await.unwrap_err();
    assert!(*spy.aborted.lock().unwrap());
    assert_eq!(read(&old, &path).await.unwrap(), content(20_000_000));
}

#[tokio::test]
async fn attributes_stay() {
    let inner = Arc::new(InMemory::new());
    let [old, new] = keys(&inner);
    let attributes = Attributes::from_iter([(Attribute::ContentType, "text/plain")]);
    for len in [100, 9 << 20] {
        let path = Path::from(format!("{len}"));
        let options = PutOptions {
            attributes: attributes.clone(),
            ..PutOptions::default()
        };
        old.put_opts(&path, content(len).into(), options).await.unwrap();
        new.reseal(&path, &old).await.unwrap();
        let result = new.get_opts(&path, GetOptions::default()).await.unwrap();
        assert_eq!(result.attributes, attributes);
    }
}
