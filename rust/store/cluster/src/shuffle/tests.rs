//! Rows between stages that are not those that were sealed.

use std::sync::Arc;

use ballista_core::JobId;
use datafusion::arrow::array::{ArrayRef, AsArray as _, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::error::Result;
use veriplex::Key;

use super::{Opener, Output, ROW_LEN, Sealer, job_cipher};

fn key(byte: u8) -> Key {
    Key::from([byte; 32])
}

fn output(task: u64) -> Output {
    Output {
        stage: 1,
        partition: 2,
        task,
    }
}

fn batch(values: impl IntoIterator<Item = i64>) -> RecordBatch {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    RecordBatch::try_from_iter([("n", column)]).unwrap()
}

/// The rows of an output of two batches.
fn rows(job: &str, task: u64) -> Vec<Vec<u8>> {
    let mut sealer = Sealer {
        cipher: job_cipher(&key(1), job),
        output: output(task),
        rows: 0,
    };
    let (first, second) = (batch([1, 2]), batch([3]));
    let sealed = [Some(&first), Some(&second), None].map(|batch| sealer.seal(batch).unwrap());
    sealed
        .iter()
        .flat_map(|batch| {
            batch
                .column(0)
                .as_binary::<i32>()
                .iter()
                .flatten()
                .map(<[u8]>::to_vec)
        })
        .collect()
}

/// What a task reads of them that wants these outputs; and the same as a client, which knows none.
fn open(key: &Key, outputs: &[u64], rows: &[Vec<u8>]) -> [Result<Vec<i64>>; 2] {
    let outputs = outputs.iter().map(|task| output(*task)).collect();
    [Some(outputs), None].map(|outputs| {
        let mut opener = Opener::new(key, &JobId::from("job"), outputs);
        let mut values = Vec::new();
        for row in rows {
            if let Some(batch) = opener.open(row)? {
                values.extend(batch.column(0).as_primitive::<Int64Type>().values());
            }
        }
        opener.finish().map(|()| values)
    })
}

#[test]
fn rows_come_back() {
    let (first, second) = (rows("job", 1), rows("job", 2));
    for opened in open(&key(1), &[1], &first) {
        assert_eq!(opened.unwrap(), [1, 2, 3]);
    }
    // Outputs may be interleaved.
    let both: Vec<_> = first.into_iter().zip(second).flat_map(|(a, b)| [a, b]).collect();
    for opened in open(&key(1), &[1, 2], &both) {
        assert_eq!(opened.unwrap(), [1, 2, 1, 2, 3, 3]);
    }
}

#[test]
fn large_batches_are_divided() {
    let mut sealer = Sealer {
        cipher: job_cipher(&key(1), "job"),
        output: output(1),
        rows: 0,
    };
    // Numbers that do not compress.
    let large = batch((0..1_000_000_i64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed())));
    let sealed = sealer.seal(Some(&large)).unwrap();
    assert!(sealed.num_rows() > 1);
    for row in sealed.column(0).as_binary::<i32>().iter().flatten() {
        assert!(row.len() < ROW_LEN + 10_000, "{}", row.len());
    }
}

#[track_caller]
fn refused(opened: Result<Vec<i64>>, why: &str) {
    let error = opened.unwrap_err().to_string();
    assert!(error.contains(why), "{error}");
}

#[test]
fn every_changed_byte_is_noticed() {
    let rows = rows("job", 1);
    for i in 0..rows[1].len() {
        let mut changed = rows.clone();
        changed[1][i] ^= 1 << (i % 8);
        for opened in open(&key(1), &[1], &changed) {
            refused(opened, "wrong key, or damaged");
        }
        changed[1] = rows[1][..i].to_vec();
        for opened in open(&key(1), &[1], &changed) {
            opened.unwrap_err();
        }
    }
}

#[test]
fn rows_of_another_place_are_refused() {
    let mine = rows("job", 1);
    for opened in open(&key(2), &[1], &mine) {
        refused(opened, "wrong key, or damaged");
    }
    for opened in open(&key(1), &[1], &rows("other job", 1)) {
        refused(opened, "wrong key, or damaged");
    }
    let [task, _] = open(&key(1), &[2], &mine);
    refused(task, "not an input of this task");
}

#[test]
fn rows_that_are_missing_repeated_or_out_of_order_are_noticed() {
    let mine = rows("job", 1);
    for i in 0..mine.len() {
        let mut changed = mine.clone();
        changed.remove(i);
        for opened in open(&key(1), &[1], &changed) {
            refused(opened, "rows are missing");
        }
        let mut changed = mine.clone();
        changed.insert(i, mine[i].clone());
        for opened in open(&key(1), &[1], &changed) {
            refused(opened, "rows are missing or out of order");
        }
    }
    let mut changed = mine.clone();
    changed.swap(0, 1);
    for opened in open(&key(1), &[1], &changed) {
        refused(opened, "rows are missing or out of order");
    }
    // An output that the plan names, and that is not there at all: a client learns of outputs from their rows.
    let [task, _] = open(&key(1), &[1, 2], &mine);
    refused(task, "rows are missing at the end");
}
