//! An S3 server that the test starts: s3s-fs, over HTTP on a port of this machine, with signed requests.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _, RetryConfig};
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::io::InspectWriter;
use veriplex_store::{HEADER_LEN, ObjectError, Reason, SealedStore};
use veriplex_store_datafusion::{Counting, GROUP, GROUPS, INTERVAL, register, session, value, write};

use crate::segments::{Files, fetched, file, sealed_len};
use crate::{answer, key, reason};

const BUCKET: &str = "bucket";
const USER: &str = "user";
const PASSWORD: &str = "password";
/// An answer of the server has fewer bytes than that before its body.
const ANSWER_HEADER: u64 = 1024;

type Inner = Arc<Counting<AmazonS3>>;

struct Server {
    folder: TempDir,
    address: SocketAddr,
    /// How many bytes it has sent.
    sent: Arc<AtomicU64>,
}

impl Server {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(BUCKET)).unwrap();
        let mut service = S3ServiceBuilder::new(FileSystem::new(folder.path()).unwrap());
        service.set_auth(SimpleAuth::from_single(USER, PASSWORD));
        let service = service.build();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let sent = Arc::new(AtomicU64::new(0));
        let counter = sent.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (counter, service) = (counter.clone(), service.clone());
                let stream = InspectWriter::new(stream, move |bytes: &[u8]| {
                    counter.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                });
                tokio::spawn(async move {
                    let server = Builder::new(TokioExecutor::new());
                    // That a client goes away is no error here.
                    let _ = server.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self {
            folder,
            address,
            sent,
        }
    }

    /// A client who knows this password.
    fn client(&self, password: &str) -> AmazonS3 {
        AmazonS3Builder::new()
            .with_endpoint(format!("http://{}", self.address))
            .with_allow_http(true)
            .with_region("us-east-1")
            .with_bucket_name(BUCKET)
            .with_access_key_id(USER)
            .with_secret_access_key(password)
            .with_retry(RetryConfig {
                max_retries: 0,
                ..RetryConfig::default()
            })
            .build()
            .unwrap()
    }

    fn sealed(&self) -> (SealedStore<Inner>, Inner) {
        let inner = Arc::new(Counting::new(self.client(PASSWORD)));
        (SealedStore::new(inner.clone(), &key(1), b"bucket"), inner)
    }

    /// How many bytes it has sent since the last call. It counts them after it has sent them: at least so many are waited for.
    async fn sent(&self, at_least: u64) -> u64 {
        for _ in 0..100 {
            if self.sent.load(Ordering::Relaxed) >= at_least {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        self.sent.swap(0, Ordering::Relaxed)
    }

    /// Where it keeps an object.
    fn file(&self, path: &Path) -> PathBuf {
        self.folder.path().join(BUCKET).join(path.as_ref())
    }

    fn stored(&self, path: &Path) -> Vec<u8> {
        std::fs::read(self.file(path)).unwrap()
    }

    /// Changes one bit of a stored object.
    fn flip(&self, path: &Path, at: usize) {
        let mut bytes = self.stored(path);
        bytes[at] ^= 1;
        std::fs::write(self.file(path), bytes).unwrap();
    }
}

fn content(len: usize) -> Bytes {
    (0..len).map(|i| (i % 251 + i / 64).to_le_bytes()[0]).collect()
}

/// How long a sealed object is.
fn stored_len(len: usize) -> usize {
    usize::try_from(HEADER_LEN).unwrap() + len + 16 * len.div_ceil(16384).max(1)
}

async fn read(store: &impl ObjectStore, path: &Path) -> object_store::Result<Bytes> {
    store.get(path).await?.bytes().await
}

#[track_caller]
fn assert_verification(error: &Error, path: &Path) {
    let found = ObjectError::of(error).unwrap_or_else(|| panic!("another error: {error}"));
    assert_eq!((found.path(), found.reason()), (path, &Reason::Verification));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_wants_the_password() {
    let server = Server::start().await;
    let error = server
        .client("other")
        .put(&Path::from("a"), "b".into())
        .await
        .unwrap_err();
    assert!(matches!(error, Error::PermissionDenied { .. }), "{error:?}");
    server
        .client(PASSWORD)
        .put(&Path::from("a"), "b".into())
        .await
        .unwrap();
    assert_eq!(server.stored(&Path::from("a")), b"b");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_costs_its_segments() {
    let server = Server::start().await;
    let (store, inner) = server.sealed();
    let path = Path::from("folder/ä b");
    let content = content(1_000_000);
    store.put(&path, content.clone().into()).await.unwrap();
    assert_eq!(store.head(&path).await.unwrap().size, 1_000_000);
    assert_eq!(read(&store, &path).await.unwrap(), content);

    // A client that does not know the object yet; then again.
    let (store, inner_of_new) = server.sealed();
    assert!(inner.fetched().len() == 2 && inner_of_new.fetched().is_empty());
    let stored = stored_len(1_000_000) as u64;
    let segment = |i: u64| HEADER_LEN + i * 16400..stored.min(HEADER_LEN + (i + 1) * 16400);
    for known in [false, true] {
        server.sent(0).await;
        let range = store.get_range(&path, 50_000..51_000).await.unwrap();
        assert_eq!(range, content[50_000..51_000]);
        let mut expected = vec![segment(3)];
        if !known {
            expected.extend([0..HEADER_LEN, segment(61)]);
        }
        let mut fetched: Vec<_> = inner_of_new
            .fetched()
            .into_iter()
            .map(|(_, range)| range)
            .collect();
        fetched.sort_by_key(|range| (range.start != 3 * 16400 + HEADER_LEN, range.start));
        assert_eq!(fetched, expected);
        let len: u64 = fetched.iter().map(|range| range.end - range.start).sum();
        let sent = server.sent(len).await;
        println!("known: {known}, {len} bytes of the object, {sent} sent");
        assert!(
            (len..len + ANSWER_HEADER * fetched.len() as u64).contains(&sent),
            "{sent}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_listings_and_copies() {
    let server = Server::start().await;
    let (store, _) = server.sealed();
    let [large, small] = ["folder/large", "small"].map(Path::from);

    // S3 takes no part of less than 5 MiB, except at the end.
    let len = 12_000_000;
    let content = content(len);
    let mut upload = store.put_multipart(&large).await.unwrap();
    for part in content.chunks(1_700_000) {
        upload.put_part(part.to_vec().into()).await.unwrap();
    }
    upload.complete().await.unwrap();
    assert_eq!(server.stored(&large).len(), stored_len(len));
    assert!(read(&store, &large).await.unwrap() == content);
    store.put(&small, content.slice(..100).into()).await.unwrap();

    let mut upload = store.put_multipart(&Path::from("aborted")).await.unwrap();
    upload.put_part(content.clone().into()).await.unwrap();
    upload.abort().await.unwrap();

    let mut listed: Vec<_> = store.list(None).try_collect().await.unwrap();
    listed.sort_by_key(|meta| meta.size);
    let listed: Vec<_> = listed
        .into_iter()
        .map(|meta| (meta.location, meta.size))
        .collect();
    assert_eq!(listed, [(small.clone(), 100), (large.clone(), 12_000_000)]);
    let folders = store.list_with_delimiter(None).await.unwrap();
    assert_eq!(folders.common_prefixes, [Path::from("folder")]);
    assert_eq!((folders.objects.len(), folders.objects[0].size), (1, 100));

    // In one piece and in parts: sealed anew, for their own paths.
    for from in [&small, &large] {
        let to = Path::from("copies/copy");
        let len = store.head(from).await.unwrap().size;
        let expected = &content[..usize::try_from(len).unwrap()];
        store.copy(from, &to).await.unwrap();
        assert!(read(&store, &to).await.unwrap() == expected);
        assert!(server.stored(from) != server.stored(&to));
        // This server refuses a large object before it has read it, which the client takes for a broken connection.
        if *from == small {
            let error = store.copy_if_not_exists(from, &to).await.unwrap_err();
            assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
        }

        let renamed = Path::from("copies/renamed");
        store.rename(&to, &renamed).await.unwrap();
        assert!(read(&store, &renamed).await.unwrap() == expected);
        let error = store.head(&to).await.unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_changes_is_an_error_that_names_the_object() {
    let server = Server::start().await;
    let (store, inner) = server.sealed();
    let [path, copy] = ["folder/object", "folder/copy"].map(Path::from);
    let content = content(1_000_000);
    store.put(&path, content.clone().into()).await.unwrap();
    store.get_range(&path, 0..1).await.unwrap();

    // For a client that knows the object, and one that does not. The server does not change its e-tag.
    for store in [store, server.sealed().0] {
        server.flip(&path, 500_000);
        let error = store.get_range(&path, 490_000..510_000).await.unwrap_err();
        assert_verification(&error, &path);
        let error = store
            .get_ranges(&path, &[0..1, 490_000..510_000])
            .await
            .unwrap_err();
        assert_verification(&error, &path);
        assert_verification(&read(&store, &path).await.unwrap_err(), &path);
        assert_verification(&store.copy(&path, &copy).await.unwrap_err(), &path);
        assert!(matches!(store.head(&copy).await, Err(Error::NotFound { .. })));
        // Other segments are as they were.
        assert_eq!(store.get_range(&path, 0..100).await.unwrap(), content[..100]);
        server.flip(&path, 500_000);
        assert_eq!(read(&store, &path).await.unwrap(), content);
    }

    // Its own copy is of another path; and a cut one.
    inner.copy(&path, &copy).await.unwrap();
    assert_eq!(server.stored(&path), server.stored(&copy));
    let (store, _) = server.sealed();
    assert_verification(&store.get_range(&copy, 0..1).await.unwrap_err(), &copy);
    let stored = server.stored(&path);
    let border = usize::try_from(HEADER_LEN).unwrap() + 20 * 16400;
    std::fs::write(server.file(&path), &stored[..border]).unwrap();
    assert_verification(&store.get_range(&path, 0..1).await.unwrap_err(), &path);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_costs_the_segments_of_its_columns_and_row_groups() {
    let server = Server::start().await;
    let (store, _) = server.sealed();
    write(&session(Arc::new(store)).unwrap()).await.unwrap();
    let (store, inner) = server.sealed();
    let files = Files::read(&store).await;
    assert_eq!(files.groups(), [6; 4]);

    let (store, _) = (
        SealedStore::new(inner.clone(), &key(1), b"bucket"),
        inner.fetched(),
    );
    let context = session(Arc::new(store)).unwrap();
    server.sent(0).await;
    register(&context).await.unwrap();
    let ranges = inner.fetched();
    let (segments, len) = fetched(&ranges);
    assert_eq!(segments, files.with_footers());
    let sent = server.sent(len).await;
    println!("footers: {len} bytes of objects, {sent} sent");
    // A listing, and lengths.
    let listing = 16 * ANSWER_HEADER;
    assert!(
        (len..len + ANSWER_HEADER * ranges.len() as u64 + listing).contains(&sent),
        "{sent}"
    );

    let (day, group) = (2, 3);
    let first = (day * GROUPS + group) * GROUP;
    let last = first + GROUP - 1;
    let query = format!(
        "SELECT sum(value) FROM readings WHERE time BETWEEN {} AND {}",
        first * INTERVAL,
        last * INTERVAL
    );
    let expected: i64 = (first..=last).map(value).sum();
    assert!(
        answer(&context, &query)
            .await
            .unwrap()
            .contains(&format!(" {expected} "))
    );
    let ranges = inner.fetched();
    let (segments, len) = fetched(&ranges);
    let needed = files.with_columns(&["time", "value"], |path, i| *path == file(2) && i == 3);
    assert_eq!(segments, needed);
    assert_eq!(len, sealed_len(&needed));
    let sent = server.sent(len).await;
    println!("query: {len} bytes of objects, {sent} sent");
    assert!(
        (len..len + ANSWER_HEADER * ranges.len() as u64 + listing).contains(&sent),
        "{sent}"
    );

    // One bit in a segment that the query needs.
    let (path, number) = needed.iter().nth(1).unwrap();
    let at = HEADER_LEN + number * 16400 + 100;
    server.flip(path, usize::try_from(at).unwrap());
    let error = answer(&context, &query).await.unwrap_err();
    assert_eq!(reason(&error, path), Reason::Verification);
    server.flip(path, usize::try_from(at).unwrap());
    answer(&context, &query).await.unwrap();
}
