//! Many transcripts at once, from one start: eight at a time, each in its lane until it is done.
//!
//! A transcript runs to its next permutation; then all lanes permute together. Where all lanes are at full blocks of one
//! kind, the kernels take as many of these as the lane with the fewest has. What a transcript gives never depends on
//! the others.

use super::{Op, Protocol};
use crate::backend::Backend;
use crate::duplex::{Duplex, RATE};
use crate::lane_backend::LANES;
use crate::lanes::{Direction, Lanes};
use crate::simpira1024::Block;
use crate::timing::Timing;
use crate::wipe::wipe;
use crate::{Label, TAG_LEN, label};

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
    /// The header of a Mix.
    Mix(Label<'a>),
    /// The header of a Derive.
    Derive(Label<'a>),
    /// The header of a Mask.
    #[cfg_attr(
        not(feature = "hybrid"),
        expect(dead_code, reason = "only the tunnel has one")
    )]
    Mask(Label<'a>),
    /// The header of a Seal.
    Seal(Label<'a>),
    /// What was not known before.
    Absorb(&'a [u8]),
    /// A number as unsigned LEB128.
    Number(usize),
    Permute,
    /// Of [`Job::data`], or, squeezed, of [`Job::output`].
    Transform(Direction),
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
    fn advance(&mut self, lanes: &mut Lanes, lane: usize) -> Next {
        while !lanes.is_full(lane) {
            let (done, len) = (self.done, self.len());
            let Some(step) = self.job.step(self.step) else {
                return Next::Finished;
            };
            if done == len {
                self.step += 1;
                self.done = 0;
                if matches!(step, Step::Permute) {
                    return Next::Permute;
                }
                continue;
            }
            let blocks = if lanes.at_start(lane) {
                (len - done) / RATE
            } else {
                0
            };
            self.done += match step {
                Step::Mix(label) => header(lanes, lane, done, Op::Mix, label),
                Step::Derive(label) => header(lanes, lane, done, Op::Derive, label),
                Step::Mask(label) => header(lanes, lane, done, Op::Mask, label),
                Step::Seal(label) => header(lanes, lane, done, Op::Seal, label),
                Step::Absorb(_) if blocks > 0 => return Next::Absorb(blocks),
                Step::Absorb(bytes) => lanes.absorb_some(lane, &bytes[done..]),
                Step::Number(number) => {
                    lanes.absorb_byte(lane, leb128(number, done));
                    1
                }
                Step::Permute => 0,
                Step::Transform(direction) if blocks > 0 => return Next::Transform(direction, blocks),
                Step::Transform(direction) => {
                    let rest = &mut self.buffer(direction)[done..];
                    lanes.transform_some(direction, lane, rest)
                }
            };
        }
        Next::Permute
    }

    fn buffer(&mut self, direction: Direction) -> &mut [u8] {
        match direction {
            Direction::Encrypt | Direction::Decrypt => self.job.data(self.step),
            Direction::Squeeze => self.job.output(),
        }
    }

    /// The length in bytes of the step.
    fn len(&mut self) -> usize {
        match self.job.step(self.step) {
            None | Some(Step::Permute) => 0,
            Some(Step::Mix(label) | Step::Derive(label) | Step::Mask(label) | Step::Seal(label)) => {
                label.as_bytes().len() + 4
            }
            Some(Step::Absorb(bytes)) => bytes.len(),
            Some(Step::Number(number)) => leb128_len(number),
            Some(Step::Transform(direction)) => self.buffer(direction).len(),
        }
    }

    /// The next blocks to absorb.
    fn blocks(&self, count: usize) -> &[Block] {
        match self.job.step(self.step) {
            Some(Step::Absorb(bytes)) => &bytes[self.done..].as_chunks().0[..count],
            _ => &[],
        }
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
            Next::Permute => lanes.permute_lanes(core::array::from_fn(|other| other == lane)),
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

/// Absorbs of a header, from byte `done` on, as much as the block takes.
#[inline]
fn header(lanes: &mut Lanes, lane: usize, done: usize, op: Op, label: Label<'_>) -> usize {
    let (op, label) = (op as u8, label.as_bytes());
    let mut now = done;
    while now < label.len() + 4 && !lanes.is_full(lane) {
        now += match now {
            0 => {
                lanes.begin_frame(lane);
                1
            }
            1 => {
                lanes.end_frame(lane, op);
                1
            }
            _ if now < label.len() + 2 => lanes.absorb_some(lane, &label[now - 2..]),
            _ if now == label.len() + 2 => {
                lanes.begin_frame(lane);
                1
            }
            _ => {
                lanes.end_frame(lane, op | 0x80);
                1
            }
        };
    }
    now - done
}

/// A byte of a number as unsigned LEB128.
#[allow(clippy::cast_possible_truncation)] // seven bits
fn leb128(number: usize, place: usize) -> u8 {
    let rest = number >> (7 * place);
    (rest & 0x7f) as u8 | if rest >= 0x80 { 0x80 } else { 0 }
}

fn leb128_len(number: usize) -> usize {
    (number.max(1).ilog2() / 7 + 1) as usize
}

/// A serialised duplex, wiped on drop.
struct Start([u8; Duplex::SERIALIZED_LEN]);

impl Drop for Start {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// How many blocks a lane without a job gets when it must have some, to be written.
const SPARE: usize = 8;

/// Runs the jobs, each from the same protocol on. `done` takes those that are finished, in no certain order.
pub(crate) fn run<J: Job>(start: &Protocol, jobs: impl IntoIterator<Item = J>, mut done: impl FnMut(J)) {
    let _timing = Timing::independent();
    let mut lanes = Lanes::new();
    if lanes.few() == LANES {
        // No kernels for lanes.
        for mut job in jobs {
            serially(start, &mut job);
            done(job);
        }
        return;
    }
    let start = Start(start.to_bytes());
    let mut jobs = jobs.into_iter().fuse();
    let mut slots: [Option<Slot<J>>; LANES] = [const { None }; LANES];
    loop {
        let mut next = [Next::Idle; LANES];
        for (lane, (slot, next)) in slots.iter_mut().zip(&mut next).enumerate() {
            *next = loop {
                if slot.is_none()
                    && let Some(job) = jobs.next()
                {
                    lanes.load(lane, &start.0);
                    *slot = Some(Slot::new(job));
                }
                let Some(busy) = slot else { break Next::Idle };
                match busy.advance(&mut lanes, lane) {
                    Next::Finished => slot.take().into_iter().for_each(|slot| done(slot.job)),
                    next => break next,
                }
            };
        }
        let busy = next.iter().filter(|next| **next != Next::Idle).count();
        if busy == 0 {
            return;
        }
        if busy <= lanes.few() {
            for (lane, (slot, next)) in slots.iter_mut().zip(next).enumerate() {
                if let Some(slot) = slot {
                    slot.alone(&mut lanes, lane, next);
                }
            }
        } else if let Some(common) = common(&next) {
            together(&mut lanes, &mut slots, common);
        } else {
            for (lane, (slot, next)) in slots.iter_mut().zip(next).enumerate() {
                if let Some(slot) = slot {
                    slot.one_block(&mut lanes, lane, next);
                }
            }
            lanes.permute_lanes(next.map(|next| next != Next::Idle));
        }
    }
}

/// Runs one job alone.
fn serially<J: Job>(start: &Protocol, job: &mut J) {
    let mut duplex = start.duplex.clone();
    let mut number = 0;
    while let Some(step) = job.step(number) {
        match step {
            Step::Mix(label) => duplex.header(Op::Mix as u8, label.as_bytes()),
            Step::Derive(label) => duplex.header(Op::Derive as u8, label.as_bytes()),
            Step::Mask(label) => duplex.header(Op::Mask as u8, label.as_bytes()),
            Step::Seal(label) => duplex.header(Op::Seal as u8, label.as_bytes()),
            Step::Absorb(bytes) => duplex.absorb(bytes),
            Step::Number(n) => (0..leb128_len(n)).for_each(|place| duplex.absorb_byte(leb128(n, place))),
            Step::Permute => duplex.permute(),
            Step::Transform(Direction::Encrypt) => duplex.encrypt(job.data(number)),
            Step::Transform(Direction::Decrypt) => duplex.decrypt(job.data(number)),
            Step::Transform(Direction::Squeeze) => duplex.squeeze(job.output()),
        }
        number += 1;
    }
}

/// What the lanes can do with full blocks together: all that have a job, and not at all if one needs something else.
fn common(next: &[Next; LANES]) -> Option<Next> {
    let mut busy = next.iter().filter(|next| **next != Next::Idle).copied();
    let first = busy.next()?;
    busy.try_fold(first, |common, next| match (common, next) {
        (Next::Absorb(a), Next::Absorb(b)) => Some(Next::Absorb(a.min(b))),
        (Next::Transform(of, a), Next::Transform(other, b)) if of == other => {
            Some(Next::Transform(of, a.min(b)))
        }
        _ => None,
    })
    .filter(|common| !matches!(common, Next::Permute))
}

/// Processes full blocks in all lanes at once.
fn together<J: Job>(lanes: &mut Lanes, slots: &mut [Option<Slot<J>>; LANES], next: Next) {
    let idle = slots.iter().any(Option::is_none);
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
            lanes.absorb_blocks(&blocks.map(|slot| slot.as_ref().map_or(any, |slot| slot.blocks(count))));
            count * RATE
        }
        Next::Transform(direction, count) => {
            let count = if idle { count.min(SPARE) } else { count };
            let mut spare = [[[0; RATE]; SPARE]; LANES];
            let mut pairs = slots.iter_mut().zip(&mut spare);
            let blocks = core::array::from_fn(|_| match pairs.next() {
                Some((Some(slot), _)) => slot.blocks_mut(direction, count),
                Some((None, spare)) => &mut spare[..count],
                None => &mut [],
            });
            lanes.transform_blocks(direction, blocks);
            if idle {
                wipe(spare.as_flattened_mut().as_flattened_mut());
            }
            count * RATE
        }
    };
    for slot in slots.iter_mut().flatten() {
        slot.done += len;
    }
}

/// What a Mix that is open and a Derive give for each message: in as many places as there are messages.
pub(crate) fn derive<'a, const N: usize>(
    start: &Protocol,
    label: Label<'a>,
    messages: impl IntoIterator<Item = &'a [u8]>,
    outputs: impl IntoIterator<Item = &'a mut [u8; N]>,
) {
    let jobs = messages
        .into_iter()
        .zip(outputs)
        .map(|(message, output)| Derivation {
            message,
            label,
            output,
        });
    run(start, jobs, drop);
}

struct Derivation<'a> {
    message: &'a [u8],
    label: Label<'a>,
    output: &'a mut [u8],
}

impl Job for Derivation<'_> {
    fn step(&self, number: usize) -> Option<Step<'_>> {
        Some(match number {
            0 => Step::Absorb(self.message),
            1 => Step::Derive(self.label),
            2 => Step::Number(self.output.len()),
            3 => Step::Permute,
            4 => Step::Transform(Direction::Squeeze),
            _ => return None,
        })
    }

    fn data(&mut self, _: usize) -> &mut [u8] {
        &mut []
    }

    fn output(&mut self) -> &mut [u8] {
        self.output
    }
}

