//! Where sessions find the buckets.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::object_store::ObjectStoreRegistry;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use object_store::ObjectStore;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use url::Url;
use veriplex::Key;
use veriplex_store::SealedStore;
use zeroize::Zeroizing;

/// The environment variable that names the file with the key.
pub const KEY_FILE: &str = "VERIPLEX_STORE_KEY_FILE";

/// The environment variable that names the file with the key that objects had before, where they change keys.
pub const OLD_KEY_FILE: &str = "VERIPLEX_STORE_OLD_KEY_FILE";

/// The key in the file that an environment variable names: 32 bytes.
///
/// # Errors
///
/// Without that variable or that file, and for a file of another length.
pub fn key_from_env(variable: &str) -> io::Result<Key> {
    let path = std::env::var_os(variable)
        .ok_or_else(|| io::Error::other(format!("no key: {variable} names no file")))?;
    let mut file = File::open(&path)?;
    let mut key = Zeroizing::new([0; 32]);
    file.read_exact(key.as_mut_slice())?;
    if file.read(&mut [0])? != 0 {
        return Err(io::Error::other(format!("{}: a key is 32 bytes", path.display())));
    }
    Ok(Key::from(*key))
}

/// The buckets of an S3 server, named by URLs such as `s3://bucket`, each a [`SealedStore`] under one key with the
/// bucket's name as its context. There are no other stores: no plan can make an executor read or write a file.
pub struct Buckets {
    key: Key,
    s3: AmazonS3Builder,
    opened: Mutex<HashMap<String, Arc<SealedStore<AmazonS3>>>>,
}

impl Buckets {
    /// The buckets of this server, under this key.
    #[must_use]
    pub fn new(s3: AmazonS3Builder, key: &Key) -> Arc<Self> {
        Arc::new(Self {
            key: key.clone(),
            s3,
            opened: Mutex::default(),
        })
    }

    /// The bucket of an object.
    fn bucket(&self, url: &Url) -> Result<Arc<SealedStore<AmazonS3>>> {
        let ("s3", Some(bucket)) = (url.scheme(), url.host_str()) else {
            return Err(DataFusionError::Execution(format!("not a bucket: {url}")));
        };
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = opened.get(bucket) {
            return Ok(store.clone());
        }
        let store = self.s3.clone().with_bucket_name(bucket).build()?;
        let store = Arc::new(SealedStore::new(store, &self.key, bucket.as_bytes()));
        opened.insert(bucket.to_owned(), store.clone());
        Ok(store)
    }

    /// The bucket of an object, and its path there.
    pub(crate) fn object(&self, url: &str) -> Result<(Arc<SealedStore<AmazonS3>>, Path)> {
        let url = Url::parse(url).map_err(|error| DataFusionError::Execution(format!("{url}: {error}")))?;
        let path = Path::from_url_path(url.path()).map_err(object_store::Error::from)?;
        Ok((self.bucket(&url)?, path))
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    /// A runtime with these buckets that never writes to a disk: what does not fit in memory is an error.
    ///
    /// # Errors
    ///
    /// None for these settings.
    pub fn runtime(self: &Arc<Self>) -> Result<Arc<RuntimeEnv>> {
        RuntimeEnvBuilder::new()
            .with_object_store_registry(self.clone())
            .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled))
            .build_arc()
    }
}

impl fmt::Debug for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buckets").finish_non_exhaustive()
    }
}

impl ObjectStoreRegistry for Buckets {
    /// Does nothing: these buckets are all there is.
    fn register_store(&self, _: &Url, _: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        None
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        Ok(self.bucket(url)?)
    }
}
