//! All executors work on objects: a digest, and another key.

use datafusion::arrow::array::AsArray as _;
use datafusion::execution::object_store::ObjectStoreRegistry as _;
use object_store::path::Path;
use object_store::{ObjectStoreExt as _, WriteMultipart};
use url::Url;
use veriplex::{label, tree};
use veriplex_store::Reason;
use veriplex_store_cluster::{reseal, tree::query};

use crate::cluster::{Cluster, old_key};
use crate::data::key;
use crate::server::BUCKET;
use crate::{names, rows};

fn content(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i ^ (i >> 9)).to_le_bytes()[0]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn executors_hash_an_object_together() {
    let (key, objects) = (key(), tempfile::tempdir().unwrap());
    let cluster = Cluster::start(objects.path(), &[&key; 3]).await;
    let client = cluster.session(&key);
    let url = Url::parse("s3://bucket/folder/object").unwrap();
    let store = cluster.server.buckets(&key).get_store(&url).unwrap();
    // None; one chunk; one unit, and more; several parts, and exactly that.
    for len in [0, 1, 512 << 10, (512 << 10) + 1, 16 << 20, 100_000_000] {
        let path = Path::from("folder/object");
        let content = content(len);
        let mut upload = WriteMultipart::new(store.put_multipart(&path).await.unwrap());
        upload.write(&content);
        upload.finish().await.unwrap();
        assert_eq!(store.head(&path).await.unwrap().size, len as u64);

        let query = query(&url, len as u64);
        let found = client.sql(&query).await.unwrap().collect().await.unwrap();
        let found = found[0].column(0).as_binary::<i32>().value(0).to_vec();
        let expected = tree::digest(label!("veriplex.sum.v1"), &content);
        assert_eq!(found, expected.as_bytes(), "{len} bytes");
    }
    // The last one had twelve parts.
    for executor in &cluster.executors {
        let parts = executor.log().matches("part ").count();
        println!("{parts} parts");
        assert!(parts > 0, "it did nothing");
    }

    cluster.server.flip("folder/object");
    let query = query(&url, 100_000_000);
    let error = rows(&client, &query).await.unwrap_err().to_string();
    assert!(names(&error, "folder/object", &Reason::Verification), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn executors_change_keys_together() {
    let (key, objects) = (key(), tempfile::tempdir().unwrap());
    let cluster = Cluster::start(objects.path(), &[&key; 3]).await;
    let client = cluster.session(&key);
    let bucket = Url::parse(&format!("s3://{BUCKET}")).unwrap();
    let [old, new] = [&old_key(), &key].map(|key| cluster.server.buckets(key).get_store(&bucket).unwrap());
    let paths: Vec<_> = (0..20).map(|i| Path::from(format!("it's {i}"))).collect();
    let urls: Vec<_> = paths
        .iter()
        .map(|path| bucket.join(path.as_ref()).unwrap())
        .collect();
    for (i, path) in paths.iter().enumerate() {
        old.put(path, content(i * 1000).into()).await.unwrap();
    }
    // Some, as if it had been interrupted; all; and once more.
    for (count, resealed) in [(7, 7), (20, 13), (20, 0)] {
        let found = rows(&client, &reseal::query(&urls[..count])).await.unwrap();
        assert!(found.contains(&format!("| {resealed} |")), "{found:?}");
    }
    for (i, path) in paths.iter().enumerate() {
        let read = new.get(path).await.unwrap().bytes().await.unwrap();
        assert_eq!(read, content(i * 1000));
        old.get(path).await.unwrap_err();
    }
}
