//! Objects that are replaced while they are read.

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectStore, ObjectStoreExt as _};
use veriplex_store::Reason;

use crate::spy::Spy;
use crate::{content, in_memory, read, reason, sealed};

/// Stored objects of these lengths, all at one path.
async fn stored(path: &Path, lens: &[usize]) -> Vec<Bytes> {
    let (store, inner) = in_memory();
    let mut objects = Vec::new();
    for &len in lens {
        store.put(path, content(len).into()).await.unwrap();
        objects.push(read(&*inner, path).await.unwrap());
    }
    objects
}

const OLD: usize = 200_000;
const NEW: usize = 190_000;

#[tokio::test]
async fn a_read_is_of_one_object() {
    let path = Path::from("object");
    let objects = stored(&path, &[OLD, NEW, NEW]).await;
    // The object is replaced after so many requests of a read, by one of another length, then by one of the same length.
    for (known, weak) in [(false, false), (true, false), (false, true), (true, true)] {
        for after in 0..6 {
            let spy = Spy::new();
            *spy.weak.lock().unwrap() = weak;
            let store = sealed(spy.clone());
            spy.objects.put(&path, objects[0].clone().into()).await.unwrap();
            if known {
                store.get_range(&path, 0..1).await.unwrap();
            }
            let replace = |object: usize| {
                let mut replacements = spy.replacements.lock().unwrap();
                replacements.clear();
                replacements.extend(std::iter::repeat_n(None, after));
                replacements.push_back(Some(objects[object].clone()));
            };
            for object in [1, 2] {
                replace(object);
                let result = store.get(&path).await.unwrap();
                let len = result.meta.size as usize;
                assert_eq!(result.bytes().await.unwrap(), content(len));
                replace(object);
                let range = store.get_range(&path, 100_000..170_000).await.unwrap();
                assert_eq!(range, content(OLD)[100_000..170_000]);
                replace(object);
                let ranges = store.get_ranges(&path, &[5..10, 180_000..180_001]).await.unwrap();
                assert_eq!(ranges[0], content(OLD)[5..10]);
                assert_eq!(ranges[1], content(OLD)[180_000..180_001]);
            }
        }
    }
}

#[tokio::test]
async fn a_tag_that_does_not_change_is_no_harm() {
    let path = Path::from("object");
    let objects = stored(&path, &[NEW, NEW]).await;
    let spy = Spy::new();
    *spy.e_tag.lock().unwrap() = Some("W/\"same\"".into());
    let store = sealed(spy.clone());
    for object in objects.iter().cycle().take(4) {
        spy.objects.put(&path, object.clone().into()).await.unwrap();
        assert_eq!(store.get_range(&path, 5..10).await.unwrap(), content(NEW)[5..10]);
        assert_eq!(read(&store, &path).await.unwrap(), content(NEW));
    }
    for object in objects.iter().cycle().take(4) {
        spy.objects.put(&path, object.clone().into()).await.unwrap();
        let ranges = store.get_ranges(&path, &[0..1, 1000..2000]).await.unwrap();
        assert_eq!(ranges[1], content(NEW)[1000..2000]);
    }
}

#[tokio::test]
async fn one_that_never_stays_the_same_is_an_error() {
    let path = Path::from("object");
    let objects = stored(&path, &[OLD, NEW]).await;
    let spy = Spy::new();
    let store = sealed(spy.clone());
    spy.objects.put(&path, objects[0].clone().into()).await.unwrap();
    let replace = || {
        let all = objects.iter().cycle().skip(1).take(100);
        *spy.replacements.lock().unwrap() = all.map(|object| Some(object.clone())).collect();
    };
    replace();
    let error = store.get(&path).await.unwrap_err();
    assert_eq!(reason(&error, &path), Reason::Changed);
    replace();
    let error = store.get_range(&path, 5..10).await.unwrap_err();
    assert_eq!(reason(&error, &path), Reason::Changed);
    replace();
    let error = store
        .get_ranges(&path, &[5..10, 70_000..80_000])
        .await
        .unwrap_err();
    assert_eq!(reason(&error, &path), Reason::Changed);
}

#[tokio::test]
async fn preconditions_are_the_callers() {
    let (store, _) = in_memory();
    let path = Path::from("object");
    let tag = store.put(&path, content(1000).into()).await.unwrap().e_tag;
    for _ in 0..2 {
        let same = GetOptions::new()
            .with_if_match(tag.clone())
            .with_range(Some(5..10));
        let result = store.get_opts(&path, same).await.unwrap();
        assert_eq!(result.bytes().await.unwrap(), content(1000)[5..10]);
        let other = GetOptions::new().with_if_match(Some("\"other\""));
        let error = store.get_opts(&path, other).await.unwrap_err();
        assert!(matches!(error, Error::Precondition { .. }), "{error}");
        let unmodified = GetOptions::new().with_if_none_match(tag.clone());
        let error = store.get_opts(&path, unmodified).await.unwrap_err();
        assert!(matches!(error, Error::NotModified { .. }), "{error}");
    }
}
