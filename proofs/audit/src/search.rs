//! Finds kernels by their bytes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::proved::Kernel;

/// Eight bytes are enough to find a place worth comparing.
type Anchor = [u8; 8];

/// A place that looks like a kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The number of bytes that differ from the proved bytes. The first field, so that the best place sorts first.
    pub(crate) differing: usize,
    pub(crate) offset: usize,
    pub(crate) kernel: usize,
}

/// An index of every eighth position of every kernel, by the bytes there.
pub(crate) struct Finder<'k> {
    kernels: &'k [Kernel],
    anchors: HashMap<Anchor, Vec<(usize, usize)>>,
    /// Whether an anchor begins with these two bytes, which avoids most look-ups.
    begins: Vec<bool>,
}

impl<'k> Finder<'k> {
    pub(crate) fn new(kernels: &'k [Kernel]) -> Self {
        let mut anchors: HashMap<Anchor, Vec<_>> = HashMap::new();
        let mut begins = vec![false; 1 << 16];
        for (number, kernel) in kernels.iter().enumerate() {
            for (i, &anchor) in kernel.bytes.as_chunks().0.iter().enumerate() {
                anchors.entry(anchor).or_default().push((number, 8 * i));
                begins[first_two(anchor)] = true;
            }
        }
        Self {
            kernels,
            anchors,
            begins,
        }
    }

    /// The places where most bytes match a kernel (see [`Finder::compare`]), except those that overlap a better one,
    /// because the kernels resemble each other. Looks for code in executable bytes only.
    pub(crate) fn find(&self, code: &[u8], executable: bool) -> Vec<Place> {
        let mut tried = HashSet::new();
        let mut places = BTreeSet::new();
        for (at, window) in code.windows(8).enumerate() {
            let anchor: Anchor = window.try_into().unwrap_or_default();
            if !self.begins[first_two(anchor)] {
                continue;
            }
            for &(kernel, position) in self.anchors.get(&anchor).into_iter().flatten() {
                let Some(offset) = at.checked_sub(position) else {
                    continue;
                };
                if (executable || !self.kernels[kernel].is_code()) && tried.insert((kernel, offset)) {
                    places.extend(self.compare(kernel, offset, code));
                }
            }
        }
        let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
        places
            .into_iter()
            .filter(|place| {
                let end = place.offset + self.kernels[place.kernel].len;
                let free = taken
                    .range(..end)
                    .next_back()
                    .is_none_or(|(_, &e)| e <= place.offset);
                if free {
                    taken.insert(place.offset, end);
                }
                free
            })
            .collect()
    }

    /// Code must match in half of the bytes. A table must match in nearly all: most of its bytes are zero, and zeros
    /// are common.
    fn compare(&self, kernel: usize, offset: usize, code: &[u8]) -> Option<Place> {
        let bytes = &self.kernels[kernel].bytes;
        let found = code.get(offset..)?.get(..bytes.len())?;
        let differing = bytes.iter().zip(found).filter(|(a, b)| a != b).count();
        let most = bytes.len() / if self.kernels[kernel].is_code() { 2 } else { 16 };
        (differing <= most).then_some(Place {
            differing,
            offset,
            kernel,
        })
    }
}

fn first_two(anchor: Anchor) -> usize {
    usize::from(u16::from_le_bytes([anchor[0], anchor[1]]))
}
