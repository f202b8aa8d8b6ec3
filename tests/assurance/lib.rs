//! What the tests of this package and the site both read.

pub mod evidence;
