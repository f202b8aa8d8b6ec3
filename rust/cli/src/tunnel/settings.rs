//! What a tunnel does, from the command line or from a TOML file. All of it but the private key is read again on
//! SIGHUP.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use veriplex_files::error::Error;
use veriplex_files::terminal_quoting::quoted;
use veriplex_files::text;
use veriplex_tunnel::daemon::{Address, Allowed, Limits, Listening, Proxy, Role, Settings};

use super::allow;
use super::args::{
    CONNECTIONS, Connect, Format, GRACE, Listen, MAX_TIMEOUT, PENDING, PER_PEER, PER_SOURCE, Serve, TIMEOUT,
};
use crate::keys;
use crate::password::Source;
use crate::secrets::PrivateKeyFile;

/// Where settings come from.
pub enum Origin<'a> {
    Serve(&'a Serve),
    Connect(&'a Connect),
}

impl Origin<'_> {
    /// Reads them, and where the password of the key comes from, if it has one.
    pub fn read(&self) -> Result<(Settings, Source), Error> {
        match self {
            Self::Serve(Serve {
                config: Some(path), ..
            }) => read(path),
            Self::Serve(options) => {
                let role = Role::Server {
                    allowed: allow::read(&options.peers, &options.peer_files)?,
                    pending: Limits {
                        all: options.max_pending as usize,
                        per_source: options.max_per_source as usize,
                    },
                    max_per_peer: options.max_per_peer as usize,
                };
                // The command line has it, or a file.
                let connect = options.connect.as_deref().unwrap_or_default();
                of_arguments(
                    &options.key,
                    connect,
                    options.seconds,
                    &options.addresses,
                    &options.listen,
                    role,
                )
            }
            Self::Connect(options) => {
                let server = &options.server;
                let role = Role::Client {
                    peer: keys::read_one_public(&server.peer_file)?.tunnel,
                };
                of_arguments(
                    &server.key,
                    &server.connect,
                    server.seconds,
                    &options.addresses,
                    &options.listen,
                    role,
                )
            }
        }
    }
}

fn of_arguments(
    key: &PrivateKeyFile,
    connect: &str,
    seconds: u32,
    addresses: &[String],
    listen: &Listen,
    role: Role,
) -> Result<(Settings, Source), Error> {
    let mut listeners = Vec::new();
    for address in addresses {
        let listening = Listening {
            address: address.as_str().into(),
            proxies: None,
        };
        add(&mut listeners, listening).map_err(|why| Error::io(address, why))?;
    }
    let settings = Settings {
        key_file: key.key.required().to_owned(),
        connect: Address::destination(connect).map_err(|why| Error::io(connect, why))?,
        listeners,
        timeout: Duration::from_secs(seconds.into()),
        grace: Duration::from_secs(listen.grace_seconds.into()),
        max_connections: listen.max_connections as usize,
        metrics: listen.metrics.clone(),
        log: listen.log.into(),
        allow_unix: listen.allow_unix,
        role,
    };
    Ok((settings, key.password.source()))
}

/// Adds a listener with an address of its own.
fn add(listeners: &mut Vec<Listening>, listening: Listening) -> Result<(), &'static str> {
    if listeners.iter().any(|other| other.address == listening.address) {
        return Err("duplicate listener");
    }
    listeners.push(listening);
    Ok(())
}

/// The file, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    key_file: PathBuf,
    password_file: Option<PathBuf>,
    connect: String,
    listen: Vec<ListenTable>,
    #[serde(default)]
    peer: Vec<PeerTable>,
    timeout: Option<u32>,
    grace: Option<u32>,
    max_connections: Option<u32>,
    max_per_peer: Option<u32>,
    max_pending: Option<u32>,
    max_per_source: Option<u32>,
    metrics: Option<PathBuf>,
    #[serde(default)]
    log: Format,
    #[serde(default)]
    allow_unix: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table [[listen]] with an address")]
struct ListenTable {
    address: String,
    proxies: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "a table [[peer]] with a fingerprint or a key-file"
)]
struct PeerTable {
    name: Option<String>,
    fingerprint: Option<String>,
    key_file: Option<PathBuf>,
}

