//! [`Xoofff`] and its [`Output`] under two traits of `digest` 0.11.
//!
//! They are what is in the native API under other names. The traits that make an output out of a hasher are missing,
//! because a string ends with domain bits.

use ::digest::{Update, XofReader};

use crate::xoofff::{Output, Xoofff};

impl Update for Xoofff {
    fn update(&mut self, data: &[u8]) {
        self.absorb(data);
    }
}

impl XofReader for Output {
    fn read(&mut self, buffer: &mut [u8]) {
        self.squeeze(buffer);
    }
}
