//! What a store says of an object besides is passed on. Results of `object_store` 0.13 have no such field.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use veriplex::Key;
use veriplex_store::SealedStore;

/// A store that says something of each object.
#[derive(Clone, Debug)]
struct Talking(Arc<dyn ObjectStore>);

#[derive(Clone, Debug, PartialEq)]
struct Word(u8);

impl fmt::Display for Talking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Talking")
    }
}

#[async_trait]
impl ObjectStore for Talking {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.0.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.0.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let mut result = self.0.get_opts(path, options).await?;
        result.extensions.insert(Word(7));
        Ok(result)
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.0.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.0.copy_opts(from, to, options).await
    }
}

#[tokio::test]
async fn extensions_are_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let files = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
    // One gives streams, the other one files.
    let inners: [Arc<dyn ObjectStore>; 2] = [Arc::new(InMemory::new()), Arc::new(files)];
    for inner in inners {
        let key = Key::from([1; 32]);
        let path = Path::from("object");
        for len in [100, 500_000] {
            let store = SealedStore::new(Talking(inner.clone()), &key, b"");
            store.put(&path, vec![5; len].into()).await.unwrap();
            for (head, range) in [
                (true, None),
                (false, Some(GetRange::Suffix(3))),
                (false, None),
                (false, Some(GetRange::Bounded(0..3))),
            ] {
                // A store that does not know the object, and one that has read it, except at first.
                for store in [SealedStore::new(Talking(inner.clone()), &key, b""), store.clone()] {
                    let options = GetOptions::new().with_head(head).with_range(range.clone());
                    let result = store.get_opts(&path, options).await.unwrap();
                    assert_eq!(result.extensions.get(), Some(&Word(7)), "{head}, {range:?}");
                    let expected = if head {
                        0
                    } else {
                        range.as_ref().map_or(len, |_| 3)
                    };
                    assert_eq!(result.bytes().await.unwrap(), vec![5; expected]);
                }
            }
        }
    }
}
