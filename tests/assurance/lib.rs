//! Empty: this package consists of its tests.
