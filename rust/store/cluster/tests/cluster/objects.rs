//! All executors work on objects: a digest, and another key.

use datafusion::arrow::array::AsArray as _;
use datafusion::execution::object_store::ObjectStoreRegistry as _;
use object_store::path::Path;
use object_store::{ObjectStoreExt as _, WriteMultipart};
use url::Url;
use veriplex::tree::outboard::Builder;
use veriplex::tree::{self, Tree};
use veriplex::{digest::Digest, label};
use veriplex_store::Reason;
use veriplex_store_cluster::{reseal, tree::query, verify};

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
async fn executors_verify_a_range_together() {
    const LEN: u64 = 100_000_000;
    let (key, objects) = (key(), tempfile::tempdir().unwrap());
    let cluster = Cluster::start(objects.path(), &[&key; 3]).await;
    let client = cluster.session(&key);
    let [url, outboard] =
        ["object", "object.outboard"].map(|name| Url::parse(&format!("s3://{BUCKET}/{name}")).unwrap());
    let store = cluster.server.buckets(&key).get_store(&url).unwrap();
    let put = async |url: &Url, content: Vec<u8>| {
        let path = Path::from_url_path(url.path()).unwrap();
        store.put(&path, content.into()).await.unwrap();
    };
    // As `veriplex sum --outboard` does.
    let hash = |content: &[u8]| {
        let mut builder = Builder::new(&Tree::new(label!("veriplex.sum.v1")));
        builder.update(content);
        let (digest, strings) = builder.finalize();
        let header = [&b"VPX-TREE\x01"[..], &(content.len() as u64).to_le_bytes()];
        (digest, [&header.concat()[..], &strings].concat())
    };
    let verify = async |digest: &Digest, range: std::ops::Range<u64>| {
        let found = rows(&client, &verify::query(&url, &outboard, digest, range)).await;
        found.map_err(|error| error.to_string())
    };
    let verified = |found: Result<Vec<String>, String>, len: u64| {
        let found = found.unwrap();
        assert!(found.contains(&format!("| {len} |")), "{found:?}");
    };
    let refused = |found: Result<Vec<String>, String>, reason: &str| {
        let error = found.unwrap_err().replace('\\', "");
        println!("{error}");
        assert!(
            error.contains("object \"object\"") && error.contains(reason),
            "{error}"
        );
    };

    // Without a level above the chunks, with one, and with several.
    for len in [0, 1, 4096, 4097, 600_000] {
        let (digest, strings) = hash(&content(len));
        put(&url, content(len)).await;
        put(&outboard, strings).await;
        verified(verify(&digest, 0..len as u64).await, len as u64);
    }
    let (digest, strings) = hash(&content(LEN as usize));
    put(&url, content(LEN as usize)).await;
    put(&outboard, strings.clone()).await;
    for range in [0..LEN, 12_345_678..87_654_321, LEN - 1..LEN, 4095..4097] {
        cluster.server.traffic();
        verified(verify(&digest, range.clone()).await, range.end - range.start);
        println!("{range:?}: {:?} requests and bytes", cluster.server.traffic());
    }
    for executor in &cluster.executors {
        let parts = executor.log().matches("bytes ").count();
        println!("{parts} parts");
        assert!(parts > 0, "it did nothing");
    }
    refused(verify(&digest, 0..LEN + 1).await, "no such range");
    refused(verify(&digest, 5..5).await, "no such range");

    // Another root, an outboard with one byte changed, one of something shorter, and none.
    let differs = "differs from what was hashed";
    refused(verify(&hash(b"other").0, 0..LEN).await, differs);
    let mut changed = strings.clone();
    changed[1000] ^= 1;
    put(&outboard, changed).await;
    refused(verify(&digest, 0..LEN).await, differs);
    put(&outboard, hash(&content(LEN as usize - 1)).1).await;
    refused(verify(&digest, 0..LEN).await, "of another length");
    put(&outboard, hash(&content(5)).1).await;
    refused(verify(&digest, 0..LEN).await, "not as long");

    // One byte changed, sealed as it should be; and one changed in the store.
    put(&outboard, strings).await;
    let mut changed = content(LEN as usize);
    changed[60_000_000] ^= 1;
    put(&url, changed).await;
    refused(verify(&digest, 0..LEN).await, differs);
    verified(verify(&digest, 0..60_000_000 - 4096).await, 60_000_000 - 4096);
    cluster.server.flip("object");
    let error = verify(&digest, 0..LEN).await.unwrap_err();
    assert!(names(&error, "object", &Reason::Verification), "{error}");
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
