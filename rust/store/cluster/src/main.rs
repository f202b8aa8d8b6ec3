//! A scheduler, an executor or a client of a cluster on encrypted objects: see the README.

use std::error::Error;
use std::sync::Arc;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::utils::default_session_builder;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{ParquetReadOptions, SessionConfig};
use object_store::aws::AmazonS3Builder;
use veriplex::{Key, os_rng};
use veriplex_store_cluster::{
    Buckets, KEY_FILE, OLD_KEY_FILE, client, functions, key_from_env, shuffle, tree,
};

const USAGE: &str = "usage: veriplex-cluster scheduler PORT
       veriplex-cluster executor SCHEDULER PORT FOLDER CORES
       veriplex-cluster sql SCHEDULER TABLE=URL... QUERY";

/// An executor says that it is there every so many seconds.
const HEARTBEAT: u64 = 2;
/// One that has not said so for as many is lost, and what it did is done again.
const TIMEOUT: u64 = 30;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    log::set_boxed_logger(Box::new(Stderr))?;
    let level = std::env::var("LOG").ok().and_then(|level| level.parse().ok());
    log::set_max_level(level.unwrap_or(log::LevelFilter::Warn));
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["scheduler", port] => scheduler(port.parse()?).await,
        ["executor", scheduler, port, folder, cores] => {
            executor(scheduler.parse()?, port.parse()?, folder, cores.parse()?).await
        }
        ["sql", scheduler, ref tables @ .., query] => sql(scheduler.parse()?, tables, query).await,
        _ => Err(USAGE.into()),
    }
}

async fn scheduler(port: u16) -> Result<(), Box<dyn Error>> {
    // It lists objects, for which any key does, and reads none.
    let buckets = Buckets::new(AmazonS3Builder::from_env(), &Key::generate(&mut os_rng()));
    let session = move |config: SessionConfig| {
        let state = default_session_builder(config)?;
        let mut state = SessionStateBuilder::new_from_existing(state)
            .with_runtime_env(buckets.runtime()?)
            .build();
        client::register(&mut state, &buckets)?;
        Ok(state)
    };
    let config = SchedulerConfig {
        bind_port: port,
        scheduling_policy: TaskSchedulingPolicy::PushStaged,
        executor_timeout_seconds: TIMEOUT,
        expire_dead_executor_interval_seconds: HEARTBEAT,
        no_executors_grace_period_seconds: TIMEOUT,
        override_session_builder: Some(Arc::new(session)),
        ..SchedulerConfig::default()
    };
    let address = format!("{}:{port}", config.bind_host).parse()?;
    let cluster = BallistaCluster::new_from_config(&config).await?;
    Ok(start_server(cluster, address, Arc::new(config)).await?)
}

async fn executor(scheduler: u16, port: u16, folder: &str, cores: usize) -> Result<(), Box<dyn Error>> {
    let key = key_from_env(KEY_FILE)?;
    let buckets = Buckets::new(AmazonS3Builder::from_env(), &key);
    let old = std::env::var_os(OLD_KEY_FILE).map(|_| key_from_env(OLD_KEY_FILE));
    let old = old
        .transpose()?
        .map(|key| Buckets::new(AmazonS3Builder::from_env(), &key));
    let mut registry = BallistaFunctionRegistry::default();
    for function in functions(&buckets, old) {
        registry.scalar_functions.insert(function.name().into(), function);
    }
    let aggregate = tree::aggregate();
    registry
        .aggregate_functions
        .insert(aggregate.name().into(), aggregate);
    let config = ExecutorProcessConfig {
        port,
        grpc_port: port + 1,
        scheduler_port: scheduler,
        scheduler_connect_timeout_seconds: 30,
        vcores: cores,
        task_scheduling_policy: TaskSchedulingPolicy::PushStaged,
        work_dir: Some(folder.to_owned()),
        executor_heartbeat_interval_seconds: HEARTBEAT,
        override_execution_engine: Some(Arc::new(shuffle::Engine::new(&key))),
        override_function_registry: Some(Arc::new(registry)),
        override_runtime_producer: Some(Arc::new(move |_: &SessionConfig| buckets.runtime())),
        ..ExecutorProcessConfig::default()
    };
    Ok(start_executor_process(Arc::new(config)).await?)
}

async fn sql(scheduler: u16, tables: &[&str], query: &str) -> Result<(), Box<dyn Error>> {
    let buckets = Buckets::new(AmazonS3Builder::from_env(), &key_from_env(KEY_FILE)?);
    let context = client::session(&format!("http://127.0.0.1:{scheduler}"), &buckets)?;
    for table in tables {
        let (name, url) = table.split_once('=').ok_or(USAGE)?;
        context
            .register_parquet(name, url, ParquetReadOptions::default())
            .await?;
    }
    Ok(context.sql(query).await?.show().await?)
}

/// Logs to standard error.
struct Stderr;

impl log::Log for Stderr {
    fn enabled(&self, _: &log::Metadata) -> bool {
        true
    }

    fn log(&self, record: &log::Record) {
        eprintln!("{} {}: {}", record.level(), record.target(), record.args());
    }

    fn flush(&self) {}
}
