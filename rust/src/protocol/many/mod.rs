//! Many transcripts at once, from one start: eight at a time, each in its lane until it is done.
//!
//! A transcript runs to its next permutation; then all lanes permute together. Where all lanes are at full blocks of one
//! kind, the kernels take as many of these as the lane with the fewest has. What a transcript gives never depends on the
//! others.
//!
//! Transcripts of one shape that begin together are in step until their end. So they are a group: what comes next is found
//! out once for all of its lanes.

mod guarded;

pub(crate) use guarded::Guarded;
use subtle::ConstantTimeEq;

use super::Protocol;
use crate::backend::lane_backend::{LANES, States};
use crate::backend::simpira1024::Block;
use crate::base::in_out::release_or_wipe;
use crate::base::timing::Timing;
use crate::base::wipe::wipe;
use crate::duplex::Duplex;
use crate::duplex::framing::{Cursor, Op, RATE, copy, leb128, leb128_len};
use crate::duplex::lanes::{self, Direction, Lanes, Stage, squeeze_last};
use crate::{Error, Label, TAG_LEN, label};

/// How much a Mask of a job masks, in bytes: less than a block.
const MASKED_LEN: usize = 3;

/// A transcript to be computed, and its buffers. A Mix is open: it takes `mixed`. What the [`Closing`] of the batch says
/// comes last.
pub(crate) struct Job<'a> {
    pub(crate) mixed: Mixed<'a>,
    /// The data of a Mix `ad`.
    pub(crate) ad: Option<&'a [u8]>,
    /// The data of a Mask `len`.
    pub(crate) masked: Option<&'a mut [u8; MASKED_LEN]>,
    /// What is sealed or opened.
    pub(crate) data: Guarded<'a>,
    pub(crate) output: Output<'a>,
    /// For the caller: which one it is.
    pub(crate) place: usize,
}

/// Bytes that a job has. At an odd place, a move of the job would load from there, and wait for stores of words.
#[derive(Clone, Copy)]
#[repr(align(8))]
pub(crate) struct Aligned<const N: usize>(pub(crate) [u8; N]);

/// The data of a Mix.
pub(crate) enum Mixed<'a> {
    Bytes(&'a [u8]),
    /// The first so many of these.
    Short(Aligned<9>, usize),
}

impl Mixed<'_> {
    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Short(bytes, len) => &bytes.0[..*len],
        }
    }
}

/// What is done with the bytes that a transcript ends with.
pub(crate) enum Output<'a> {
    /// They are written.
    Write(&'a mut [u8]),
    /// They, computed, are compared with a tag.
    Compare(Aligned<TAG_LEN>, &'a [u8; TAG_LEN]),
}

impl<'a> Output<'a> {
    pub(crate) const fn compare(tag: &'a [u8; TAG_LEN]) -> Self {
        Self::Compare(Aligned([0; TAG_LEN]), tag)
    }

    #[inline(always)]
    fn len(&self) -> usize {
        match self {
            Self::Write(output) => output.len(),
            Self::Compare(..) => TAG_LEN,
        }
    }

    #[inline(always)]
    fn bytes(&mut self) -> &mut [u8] {
        match self {
            Self::Write(output) => output,
            Self::Compare(computed, _) => &mut computed.0,
        }
    }
}

impl<'a> Job<'a> {
    /// Whether both do the same, but for the bytes.
    #[inline(always)]
    fn is_like(&self, other: Option<&Self>) -> bool {
        let Some(other) = other else { return false };
        self.mixed.bytes().len() == other.mixed.bytes().len()
            && self.ad.map(<[u8]>::len) == other.ad.map(<[u8]>::len)
            && self.masked.is_some() == other.masked.is_some()
            && self.data.len() == other.data.len()
            && self.data.apart().is_some() == other.data.apart().is_some()
            && self.output.len() == other.output.len()
    }

    /// Does it by itself, for which lanes are not worth it.
    fn run_alone(&mut self, start: &Protocol, closing: Closing<'_>) {
        let mut protocol = start.clone();
        protocol.mix_more(self.mixed.bytes());
        if let Some(ad) = self.ad {
            protocol.mix(label!("ad"), ad);
        }
        match closing {
            Closing::Derive(label) => protocol.derive(label, self.output.bytes()),
            Closing::Seal(label, direction) => {
                let is_open = direction == Direction::Decrypt;
                match &mut self.masked {
                    None => (),
                    Some(masked) if is_open => protocol.unmask(label!("len"), &mut masked[..]),
                    Some(masked) => protocol.mask(label!("len"), &mut masked[..]),
                }
                protocol.seal_begin(label, self.data.len());
                if is_open {
                    protocol.unmask_more(self.data.reborrow());
                } else {
                    protocol.mask_more(self.data.reborrow());
                }
                self.output.bytes().copy_from_slice(&protocol.tag());
            }
        }
    }

    /// Hands out the data of a job that is done, if they are sealed, or verified.
    #[inline(always)]
    pub(crate) fn release(mut self) -> Result<&'a mut [u8], Error> {
        self.verify()?;
        Ok(self.data.release())
    }

    /// An error if the tag is wrong. The data are then wiped.
    #[inline(always)]
    pub(crate) fn verify(&mut self) -> Result<(), Error> {
        match &self.output {
            Output::Compare(computed, tag) => release_or_wipe(computed.0.ct_eq(*tag), self.data.output()),
            Output::Write(_) => Ok(()),
        }
    }
}

