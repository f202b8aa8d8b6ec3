//! Queries of a data set in memory.

use std::sync::Arc;

use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::SessionContext;
use futures_util::TryStreamExt as _;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use veriplex_store::{Reason, SealedStore};
use veriplex_store_datafusion::{
    Counting, DAYS, GROUP, GROUPS, INTERVAL, note, register, session, value, write,
};

use crate::segments::{Files, fetched, file, sealed_len};
use crate::{answer, key, reason};

type Inner = Arc<Counting<InMemory>>;

fn sealed(inner: &Inner) -> SealedStore<Inner> {
    SealedStore::new(inner.clone(), &key(1), b"context")
}

/// The data set, sealed, and what is known of its files.
async fn data_set() -> (Inner, Files) {
    let inner = Arc::new(Counting::new(InMemory::new()));
    write(&session(Arc::new(sealed(&inner))).unwrap()).await.unwrap();
    let files = Files::read(&sealed(&inner)).await;
    assert_eq!(files.groups(), [6; 4]);
    inner.fetched();
    (inner, files)
}

/// A session that has read the footers.
async fn registered(inner: &Inner) -> SessionContext {
    let context = session(Arc::new(sealed(inner))).unwrap();
    register(&context).await.unwrap();
    inner.fetched();
    context
}

async fn stored_len(inner: &Inner) -> u64 {
    let listed: Vec<_> = inner.list(None).try_collect().await.unwrap();
    listed.iter().map(|meta| meta.size).sum()
}

async fn stored(inner: &Inner, path: &Path) -> Vec<u8> {
    let result = inner.inner().get(path).await.unwrap();
    result.bytes().await.unwrap().to_vec()
}

