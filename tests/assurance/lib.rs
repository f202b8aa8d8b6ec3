//! Nothing: the tests of this package are its files.