/// The last operation of all transcripts of a batch.
#[derive(Clone, Copy)]
pub(crate) enum Closing<'a> {
    /// A Derive of the output.
    Derive(Label<'a>),
    /// A Seal or an Open of the data, whose tag is the output.
    Seal(Label<'a>, Direction),
}

/// What a Mix that is open and a Derive give for each message: in as many places as there are messages.
pub(crate) fn derive<'a>(
    start: &Protocol,
    label: Label<'a>,
    messages: impl IntoIterator<Item = &'a [u8]>,
    outputs: impl IntoIterator<Item = &'a mut [u8]>,
) {
    let mut batch = Batch::new(start, Closing::Derive(label));
    for (mixed, output) in messages.into_iter().zip(outputs) {
        batch.add(Job {
            mixed: Mixed::Bytes(mixed),
            ad: None,
            masked: None,
            data: Guarded::default(),
            output: Output::Write(output),
            place: 0,
        });
    }
    batch.complete();
}

/// Runs the jobs, each from the same protocol on. `done` takes those that are finished, in no particular order.
///
/// # Errors
///
/// That of a job that cannot be made, or of `done`. The data of jobs that `done` did not get are then wiped.
pub(crate) fn run<'a>(
    start: &Protocol,
    closing: Closing<'a>,
    jobs: impl IntoIterator<Item = Result<Job<'a>, Error>>,
    mut done: impl FnMut(Job<'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut jobs = jobs.into_iter();
    let Some(mut first) = jobs.next().transpose()? else {
        return Ok(());
    };
    let Some(second) = jobs.next() else {
        first.run_alone(start, closing);
        return done(first);
    };
    let mut batch = Batch::new(start, closing);
    for job in [Ok(first), second].into_iter().chain(jobs) {
        if let Some(job) = batch.add(job?) {
            done(job)?;
        }
    }
    while let Some(job) = batch.finish() {
        done(job)?;
    }
    Ok(())
}

/// What a job does next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Mixed,
    AdHeader,
    Ad,
    MaskHeader,
    Mask,
    Header,
    Number,
    Data,
    Output,
}

/// What lanes wait for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Nothing: their jobs are done.
    Done,
    /// That their jobs begin.
    Begin,
    Permute,
    /// There are full blocks to absorb.
    Absorb,
    /// Or data to transform in place.
    Data,
    /// Or from one buffer to another.
    DataApart,
    /// Or outputs to squeeze.
    Output,
}

/// Lanes in step, next to each other.
#[derive(Clone, Copy)]
struct Group {
    first: usize,
    count: usize,
    next: Next,
    phase: Phase,
    /// How many bytes of the phase are done.
    done: usize,
    cursor: Cursor,
    /// Whether the states are still to be set to that of the start.
    is_fresh: bool,
}

impl Group {
    /// One lane, whose job is to begin.
    const fn new(first: usize, cursor: Cursor) -> Self {
        Self {
            first,
            count: 1,
            next: Next::Begin,
            phase: Phase::Mixed,
            done: 0,
            cursor,
            is_fresh: true,
        }
    }