/// Reads a file. Names of files in it are relative to its folder.
fn read(path: &Path) -> Result<(Settings, Source), Error> {
    let text = text::read_list(text::open_regular(path)?, path)?;
    let name = quoted(path);
    let folder = path.parent().unwrap_or(Path::new(""));
    parse(&text, folder).map_err(|wrong| match wrong {
        Wrong::Here(why) => Error::io(&name, why),
        Wrong::There(error) => error,
    })
}

/// What is wrong with a file, or with one that it names.
enum Wrong {
    Here(String),
    There(Error),
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self::There(error)
    }
}

#[allow(clippy::too_many_lines)] // one part per key of the file
fn parse(text: &str, folder: &Path) -> Result<(Settings, Source), Wrong> {
    let wrong = |why: String| Err(Wrong::Here(why));
    let file: Written = toml::from_str(text).map_err(|error| {
        let line = error
            .span()
            .map(|span| text[..span.start].matches('\n').count() + 1);
        let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        let list = "a list: [[listen]] and [[peer]] have two brackets, proxies are in one";
        Wrong::Here(format!("{line}{}", error.message().replace("a sequence", list)))
    })?;
    let number = |name: &str, given: Option<u32>, default: u32, range: std::ops::RangeInclusive<u32>| {
        let value = given.unwrap_or(default);
        if range.contains(&value) {
            Ok(value)
        } else {
            let (from, to) = range.into_inner();
            Err(Wrong::Here(format!("{name} must be from {from} to {to}")))
        }
    };
    let count = |name, given, default| number(name, given, default, 1..=u32::MAX).map(|n| n as usize);

    if file.listen.is_empty() {
        return wrong("no [[listen]] table".into());
    }
    let mut listeners: Vec<Listening> = Vec::new();
    for table in &file.listen {
        let address = Address::from(&*table.address).relative_to(folder);
        let proxies = match &table.proxies {
            Some(texts) if texts.is_empty() => {
                return wrong(format!(
                    "{address}: the list of proxies is empty: nobody could connect"
                ));
            }
            Some(texts) => {
                let mut proxies = Vec::new();
                for text in texts {
                    match Proxy::parse(text) {
                        Some(proxy) => proxies.push(proxy),
                        None => {
                            return wrong(format!(
                                "{address}: {text} is not an address, a network or \"unix\""
                            ));
                        }
                    }
                }
                Some(proxies)
            }
            None => None,
        };
        add(&mut listeners, Listening { address, proxies })
            .map_err(|why| Wrong::Here(format!("{}: {why}", table.address)))?;
    }

    let mut allowed = Allowed::default();
    for (table, at) in file.peer.iter().zip(1..) {
        let given = table.name.as_deref().unwrap_or_default();
        let (fingerprint, name) = match (&table.fingerprint, &table.key_file) {
            (Some(digits), None) => match allow::parse(digits) {
                Ok(fingerprint) => (fingerprint, given.to_owned()),
                Err(why) => return wrong(format!("peer {at} {given}: not a fingerprint: {why}")),
            },
            (None, Some(path)) => {
                let path = folder.join(path);
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                let name = if given.is_empty() { &stem } else { given };
                (
                    keys::read_one_public(&path)?.tunnel.fingerprint(),
                    name.to_owned(),
                )
            }
            _ => {
                return wrong(format!(
                    "peer {at} {given}: needs either a fingerprint or a key-file"
                ));
            }
        };
        if allowed.name(&fingerprint).is_some() {
            return wrong(format!("peer {at} {given}: duplicate peer"));
        }
        allowed.insert(fingerprint, &name);
    }

    let settings = Settings {
        key_file: folder.join(&file.key_file),
        connect: Address::destination(&file.connect)
            .map_err(|why| Wrong::Here(format!("{}: {why}", file.connect)))?
            .relative_to(folder),
        listeners,
        timeout: Duration::from_secs(number("timeout", file.timeout, TIMEOUT, 1..=MAX_TIMEOUT)?.into()),
        grace: Duration::from_secs(file.grace.unwrap_or(GRACE).into()),
        max_connections: count("max-connections", file.max_connections, CONNECTIONS)?,
        metrics: file.metrics.map(|path| folder.join(path)),
        log: file.log.into(),
        allow_unix: file.allow_unix,
        role: Role::Server {
            allowed,
            pending: Limits {
                all: count("max-pending", file.max_pending, PENDING)?,
                per_source: count("max-per-source", file.max_per_source, PER_SOURCE)?,
            },
            max_per_peer: count("max-per-peer", file.max_per_peer, PER_PEER)?,
        },
    };
    let password = file
        .password_file
        .map_or(Source::Terminal("password-file"), |path| {
            Source::File(folder.join(path))
        });
    Ok((settings, password))
}

