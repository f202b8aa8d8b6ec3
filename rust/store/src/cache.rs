//! What was verified of objects: a further read needs neither header nor last segment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use object_store::ObjectMeta;
use object_store::path::Path;
use veriplex::seekable::Opener;

/// When it knows so many objects, it starts anew.
const OBJECTS: usize = 1024;

/// An object whose last segment was opened.
#[derive(Clone, Debug)]
pub(crate) struct Verified {
    pub(crate) stored_len: u64,
    pub(crate) e_tag: Option<String>,
    pub(crate) opener: Opener,
}

impl Verified {
    /// Whether this is said of the object that was verified. The store may lie: then the segments' tags are wrong.
    pub(crate) fn is(&self, meta: &ObjectMeta) -> bool {
        self.stored_len == meta.size && self.e_tag == meta.e_tag
    }
}

#[derive(Clone, Default)]
pub(crate) struct Cache(Arc<Mutex<HashMap<Path, Verified>>>);

impl Cache {
    fn lock(&self) -> MutexGuard<'_, HashMap<Path, Verified>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, path: &Path) -> Option<Verified> {
        self.lock().get(path).cloned()
    }

    pub(crate) fn insert(&self, path: &Path, verified: &Verified) {
        if verified.e_tag.is_none() {
            return; // it could not be told from its successor
        }
        let mut objects = self.lock();
        if objects.len() >= OBJECTS {
            objects.clear();
        }
        objects.insert(path.clone(), verified.clone());
    }

    pub(crate) fn remove(&self, path: &Path) {
        self.lock().remove(path);
    }
}
