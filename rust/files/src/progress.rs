//! A progress bar for long work.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Read};
use std::mem;
use std::time::{Duration, Instant};

use indicatif::{FormattedDuration, HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter work shows no bar.
const DELAY: Duration = Duration::from_secs(1);
/// How often the bar changes.
const TICK: Duration = Duration::from_millis(200);
/// The rate is that of this time.
const WINDOW: Duration = Duration::from_secs(3);

/// Counts bytes, and shows them from `DELAY` on; the bar is removed on drop.
pub struct Progress {
    enabled: bool,
    /// The bytes expected, if known.
    total: Option<u64>,
    done: u64,
    /// When the work began, without the wait for a password.
    start: Option<Instant>,
    rate: Rate,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub fn new(enabled: bool, total: Option<u64>) -> Self {
        Self {
            enabled,
            total,
            done: 0,
            start: None,
            rate: Rate::default(),
            bar: None,
        }
    }

    /// The total is unknown after all.
    pub fn forget_total(&mut self) {
        self.total = None;
    }

    /// So many bytes of the total need no work.
    pub fn leave_out(&mut self, bytes: u64) {
        self.total = self.total.map(|total| total.saturating_sub(bytes));
    }

    /// The same work begins again.
    pub fn restart(&mut self) {
        self.done = 0;
        self.rate = Rate::default();
    }

    /// Ends this progress, and returns that of other bytes: so many, if known.
    pub fn hand_over(&mut self, total: Option<u64>) -> Self {
        let enabled = mem::replace(self, Self::new(false, None)).enabled;
        Self::new(enabled, total)
    }

    pub fn advance(&mut self, bytes: u64) {
        // Data added to a file meanwhile do not count.
        self.done = (self.done + bytes).min(self.total.unwrap_or(u64::MAX));
        if !self.enabled {
            return;
        }
        let now = Instant::now();
        let start = *self.start.get_or_insert(now);
        let Some(rate) = self.rate.measure(now, self.done) else {
            return;
        };
        if now - start < DELAY {
            return;
        }
        let mut message = format!("{}/s", HumanBytes(rate));
        if let Some(left) = self.total.and_then(|total| (total - self.done).checked_div(rate)) {
            let left = FormattedDuration(Duration::from_secs(left));
            let _ = write!(message, "  {left}"); // a string takes everything
        }
        let bar = self.bar.get_or_insert_with(|| bar(self.total));
        bar.set_position(self.done);
        bar.set_message(message);
    }
}

/// A reader whose progress is shown.
pub struct Counted<R> {
    pub reader: R,
    pub progress: Progress,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.progress.advance(n as u64);
        Ok(n)
    }
}

fn bar(total: Option<u64>) -> ProgressBar {
    let template = match total {
        Some(_) => "{wide_bar} {bytes}/{total_bytes}  {msg}",
        None => "{spinner} {bytes}  {msg}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr()).with_style(style)
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Times and bytes done, from the last time before the `WINDOW`.
#[derive(Default)]
struct Rate(VecDeque<(Instant, u64)>);

impl Rate {
    /// Bytes per second, if it is time to measure again.
    fn measure(&mut self, now: Instant, done: u64) -> Option<u64> {
        if self.0.back().is_some_and(|(last, _)| now - *last < TICK) {
            return None;
        }
        self.0.push_back((now, done));
        while self.0.get(1).is_some_and(|(next, _)| now - *next >= WINDOW) {
            self.0.pop_front();
        }
        let (from, before) = self.0.front()?;
        let millis = u64::try_from((now - *from).as_millis()).ok()?;
        (1000 * (done - before)).checked_div(millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_before_the_work_does_not_count() {
        let mut progress = Progress::new(true, Some(3));
        std::thread::sleep(DELAY + Duration::from_millis(50));
        progress.advance(1);
        assert!(progress.bar.is_none());
        std::thread::sleep(DELAY);
        progress.advance(1);
        assert!(progress.bar.is_some());
    }

    #[test]
    fn the_total_is_not_exceeded() {
        let mut progress = Progress::new(true, Some(76));
        progress.advance(60);
        progress.advance(34);
        assert_eq!(progress.done, 76);
    }

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        let start = Instant::now();
        let mut rate = Rate::default();
        let mut measure = |millis, done| rate.measure(start + Duration::from_millis(millis), done);
        // A pipe that begins slowly.
        assert_eq!(measure(0, 5), None);
        assert_eq!(measure(1, 10), None);
        assert_eq!(measure(2000, 105), Some(50));
        assert_eq!(measure(2100, 999), None);
        // It becomes faster, and rests.
        assert_eq!(measure(3000, 3005), Some(1000));
        assert_eq!(measure(6000, 9005), Some(2000));
        assert_eq!(measure(16_000, 10_005), Some(100));
    }
}
