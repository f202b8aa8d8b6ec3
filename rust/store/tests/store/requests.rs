//! How much is fetched.

use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt as _};
use veriplex_store::{HEADER_LEN, SealedStore};

use crate::spy::Spy;
use crate::{content, key, read};

/// Where these segments of 16384 bytes lie.
fn stored(segments: std::ops::Range<u64>, stored_len: u64) -> std::ops::Range<u64> {
    let [start, end] = [segments.start, segments.end].map(|i| (HEADER_LEN + i * 16400).min(stored_len));
    start..end
}

async fn object(len: usize) -> (SealedStore<std::sync::Arc<Spy>>, std::sync::Arc<Spy>, Path) {
    let spy = Spy::new();
    let store = SealedStore::new(spy.clone(), &key(1), b"");
    let path = Path::from("object");
    store.put(&path, content(len).into()).await.unwrap();
    (store, spy, path)
}

#[tokio::test]
async fn a_range_costs_its_segments() {
    let (store, spy, path) = object(1_000_000).await;
    let stored_len = 1_000_000 + 62 * 16 + HEADER_LEN;
    let n = 62;
    // 1000 bytes in segment 3.
    let range = store.get_range(&path, 50_000..51_000).await.unwrap();
    assert_eq!(range, content(1_000_000)[50_000..51_000]);
    let first = [
        0..HEADER_LEN,
        stored(n - 1..n, stored_len),
        stored(3..4, stored_len),
    ];
    assert_eq!(spy.fetched(), first);

    store.get_range(&path, 50_000..51_000).await.unwrap();
    assert_eq!(spy.fetched(), [stored(3..4, stored_len)]);
    // Two bytes on both sides of a border.
    store.get_range(&path, 16383..16385).await.unwrap();
    assert_eq!(spy.fetched(), [stored(0..2, stored_len)]);

    // A store that does not know the object yet.
    let store = SealedStore::new(spy.clone(), &key(1), b"");
    let suffix = GetOptions::new().with_range(Some(GetRange::Suffix(8)));
    let result = store.get_opts(&path, suffix).await.unwrap();
    assert_eq!(result.bytes().await.unwrap(), content(1_000_000)[999_992..]);
    assert_eq!(spy.fetched(), [0..HEADER_LEN, stored(n - 1..n, stored_len)]);
}

#[tokio::test]
async fn ranges_cost_each_segment_once() {
    let (store, spy, path) = object(1_000_000).await;
    let stored_len = 1_000_000 + 62 * 16 + HEADER_LEN;
    let ranges = [200_000..200_100, 10..20, 16_000..17_000, 30..40, 212_992..213_000];
    for again in [false, true] {
        let read = store.get_ranges(&path, &ranges).await.unwrap();
        for (read, range) in read.iter().zip(&ranges) {
            assert_eq!(
                read,
                &content(1_000_000)[range.start as usize..range.end as usize]
            );
        }
        let mut expected = vec![0..HEADER_LEN, stored(61..62, stored_len)];
        if again {
            expected.clear();
        }
        expected.extend([stored(0..2, stored_len), stored(12..14, stored_len)]);
        assert_eq!(spy.fetched(), expected);
    }
    assert!(store.get_ranges(&path, &[]).await.unwrap().is_empty());
    assert_eq!(spy.fetched(), []);
}

#[tokio::test]
async fn a_whole_object_costs_one_request_or_two() {
    for (len, last) in [(0, None), (131_072, None), (131_073, Some(8..9))] {
        let (store, spy, path) = object(len).await;
        let stored_len = HEADER_LEN + (len + 16 * len.div_ceil(16384).max(1)) as u64;
        assert_eq!(read(&store, &path).await.unwrap(), content(len));
        let mut expected = vec![0..stored_len];
        expected.extend(last.map(|last| stored(last, stored_len)));
        assert_eq!(spy.fetched(), expected);
        if len > 0 {
            assert_eq!(read(&store, &path).await.unwrap(), content(len));
            assert_eq!(spy.fetched(), [HEADER_LEN..stored_len]);
        }
    }
}

#[tokio::test]
async fn lengths_cost_nothing() {
    let (store, spy, path) = object(1_000_000).await;
    assert_eq!(store.head(&path).await.unwrap().size, 1_000_000);
    assert_eq!(spy.fetched(), []);
    // As stores do it, what a range of a length asks for is ignored, except in the range that is returned.
    let options = GetOptions::new().with_head(true).with_range(Some(5..10));
    let result = store.get_opts(&path, options).await.unwrap();
    assert_eq!((result.meta.size, result.range), (1_000_000, 5..10));
    assert_eq!(spy.fetched(), []);
}