/// Some Mixes, then a Seal or an Open of `message`: up to the tag.
pub(crate) struct Message<'a, T, const MIXES: usize> {
    pub(crate) mixes: [(Label<'a>, &'a [u8]); MIXES],
    pub(crate) direction: Direction,
    pub(crate) in_out: &'a mut [u8],
    /// The one that was computed, when it is done.
    pub(crate) tag: [u8; TAG_LEN],
    /// What the caller needs then.
    pub(crate) then: T,
}

impl<T, const MIXES: usize> Job for Message<'_, T, MIXES> {
    fn step(&self, number: usize) -> Option<Step<'_>> {
        if let Some((label, input)) = self.mixes.get(number / 2) {
            return Some(match number % 2 {
                0 => Step::Mix(*label),
                _ => Step::Absorb(input),
            });
        }
        Some(match number - 2 * MIXES {
            0 => Step::Seal(label!("message")),
            1 => Step::Number(self.in_out.len()),
            2 | 4 => Step::Permute,
            3 => Step::Transform(self.direction),
            5 => Step::Transform(Direction::Squeeze),
            _ => return None,
        })
    }

    fn data(&mut self, _: usize) -> &mut [u8] {
        self.in_out
    }

    fn output(&mut self) -> &mut [u8] {
        &mut self.tag
    }
}
