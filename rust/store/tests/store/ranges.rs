//! Every read gives what a plain store gives.

use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt as _};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{SEGMENT, content, in_memory};

fn any_range() -> impl Strategy<Value = GetRange> {
    let most = 12 * SEGMENT as u64;
    let at = prop_oneof![0..most, (0..12_u64).prop_map(|segment| segment * SEGMENT as u64)];
    let len = prop_oneof![0..100_u64, 0..most, Just(u64::MAX / 2)];
    prop_oneof![
        (at.clone(), len).prop_map(|(start, len)| GetRange::Bounded(start..start + len)),
        at.clone().prop_map(GetRange::Offset),
        at.prop_map(GetRange::Suffix),
    ]
}

async fn get(
    store: &impl ObjectStore,
    path: &Path,
    range: &GetRange,
) -> Option<(u64, std::ops::Range<u64>, Vec<u8>)> {
    let options = GetOptions::new().with_range(Some(range.clone()));
    let result = store.get_opts(path, options).await.ok()?;
    let (size, range) = (result.meta.size, result.range.clone());
    Some((
        size,
        range,
        result.bytes().await.expect("no more errors").to_vec(),
    ))
}

fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_read(len in 0..10 * SEGMENT, ranges in vec(any_range(), 1..6)) {
        run(async {
            let (store, _) = in_memory();
            let plain = InMemory::new();
            let path = Path::from("object");
            store.put(&path, content(len).into()).await.unwrap();
            plain.put(&path, content(len).into()).await.unwrap();
            for range in &ranges {
                assert_eq!(get(&store, &path, range).await, get(&plain, &path, range).await, "{range:?}");
            }
            let bounded: Vec<_> = (ranges.iter())
                .filter_map(|range| match range {
                    GetRange::Bounded(range) => Some(range.clone()),
                    _ => None,
                })
                .collect();
            let read = store.get_ranges(&path, &bounded).await.ok();
            assert_eq!(read, plain.get_ranges(&path, &bounded).await.ok(), "{bounded:?}");
        });
    }
}

#[tokio::test]
async fn ranges_outside_of_an_object_are_errors_that_name_it() {
    let (store, _) = in_memory();
    let path = Path::from("object");
    store.put(&path, content(100).into()).await.unwrap();
    #[allow(clippy::reversed_empty_ranges)]
    for range in [100..101, 5..5, 6..5, u64::MAX - 1..u64::MAX] {
        let error = store.get_range(&path, range.clone()).await.unwrap_err();
        assert!(matches!(
            crate::reason(&error, &path),
            veriplex_store::Reason::Range(_)
        ));
        let error = store.get_ranges(&path, &[0..1, range]).await.unwrap_err();
        assert!(matches!(
            crate::reason(&error, &path),
            veriplex_store::Reason::Range(_)
        ));
    }
}
