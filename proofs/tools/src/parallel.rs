//! Work on all processors.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Applies a function to each item, one at a time on each processor, and returns the results in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], of_item: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take_turns = || {
        let mut results = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else {
                return results;
            };
            results.push((index, of_item(item)));
        }
    };
    let mut results = thread::scope(|scope| {
        let workers: Vec<_> = (0..thread::available_parallelism().map_or(1, NonZero::get))
            .map(|_| scope.spawn(take_turns))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().expect("a worker does not panic"))
            .collect::<Vec<_>>()
    })
    .into_iter()
    .flatten()
    .collect::<Vec<_>>();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
