//! Many transcripts at once, from one start: eight at a time, each in its lane until it is done.
//!
//! A transcript runs to its next permutation; then all lanes permute together. Where all lanes are at full blocks of one
//! kind, the kernels take as many of these as the lane with the fewest has. What a transcript gives never depends on
//! the others.
//!
//! To find out for each lane what comes next takes longer than the permutations of a small message. So transcripts whose steps
//! are known are put together without it: those of [`alike`], [`derivations`] and [`messages`].

pub(crate) mod alike;
mod blocks;
mod derivations;
mod group;
mod guarded;
mod messages;

pub(crate) use derivations::derive;
pub(crate) use guarded::Guarded;
pub(crate) use messages::{Message, messages};

use super::Protocol;
use crate::backend::Backend;
use crate::framing::{Op, RATE, header_len, leb128, leb128_len};
use crate::lane_backend::LANES;
use crate::lanes::{Direction, Lanes, used};
use crate::simpira1024::Block;
use crate::timing::Timing;
use crate::wipe::wipe;
use crate::{Error, Label};

/// A transcript to be computed, and its buffers.
pub(crate) trait Job {
    /// What it does, step by step; `None` at the end.
    fn step(&self, number: usize) -> Option<Step<'_>>;

    /// What this step encrypts or decrypts in place.
    fn data(&mut self, number: usize) -> &mut [u8];

    /// What is squeezed.
    fn output(&mut self) -> &mut [u8];
}

/// What operations are made of.
pub(crate) enum Step<'a> {
    /// A Mix.
    Mix(Label<'a>, &'a [u8]),
    /// Data of a Mix that is open.
    Absorb(&'a [u8]),
    /// A Derive of so many bytes, as far as its output.
    Derive(Label<'a>, usize),
    /// A Mask, as far as its data.
    #[cfg_attr(
        not(feature = "hybrid"),
        expect(dead_code, reason = "only the tunnel has one")
    )]
    Mask(Label<'a>),
    /// A Seal of so many bytes, as far as its data.
    Seal(Label<'a>, usize),
    Permute,
    /// Of [`Job::data`], or, squeezed, of [`Job::output`].
    Transform(Direction),
}

impl<'a> Step<'a> {
    #[inline]
    fn input(&self) -> Input<'a> {
        let (header, data, number, permute): (_, &[u8], _, _) = match *self {
            Self::Mix(label, data) => (Some((Op::Mix, label)), data, None, false),
            Self::Absorb(data) => (None, data, None, false),
            Self::Derive(label, len) => (Some((Op::Derive, label)), &[], Some(len), true),
            Self::Mask(label) => (Some((Op::Mask, label)), &[], None, true),
            Self::Seal(label, len) => (Some((Op::Seal, label)), &[], Some(len), true),
            Self::Permute => (None, &[], None, true),
            Self::Transform(_) => (None, &[], None, false),
        };
        Input {
            header,
            data,
            number,
            permute,
        }
    }
}

/// What a step absorbs: header, data and number, in this order.
struct Input<'a> {
    header: Option<(Op, Label<'a>)>,
    data: &'a [u8],
    /// As unsigned LEB128.
    number: Option<usize>,
    /// Whether it permutes then, even if the block is not full.
    permute: bool,
}

impl Input<'_> {
    /// How many bytes come before the data.
    #[inline]
    fn header_len(&self) -> usize {
        self.header.map_or(0, |(_, label)| header_len(label.as_bytes()))
    }
}

/// What a lane waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// It has no job.
    Idle,
    Finished,
    Permute,
    /// There are so many full blocks to absorb.
    Absorb(usize),
    /// Or to process in this direction.
    Transform(Direction, usize),
}

/// A job in its lane.
struct Slot<J> {
    job: J,
    step: usize,
    /// How many bytes of the step are done.
    done: usize,
}

impl<J: Job> Slot<J> {
    const fn new(job: J) -> Self {
        Self {
            job,
            step: 0,
            done: 0,
        }
    }

