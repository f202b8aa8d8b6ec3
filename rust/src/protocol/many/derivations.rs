//! Derivations: a Mix that is open takes a message, and a Derive follows.

use super::alike::Alike;
use super::group::Group;
use super::{Job, Step, run};
use crate::Label;
use crate::duplex::Duplex;
use crate::framing::{Op, RATE, header_len};
use crate::lane_backend::LANES;
use crate::lanes::{Backends, Direction, read};
use crate::protocol::Protocol;
use crate::timing::Timing;

/// What a Mix that is open and a Derive give for each message: in as many places as there are messages.
pub(crate) fn derive<'a>(
    start: &Protocol,
    label: Label<'a>,
    messages: impl IntoIterator<Item = &'a [u8]>,
    outputs: impl IntoIterator<Item = &'a mut [u8]>,
) {
    let _timing = Timing::independent();
    let mut short = Short::new(start, label);
    let long = messages.into_iter().zip(outputs).filter_map(|(message, output)| {
        let output = short.take(message, output)?;
        Some(Derivation {
            message,
            label,
            output,
        })
    });
    run(start, Rows::new(start, label, long), drop);
    short.finish();
}

/// Does eight jobs in a row that are [alike](Alike), and gives the others.
struct Rows<'a, I> {
    start: Duplex,
    label: Label<'a>,
    backends: Backends,
    jobs: I,
    /// Those to be given, from the last one on.
    row: [Option<Derivation<'a>>; LANES],
    count: usize,
    /// For the lengths of those that were alike.
    alike: Option<([usize; 2], Alike)>,
}

impl<'a, I: Iterator<Item = Derivation<'a>>> Rows<'a, I> {
    fn new(start: &Protocol, label: Label<'a>, jobs: I) -> Self {
        Self {
            start: start.duplex.clone(),
            label,
            backends: Backends::current(),
            jobs,
            row: [const { None }; LANES],
            count: 0,
            alike: None,
        }
    }

    /// Does the jobs in the row, if they are alike.
    fn do_row(&mut self) -> Option<()> {
        let lens = |job: &Derivation<'_>| [job.message.len(), job.output.len()];
        let common = lens(self.row[0].as_ref()?);
        let all = self.count == LANES && self.row.iter().flatten().all(|job| lens(job) == common);
        let [len, output_len] = common;
        if !all || output_len > RATE {
            return None;
        }
        if self.alike.as_ref().is_none_or(|(lens, _)| *lens != common) {
            let alike = Alike::new(&self.start, self.label, len, output_len, self.backends);
            self.alike = Some((common, alike));
        }
        let (_, alike) = self.alike.as_mut()?;
        let mut messages: [&[u8]; LANES] = Default::default();
        let mut outputs: [&mut [u8]; LANES] = Default::default();
        for ((job, message), output) in self.row.iter_mut().zip(&mut messages).zip(&mut outputs) {
            let job = job.take()?;
            (*message, *output) = (job.message, job.output);
        }
        alike.derive(messages, outputs, LANES);
        self.count = 0;
        Some(())
    }
}

impl<'a, I: Iterator<Item = Derivation<'a>>> Iterator for Rows<'a, I> {
    type Item = Derivation<'a>;

    fn next(&mut self) -> Option<Derivation<'a>> {
        while self.count == 0 {
            for (place, job) in self.row.iter_mut().zip(&mut self.jobs) {
                *place = Some(job);
                self.count += 1;
            }
            if self.count == 0 {
                return None;
            }
            if self.backends.has_kernels() {
                self.do_row();
            }
        }
        self.count -= 1;
        self.row[self.count].take()
    }
}

struct Derivation<'a> {
    message: &'a [u8],
    label: Label<'a>,
    output: &'a mut [u8],
}

impl Job for Derivation<'_> {
    #[inline]
    fn step(&self, number: usize) -> Option<Step<'_>> {
        Some(match number {
            0 => Step::Absorb(self.message),
            1 => Step::Derive(self.label, self.output.len()),
            2 => Step::Transform(Direction::Squeeze),
            _ => return None,
        })
    }

    fn data(&mut self, _: usize) -> &mut [u8] {
        &mut []
    }

    #[inline]
    fn output(&mut self) -> &mut [u8] {
        self.output
    }
}