    #[inline(always)]
    const fn end(&self) -> usize {
        self.first + self.count
    }

    #[inline(always)]
    const fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.done = 0;
    }

    /// The full blocks that a job absorbs.
    fn blocks<'j>(&self, job: Option<&'j Job<'_>>) -> &'j [Block] {
        input(job, self.phase)[self.done..].as_chunks().0
    }

    /// Those that it transforms, if they are not where the results go; and these.
    fn blocks_mut<'j>(&self, job: &'j mut Option<Job<'_>>) -> (Option<&'j [Block]>, &'j mut [Block]) {
        let apart = match job {
            Some(job) if self.phase == Phase::Data => job.data.apart(),
            _ => None,
        };
        let apart = apart.map(|input| input[self.done..].as_chunks().0);
        (apart, results(job, self.phase)[self.done..].as_chunks_mut().0)
    }
}

/// What a job absorbs or transforms in a phase.
#[inline(always)]
fn input<'j>(job: Option<&'j Job<'_>>, phase: Phase) -> &'j [u8] {
    let Some(job) = job else { return &[] };
    match phase {
        Phase::Mixed => job.mixed.bytes(),
        Phase::Ad => job.ad.unwrap_or(&[]),
        Phase::Mask => job.masked.as_ref().map_or(&[], |masked| &masked[..]),
        Phase::Data => job.data.input(),
        _ => &[],
    }
}

/// Where the results of a phase go.
#[inline(always)]
fn results<'j>(job: &'j mut Option<Job<'_>>, phase: Phase) -> &'j mut [u8] {
    match job {
        None => &mut [],
        Some(job) => match phase {
            Phase::Mask => job.masked.as_mut().map_or(&mut [], |masked| &mut masked[..]),
            Phase::Data => job.data.output(),
            _ => job.output.bytes(),
        },
    }
}

/// How many blocks a lane without a job gets when it must have some, to be written.
const SPARE: usize = 8;

/// Transcripts that go on from one, and the lanes in which they run.
pub(crate) struct Batch<'a> {
    start: Duplex,
    closing: Closing<'a>,
    lanes: Lanes,
    jobs: [Option<Job<'a>>; LANES],
    is_busy: [bool; LANES],
    /// The first so many, in no particular order.
    groups: [Group; LANES],
    groups_len: usize,
    _timing: Timing,
}

impl<'a> Batch<'a> {
    pub(crate) fn new(start: &Protocol, closing: Closing<'a>) -> Self {
        Self {
            start: start.duplex.clone(),
            closing,
            lanes: Lanes::new(),
            jobs: [const { None }; LANES],
            is_busy: [false; LANES],
            groups: [Group::new(0, Cursor::START); LANES],
            groups_len: 0,
            _timing: Timing::independent(),
        }
    }

    /// Takes a job, and gives one that is done, if that must make room.
    #[inline(always)]
    pub(crate) fn add(&mut self, job: Job<'a>) -> Option<Job<'a>> {
        let lane = self.room(&job);
        self.is_busy[lane] = true;
        match self.groups[..self.groups_len].last_mut() {
            Some(last)
                if last.next == Next::Begin
                    && last.end() == lane
                    && job.is_like(self.jobs[last.first].as_ref()) =>
            {
                last.count += 1;
            }
            _ => {
                self.groups[self.groups_len] = Group::new(lane, self.start.parts().1);
                self.groups_len += 1;
            }
        }
        self.jobs[lane].replace(job)
    }

    /// Gives a job that is done, until there is none.
    #[inline]
    pub(crate) fn finish(&mut self) -> Option<Job<'a>> {
        self.complete();
        for job in &mut self.jobs {
            if job.is_some() {
                return job.take();
            }
        }
        None
    }

    /// Runs all jobs to their end.
    fn complete(&mut self) {
        while self.round() {}
    }

    /// A lane for this job: if many of its shape are in step, only when they are done, so that it is in step with others.
    #[inline(always)]
    fn room(&mut self, job: &Job<'_>) -> usize {
        loop {
            let mut waits = false;
            for group in &self.groups[..self.groups_len] {
                let is_wide = group.count >= LANES / 2 && group.next != Next::Begin;
                waits |= is_wide && job.is_like(self.jobs[group.first].as_ref());
            }
            if !waits {
                for lane in 0..LANES {
                    if !self.is_busy[lane] {
                        return lane;
                    }
                }
            }
            self.round();
        }
    }

