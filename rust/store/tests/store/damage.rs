//! What is wrong with an object is an error that names it, and never plaintext.

use bytes::Bytes;
use futures_util::StreamExt as _;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt as _};
use veriplex_store::{Reason, SealedStore};

use crate::spy::Spy;
use crate::{HEADER, SEGMENT, TAG, content, in_memory, key, read, reason, sealed};

/// Three full segments and one of 8 bytes.
const LEN: usize = 200;
const STORED: usize = HEADER + LEN + 4 * TAG;

async fn stored(path: &Path, len: usize) -> Bytes {
    let (store, inner) = in_memory();
    store.put(path, content(len).into()).await.unwrap();
    read(&*inner, path).await.unwrap()
}

/// Reads a damaged object in many ways, of which each fails or gives what was sealed. Returns why the whole one failed.
async fn read_damaged(store: &impl ObjectStore, path: &Path) -> Reason {
    for range in [0..1, 70..80, 60..130, 0..200, 199..200] {
        let expected = content(LEN).slice(range.start as usize..range.end as usize);
        match store.get_range(path, range.clone()).await {
            Ok(read) => assert_eq!(read, expected),
            Err(error) => _ = reason(&error, path),
        }
        match store.get_ranges(path, &[0..1, range]).await {
            Ok(read) => assert_eq!(read, [content(LEN).slice(..1), expected]),
            Err(error) => _ = reason(&error, path),
        }
    }
    let suffix = GetOptions::new().with_range(Some(GetRange::Suffix(3)));
    if let Ok(result) = store.get_opts(path, suffix).await {
        assert_eq!(result.bytes().await.unwrap(), content(LEN)[LEN - 3..]);
    }
    let error = read(store, path).await.unwrap_err();
    reason(&error, path)
}

#[tokio::test]
async fn every_changed_byte_is_noticed() {
    let path = Path::from("folder/object");
    let stored = stored(&path, LEN).await;
    assert_eq!(stored.len(), STORED);
    let inner = std::sync::Arc::new(InMemory::new());
    // One store that knows the object, if its tag does not change, and one that does not.
    let lying = Spy::new();
    *lying.e_tag.lock().unwrap() = Some("W/\"same\"".into());
    let knowing = sealed(lying.clone());
    for i in 0..stored.len() {
        lying.objects.put(&path, stored.clone().into()).await.unwrap();
        assert_eq!(knowing.get_range(&path, 0..1).await.unwrap(), content(1));
        let mut changed = stored.to_vec();
        changed[i] ^= 1 << (i % 8);
        inner.put(&path, changed.clone().into()).await.unwrap();
        lying.objects.put(&path, changed.into()).await.unwrap();
        let expected = match i {
            0..8 => Reason::Header,
            8..12 => Reason::SegmentLength(64 ^ (1 << ((i - 8) * 8 + i % 8))),
            12..HEADER => Reason::Key,
            _ => Reason::Verification,
        };
        assert_eq!(
            read_damaged(&sealed(inner.clone()), &path).await,
            expected,
            "byte {i}"
        );
        // It has no need of the header.
        if i >= HEADER {
            assert_eq!(read_damaged(&knowing, &path).await, expected, "byte {i}");
        }
    }
}

#[tokio::test]
async fn every_other_length_is_noticed() {
    let path = Path::from("folder/object");
    let stored = stored(&path, LEN).await;
    let (store, inner) = in_memory();
    let lying = Spy::new();
    *lying.e_tag.lock().unwrap() = Some("W/\"same\"".into());
    let knowing = sealed(lying.clone());
    for len in 0..stored.len() {
        // It read the object before it was cut.
        lying.objects.put(&path, stored.clone().into()).await.unwrap();
        assert_eq!(knowing.get_range(&path, 0..1).await.unwrap(), content(1));
        let cut = stored.slice(..len);
        lying.objects.put(&path, cut.into()).await.unwrap();
        let error = knowing.get_range(&path, 0..1).await.unwrap_err();
        assert!(matches!(
            reason(&error, &path),
            Reason::Length | Reason::Verification
        ));

        inner.put(&path, stored.slice(..len).into()).await.unwrap();
        let error = store.get_range(&path, 0..1).await.unwrap_err();
        let expected = reason(&error, &path);
        assert!(matches!(expected, Reason::Length | Reason::Verification));
        assert_eq!(read_damaged(&store, &path).await, expected, "{len} bytes");
        let ranges = store.get_ranges(&path, &[0..1]).await.unwrap_err();
        assert_eq!(reason(&ranges, &path), expected);
        match store.head(&path).await {
            Ok(_) => assert_eq!(expected, Reason::Verification),
            Err(error) => assert_eq!(reason(&error, &path), Reason::Length),
        }
        // At the borders between segments too.
        if (len - len.min(HEADER)) % (SEGMENT + TAG) == 0 && len > HEADER {
            assert_eq!(expected, Reason::Verification);
        }
    }
    for more in [1, TAG, TAG + 1, SEGMENT + TAG] {
        let longer = [&stored[..], &vec![0; more]].concat();
        inner.put(&path, longer.into()).await.unwrap();
        assert_eq!(read_damaged(&store, &path).await, Reason::Verification);
    }
    inner.put(&path, stored.into()).await.unwrap();
    assert_eq!(read(&store, &path).await.unwrap(), content(LEN));
}

