//! Messages that are sealed or opened: a Mix that is open takes the nonce, and a Mix of associated data may follow.

use core::cell::RefCell;

use super::group::Group;
use super::{Guarded, Job, Step, run};
use crate::framing::{Cursor, Op, PADDED, RATE, copy, header_len, leb128_len};
use crate::lane_backend::LANES;
use crate::lanes::{Backends, Direction, Staged, WORD, xor_word};
use crate::protocol::Protocol;
use crate::timing::Timing;
use crate::{TAG_LEN, label};

/// What a Mix that is open takes, perhaps a Mix of associated data, and a Seal or an Open of `message`: up to the tag.
pub(crate) struct Message<'a, T> {
    pub(crate) mixed: &'a [u8],
    pub(crate) ad: Option<&'a [u8]>,
    pub(crate) direction: Direction,
    pub(crate) in_out: Guarded<'a>,
    /// The one that was computed, when it is done.
    pub(crate) tag: [u8; TAG_LEN],
    /// What the caller needs then.
    pub(crate) then: T,
}

/// Runs these jobs. `done` takes those that are finished, in no particular order.
pub(crate) fn messages<'a, T>(
    start: &Protocol,
    jobs: impl IntoIterator<Item = Message<'a, T>>,
    done: impl FnMut(Message<'a, T>),
) {
    if !Backends::current().has_kernels() {
        return run(start, jobs, done);
    }
    let _timing = Timing::independent();
    // Those of rows and the others are given to it.
    let done = RefCell::new(done);
    let mut rows = Rows::new(start, jobs.into_iter(), |job| (done.borrow_mut())(job));
    run(start, &mut rows, |job| (done.borrow_mut())(job));
    rows.do_row();
}

impl<T> Message<'_, T> {
    /// Direction and number of full blocks.
    fn shape(&self) -> (Direction, usize) {
        (self.direction, self.in_out.len() / RATE)
    }

    /// What comes after the full blocks.
    fn last_block(&mut self) -> &mut [u8] {
        self.in_out.as_chunks_mut::<RATE>().1
    }
}

impl<T> Job for Message<'_, T> {
    #[inline]
    fn step(&self, number: usize) -> Option<Step<'_>> {
        Some(match number {
            0 => Step::Absorb(self.mixed),
            1 => self
                .ad
                .map_or(Step::Absorb(&[]), |ad| Step::Mix(label!("ad"), ad)),
            2 => Step::Seal(label!("message"), self.in_out.len()),
            3 => Step::Transform(self.direction),
            4 => Step::Permute,
            5 => Step::Transform(Direction::Squeeze),
            _ => return None,
        })
    }

    #[inline]
    fn data(&mut self, _: usize) -> &mut [u8] {
        &mut self.in_out
    }

    #[inline]
    fn output(&mut self) -> &mut [u8] {
        &mut self.tag
    }
}

/// Does messages of one shape, eight at a time, and gives the others.
struct Rows<'a, T, I, D> {
    jobs: I,
    done: D,
    group: Group,
    /// As many as are in the group.
    row: [Option<Message<'a, T>>; LANES],
    /// How many were given since the last one that the row took.
    given: usize,
    /// What is absorbed of the last block of each.
    staged: [Staged; LANES],
    /// What it is encrypted or decrypted to, and beyond it keystream.
    outputs: [Staged; LANES],
}

impl<'a, T, I: Iterator<Item = Message<'a, T>>, D: FnMut(Message<'a, T>)> Iterator for Rows<'a, T, I, D> {
    type Item = Message<'a, T>;

    #[inline]
    fn next(&mut self) -> Option<Message<'a, T>> {
        loop {
            // Rather a row of another shape.
            if self.given >= LANES {
                if self.group.count > 0 {
                    return self.give();
                }
                self.given = 0;
            }
            let Some(job) = self.jobs.next() else { break };
            let job = self.take(job);
            self.given = if job.is_some() { self.given + 1 } else { 0 };
            if job.is_some() {
                return job;
            }
        }
        // Full blocks take a full row.
        match self.row[0].as_ref()?.shape() {
            (_, 0) => None,
            _ => self.give(),
        }
    }
}

