//! An S3 server: s3s-fs, over HTTP on a port of this machine, with signed requests. It can hold back what it sends.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use object_store::aws::AmazonS3Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tokio::net::TcpListener;
use tokio::sync::{RwLock, RwLockWriteGuard};
use tokio_util::io::InspectWriter;
use veriplex::Key;
use veriplex_store_cluster::Buckets;

pub const BUCKET: &str = "bucket";

#[derive(Default)]
struct Counters {
    sent: AtomicU64,
    requests: AtomicU64,
    waiting: AtomicU64,
    gate: RwLock<()>,
}

pub struct Server {
    folder: PathBuf,
    address: SocketAddr,
    counters: Arc<Counters>,
}

impl Server {
    /// Serves the buckets in this folder.
    pub async fn start(folder: &Path) -> Self {
        fs::create_dir_all(folder.join(BUCKET)).unwrap();
        let mut service = S3ServiceBuilder::new(FileSystem::new(folder).unwrap());
        service.set_auth(SimpleAuth::from_single("user", "password"));
        let service = service.build();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let counters = Arc::new(Counters::default());
        let counted = counters.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (counters, service) = (counted.clone(), service.clone());
                let counter = counters.clone();
                let stream = InspectWriter::new(stream, move |bytes: &[u8]| {
                    counter.sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                });
                let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                    let (counters, service) = (counters.clone(), service.clone());
                    async move {
                        counters.requests.fetch_add(1, Ordering::Relaxed);
                        // A listing is a request to the bucket.
                        if request.method() == "GET" && request.uri().path().matches('/').count() > 1 {
                            counters.waiting.fetch_add(1, Ordering::Relaxed);
                            drop(counters.gate.read().await);
                            counters.waiting.fetch_sub(1, Ordering::Relaxed);
                        }
                        Service::call(&service, request).await
                    }
                });
                tokio::spawn(async move {
                    let server = Builder::new(TokioExecutor::new());
                    // That a client goes away is no error here.
                    let _ = server.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self {
            folder: folder.to_owned(),
            address,
            counters,
        }
    }

    /// How executors find it.
    pub fn environment(&self) -> [(&'static str, String); 5] {
        [
            ("AWS_ENDPOINT", format!("http://{}", self.address)),
            ("AWS_ALLOW_HTTP", "true".into()),
            ("AWS_REGION", "us-east-1".into()),
            ("AWS_ACCESS_KEY_ID", "user".into()),
            ("AWS_SECRET_ACCESS_KEY", "password".into()),
        ]
    }

    /// Its buckets for this process.
    pub fn buckets(&self, key: &Key) -> Arc<Buckets> {
        let variables = self.environment();
        let s3 = variables
            .iter()
            .fold(AmazonS3Builder::new(), |s3, (name, value)| {
                let name = name.to_lowercase().parse().unwrap();
                s3.with_config(name, value)
            });
        Buckets::new(s3, key)
    }

    /// No object is sent as long as this lives.
    pub async fn close(&self) -> RwLockWriteGuard<'_, ()> {
        self.counters.gate.write().await
    }

    /// How many requests wait.
    pub fn waiting(&self) -> u64 {
        self.counters.waiting.load(Ordering::Relaxed)
    }

    /// Requests, and bytes sent, since the last call.
    pub fn traffic(&self) -> (u64, u64) {
        let Counters { requests, sent, .. } = &*self.counters;
        (
            requests.swap(0, Ordering::Relaxed),
            sent.swap(0, Ordering::Relaxed),
        )
    }

    /// Changes one bit in the middle of an object.
    pub fn flip(&self, path: &str) {
        let file = self.folder.join(BUCKET).join(path);
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&file, bytes).unwrap();
    }
}
