//! Queries of TPC-H, and what they leave behind.

use std::fs;
use std::io::Cursor;
use std::time::Instant;

use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::prelude::{ParquetReadOptions, SessionContext};

use crate::cluster::Cluster;
use crate::data::{self, files_of, key, plain, sealed};
use crate::rows;

/// The queries of TPC-H, by their numbers.
pub fn queries() -> Vec<(usize, String)> {
    let text = include_str!("tpch.sql");
    let queries = text.split(';').filter(|query| query.contains("SELECT"));
    let queries: Vec<_> = (1..).zip(queries.map(str::to_owned)).collect();
    assert_eq!(queries.len(), 22);
    queries
}

/// Texts that the tables hold: every row of `lineitem` has one of them, and so have some of other tables.
const PLAINTEXT: [&str; 8] = [
    "DELIVER IN PERSON",
    "TAKE BACK RETURN",
    "COLLECT COD",
    "BUILDING",
    "Customer#0000",
    "Clerk#0000",
    "SAUDI ARABIA",
    "1-URGENT",
];

/// Bytes as a string of as many characters, which is searched fast.
fn characters(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn with_plaintext(bytes: &[u8]) -> Option<&'static str> {
    let text = characters(bytes);
    PLAINTEXT.into_iter().find(|plain| text.contains(plain))
}

#[tokio::test(flavor = "multi_thread")]
async fn tpch_answers_as_one_process_over_plaintext() {
    let key = key();
    let objects = sealed().await;
    let cluster = Cluster::start(&objects, &[&key; 3]).await;
    let (client, plain) = (cluster.client(&key).await, plain());
    let mut empty = 0;
    for (number, query) in queries() {
        let expected = rows(&plain, &query).await.unwrap();
        cluster.server.traffic();
        let start = Instant::now();
        let found = rows(&client, &query).await;
        let found = found.unwrap_or_else(|error| panic!("query {number}: {error}"));
        let (elapsed, (requests, sent)) = (start.elapsed(), cluster.server.traffic());
        println!("query {number}: {elapsed:.1?}, {requests} requests, {sent} bytes");
        // The header is a row of this.
        empty += usize::from(expected.len() == 1);
        assert_eq!(found, expected, "query {number}");
    }
    assert!(empty <= 3, "queries without an answer show little");

    // A distributed query also writes: the executors seal what it makes.
    let copy = "COPY (SELECT o_orderpriority, count(*) AS orders FROM orders GROUP BY o_orderpriority) \
                TO 's3://bucket/made/' STORED AS PARQUET";
    client.sql(copy).await.unwrap().collect().await.unwrap();
    client
        .register_parquet("made", "s3://bucket/made/", ParquetReadOptions::default())
        .await
        .unwrap();
    let query = "SELECT o_orderpriority, count(*) AS orders FROM orders GROUP BY o_orderpriority";
    let expected = rows(&plain, query).await.unwrap();
    assert_eq!(rows(&client, "SELECT * FROM made").await.unwrap(), expected);

    leaves_no_plaintext(&cluster);
    tells_no_key(&cluster, &client).await;
    for file in files_of(&objects) {
        assert_eq!(
            with_plaintext(&fs::read(&file).unwrap()),
            None,
            "{}",
            file.display()
        );
    }
}

/// What executors wrote between stages is sealed, and they wrote nothing else.
fn leaves_no_plaintext(cluster: &Cluster) {
    for executor in &cluster.executors {
        let files = files_of(&executor.folder);
        assert!(files.len() > 100, "{} files", files.len());
        for file in files {
            // Ballista removes those of earlier queries after five minutes.
            let Ok(bytes) = fs::read(&file) else { continue };
            assert_eq!(with_plaintext(&bytes), None, "{}", file.display());
            // Compressed plaintext would not be found: it is a file of sealed rows.
            let reader = Cursor::new(bytes);
            let reader = StreamReader::try_new(reader, None)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let schema = reader.schema();
            assert_eq!(schema.fields().len(), 1, "{}", file.display());
            let field = schema.field(0);
            assert_eq!(
                (&**field.name(), field.data_type()),
                ("sealed", &DataType::Binary)
            );
        }
    }
    // The search finds what is there.
    assert!(with_plaintext(format!("{:?}", data::plain_batch()).as_bytes()).is_some());
}

/// Neither plans, logs nor arguments have the key, in any form.
async fn tells_no_key(cluster: &Cluster, client: &SessionContext) {
    let key = key();
    let hex: String = key.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let decimal = format!("{:?}", key.as_bytes());
    let decimal = decimal.trim_matches(['[', ']']).to_owned();
    let forms = [
        key.as_bytes().to_vec(),
        hex.to_uppercase().into_bytes(),
        hex.into_bytes(),
        decimal.into_bytes(),
    ];
    let mut visible = Vec::new();
    let explained = "EXPLAIN VERBOSE SELECT count(*) FROM lineitem, orders WHERE l_orderkey = o_orderkey";
    visible.push((
        "plan".to_owned(),
        rows(client, explained).await.unwrap().join("\n").into_bytes(),
    ));
    let frame = client.sql(&queries()[2].1).await.unwrap();
    visible.push((
        "logical plan".to_owned(),
        format!("{:?}", frame.logical_plan()).into_bytes(),
    ));
    let plan = frame.create_physical_plan().await.unwrap();
    visible.push(("physical plan".to_owned(), format!("{plan:?}").into_bytes()));
    let processes = cluster.executors.iter().chain([&cluster.scheduler]);
    for process in processes {
        let log = process.log();
        assert!(log.len() > 1000, "a log at level debug");
        visible.push((process.log.display().to_string(), log.into_bytes()));
        visible.push(("arguments".to_owned(), process.command_line()));
    }
    for (name, text) in visible {
        let text = characters(&text);
        for form in &forms {
            assert!(!text.contains(&characters(form)), "{name} has the key");
        }
    }
}

/// All queries with one, two and three executors: `SCALE=1 cargo test --release figures -- --ignored --nocapture`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "figures for docs/performance.md"]
async fn figures() {
    let (key, objects) = (key(), sealed().await);
    for executors in 1..=3 {
        let cluster = Cluster::start(&objects, &vec![&key; executors]).await;
        let client = cluster.client(&key).await;
        cluster.server.traffic();
        let start = Instant::now();
        for (_, query) in queries() {
            rows(&client, &query).await.unwrap();
        }
        let (elapsed, (requests, sent)) = (start.elapsed(), cluster.server.traffic());
        let files = cluster
            .executors
            .iter()
            .flat_map(|executor| files_of(&executor.folder));
        let lens: Vec<_> = files.map(|file| file.metadata().unwrap().len()).collect();
        let tasks: usize = cluster
            .executors
            .iter()
            .map(|executor| executor.log().matches("sealed stage").count())
            .sum();
        println!(
            "{executors} executors: {elapsed:.1?}, {requests} requests, {sent} bytes sent, {tasks} tasks, \
             {} files between stages of {} bytes",
            lens.len(),
            lens.iter().sum::<u64>()
        );
    }
}