    /// Does what the lanes wait for: together, or one by one if they are few. Whether there was something.
    fn round(&mut self) -> bool {
        let (mut next, mut is_same, mut count, mut used) = (Next::Done, true, 0, 0);
        for i in 0..self.groups_len {
            if self.groups[i].next == Next::Begin {
                self.advance(i);
            }
            let group = &self.groups[i];
            is_same &= i == 0 || group.next == next;
            next = group.next;
            count += group.count;
            used = used.max(group.end());
        }
        if count <= self.lanes.backends().serial_threshold(used) {
            self.run_single_lanes();
        } else if is_same && next != Next::Permute {
            self.process_blocks(next, count, used);
        } else {
            self.permute(used);
        }
        for i in (0..self.groups_len).rev() {
            self.advance(i);
            let group = self.groups[i];
            if group.next == Next::Done {
                self.is_busy[group.first..group.end()].fill(false);
                self.groups_len -= 1;
                self.groups[i] = self.groups[self.groups_len];
            }
        }
        count > 0
    }

    /// Runs the jobs of a group to their next permutation, or to the end.
    fn advance(&mut self, i: usize) {
        let mut group = self.groups[i];
        let jobs = &mut self.jobs[group.first..group.end()];
        let (states, mut stage) = self.lanes.stage(group.first, group.count, group.cursor);
        group.next = run_to_wait(jobs, &mut group, states, &mut stage, self.closing);
        if group.next == Next::Permute {
            stage.end_block();
        }
        group.cursor = stage.cursor;
        self.groups[i] = group;
    }

    /// Sets the states of a group whose jobs have just begun.
    #[inline]
    fn load(&mut self, i: usize) {
        let group = &mut self.groups[i];
        if group.is_fresh {
            for lane in group.first..group.end() {
                self.lanes.set_state(lane, self.start.parts().0);
            }
            group.is_fresh = false;
        }
    }

    /// The direction in which full blocks are processed.
    fn direction(&self, next: Next) -> Direction {
        match self.closing {
            Closing::Seal(_, direction) if matches!(next, Next::Data | Next::DataApart) => direction,
            _ => Direction::Squeeze,
        }
    }

    /// Does what the lanes wait for one by one.
    #[cold]
    fn run_single_lanes(&mut self) {
        for i in 0..self.groups_len {
            self.load(i);
            let group = self.groups[i];
            let direction = self.direction(group.next);
            self.lanes.unstage(group.first, group.count, None);
            let mut len = 0;
            for lane in group.first..group.end() {
                if group.next == Next::Permute {
                    self.lanes.permute_single_lane(lane);
                } else if group.next == Next::Absorb {
                    let blocks = group.blocks(self.jobs[lane].as_ref());
                    self.lanes.absorb_single_lane(lane, blocks);
                    len = blocks.len() * RATE;
                } else {
                    let (apart, blocks) = group.blocks_mut(&mut self.jobs[lane]);
                    self.lanes.transform_single_lane(direction, lane, apart, blocks);
                    len = blocks.len() * RATE;
                }
            }
            self.groups[i].done += len;
            self.groups[i].cursor = Cursor::START;
        }
    }

    /// Permutes the first `used` lanes. Those that have full blocks take one before.
    #[inline]
    fn permute(&mut self, used: usize) {
        for i in 0..self.groups_len {
            if self.groups[i].next == Next::Permute {
                continue;
            }
            self.load(i);
            let mut group = self.groups[i];
            let direction = self.direction(group.next);
            let jobs = &mut self.jobs[group.first..group.end()];
            let (states, mut stage) = self.lanes.stage(group.first, group.count, group.cursor);
            if group.next == Next::Absorb {
                absorb_some(jobs, &mut group, &mut stage, RATE);
            } else {
                transform(jobs, &mut group, &mut stage, states, direction, RATE);
            }
            stage.end_block();
            self.groups[i] = group;
        }
        // A word must be in memory before it can be loaded, if it was stored byte by byte. So first all bytes are stored.
        for group in &mut self.groups[..self.groups_len] {
            let start = group.is_fresh.then_some(self.start.parts().0);
            self.lanes.unstage(group.first, group.count, start);
            group.is_fresh = false;
            group.cursor = Cursor::START;
        }
        self.lanes.permute_first(used);
    }

