//! What was put is what is read, listed and copied, in memory and on disk.

use futures_util::TryStreamExt as _;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{Attribute, CopyMode, CopyOptions, Error, ObjectStore, ObjectStoreExt as _, PutOptions};
use veriplex_store::SealedStore;

use crate::{content, in_memory, lengths, read, sealed};

async fn every_length(store: &impl ObjectStore, segment: usize) {
    for len in lengths(segment) {
        let path = Path::from(format!("folder/{len}"));
        store.put(&path, content(len).into()).await.unwrap();
        assert_eq!(store.head(&path).await.unwrap().size, len as u64);
        // The first time and again.
        for _ in 0..2 {
            let result = store.get(&path).await.unwrap();
            assert_eq!(
                (result.meta.size, result.range.clone()),
                (len as u64, 0..len as u64)
            );
            assert_eq!(result.meta.location, path);
            assert_eq!(result.bytes().await.unwrap(), content(len), "{len} bytes");
        }
    }
    let mut listed: Vec<_> = store.list(None).try_collect().await.unwrap();
    listed.sort_by_key(|meta| meta.size);
    let mut expected = lengths(segment);
    expected.sort_unstable();
    expected.dedup();
    let sizes: Vec<_> = listed.iter().map(|meta| meta.size as usize).collect();
    assert_eq!(sizes, expected);
    for meta in listed {
        assert_eq!(meta.location, Path::from(format!("folder/{}", meta.size)));
    }
    let folder = Path::from("folder");
    let listed = store.list_with_delimiter(Some(&folder)).await.unwrap();
    for meta in listed.objects {
        assert_eq!(meta.location, Path::from(format!("folder/{}", meta.size)));
    }
    let offset = Path::from("folder/5");
    let listed: Vec<_> = store
        .list_with_offset(Some(&folder), &offset)
        .try_collect()
        .await
        .unwrap();
    for meta in listed {
        assert!(meta.location > offset);
        assert_eq!(meta.location, Path::from(format!("folder/{}", meta.size)));
    }
}

#[tokio::test]
async fn in_memory_in_small_segments() {
    every_length(&in_memory().0, 64).await;
}

#[tokio::test]
async fn in_memory_in_usual_segments() {
    let store = SealedStore::new(InMemory::new(), &crate::key(1), b"");
    every_length(&store, 16384).await;
}

#[tokio::test]
async fn on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let inner = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
    every_length(&SealedStore::new(inner, &crate::key(1), b""), 16384).await;
}

#[tokio::test]
async fn segments_of_every_allowed_length() {
    for segment in [64, 65, 1000, 1 << 17, 1 << 18] {
        let store = SealedStore::new(InMemory::new(), &crate::key(1), b"");
        every_length(&store.with_segment_len(segment).unwrap(), segment).await;
    }
    for segment in [0, 63, (1 << 24) + 1, usize::MAX] {
        let store = SealedStore::new(InMemory::new(), &crate::key(1), b"");
        assert_eq!(
            store.with_segment_len(segment).unwrap_err(),
            veriplex::Error::BufferLength
        );
    }
}

#[tokio::test]
async fn copies_and_renames_are_sealed_again() {
    let (store, inner) = in_memory();
    let [from, to] = ["from", "to"].map(Path::from);
    // In one piece and in parts.
    for len in [0, 1, 1000, (8 << 20) + 1] {
        let mut options = PutOptions::default();
        options
            .attributes
            .insert(Attribute::ContentType, "text/plain".into());
        let attributes = options.attributes.clone();
        store.put_opts(&from, content(len).into(), options).await.unwrap();

        store.copy(&from, &to).await.unwrap();
        assert_eq!(read(&store, &to).await.unwrap(), content(len));
        assert_eq!(store.get(&to).await.unwrap().attributes, attributes);
        assert_ne!(
            read(&*inner, &from).await.unwrap(),
            read(&*inner, &to).await.unwrap()
        );
        let create = CopyOptions::new().with_mode(CopyMode::Create);
        let error = store.copy_opts(&from, &to, create).await.unwrap_err();
        assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
        store.delete(&to).await.unwrap();

        store.rename_if_not_exists(&from, &to).await.unwrap();
        assert_eq!(read(&store, &to).await.unwrap(), content(len));
        let error = store.get(&from).await.unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
    }
}

#[tokio::test]
async fn renaming_an_object_to_itself_keeps_it() {
    let (store, _) = in_memory();
    let path = Path::from("object");
    let error = store.rename(&path, &path).await.unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    store.put(&path, content(100).into()).await.unwrap();
    store.rename(&path, &path).await.unwrap();
    store.copy(&path, &path).await.unwrap();
    let error = store.rename_if_not_exists(&path, &path).await.unwrap_err();
    assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
    assert_eq!(read(&store, &path).await.unwrap(), content(100));
}

#[tokio::test]
async fn the_stored_object_holds_no_plaintext_and_never_repeats() {
    let (store, inner) = in_memory();
    let path = Path::from("object");
    let mut seen = Vec::new();
    for _ in 0..2 {
        store.put(&path, vec![0x55; 1000].into()).await.unwrap();
        let stored = read(&*inner, &path).await.unwrap();
        assert!(!stored.windows(8).any(|window| window == [0x55; 8]));
        seen.push(stored);
    }
    assert_ne!(seen[0], seen[1]);
}

#[tokio::test]
async fn what_is_printed_has_no_secrets() {
    let (store, _) = in_memory();
    let path = Path::from("object");
    let mut upload = store.put_multipart(&path).await.unwrap();
    upload.put_part("secret".into()).await.unwrap();
    let printed = format!("{store} {store:?} {upload:?}");
    assert!(
        !printed.contains("secret") && !printed.contains("[1, 1"),
        "{printed}"
    );
    assert!(printed.starts_with("SealedStore(InMemory)"), "{printed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_reads_at_once() {
    let store = std::sync::Arc::new(sealed(InMemory::new()));
    let path = Path::from("object");
    let len = 10_000;
    store.put(&path, content(len).into()).await.unwrap();
    let readers: Vec<_> = (0..8)
        .map(|reader| {
            let (store, path) = (store.clone(), path.clone());
            tokio::spawn(async move {
                for i in 0..50 {
                    let start = (reader * 997 + i * 31) % (len - 1);
                    let end = (start + 1 + i * 17).min(len);
                    let read = store.get_range(&path, start as u64..end as u64).await.unwrap();
                    assert_eq!(read, content(len)[start..end]);
                    if i == 25 && reader == 0 {
                        store.put(&path, content(len).into()).await.unwrap();
                    }
                }
            })
        })
        .collect();
    for reader in readers {
        reader.await.unwrap();
    }
}