    /// Runs to the next permutation, or to the end.
    #[inline]
    fn advance(&mut self, lanes: &mut Lanes, lane: usize) -> Next {
        while let Some(step) = self.job.step(self.step) {
            let mut permute = false;
            if let Step::Transform(direction) = step {
                let done = self.done;
                let rest = &mut self.buffer(direction)[done..];
                if rest.len() >= RATE && lanes.at_start(lane) {
                    return Next::Transform(direction, rest.len() / RATE);
                }
                let len = lanes.transform_some(direction, lane, rest);
                self.done += len;
            } else {
                let input = step.input();
                permute = input.permute;
                let data_at = input.header_len();
                let number_at = data_at + input.data.len();
                if let Some((op, label)) = input.header
                    && self.done < data_at
                {
                    self.done += lanes.absorb_header(lane, self.done, op.code(), label.as_bytes());
                }
                if self.done >= data_at && self.done < number_at && !lanes.is_full(lane) {
                    let rest = &input.data[self.done - data_at..];
                    if rest.len() >= RATE && lanes.at_start(lane) {
                        return Next::Absorb(rest.len() / RATE);
                    }
                    self.done += lanes.absorb_some(lane, rest);
                }
                if let Some(number) = input.number {
                    let end = number_at + leb128_len(number);
                    while self.done >= number_at && self.done < end && !lanes.is_full(lane) {
                        self.done +=
                            lanes.absorb_some(lane, &[leb128(number >> (7 * (self.done - number_at))).0]);
                    }
                }
            }
            // If the block is not full, the step is done. If it is, there may be more, if only a permutation.
            if lanes.is_full(lane) {
                return Next::Permute;
            }
            self.step += 1;
            self.done = 0;
            if permute {
                return Next::Permute;
            }
        }
        Next::Finished
    }

    fn buffer(&mut self, direction: Direction) -> &mut [u8] {
        match direction {
            Direction::Encrypt | Direction::Decrypt => self.job.data(self.step),
            Direction::Squeeze => self.job.output(),
        }
    }

    /// The next blocks to absorb.
    fn blocks(&self, count: usize) -> &[Block] {
        self.job.step(self.step).map_or(&[][..], |step| {
            let input = step.input();
            &input.data[self.done - input.header_len()..].as_chunks().0[..count]
        })
    }

    /// The next blocks to transform.
    fn blocks_mut(&mut self, direction: Direction, count: usize) -> &mut [Block] {
        let done = self.done;
        &mut self.buffer(direction)[done..].as_chunks_mut().0[..count]
    }

    /// Does in its lane alone what it waits for.
    fn alone(&mut self, lanes: &mut Lanes, lane: usize, next: Next) {
        match next {
            Next::Idle | Next::Finished => {}
            Next::Permute => lanes.permute_alone(lane),
            Next::Absorb(count) => {
                lanes.alone(lane, |backend, state| {
                    backend.absorb_blocks(state, self.blocks(count));
                });
                self.done += count * RATE;
            }
            Next::Transform(direction, count) => {
                let operation = match direction {
                    Direction::Encrypt => Backend::encrypt_blocks,
                    Direction::Decrypt => Backend::decrypt_blocks,
                    Direction::Squeeze => Backend::squeeze_blocks,
                };
                let blocks = self.blocks_mut(direction, count);
                lanes.alone(lane, |backend, state| operation(backend, state, blocks));
                self.done += count * RATE;
            }
        }
    }

    /// Takes one full block as far as its permutation.
    fn one_block(&mut self, lanes: &mut Lanes, lane: usize, next: Next) {
        self.done += match next {
            Next::Idle | Next::Finished | Next::Permute => 0,
            Next::Absorb(_) => lanes.absorb_some(lane, self.blocks(1).as_flattened()),
            Next::Transform(direction, _) => {
                let block = self.blocks_mut(direction, 1).as_flattened_mut();
                lanes.transform_some(direction, lane, block)
            }
        };
    }
}

/// How many blocks a lane without a job gets when it must have some, to be written.
const SPARE: usize = 8;

/// Runs the jobs, each from the same protocol on. `done` takes those that are finished, in no particular order.
pub(crate) fn run<J: Job>(start: &Protocol, jobs: impl IntoIterator<Item = J>, mut done: impl FnMut(J)) {
    let _timing = Timing::independent();
    let mut lanes = Lanes::new();
    if !lanes.backends().has_kernels() {
        for mut job in jobs {
            serially(start, &mut job);
            done(job);
        }
        return;
    }
    let mut jobs = jobs.into_iter().fuse();
    let mut slots: [Option<Slot<J>>; LANES] = [const { None }; LANES];
    loop {
        let mut next = [Next::Idle; LANES];
        for (lane, (slot, next)) in slots.iter_mut().zip(&mut next).enumerate() {
            *next = loop {
                if slot.is_none()
                    && let Some(job) = jobs.next()
                {
                    lanes.set_lane(lane, &start.duplex);
                    *slot = Some(Slot::new(job));
                }
                let Some(busy) = slot else { break Next::Idle };
                match busy.advance(&mut lanes, lane) {
                    Next::Finished => slot.take().into_iter().for_each(|slot| done(slot.job)),
                    next => break next,
                }
            };
        }
        let busy = next.map(|next| !matches!(next, Next::Idle));
        let used = used(busy);
        if used == 0 {
            return;
        }
        if busy.iter().filter(|&&busy| busy).count() <= lanes.backends().few(used) {
            for (lane, (slot, next)) in slots.iter_mut().zip(next).enumerate() {
                if let Some(slot) = slot {
                    slot.alone(&mut lanes, lane, next);
                }
            }
        } else if let Some(common) = common(&next) {
            together(&mut lanes, &mut slots, common, used);
        } else {
            for (lane, (slot, next)) in slots.iter_mut().zip(next).enumerate() {
                if let Some(slot) = slot {
                    slot.one_block(&mut lanes, lane, next);
                }
            }
            lanes.permute_busy(busy);
        }
    }
}

