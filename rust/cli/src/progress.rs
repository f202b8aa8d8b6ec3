//! A progress bar for work that takes long.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that ends sooner shows no bar.
const DELAY: Duration = Duration::from_secs(1);

/// Counts bytes, and shows them from `DELAY` on; the bar is removed on drop.
pub struct Progress {
    enabled: bool,
    /// The bytes expected, if known.
    total: Option<u64>,
    done: u64,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub fn new(enabled: bool, total: Option<u64>) -> Self {
        Self {
            enabled,
            total,
            done: 0,
            start: Instant::now(),
            bar: None,
        }
    }

    pub fn advance(&mut self, bytes: usize) {
        self.done += bytes as u64;
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        } else if self.enabled && self.start.elapsed() >= DELAY {
            self.bar = Some(self.show());
        }
    }

    fn show(&self) -> ProgressBar {
        let template = match self.total {
            Some(_) => "{wide_bar} {bytes}/{total_bytes}  {bytes_per_sec}  {eta}",
            None => "{spinner} {bytes}  {bytes_per_sec}",
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(self.total, ProgressDrawTarget::stderr())
            .with_style(style)
            .with_elapsed(self.start.elapsed());
        bar.set_position(self.done);
        bar
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