#[tokio::test]
async fn an_object_at_another_path_is_noticed() {
    let (store, inner) = in_memory();
    let [a, b, c] = ["a", "b", "c"].map(Path::from);
    store.put(&a, content(LEN).into()).await.unwrap();
    store.put(&b, content(LEN).into()).await.unwrap();
    let [stored_a, stored_b] = [read(&*inner, &a).await.unwrap(), read(&*inner, &b).await.unwrap()];
    // Known or not.
    for known in [false, true] {
        let store = sealed(inner.clone());
        inner.put(&a, stored_a.clone().into()).await.unwrap();
        inner.put(&b, stored_b.clone().into()).await.unwrap();
        if known {
            read(&store, &a).await.unwrap();
            read(&store, &b).await.unwrap();
        }
        inner.put(&a, stored_b.clone().into()).await.unwrap();
        inner.put(&b, stored_a.clone().into()).await.unwrap();
        inner.copy(&a, &c).await.unwrap();
        for path in [&a, &b, &c] {
            assert_eq!(read_damaged(&store, path).await, Reason::Verification);
        }
    }
}

#[tokio::test]
async fn segments_of_two_objects_do_not_mix() {
    let path = Path::from("object");
    let [old, new] = [stored(&path, LEN).await, stored(&path, LEN).await];
    let (store, inner) = in_memory();
    for border in [HEADER, HEADER + SEGMENT + TAG, HEADER + 3 * (SEGMENT + TAG)] {
        let mixed = [&old[..border], &new[border..]].concat();
        inner.put(&path, mixed.into()).await.unwrap();
        assert_eq!(read_damaged(&store, &path).await, Reason::Verification);
    }
}

#[tokio::test]
async fn another_key_or_context_or_segment_length_is_noticed() {
    let path = Path::from("object");
    let (_, inner) = in_memory();
    inner.put(&path, stored(&path, LEN).await.into()).await.unwrap();
    let open = |key_byte: u8, context: &[u8]| {
        let store = SealedStore::new(inner.clone(), &key(key_byte), context);
        store.with_segment_len(SEGMENT).unwrap()
    };
    assert_eq!(read(&open(1, b"context"), &path).await.unwrap(), content(LEN));
    for store in [open(2, b"context"), open(1, b"contex"), open(1, b"")] {
        assert_eq!(read_damaged(&store, &path).await, Reason::Key);
    }
    let store = open(1, b"context").with_segment_len(1000).unwrap();
    assert_eq!(read_damaged(&store, &path).await, Reason::SegmentLength(64));
}

#[tokio::test]
async fn a_stream_ends_before_what_was_changed() {
    let path = Path::from("object");
    let len = 1_000_000;
    let (store, inner) = in_memory();
    store.put(&path, content(len).into()).await.unwrap();
    let mut stored = read(&*inner, &path).await.unwrap().to_vec();
    let middle = stored.len() / 2;
    stored[middle] ^= 1;
    inner.put(&path, stored.into()).await.unwrap();
    for range in [
        None,
        Some(GetRange::Offset(10)),
        Some(GetRange::Bounded(10..900_000)),
    ] {
        let start = if range.is_some() { 10 } else { 0 };
        let options = GetOptions::new().with_range(range);
        let mut stream = store.get_opts(&path, options).await.unwrap().into_stream();
        let mut opened = Vec::new();
        let error = loop {
            match stream.next().await {
                Some(Ok(bytes)) => opened.extend_from_slice(&bytes),
                Some(Err(error)) => break error,
                None => panic!("no error"),
            }
        };
        assert_eq!(reason(&error, &path), Reason::Verification);
        assert!(opened.len() > 300_000 && opened.len() < 500_000);
        assert_eq!(opened, content(len)[start..start + opened.len()]);
        assert!(stream.next().await.is_none());
    }
}

#[tokio::test]
async fn a_listing_names_what_is_not_sealed() {
    let (store, inner) = in_memory();
    let [good, bad] = ["good", "not\u{7}sealed"].map(Path::from);
    store.put(&good, content(LEN).into()).await.unwrap();
    inner.put(&bad, "short".into()).await.unwrap();
    let listed: Vec<_> = store.list(None).collect().await;
    assert_eq!(listed.len(), 2);
    for meta in listed {
        match meta {
            Ok(meta) => assert_eq!((meta.location, meta.size), (good.clone(), LEN as u64)),
            Err(error) => assert_eq!(reason(&error, &bad), Reason::Length),
        }
    }
    let error = store.list_with_delimiter(None).await.unwrap_err();
    assert_eq!(reason(&error, &bad), Reason::Length);
    assert_eq!(read_damaged(&store, &bad).await, Reason::Length);
}

#[tokio::test]
async fn a_damaged_object_is_not_copied() {
    let [from, to] = ["from", "to"].map(Path::from);
    let (store, inner) = in_memory();
    for len in [1000, (8 << 20) + 1] {
        store.put(&from, content(len).into()).await.unwrap();
        let mut stored = read(&*inner, &from).await.unwrap().to_vec();
        let at = stored.len() - 100;
        stored[at] ^= 1;
        inner.put(&from, stored.into()).await.unwrap();
        let error = store.copy(&from, &to).await.unwrap_err();
        assert_eq!(reason(&error, &from), Reason::Verification);
        let error = store.rename(&from, &to).await.unwrap_err();
        assert_eq!(reason(&error, &from), Reason::Verification);
        inner.head(&to).await.unwrap_err();
        inner.head(&from).await.unwrap();
    }
}