/// Those that absorb three blocks at most.
struct Short<'a> {
    group: Group,
    label: Label<'a>,
    outputs: [&'a mut [u8]; LANES],
}

impl<'a> Short<'a> {
    fn new(start: &Protocol, label: Label<'a>) -> Self {
        Self {
            group: Group::new(start.duplex.clone()),
            label,
            outputs: core::array::from_fn(|_| &mut [][..]),
        }
    }

    /// Takes a message that is short enough, whose output is written now or with [`Short::finish`], or gives the output
    /// back.
    #[inline]
    fn take(&mut self, message: &[u8], output: &'a mut [u8]) -> Option<&'a mut [u8]> {
        let lane = self.group.count;
        let len = message
            .len()
            .saturating_add(header_len(self.label.as_bytes()) + 1);
        if output.len() > RATE {
            return Some(output);
        }
        let Some(blocks) = self.group.next(len) else {
            return Some(output);
        };
        blocks.data(message);
        blocks.header(Op::Derive, self.label);
        blocks.number(output.len());
        blocks.permute();
        self.outputs[lane] = output;
        if self.group.count == LANES {
            self.finish();
        }
        None
    }

    /// Writes the outputs that are not written yet.
    fn finish(&mut self) {
        let group = &mut self.group;
        group.absorb();
        for (lane, output) in self.outputs[..group.count].iter_mut().enumerate() {
            read(&mut group.states, lane, output);
        }
        group.count = 0;
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::label;
    use crate::lane_backend::on_each_lane_backend;

    /// From every place of a block: messages around the longest that is short, outputs around a block's, full groups and others,
    /// rows of messages that are alike, and between them some that are not.
    #[test]
    fn the_same_as_one_by_one() {
        let (label_bytes, bytes) = ([b'l'; 91], [7; 600]);
        on_each_lane_backend(|backend| {
            for place in 0..94 {
                let label = Label::new(&label_bytes[..place * 53 % 92]).unwrap();
                let mut start = Protocol::new(label!("test"));
                start.mix(label!("place"), &[1; 94][..place]);
                start.mix_begin(label!("message"));
                let used = usize::from(start.to_bytes()[0]) + label.as_bytes().len() + 5;
                let longest = 281 - used;
                let mixed =
                    (0..place % 23 + 3).flat_map(|i| [longest - 1 + i % 4, i * 37 % 60, i * 71 % 500]);
                let mut sizes: Vec<_> = (mixed.enumerate())
                    .map(|(i, len)| (len, [32, 93, 94, 95, 0, 128, 16, 33][(i + place) % 8]))
                    .collect();
                let alike = [(283, 32), (283 + place, 32), (283 + place, 94), (283 + place, 95)];
                for size in alike.into_iter().take(place % 5) {
                    sizes.extend([size; 9]);
                    sizes.push((1, 32));
                    sizes.extend([size; 10]);
                }
                let messages = sizes.iter().map(|&(len, _)| &bytes[..len]);
                let mut outputs: Vec<_> = sizes.iter().map(|&(_, len)| vec![0; len]).collect();
                derive(&start, label, messages, outputs.iter_mut().map(Vec::as_mut_slice));
                for (&(len, _), output) in sizes.iter().zip(&outputs) {
                    let mut alone = start.clone();
                    alone.mix_more(&bytes[..len]);
                    let mut expected = vec![0; output.len()];
                    alone.derive(label, &mut expected);
                    assert_eq!(*output, expected, "{backend:?}, place {place}, {len} bytes");
                }
            }
        });
    }

    /// Nothing is left of what was staged, nor of the states.
    #[cfg(target_os = "linux")]
    #[test]
    fn dropped_transcripts_are_wiped() {
        use crate::protocol::many::secret_bytes;

        let mut start = Protocol::new(label!("test"));
        start.mix_begin(label!("message"));
        let mut outputs = [[0; 32]; 3];
        let mut short = Short::new(&start, label!("digest"));
        for output in &mut outputs {
            assert!(short.take(&[0xab; 40], output).is_none());
        }
        short.finish();
        let [before, after] = crate::wipe::before_and_after_drop(short);
        let used = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte != 0).count();
        assert!(secret_bytes(&before) >= 3 * 40 && used(&before) > 3 * 128);
        assert_eq!(secret_bytes(&after), 0);
        // Pointers and lengths.
        assert!(used(&after) < 200, "{}", used(&after));
    }
}
