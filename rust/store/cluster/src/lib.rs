//! Ballista on encrypted objects: several machines run one query, and only executors and clients hold the key.
//!
//! [`Buckets`] is where they find the buckets, each as a [`SealedStore`]; [`shuffle`] seals what executors write between
//! the stages of a query; [`client`] plans queries and opens their results; [`tree`] hashes an object on all executors,
//! and [`reseal`] gives objects another key.
//! What the scheduler learns, and what is not protected: see the README.

mod buckets;
pub mod client;
pub mod reseal;
pub mod shuffle;
pub mod tree;

pub use buckets::{Buckets, KEY_FILE, OLD_KEY_FILE, key_from_env};

#[cfg(doc)]
use veriplex_store::SealedStore;