    /// Processes full blocks in all `count` lanes that have a job, which are among the first `used`.
    fn process_blocks(&mut self, next: Next, count: usize, used: usize) {
        let mut len = usize::MAX;
        for i in 0..self.groups_len {
            self.load(i);
            let (group, job) = (&self.groups[i], &mut self.jobs[self.groups[i].first]);
            len = len.min(match next {
                Next::Absorb => group.blocks(job.as_ref()).len(),
                _ => group.blocks_mut(job).1.len(),
            });
        }
        if next == Next::Absorb {
            self.absorb_blocks(len, used);
        } else if count == self.lanes.backends().lanes_processed(used) {
            self.transform_blocks(next, len, used, &mut []);
        } else {
            len = len.min(SPARE);
            let mut spare = [[[0; RATE]; SPARE]; LANES];
            self.transform_blocks(next, len, used, &mut spare);
            wipe(spare.as_flattened_mut().as_flattened_mut());
        }
        for group in &mut self.groups[..self.groups_len] {
            group.done += len * RATE;
        }
    }

    /// A lane without a job does what another does: nobody looks at the result.
    fn absorb_blocks(&mut self, len: usize, used: usize) {
        let mut blocks: [&[Block]; LANES] = [&[]; LANES];
        for group in &self.groups[..self.groups_len] {
            let jobs = &self.jobs[group.first..group.end()];
            for (blocks, job) in blocks[group.first..].iter_mut().zip(jobs) {
                *blocks = &group.blocks(job.as_ref())[..len];
            }
        }
        let any = blocks[used - 1];
        for blocks in &mut blocks {
            if blocks.is_empty() {
                *blocks = any;
            }
        }
        self.lanes.absorb_blocks(&blocks, used);
    }

    /// A lane without a job gets spare blocks, if there are any, and reads what another does.
    fn transform_blocks(&mut self, next: Next, len: usize, used: usize, spare: &mut [[Block; SPARE]]) {
        let direction = self.direction(next);
        let mut output: [&mut [Block]; LANES] = Default::default();
        for (output, room) in output.iter_mut().zip(spare) {
            *output = &mut room[..len];
        }
        let mut input = [None; LANES];
        let mut jobs = self.jobs.each_mut().map(Some);
        for group in &self.groups[..self.groups_len] {
            for lane in group.first..group.end() {
                if let Some(job) = jobs[lane].take() {
                    let (apart, blocks) = group.blocks_mut(job);
                    (input[lane], output[lane]) = (apart, &mut blocks[..len]);
                }
            }
        }
        let input = input[used - 1].map(|any| input.map(|input| input.unwrap_or(any)));
        self.lanes
            .transform_blocks(direction, input.as_ref(), output, used);
    }
}

