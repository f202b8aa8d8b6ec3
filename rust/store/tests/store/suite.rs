//! The tests that `object_store` has for stores.

use object_store::integration as suite;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;

use crate::sealed;

#[tokio::test]
async fn in_memory() {
    let store = sealed(InMemory::new());
    suite::put_get_delete_list(&store).await;
    suite::put_get_attributes(&store).await;
    suite::get_opts(&store).await;
    suite::put_opts(&store, true).await;
    suite::list_uses_directories_correctly(&store).await;
    suite::list_with_delimiter(&store).await;
    suite::rename_and_copy(&store).await;
    suite::copy_if_not_exists(&store).await;
    suite::copy_rename_nonexistent_object(&store).await;
    suite::list_with_offset_exclusivity(&store).await;
}

#[tokio::test]
async fn uploads_in_memory() {
    let store = veriplex_store::SealedStore::new(InMemory::new(), &crate::key(1), b"");
    suite::stream_get(&store).await;
    suite::multipart_out_of_order(&store).await;
    suite::multipart_race_condition(&store, true).await;
}

#[tokio::test]
async fn on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = sealed(LocalFileSystem::new_with_prefix(folder.path()).unwrap());
    suite::put_get_delete_list(&store).await;
    suite::get_opts(&store).await;
    suite::put_opts(&store, false).await;
    suite::list_uses_directories_correctly(&store).await;
    suite::list_with_delimiter(&store).await;
    suite::rename_and_copy(&store).await;
    suite::copy_if_not_exists(&store).await;
    suite::copy_rename_nonexistent_object(&store).await;
}