#[cfg(test)]
mod tests {
    use veriplex::hybrid::Fingerprint;
    use veriplex_tunnel::daemon::Format as Log;

    use super::*;

    const MINIMAL: &str =
        "key-file = \"key\"\nconnect = \"localhost:80\"\n[[listen]]\naddress = \"[::]:1\"\n";

    fn refused(text: &str) -> String {
        match parse(text, Path::new("/etc")) {
            Ok(_) => panic!("it was taken: {text}"),
            Err(Wrong::Here(why)) => why,
            Err(Wrong::There(error)) => error.to_string(),
        }
    }

    fn taken(text: &str) -> Settings {
        let parsed = parse(text, Path::new("/etc"));
        parsed
            .unwrap_or_else(|_| panic!("it was refused: {}", refused(text)))
            .0
    }

    #[test]
    fn files() {
        let settings = taken(MINIMAL);
        assert_eq!(settings.key_file, Path::new("/etc/key"));
        assert_eq!(settings.connect, Address::Tcp("localhost:80".into()));
        assert_eq!((settings.timeout.as_secs(), settings.grace.as_secs()), (10, 30));
        assert_eq!((settings.max_connections, settings.log), (400, Log::Text));
        assert!(!settings.allow_unix);
        assert!(settings.listeners[0].proxies.is_none() && settings.metrics.is_none());
        let Role::Server {
            pending,
            max_per_peer,
            ..
        } = settings.role
        else {
            panic!("a client")
        };
        assert_eq!((pending.all, pending.per_source, max_per_peer), (128, 32, 100));

        let [one, two] = [[1; 32], [2; 32]].map(Fingerprint::from_bytes);
        let settings = taken(&format!(
            "key-file = '/run/key'\nconnect = 'unix:sockets/web'\nallow-unix = true\ntimeout = 3600\ngrace = 0\nmax-connections = 1\n\
             max-per-peer = 2\nmax-pending = 3\nmax-per-source = 4\nmetrics = 'm'\nlog = 'json'\n\
             [[listen]]\naddress = 'unix:/run/a'\nproxies = ['unix']\n\
             [[listen]]\naddress = 'systemd:web'\nproxies = ['10.0.0.0/8', '2001:db8::1']\n\
             [[peer]]\nname = \"Alice's\\u001b laptop\"\nfingerprint = '{one}'\n[[peer]]\nfingerprint = '{two}'\n"
        ));
        assert_eq!(settings.key_file, Path::new("/run/key"));
        assert_eq!(settings.connect, Address::Unix("/etc/sockets/web".into()));
        assert_eq!(settings.listeners[0].proxies, Some(vec![Proxy::Local]));
        assert_eq!(settings.listeners[1].address, Address::Systemd("web".into()));
        let proxies = settings.listeners[1].proxies.as_deref().unwrap();
        assert_eq!(proxies.len(), 2);
        assert_eq!(settings.metrics.as_deref(), Some(Path::new("/etc/m")));
        assert_eq!((settings.timeout.as_secs(), settings.grace.as_secs()), (3600, 0));
        assert_eq!((settings.max_connections, settings.log), (1, Log::Json));
        assert!(settings.allow_unix);
        let Role::Server {
            allowed,
            pending,
            max_per_peer,
        } = settings.role
        else {
            panic!("a client")
        };
        assert_eq!((pending.all, pending.per_source, max_per_peer), (3, 4, 2));
        assert_eq!(allowed.name(&one), Some("Alice's\\u{1b} laptop"));
        assert_eq!(allowed.name(&two), Some(two.to_string().as_str()));
    }