/// The condition for the rows of this row group.
fn in_group(day: i64, group: i64) -> String {
    let first = (day * GROUPS + group) * GROUP;
    let last = first + GROUP - 1;
    format!("time BETWEEN {} AND {}", first * INTERVAL, last * INTERVAL)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_costs_the_segments_of_its_columns_and_row_groups() {
    let (inner, files) = data_set().await;
    let context = registered(&inner).await;
    for (day, group) in [(2, 3), (0, 0), (1, 1)] {
        let query = format!(
            "SELECT count(*), sum(value) FROM readings WHERE {}",
            in_group(day, group)
        );
        let batches = context.sql(&query).await.unwrap().collect().await.unwrap();
        let [count, sum] = [0, 1].map(|i| batches[0].column(i).as_primitive::<Int64Type>().value(0));
        let first = (day * GROUPS + group) * GROUP;
        assert_eq!(
            (count, sum),
            (GROUP, (first..first + GROUP).map(value).sum::<i64>())
        );

        let (segments, len) = fetched(&inner.fetched());
        let needed = files.with_columns(&["time", "value"], |path, i| {
            *path == file(day) && i64::try_from(i) == Ok(group)
        });
        assert_eq!(segments, needed);
        // Each once, and these are few.
        assert_eq!(len, sealed_len(&needed));
        assert!(needed.len() <= 5, "{needed:?}");
    }
    // Of the largest column too.
    let row = 5000;
    let query = format!("SELECT note FROM readings WHERE time = {}", row * INTERVAL);
    assert!(answer(&context, &query).await.unwrap().contains(&note(row)));
    let (segments, len) = fetched(&inner.fetched());
    let needed = files.with_columns(&["time", "note"], |path, i| *path == file(0) && i == 1);
    assert_eq!(segments, needed);
    assert_eq!(len, sealed_len(&needed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_costs_its_segments() {
    let (inner, files) = data_set().await;
    let context = registered(&inner).await;
    let query = "SELECT count(*) FILTER (WHERE station = 1) FROM readings";
    let batches = context.sql(query).await.unwrap().collect().await.unwrap();
    let count = batches[0].column(0).as_primitive::<Int64Type>().value(0);
    let rows = DAYS * GROUPS * GROUP;
    assert_eq!(count, (0..rows).map(|row| i64::from(row % 7 < 3)).sum::<i64>());
    let (segments, len) = fetched(&inner.fetched());
    let needed = files.with_columns(&["station"], |_, _| true);
    assert_eq!(segments, needed);
    assert!(len <= sealed_len(&needed));
    assert!(len < stored_len(&inner).await / 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_footers_tell_costs_nothing() {
    let (inner, _) = data_set().await;
    let context = registered(&inner).await;
    let query = "SELECT count(*), min(time), max(time) FROM readings";
    let batches = context.sql(query).await.unwrap().collect().await.unwrap();
    let rows = DAYS * GROUPS * GROUP;
    let found = [0, 1, 2].map(|i| batches[0].column(i).as_primitive::<Int64Type>().value(0));
    assert_eq!(found, [rows, 0, (rows - 1) * INTERVAL]);
    assert_eq!(inner.fetched(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_query_costs_the_ends_of_files_too() {
    let (inner, files) = data_set().await;
    let context = session(Arc::new(sealed(&inner))).unwrap();
    register(&context).await.unwrap();
    let (segments, footers) = fetched(&inner.fetched());
    assert_eq!(segments, files.with_footers());
    answer(
        &context,
        &format!("SELECT sum(value) FROM readings WHERE {}", in_group(3, 5)),
    )
    .await
    .unwrap();
    let (segments, len) = fetched(&inner.fetched());
    let needed = files.with_columns(&["time", "value"], |path, i| *path == file(3) && i == 5);
    assert_eq!(segments, needed);
    let all = stored_len(&inner).await;
    println!("of {all} bytes: {footers} for the footers, {len} for the query");
    assert!(footers + len < all / 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_those_from_a_plain_store() {
    let (inner, _) = data_set().await;
    let context = registered(&inner).await;
    let plain = session(Arc::new(InMemory::new())).unwrap();
    write(&plain).await.unwrap();
    register(&plain).await.unwrap();
    for query in [
        "SELECT * FROM readings WHERE station = 1 AND time < 100000 ORDER BY time",
        "SELECT station, count(*), sum(value) FROM readings GROUP BY station ORDER BY station",
        "SELECT a.time, b.note FROM readings a JOIN readings b ON a.time = b.time + 40000 \
         WHERE a.value > 490 AND b.station = 2 ORDER BY a.time",
        "SELECT time FROM readings WHERE note LIKE 'ff%' ORDER BY time DESC LIMIT 20",
    ] {
        let expected = answer(&plain, query).await.unwrap();
        assert!(expected.lines().count() > 5, "{expected}");
        // Not as text of the assertion: it has many lines.
        assert!(answer(&context, query).await.unwrap() == expected, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stored_is_no_parquet() {
    let (inner, _) = data_set().await;
    for day in 0..DAYS {
        let stored = stored(&inner, &file(day)).await;
        assert!(stored.len() > 1_800_000);
        let holds = |bytes: &[u8]| stored.windows(bytes.len()).any(|window| window == bytes);
        assert!(!holds(b"PAR1") && !holds(b"station"));
        assert!(!holds(note(day * GROUPS * GROUP).as_bytes()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_name_the_file() {
    let (inner, _) = data_set().await;
    let [one, two] = [file(1), file(2)];
    let query = format!("SELECT sum(value) FROM readings WHERE {}", in_group(2, 3));

    // A bit within the rows that are asked for, and in an object that was read before.
    let context = registered(&inner).await;
    let good = stored(&inner, &two).await;
    let mut changed = good.clone();
    let middle = good.len() * 7 / 12;
    for at in (middle - 150_000..middle + 150_000).step_by(10_000) {
        changed[at] ^= 1;
    }
    inner.put(&two, changed.into()).await.unwrap();
    let error = answer(&context, &query).await.unwrap_err();
    assert_eq!(reason(&error, &two), Reason::Verification);
    // Other files are as they were.
    let other = format!("SELECT sum(value) FROM readings WHERE {}", in_group(1, 3));
    answer(&context, &other).await.unwrap();

    // Another file in its place: the footer cannot be read.
    inner.put(&two, stored(&inner, &one).await.into()).await.unwrap();
    let context = session(Arc::new(sealed(&inner))).unwrap();
    let error = register(&context).await.unwrap_err();
    assert_eq!(reason(&error, &two), Reason::Verification);

    // A file that was cut.
    inner
        .put(&two, good[..good.len() - 20_000].to_vec().into())
        .await
        .unwrap();
    let context = session(Arc::new(sealed(&inner))).unwrap();
    let error = register(&context).await.unwrap_err();
    assert_eq!(reason(&error, &two), Reason::Verification);

    // As it was, with the key and with another one.
    inner.put(&two, good.into()).await.unwrap();
    answer(&registered(&inner).await, &query).await.unwrap();
    let store = SealedStore::new(inner.clone(), &key(2), b"context");
    let error = register(&session(Arc::new(store)).unwrap()).await.unwrap_err();
    let path = (0..DAYS)
        .map(file)
        .find(|path| error.to_string().contains(path.as_ref()));
    assert_eq!(reason(&error, &path.unwrap()), Reason::Key);
}
