//! A scheduler and executors: processes on this machine.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use datafusion::prelude::{ParquetReadOptions, SessionContext};
use tempfile::TempDir;
use veriplex::Key;
use veriplex_store_cluster::{KEY_FILE, OLD_KEY_FILE, client};

use crate::data::TABLES;
use crate::server::{BUCKET, Server};

/// Of each executor: it runs so many tasks at a time.
pub const CORES: usize = 2;

/// What objects had before, to executors that have a key.
pub fn old_key() -> Key {
    Key::from([9; 32])
}

pub struct Process {
    child: Child,
    port: u16,
    /// Where it writes, and what TMPDIR is.
    pub folder: PathBuf,
    pub log: PathBuf,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Process {
    pub fn kill(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    pub fn command_line(&self) -> Vec<u8> {
        fs::read(format!("/proc/{}/cmdline", self.child.id())).unwrap()
    }

    /// Waits until it listens, or has ended.
    fn wait(&mut self) -> bool {
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            assert!(start.elapsed() < Duration::from_mins(1), "{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
        true
    }
}

pub struct Cluster {
    pub server: Server,
    pub folder: TempDir,
    pub scheduler: Process,
    pub executors: Vec<Process>,
}

impl Cluster {
    /// One executor with each of these keys, on the objects in a folder.
    pub async fn start(objects: &Path, keys: &[&Key]) -> Self {
        let server = Server::start(objects).await;
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let mut scheduler = start(
            &server,
            folder.path(),
            "scheduler",
            port,
            None,
            &[&port.to_string()],
        );
        assert!(scheduler.wait(), "{}", scheduler.log());
        let mut cluster = Self {
            server,
            folder,
            scheduler,
            executors: Vec::new(),
        };
        for key in keys {
            assert!(
                cluster.add(Some(key)),
                "{}",
                cluster.executors.last().unwrap().log()
            );
        }
        cluster
    }

    /// Another executor: whether it runs.
    pub fn add(&mut self, key: Option<&Key>) -> bool {
        let port = free_port();
        let name = format!("executor{port}");
        let folder = self.folder.path().join(&name);
        let (scheduler, cores) = (self.scheduler.port.to_string(), CORES.to_string());
        let arguments = [&*scheduler, &port.to_string(), folder.to_str().unwrap(), &cores];
        let mut executor = start(&self.server, self.folder.path(), &name, port, key, &arguments);
        let runs = executor.wait();
        self.executors.push(executor);
        runs
    }

    /// A client with this key that knows the tables.
    pub async fn client(&self, key: &Key) -> SessionContext {
        let context = self.session(key);
        for table in TABLES {
            let url = format!("s3://{BUCKET}/{table}/");
            let options = ParquetReadOptions::default();
            context.register_parquet(table, url, options).await.unwrap();
        }
        context
    }

    pub fn session(&self, key: &Key) -> SessionContext {
        let scheduler = format!("http://127.0.0.1:{}", self.scheduler.port);
        client::session(&scheduler, &self.server.buckets(key)).unwrap()
    }
}

fn free_port() -> u16 {
    // With the one after it, which executors take too.
    loop {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        if port < u16::MAX && TcpListener::bind(("127.0.0.1", port + 1)).is_ok() {
            return port;
        }
    }
}

fn start(
    server: &Server,
    folder: &Path,
    name: &str,
    port: u16,
    key: Option<&Key>,
    arguments: &[&str],
) -> Process {
    let log = folder.join(format!("{name}.log"));
    let own = folder.join(name);
    fs::create_dir(&own).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_veriplex-cluster"));
    command
        .arg(name.trim_end_matches(char::is_numeric))
        .args(arguments)
        .env("LOG", "debug")
        .env("TMPDIR", &own)
        .env_remove(KEY_FILE)
        .envs(server.environment())
        .stdout(Stdio::null())
        .stderr(File::create(&log).unwrap());
    if let Some(key) = key {
        for (variable, key) in [(KEY_FILE, key), (OLD_KEY_FILE, &old_key())] {
            let file = folder.join(format!("{name}.{variable}"));
            fs::write(&file, key.as_bytes()).unwrap();
            command.env(variable, file);
        }
    }
    Process {
        child: command.spawn().unwrap(),
        port,
        folder: own,
        log,
    }
}