    #[test]
    fn wrong_files() {
        let one = Fingerprint::from_bytes([1; 32]);
        for (text, why) in [
            ("", "missing field"),
            ("key-file", "line 1: "),
            (&MINIMAL.replace("key-file", "key"), "line 1: unknown field"),
            (&MINIMAL.replace("[[listen]]", "[[listn]]"), "unknown field"),
            (&MINIMAL.replace("address", "adress"), "line 4: unknown field"),
            (&MINIMAL.replace("\"key\"", "1"), "line 1: invalid type"),
            (
                "key-file = 'key'\nconnect = '[::1]:1'\nlisten = ['[::1]:2']",
                "expected a table [[listen]] with an address",
            ),
            (
                "key-file = 'key'\nconnect = '[::1]:1'\nlisten = '[::1]:2'",
                "line 3: invalid type: string \"[::1]:2\", expected a list: [[listen]]",
            ),
            (
                &MINIMAL.replace("[[listen]]", "[listen]"),
                "line 3: invalid type: map, expected a list: [[listen]]",
            ),
            (
                &MINIMAL.replace("[[listen]]\naddress = \"[::]:1\"", "listen = []"),
                "no [[listen]] table",
            ),
            (
                &format!("timeout = 0\n{MINIMAL}"),
                "timeout must be from 1 to 3600",
            ),
            (
                &format!("timeout = 3601\n{MINIMAL}"),
                "timeout must be from 1 to 3600",
            ),
            (&format!("timeout = -1\n{MINIMAL}"), "line 1: invalid value"),
            (&format!("max-connections = 0\n{MINIMAL}"), "max-connections"),
            (&format!("max-per-peer = 0\n{MINIMAL}"), "max-per-peer"),
            (&format!("max-pending = 0\n{MINIMAL}"), "max-pending"),
            (&format!("max-per-source = 4294967296\n{MINIMAL}"), "line 1"),
            (&format!("log = 'xml'\n{MINIMAL}"), "line 1: unknown variant"),
            (&format!("{MINIMAL}proxies = []"), "nobody could connect"),
            (
                &format!("{MINIMAL}proxies = ['10.0.0.0/33']"),
                "10.0.0.0/33 is not an address",
            ),
            (
                &format!("{MINIMAL}[[listen]]\naddress = '[::]:1'"),
                "[::]:1: duplicate listener",
            ),
            (
                &MINIMAL.replace("localhost:80", "localhost"),
                "localhost: not HOST:PORT",
            ),
            (
                &format!("{MINIMAL}[[peer]]\nname = 'x'"),
                "peer 1 x: needs either a fingerprint or a key-file",
            ),
            (
                &format!("{MINIMAL}[[peer]]\nfingerprint = '{one}'\nkey-file = 'x'"),
                "needs either",
            ),
            (
                &format!("{MINIMAL}[[peer]]\nfingerprint = '{one}0'"),
                "not a fingerprint",
            ),
            (
                &format!(
                    "{MINIMAL}[[peer]]\nfingerprint = '{one}'\n[[peer]]\nname = 'y'\nfingerprint = '{one}'"
                ),
                "peer 2 y: duplicate peer",
            ),
            (
                &format!("{MINIMAL}[[peer]]\nkey-file = 'none.pub'"),
                "/etc/none.pub",
            ),
            (
                &format!("{MINIMAL}[[peer]]\nfingerprints = '{one}'"),
                "unknown field",
            ),
        ] {
            let said = refused(text);
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    /// The one that is installed with the unit.
    #[test]
    fn the_example_is_right() {
        let text = include_str!("../../systemd/tunnel.toml");
        let settings = taken(text);
        assert_eq!(settings.listeners.len(), 1);
        // Each line that is commented out can be taken in.
        let all: String = text
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(rest) if !rest.starts_with(' ') && !rest.is_empty() => format!("{rest}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        assert!(all.lines().filter(|line| line.starts_with("max-")).count() == 4);
        let settings = taken(&all);
        assert_eq!(settings.listeners.len(), 3);
        assert!(settings.metrics.is_some());
    }
}
