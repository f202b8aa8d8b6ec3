//! Several transcripts against each alone.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::backend::lane_backend::on_each_lane_backend;
use crate::base::in_out::InOut;

/// From every place of a block: messages whose ends, and those of the header, lie anywhere, outputs around a block's, and
/// rows of one shape among others.
#[test]
fn derivations_are_the_same_one_by_one() {
    let (label_bytes, bytes) = ([b'l'; 91], [7; 1500]);
    on_each_lane_backend(|backend| {
        for place in 0..94 {
            let label = Label::new(&label_bytes[..place * 53 % 92]).unwrap();
            let mut start = Protocol::new(label!("test"));
            start.mix(label!("place"), &[1; 94][..place]);
            start.mix_begin(label!("message"));
            let used = usize::from(start.to_bytes()[0]) + label.as_bytes().len() + 5;
            let longest = 281 - used;
            let mixed = (0..place % 23 + 3).flat_map(|i| [longest - 1 + i % 4, i * 37 % 60, i * 71 % 1500]);
            let mut sizes: Vec<_> = (mixed.enumerate())
                .map(|(i, len)| (len, [32, 93, 94, 95, 0, 188, 16, 300][(i + place) % 8]))
                .collect();
            let alike = [(283, 32), (283 + place, 32), (283 + place, 94), (place, 95)];
            for size in alike.into_iter().take(place % 5) {
                sizes.extend([size; 9]);
                sizes.push((1, 32));
                sizes.extend([size; 10]);
            }
            let messages = sizes.iter().map(|&(len, _)| &bytes[..len]);
            let mut outputs: Vec<_> = sizes.iter().map(|&(_, len)| vec![0; len]).collect();
            derive(&start, label, messages, outputs.iter_mut().map(Vec::as_mut_slice));
            for (&(len, _), output) in sizes.iter().zip(&outputs) {
                let mut single = start.clone();
                single.mix_more(&bytes[..len]);
                let mut expected = vec![0; output.len()];
                single.derive(label, &mut expected);
                assert_eq!(*output, expected, "{backend:?}, place {place}, {len} bytes");
            }
        }
    });
}

/// One transcript: at every position, with labels of every length.
#[test]
fn a_header_is_two_frames_around_a_label() {
    let label = [7; Label::MAX_LEN];
    for (position, len) in (0..RATE).flat_map(|position| (0..=label.len()).map(move |len| (position, len))) {
        let mut whole = Duplex::new();
        whole.absorb(&[1; RATE][..position]);
        let mut parts = whole.clone();
        whole.header(3, &label[..len]);
        parts.frame(3);
        parts.absorb(&label[..len]);
        parts.frame(0x83);
        assert!(whole == parts, "{len} bytes at {position}");
    }
}

const ADS: [Option<&[u8]>; 5] = [None, Some(b""), Some(&[2; 45]), Some(&[3; 400]), Some(&[4; 189])];

/// From every place of a block: with and without associated data and a Mask, in place and from another buffer, rows of one
/// shape, full and not, and between them messages of others.
#[test]
fn messages_are_the_same_one_by_one() {
    on_each_lane_backend(|backend| {
        for place in 0..94 {
            let mut start = Protocol::new(label!("test"));
            start.mix(label!("place"), &[1; 94][..place]);
            start.mix_begin(label!("nonce"));
            let lens: Vec<_> = (0..=place % 5)
                .flat_map(|i| {
                    let len = [0, 94, 188, 60, 1316][(i + place) % 5];
                    (0..9 + i).map(move |j| if j == 4 { 300 } else { len + j * 31 % 94 })
                })
                .collect();
            let has_mask = |i: usize| (i + place) % 11 < 4;
            for direction in [Direction::Encrypt, Direction::Decrypt] {
                let mut data: Vec<_> = lens.iter().map(|&len| vec![5; len]).collect();
                let inputs = data.clone();
                let is_apart = |i: usize| (i / 3 + place) % 4 < 2;
                let mut masked = vec![[6; 3]; lens.len()];
                let transform = |duplex: &mut Duplex, in_out: &mut [u8]| match direction {
                    Direction::Encrypt => duplex.encrypt(in_out),
                    _ => duplex.decrypt(in_out),
                };
                let expected: Vec<_> = (data.iter().enumerate())
                    .map(|(i, data)| {
                        let (mut single, mut data, mut mask, mut tag) =
                            (start.duplex.clone(), data.clone(), [6; 3], [0; TAG_LEN]);
                        single.absorb(&(i as u64).to_le_bytes());
                        if let Some(ad) = ADS[(place + i) % 5] {
                            single.header(Op::Mix.code(), b"ad");
                            single.absorb(ad);
                        }
                        if has_mask(i) {
                            single.header(Op::Mask.code(), b"len");
                            single.permute();
                            transform(&mut single, &mut mask);
                        }
                        single.header(Op::Seal.code(), b"message");
                        single.number(data.len());
                        single.permute();
                        transform(&mut single, &mut data);
                        single.permute();
                        single.squeeze(&mut tag);
                        (data, mask, tag)
                    })
                    .collect();
                let mut tags = vec![None; lens.len()];
                let mut jobs = (data.iter_mut().zip(&mut masked).enumerate()).map(|(i, (data, masked))| {
                    let mut number = [0; 9];
                    number[..8].copy_from_slice(&(i as u64).to_le_bytes());
                    let data = if is_apart(i) {
                        data.fill(9);
                        InOut::out_of_place(&inputs[i], data).unwrap()
                    } else {
                        data.as_mut_slice().into()
                    };
                    Ok(Job {
                        mixed: Mixed::Short(Aligned(number), 8),
                        ad: ADS[(place + i) % 5],
                        masked: has_mask(i).then_some(masked),
                        data: data.into(),
                        output: Output::compare(&[0; TAG_LEN]),
                        place: i,
                    })
                });
                // All together, but for the first few, which are alone.
                for count in [1, 1, 1, usize::MAX] {
                    let closing = Closing::Seal(label!("message"), direction);
                    run(&start, closing, jobs.by_ref().take(count), |mut job| {
                        let tag = job.output.bytes().try_into().unwrap();
                        job.data.release();
                        assert!(tags[job.place].replace(tag).is_none(), "{backend:?}: twice");
                        Ok(())
                    })
                    .unwrap();
                }
                drop(jobs);
                for (i, ((data, mask), tag)) in data.into_iter().zip(masked).zip(tags).enumerate() {
                    assert!(
                        (data, mask, tag.unwrap()) == expected[i],
                        "{backend:?}, place {place}, message {i}"
                    );
                }
            }
        }
    });
}

