//! Uploads in parts: of odd lengths, several at a time, abandoned.

use futures_util::future::join_all;
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt as _};
use proptest::collection::vec;
use proptest::prelude::*;
use veriplex_store::{HEADER_LEN, Reason, SealedStore};

use crate::spy::Spy;
use crate::{content, in_memory, key, read, reason};

const MIB: usize = 1 << 20;

#[tokio::test]
async fn parts_of_odd_lengths() {
    let (store, _) = in_memory();
    let path = Path::from("object");
    for parts in [
        vec![],
        vec![0],
        vec![1],
        vec![63, 1, 1],
        vec![64, 0, 64],
        vec![7; 1000],
        vec![100_003, 17, 99_991, 1],
    ] {
        let all = content(parts.iter().sum());
        let mut upload = store.put_multipart(&path).await.unwrap();
        let mut start = 0;
        for len in parts {
            upload
                .put_part(all.slice(start..start + len).into())
                .await
                .unwrap();
            start += len;
        }
        upload.complete().await.unwrap();
        assert_eq!(store.head(&path).await.unwrap().size, all.len() as u64);
        assert_eq!(read(&store, &path).await.unwrap(), all);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(50) })]

    #[test]
    fn any_parts(lens in vec(0..300_usize, 0..30)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (store, _) = in_memory();
            let path = Path::from("object");
            let all = content(lens.iter().sum());
            let mut upload = store.put_multipart(&path).await.unwrap();
            let mut rest = all.clone();
            for len in lens {
                // In two pieces.
                let mut part = rest.split_to(len);
                let pieces = [part.split_to(len / 3), part];
                upload.put_part(pieces.into_iter().collect()).await.unwrap();
            }
            upload.complete().await.unwrap();
            assert_eq!(read(&store, &path).await.unwrap(), all);
        });
    }
}

#[tokio::test]
async fn parts_are_passed_on_when_they_are_full() {
    let path = Path::from("object");
    // Parts as large as S3 needs them, of one length: at least 5 MiB, or that of the first part.
    for (part_len, count, expected) in [(MIB, 12, 5 * MIB), (6 * MIB, 3, 6 * MIB)] {
        let spy = Spy::new();
        let store = SealedStore::new(spy.clone(), &key(1), b"");
        let mut upload = store.put_multipart(&path).await.unwrap();
        for i in 1..=count {
            upload.put_part(vec![7; part_len].into()).await.unwrap();
            let passed: usize = spy.parts.lock().unwrap().iter().sum();
            // What is held back is less than a part, and what the sealing buffers.
            assert!(
                passed + expected + MIB > i * part_len,
                "{passed} of {}",
                i * part_len
            );
        }
        upload.complete().await.unwrap();
        let parts = spy.parts.lock().unwrap().clone();
        let (last, full) = parts.split_last().unwrap();
        assert!(full.iter().all(|&len| len == expected), "{parts:?}");
        assert!(*last <= expected, "{parts:?}");
        let len = part_len * count;
        assert_eq!(
            parts.iter().sum::<usize>() as u64,
            HEADER_LEN + (len + 16 * len.div_ceil(16384)) as u64
        );
        assert_eq!(read(&store, &path).await.unwrap(), vec![7; len]);
    }
}

#[tokio::test]
async fn parts_may_end_in_any_order() {
    let store = SealedStore::new(Spy::new(), &key(1), b"");
    let path = Path::from("object");
    let mut upload = store.put_multipart(&path).await.unwrap();
    let mut parts: Vec<_> = (0..4).map(|i| upload.put_part(vec![i; 5 * MIB].into())).collect();
    parts.reverse();
    for part in join_all(parts).await {
        part.unwrap();
    }
    upload.complete().await.unwrap();
    let object = read(&store, &path).await.unwrap();
    for (i, part) in object.chunks(5 * MIB).enumerate() {
        assert!(part.iter().all(|&byte| usize::from(byte) == i));
    }
}

#[tokio::test]
async fn a_part_that_was_not_uploaded_is_an_error() {
    let store = SealedStore::new(Spy::new(), &key(1), b"");
    let path = Path::from("object");
    let mut upload = store.put_multipart(&path).await.unwrap();
    upload.put_part(vec![1; MIB].into()).await.unwrap();
    drop(upload.put_part(vec![1; 6 * MIB].into()));
    let error = upload.complete().await.unwrap_err();
    assert_eq!(reason(&error, &path), Reason::Upload);
    upload.abort().await.unwrap();
    let error = store.get(&path).await.unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
}

#[tokio::test]
async fn after_its_end_an_upload_takes_nothing() {
    let (store, _) = in_memory();
    let path = Path::from("object");
    for abort in [false, true] {
        let mut upload = store.put_multipart(&path).await.unwrap();
        upload.put_part(content(100).into()).await.unwrap();
        if abort {
            upload.abort().await.unwrap();
        } else {
            upload.complete().await.unwrap();
        }
        let error = upload.put_part(content(1).into()).await.unwrap_err();
        assert_eq!(reason(&error, &path), Reason::Upload);
        let error = upload.complete().await.unwrap_err();
        assert_eq!(reason(&error, &path), Reason::Upload);
    }
    assert_eq!(read(&store, &path).await.unwrap(), content(100));
}

/// Otherwise the object would be complete without it.
#[tokio::test]
async fn a_part_that_was_lost_in_a_panic() {
    let spy = Spy::new();
    let store = SealedStore::new(spy.clone(), &key(1), b"");
    let path = Path::from("object");
    let mut upload = store.put_multipart(&path).await.unwrap();
    // Not yet a part: its last segment waits for more.
    upload.put_part(vec![0; 6 * MIB].into()).await.unwrap();
    *spy.panicking.lock().unwrap() = true;
    let put = std::panic::AssertUnwindSafe(|| drop(upload.put_part(vec![1; 6 * MIB].into())));
    assert!(std::panic::catch_unwind(put).is_err());
    let error = upload.put_part(vec![2; 6 * MIB].into()).await.unwrap_err();
    assert_eq!(reason(&error, &path), Reason::Upload);
    let error = upload.complete().await.unwrap_err();
    assert_eq!(reason(&error, &path), Reason::Upload);
    assert!(store.get(&path).await.is_err());
}

#[tokio::test]
async fn a_copy_that_fails_is_aborted() {
    let spy = Spy::new();
    let store = SealedStore::new(spy.clone(), &key(1), b"");
    let [from, to] = ["from", "to"].map(Path::from);
    store.put(&from, vec![1; 9 * MIB].into()).await.unwrap();
    *spy.failing.lock().unwrap() = true;
    let error = store.copy(&from, &to).await.unwrap_err();
    assert!(error.to_string().contains("no space"), "{error}");
    assert!(*spy.aborted.lock().unwrap());
    let error = store.get(&to).await.unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
}
