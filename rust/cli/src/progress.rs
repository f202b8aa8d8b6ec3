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
    /// When the work began: waiting for a password before is none.
    start: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub fn new(enabled: bool, total: Option<u64>) -> Self {
        Self {
            enabled,
            total,
            done: 0,
            start: None,
            bar: None,
        }
    }

    /// How much there is to do is not known after all.
    pub fn forget_total(&mut self) {
        self.total = None;
    }

    /// The same work begins again.
    pub fn restart(&mut self) {
        self.done = 0;
    }

    pub fn advance(&mut self, bytes: u64) {
        self.done += bytes;
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        } else if self.enabled {
            let worked = self.start.get_or_insert_with(Instant::now).elapsed();
            if worked >= DELAY {
                self.bar = Some(self.show(worked));
            }
        }
    }

    fn show(&self, worked: Duration) -> ProgressBar {
        let template = match self.total {
            Some(_) => "{wide_bar} {bytes}/{total_bytes}  {bytes_per_sec}  {eta}",
            None => "{spinner} {bytes}  {bytes_per_sec}",
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(self.total, ProgressDrawTarget::stderr())
            .with_style(style)
            .with_elapsed(worked);
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
}