/// The jobs up to one that cannot be made, whose error goes to `result`.
pub(crate) fn until_error<J>(
    jobs: impl IntoIterator<Item = Result<J, Error>>,
    result: &mut Result<(), Error>,
) -> impl Iterator<Item = J> {
    jobs.into_iter()
        .map_while(|job| job.map_err(|error| *result = Err(error)).ok())
}

/// Runs one job alone.
fn serially<J: Job>(start: &Protocol, job: &mut J) {
    let mut duplex = start.duplex.clone();
    let mut number = 0;
    while let Some(step) = job.step(number) {
        if let Step::Transform(direction) = step {
            match direction {
                Direction::Encrypt => duplex.encrypt(job.data(number)),
                Direction::Decrypt => duplex.decrypt(job.data(number)),
                Direction::Squeeze => duplex.squeeze(job.output()),
            }
        } else {
            let input = step.input();
            if let Some((op, label)) = input.header {
                duplex.header(op.code(), label.as_bytes());
            }
            duplex.absorb(input.data);
            if let Some(number) = input.number {
                duplex.number(number);
            }
            if input.permute {
                duplex.permute();
            }
        }
        number += 1;
    }
}

/// What the lanes can do with full blocks together: all that have a job, and not at all if one needs something else.
fn common(next: &[Next; LANES]) -> Option<Next> {
    let mut busy = next.iter().filter(|next| !matches!(next, Next::Idle)).copied();
    let first = busy.next()?;
    if first == Next::Permute {
        return None;
    }
    busy.try_fold(first, |common, next| match (common, next) {
        (Next::Absorb(a), Next::Absorb(b)) => Some(Next::Absorb(a.min(b))),
        (Next::Transform(of, a), Next::Transform(other, b)) if of == other => {
            Some(Next::Transform(of, a.min(b)))
        }
        _ => None,
    })
}

/// Processes full blocks in the first `used` lanes at once: those after them have no job.
fn together<J: Job>(lanes: &mut Lanes, slots: &mut [Option<Slot<J>>; LANES], next: Next, used: usize) {
    let len = match next {
        Next::Idle | Next::Finished | Next::Permute => 0,
        Next::Absorb(count) => {
            // A lane without a job does what another does: nobody looks at the result.
            let any = slots
                .iter()
                .flatten()
                .next()
                .map_or(&[][..], |slot| slot.blocks(count));
            let blocks = slots.each_ref();
            let blocks = blocks.map(|slot| slot.as_ref().map_or(any, |slot| slot.blocks(count)));
            lanes.absorb_blocks(&blocks, used);
            count * RATE
        }
        Next::Transform(direction, count)
            if slots[..lanes.backends().covered(used)]
                .iter()
                .all(Option::is_some) =>
        {
            let mut slots = slots.iter_mut().flatten();
            let blocks = core::array::from_fn(|_| {
                slots
                    .next()
                    .map_or(&mut [][..], |slot| slot.blocks_mut(direction, count))
            });
            lanes.transform_blocks(direction, blocks, used);
            count * RATE
        }
        Next::Transform(direction, count) => {
            let count = count.min(SPARE);
            let mut spare = [[[0; RATE]; SPARE]; LANES];
            let mut pairs = slots.iter_mut().zip(&mut spare);
            let blocks = core::array::from_fn(|_| match pairs.next() {
                Some((Some(slot), _)) => slot.blocks_mut(direction, count),
                Some((None, spare)) => &mut spare[..count],
                None => &mut [],
            });
            lanes.transform_blocks(direction, blocks, used);
            wipe(spare.as_flattened_mut().as_flattened_mut());
            count * RATE
        }
    };
    for slot in slots.iter_mut().flatten() {
        slot.done += len;
    }
}

/// How many bytes of secrets there are, which are 0xab in these tests. An address does not have eight in a row.
#[cfg(all(test, feature = "std", target_os = "linux"))]
fn secret_bytes(bytes: &[u8]) -> usize {
    bytes
        .chunk_by(|a, b| a == b)
        .filter(|run| run[0] == 0xab && run.len() >= 8)
        .map(<[u8]>::len)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_cannot_be_made_ends_the_others() {
        let mut result = Ok(());
        let jobs = until_error([Ok(1), Err(Error::BufferLength), Ok(2)], &mut result);
        assert_eq!(jobs.sum::<i32>(), 1);
        assert_eq!(result, Err(Error::BufferLength));
    }
}