/// Runs jobs of one shape to their next permutation, or to the end.
#[inline(always)]
fn run_to_wait(
    jobs: &mut [Option<Job<'_>>],
    group: &mut Group,
    states: &mut States,
    stage: &mut Stage<'_>,
    closing: Closing<'_>,
) -> Next {
    let (op, label, direction) = match closing {
        Closing::Derive(label) => (Op::Derive, label, Direction::Squeeze),
        Closing::Seal(label, direction) => (Op::Seal, label, direction),
    };
    let Some(Job {
        mixed,
        ad,
        masked,
        data,
        output,
        ..
    }) = &jobs[0]
    else {
        return Next::Done;
    };
    let (mixed_len, ad_len, has_mask) = (mixed.bytes().len(), ad.map(<[u8]>::len), masked.is_some());
    let (data_len, is_apart, output_len) = (data.len(), data.apart().is_some(), output.len());
    if group.phase == Phase::Mixed {
        if let Some(next) = absorb(jobs, group, stage, mixed_len - group.done) {
            return next;
        }
        group.enter(if ad_len.is_some() {
            Phase::AdHeader
        } else {
            Phase::MaskHeader
        });
    }
    if group.phase == Phase::AdHeader {
        if header(stage, Op::Mix, label!("ad"), group) {
            return Next::Permute;
        }
        group.enter(Phase::Ad);
    }
    if group.phase == Phase::Ad {
        if let Some(len) = ad_len
            && let Some(next) = absorb(jobs, group, stage, len - group.done)
        {
            return next;
        }
        group.enter(Phase::MaskHeader);
    }
    if group.phase == Phase::MaskHeader {
        if has_mask {
            if !header(stage, Op::Mask, label!("len"), group) {
                group.enter(Phase::Mask);
            }
            return Next::Permute;
        }
        group.enter(Phase::Header);
    }
    if group.phase == Phase::Mask {
        transform(jobs, group, stage, states, direction, MASKED_LEN);
        group.enter(Phase::Header);
    }
    if group.phase == Phase::Header {
        if header(stage, op, label, group) {
            return Next::Permute;
        }
        group.enter(Phase::Number);
    }
    if group.phase == Phase::Number {
        let (number, phase) = match closing {
            Closing::Derive(_) => (output_len, Phase::Output),
            Closing::Seal(..) => (data_len, Phase::Data),
        };
        while group.done < leb128_len(number) && !stage.cursor.is_full() {
            stage.absorb_byte(leb128(number >> (7 * group.done)).0);
            group.done += 1;
        }
        if !stage.cursor.is_full() {
            group.enter(phase);
        }
        return Next::Permute;
    }
    if group.phase == Phase::Data {
        let rest = data_len - group.done;
        if rest >= RATE {
            return if is_apart { Next::DataApart } else { Next::Data };
        }
        transform(jobs, group, stage, states, direction, rest);
        group.enter(Phase::Output);
        return Next::Permute;
    }
    if output_len - group.done > RATE {
        return Next::Output;
    }
    for (job, lane) in jobs.iter_mut().zip(stage.first..) {
        squeeze_last(states, lane, &mut results(job, Phase::Output)[group.done..]);
    }
    Next::Done
}

/// Absorbs the next `rest` bytes of each as far as the block takes them; what the lanes wait for if there may be more.
#[inline(always)]
fn absorb(jobs: &[Option<Job<'_>>], group: &mut Group, stage: &mut Stage<'_>, rest: usize) -> Option<Next> {
    if rest >= RATE && stage.cursor.is_at_start() {
        return Some(Next::Absorb);
    }
    absorb_some(jobs, group, stage, rest);
    stage.cursor.is_full().then_some(Next::Permute)
}

#[inline(always)]
fn absorb_some(jobs: &[Option<Job<'_>>], group: &mut Group, stage: &mut Stage<'_>, rest: usize) {
    let start = group.done;
    let (blocks, window) = stage.next(rest);
    group.done += window.len();
    for (bytes, job) in blocks.iter_mut().zip(jobs) {
        copy(
            &mut bytes[window.clone()],
            &input(job.as_ref(), group.phase)[start..group.done],
        );
    }
}

/// Transforms the next `len` bytes of each, at most a block.
#[inline(always)]
fn transform(
    jobs: &mut [Option<Job<'_>>],
    group: &mut Group,
    stage: &mut Stage<'_>,
    states: &mut States,
    direction: Direction,
    len: usize,
) {
    let (start, first) = (group.done, stage.first);
    group.done += len;
    let (blocks, window) = stage.next(len);
    // A word must be in memory before it can be loaded: so first all are stored.
    if direction != Direction::Squeeze {
        for (bytes, job) in blocks.iter_mut().zip(&*jobs) {
            copy(
                &mut bytes[window.clone()],
                &input(job.as_ref(), group.phase)[start..group.done],
            );
        }
    }
    for ((bytes, job), lane) in blocks.iter_mut().zip(jobs).zip(first..) {
        let now = &mut results(job, group.phase)[start..group.done];
        lanes::transform(direction, states, lane, bytes, &window, now);
    }
}

/// Absorbs a header as far as the block takes it; whether the block is full then, and there may be more.
#[inline(always)]
fn header(stage: &mut Stage<'_>, op: Op, label: Label<'_>, group: &mut Group) -> bool {
    group.done += stage.absorb_header(group.done, op.code(), label.as_bytes());
    stage.cursor.is_full()
}

#[cfg(all(test, feature = "std"))]
mod tests;
