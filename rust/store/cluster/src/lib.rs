//! Ballista on encrypted objects: several machines run one query, and only executors and clients hold the key.
//!
//! [`Buckets`] is where they find the buckets, each as a [`SealedStore`]; [`shuffle`] seals what executors write between
//! the stages of a query; [`client`] plans queries and opens their results; [`tree`] hashes an object on all executors,
//! [`verify`] checks a part of one by an outboard, and [`reseal`] gives objects another key.
//! What the scheduler learns, and what is not protected: see the README.

mod buckets;
pub mod client;
mod function;
pub mod reseal;
pub mod shuffle;
pub mod tree;
pub mod verify;

use std::sync::Arc;

use datafusion::logical_expr::ScalarUDF;

pub use buckets::{Buckets, KEY_FILE, OLD_KEY_FILE, key_from_env};

/// The functions of SQL that use objects, those of these buckets, and of the same under the old key. Who only plans needs
/// no old key.
#[must_use]
pub fn functions(buckets: &Arc<Buckets>, old: Option<Arc<Buckets>>) -> [Arc<ScalarUDF>; 3] {
    [
        tree::part(buckets),
        verify::function(buckets),
        reseal::function(buckets, old),
    ]
}

#[cfg(doc)]
use veriplex_store::SealedStore;