impl<'a, T, I, D: FnMut(Message<'a, T>)> Rows<'a, T, I, D> {
    fn new(start: &Protocol, jobs: I, done: D) -> Self {
        Self {
            jobs,
            done,
            group: Group::new(start.duplex.clone()),
            row: [const { None }; LANES],
            given: 0,
            staged: [[0; PADDED]; LANES],
            outputs: [[0; PADDED]; LANES],
        }
    }

    /// Gives a message of the row back.
    fn give(&mut self) -> Option<Message<'a, T>> {
        self.group.count -= 1;
        self.row[self.group.count].take()
    }

    /// Puts a message into the row, which is done if it is full, or gives it back.
    #[inline]
    fn take(&mut self, job: Message<'a, T>) -> Option<Message<'a, T>> {
        let (ad_label, message_label) = (label!("ad"), label!("message"));
        let ad_len = job
            .ad
            .map_or(0, |ad| ad.len().saturating_add(header_len(ad_label.as_bytes())));
        let len = (job.mixed.len().saturating_add(ad_len))
            .saturating_add(header_len(message_label.as_bytes()) + leb128_len(job.in_out.len()));
        if (self.row[0].as_ref()).is_some_and(|first| first.shape() != job.shape()) {
            return Some(job);
        }
        let lane = self.group.count;
        let Some(blocks) = self.group.next(len) else {
            return Some(job);
        };
        blocks.data(job.mixed);
        if let Some(ad) = job.ad {
            blocks.header(Op::Mix, ad_label);
            blocks.data(ad);
        }
        blocks.header(Op::Seal, message_label);
        blocks.number(job.in_out.len());
        blocks.permute();
        self.row[lane] = Some(job);
        if self.group.count == LANES {
            self.do_row();
        }
        None
    }

    /// Does the messages in the row. Each loop goes through all lanes, as what was just stored is not there at once.
    fn do_row(&mut self) {
        let Self {
            group,
            row,
            staged,
            outputs,
            ..
        } = self;
        let Some(first) = &row[0] else { return };
        let (direction, full_blocks) = first.shape();
        group.absorb();
        if full_blocks > 0 {
            let mut row = row.iter_mut().flatten();
            let mut blocks =
                core::array::from_fn(|_| row.next().map_or(&mut [][..], |job| job.in_out.as_chunks_mut().0));
            group.transform(direction, &mut blocks);
        }
        let lasts = row.iter_mut().flatten().map(Message::last_block);
        for (last, staged) in lasts.zip(&mut *staged) {
            *staged = [0; PADDED];
            copy(&mut staged[..last.len()], last);
        }
        for i in 0..PADDED / WORD {
            for (lane, (staged, output)) in staged.iter().zip(&mut *outputs).enumerate().take(group.count) {
                let mut word = *group.states.word(i, lane);
                xor_word(&mut word, &staged.as_chunks().0[i]);
                output.as_chunks_mut().0[i] = word;
            }
        }
        let lasts = row.iter_mut().flatten().map(Message::last_block);
        for ((last, staged), output) in lasts.zip(&mut *staged).zip(&*outputs) {
            copy(last, &output[..last.len()]);
            if direction == Direction::Decrypt {
                copy(&mut staged[..last.len()], last);
            }
            let mut end = Cursor::START;
            end.advance(last.len());
            end.pad(staged);
        }
        for i in 0..PADDED / WORD {
            for (lane, staged) in staged.iter().enumerate().take(group.count) {
                let mut word = *group.states.word(i, lane);
                xor_word(&mut word, &staged.as_chunks().0[i]);
                *group.states.word(i, lane) = word;
            }
        }
        group.permute();
        for (lane, job) in row.iter_mut().enumerate() {
            if let Some(mut job) = job.take() {
                job.tag = *group.states.word(0, lane);
                (self.done)(job);
            }
        }
        group.count = 0;
    }
}