/// Lanes that are alike, but for where the data of some come from, at full blocks.
#[test]
fn in_place_beside_another_buffer() {
    let input = [5; 300];
    on_each_lane_backend(|backend| {
        for apart in 0..8 {
            let mut start = Protocol::new(label!("test"));
            let mut expected = input;
            start.mix_begin(label!("nonce"));
            let tag = start.clone().seal(label!("message"), expected.as_mut_slice());
            let (mut data, mut tags) = ([input; 8], [[0; TAG_LEN]; 8]);
            let jobs = (data.iter_mut().zip(&mut tags).enumerate()).map(|(i, (data, tag))| {
                let data = if i == apart {
                    data.fill(9);
                    InOut::out_of_place(&input, data).unwrap()
                } else {
                    data.as_mut_slice().into()
                };
                Ok(Job {
                    mixed: Mixed::Bytes(b""),
                    ad: None,
                    masked: None,
                    data: data.into(),
                    output: Output::Write(tag),
                    place: i,
                })
            });
            let closing = Closing::Seal(label!("message"), Direction::Encrypt);
            run(&start, closing, jobs, |job| job.release().map(drop)).unwrap();
            assert_eq!((data, tags), ([expected; 8], [tag; 8]), "{backend:?}, {apart}");
        }
    });
}

/// It is an error, and nothing that was not handed out is left as it was.
#[test]
fn a_job_that_cannot_be_made_ends_the_others() {
    on_each_lane_backend(|_| {
        let mut data = [[7; 200]; 12];
        let mut taken = 0;
        let jobs = data.iter_mut().enumerate().map(|(i, data)| {
            if i == 11 {
                return Err(Error::BufferLength);
            }
            Ok(Job {
                mixed: Mixed::Bytes(b"nonce"),
                ad: None,
                masked: None,
                data: data.as_mut_slice().into(),
                output: Output::compare(&[0; TAG_LEN]),
                place: i,
            })
        });
        let closing = Closing::Seal(label!("message"), Direction::Encrypt);
        let result = run(&Protocol::new(label!("test")), closing, jobs, |job| {
            taken += 1;
            job.data.release();
            Ok(())
        });
        assert_eq!(result, Err(Error::BufferLength));
        assert_eq!(data.iter().filter(|data| **data == [0; 200]).count(), 11 - taken);
        assert_eq!(data[11], [7; 200]);
    });
}

/// Nothing is left of what was staged, nor of the states, nor of data.
#[cfg(target_os = "linux")]
#[test]
fn a_dropped_batch_is_wiped() {
    // They are 0xab in this test. An address does not have eight in a row.
    let secret_bytes = |bytes: &[u8]| -> usize {
        let runs = bytes.chunk_by(|a, b| a == b);
        runs.filter(|run| run[0] == 0xab && run.len() >= 8)
            .map(<[u8]>::len)
            .sum()
    };
    let used = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte != 0).count();
    let mut start = Protocol::new(label!("test"));
    start.mix_begin(label!("nonce"));
    let mut data = [[0xab; 90]; 11];
    let mut batch = Batch::new(&start, Closing::Seal(label!("message"), Direction::Encrypt));
    for data in &mut data {
        let job = Job {
            mixed: Mixed::Bytes(&[0xab; 40]),
            ad: None,
            masked: None,
            data: data.as_mut_slice().into(),
            output: Output::compare(&[0; TAG_LEN]),
            place: 0,
        };
        drop(batch.add(job));
    }
    batch.advance(0);
    let [before, after] = crate::base::wipe::before_and_after_drop(batch);
    assert!(secret_bytes(&before) >= 3 * 40 && used(&before) > 8 * 128);
    assert_eq!(secret_bytes(&after), 0);
    // Pointers and lengths, of the jobs too.
    assert!(used(&after) < 600, "{}", used(&after));
    assert!(data.as_flattened().iter().all(|byte| *byte == 0));
}