impl<T, I, D> Drop for Rows<'_, T, I, D> {
    fn drop(&mut self) {
        for staged in [&mut self.staged, &mut self.outputs] {
            crate::wipe::wipe(staged.as_flattened_mut());
        }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::lane_backend::on_each_lane_backend;

    const ADS: [Option<&[u8]>; 4] = [None, Some(b""), Some(&[2; 45]), Some(&[3; 400])];

    /// From every place of a block: associated data around the longest that a row takes, rows of one shape, full and not, and
    /// between them messages of others.
    #[test]
    fn the_same_as_one_by_one() {
        on_each_lane_backend(|backend| {
            for place in 0..94 {
                let mut start = Protocol::new(label!("test"));
                start.mix(label!("place"), &[1; 94][..place]);
                start.mix_begin(label!("nonce"));
                let used = usize::from(start.to_bytes()[0]) + 16 + 6 + 12;
                let longest = vec![4; 283 - used];
                let ads = |i: usize| match (place + i) % 9 {
                    i @ 0..4 => ADS[i],
                    i @ 4..7 => Some(&longest[i - 4..]),
                    _ => ADS[1],
                };
                let lens: Vec<_> = (0..=place % 5)
                    .flat_map(|i| {
                        let len = [0, 94, 188, 60, 1316][(i + place) % 5];
                        (0..9 + i).map(move |j| if j == 4 { 300 } else { len + j * 31 % 94 })
                    })
                    .collect();
                let nonces: Vec<_> = (0..lens.len() as u128).map(u128::to_le_bytes).collect();
                for direction in [Direction::Encrypt, Direction::Decrypt] {
                    let mut data: Vec<_> = lens.iter().map(|&len| vec![5; len]).collect();
                    let expected: Vec<_> = (data.iter().zip(&nonces).enumerate())
                        .map(|(i, (data, nonce))| {
                            let (mut alone, mut data, mut tag) =
                                (start.duplex.clone(), data.clone(), [0; TAG_LEN]);
                            alone.absorb(nonce);
                            if let Some(ad) = ads(i) {
                                alone.header(Op::Mix.code(), b"ad");
                                alone.absorb(ad);
                            }
                            alone.header(Op::Seal.code(), b"message");
                            alone.number(data.len());
                            alone.permute();
                            match direction {
                                Direction::Encrypt => alone.encrypt(&mut data),
                                _ => alone.decrypt(&mut data),
                            }
                            alone.permute();
                            alone.squeeze(&mut tag);
                            (data, tag)
                        })
                        .collect();
                    let mut tags = vec![None; lens.len()];
                    let jobs =
                        (data.iter_mut().zip(&nonces).enumerate()).map(|(i, (in_out, nonce))| Message {
                            mixed: nonce,
                            ad: ads(i),
                            direction,
                            in_out: in_out.as_mut_slice().into(),
                            tag: [0; TAG_LEN],
                            then: i,
                        });
                    messages(&start, jobs, |job| {
                        job.in_out.release();
                        assert!(tags[job.then].replace(job.tag).is_none(), "{backend:?}: twice");
                    });
                    for (i, (data, tag)) in data.into_iter().zip(tags).enumerate() {
                        assert!(
                            (data, tag.unwrap()) == expected[i],
                            "{backend:?}, place {place}, message {i}"
                        );
                    }
                }
            }
        });
    }

    /// Nothing is left of what was staged, nor of the states.
    #[cfg(target_os = "linux")]
    #[test]
    fn dropped_rows_are_wiped() {
        use crate::protocol::many::secret_bytes;

        let mut start = Protocol::new(label!("test"));
        start.mix_begin(label!("nonce"));
        let mut data = [[0xab; 90]; 3];
        let jobs = data.each_mut().map(|in_out| Message {
            mixed: &[0xab; 40],
            ad: None,
            direction: Direction::Encrypt,
            in_out: in_out.as_mut_slice().into(),
            tag: [0; TAG_LEN],
            then: (),
        });
        let mut rows = Rows::new(&start, jobs.into_iter(), drop);
        assert!(rows.next().is_none());
        rows.do_row();
        let [before, after] = crate::wipe::before_and_after_drop(rows);
        let used = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte != 0).count();
        assert!(secret_bytes(&before) >= 3 * (40 + 90) && used(&before) > 3 * (128 + 90));
        assert_eq!(secret_bytes(&after), 0);
        // Pointers and lengths, of the jobs too.
        assert!(used(&after) < 600, "{}", used(&after));
    }
}
