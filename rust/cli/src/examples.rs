//! Examples for `--help` and the man pages. The program accepts each of these command lines.

use clap::Command;

/// The examples of the command with this name (after the program's). A comment may follow `#`.
pub fn of(command: &str) -> &'static [&'static str] {
    match command {
        "" => &[
            "veriplex key generate my.key",
            "veriplex encrypt --key-file my.key notes.txt # makes notes.txt.vpx",
            "veriplex decrypt --key-file my.key notes.txt.vpx",
            "veriplex help encrypt",
        ],
        "digest" => &[
            "veriplex digest *.iso > LIST",
            "veriplex digest --check LIST",
            "veriplex digest --length 64 file",
        ],
        "mac" => &[
            "veriplex mac --key-file my.key *.iso > LIST",
            "veriplex mac --key-file my.key --check LIST",
        ],
        "sum" => &[
            "veriplex sum --recursive folder > LIST",
            "veriplex sum --check --quiet LIST",
            "veriplex sum --outboard file.vpt file # then parts of file can be verified:",
            "veriplex sum --outboard file.vpt --verify DIGEST --range 0:1000000 file",
        ],
        "key" => &[
            "veriplex key generate --private --password alice # makes alice and alice.pub",
            "veriplex key inspect alice.pub",
        ],
        "key generate" => &[
            "veriplex key generate my.key # for encrypt, mac, sum and disk",
            "veriplex key generate --private alice # for sign, seal, unseal and tunnel; makes alice and alice.pub",
        ],
        "key public" => &["veriplex key public alice > alice.pub"],
        "key inspect" => &["veriplex key inspect alice.pub"],
        "key password" => &["veriplex key password alice"],
        "encrypt" => &[
            "veriplex encrypt --password notes.txt # makes notes.txt.vpx",
            "veriplex encrypt --key-file my.key -o backups photos letters # folders; makes backups/photos.vpx and backups/letters.vpx",
            "pg_dump db | veriplex encrypt --key-file my.key > db.vpx",
        ],
        "decrypt" => &[
            "veriplex decrypt --password notes.txt.vpx # makes notes.txt",
            "veriplex decrypt --key-file my.key -o restored backups/photos.vpx backups/letters.vpx",
            "veriplex decrypt --key-file my.key -o - backups/photos.vpx | tar t",
            "veriplex decrypt --key-file my.key --offset 1000000 --length 1000 -o - video.vpx",
        ],
        "hash-password" => &["veriplex hash-password > HASHFILE"],
        "verify-password" => &["veriplex verify-password HASHFILE && echo right"],
        "sign" => &["veriplex sign --key-file alice release.tar # makes release.tar.vpsig"],
        "verify" => &["veriplex verify --from alice.pub release.tar"],
        "seal" => &["veriplex seal --key-file alice --to bob.pub notes.txt # makes notes.txt.sealed"],
        "unseal" => &["veriplex unseal --key-file bob --from alice.pub notes.txt.sealed"],
        "disk" => &[
            "veriplex disk encrypt --key-file my.key disk.img",
            "veriplex disk serve --key-file my.key --socket disk.sock disk.img.vpdisk",
        ],
        "disk encrypt" => &[
            "veriplex disk encrypt --key-file my.key disk.img # makes disk.img.vpdisk and disk.img.vpdisk.vphead",
            "veriplex disk encrypt --in-place --password --header sdb.vphead /dev/sdb",
        ],
        "disk decrypt" => &[
            "veriplex disk decrypt --key-file my.key disk.img.vpdisk # makes disk.img",
            "veriplex disk decrypt --in-place --password --header sdb.vphead /dev/sdb",
        ],
        "disk info" => &[
            "veriplex disk info disk.img.vpdisk",
            "veriplex disk info --header sdb.vphead /dev/sdb",
        ],
        "disk serve" => &[
            "veriplex disk serve --key-file my.key --socket disk.sock disk.img.vpdisk",
            "nbdcopy 'nbd+unix:///?socket=disk.sock' copy.img # while it runs",
        ],
        "disk table" => &[
            "veriplex disk table --key-file my.key --header sdb.vphead /dev/sdb | dmsetup create my-disk # as root",
        ],
        "disk key" => &[
            "veriplex disk key --key-file my.key --header sdb.vphead /dev/sdb | cryptsetup open --type plain --hash plain --key-file=- --cipher xchacha12,aes-adiantum-plain64 --key-size 256 --sector-size 4096 --iv-large-sectors /dev/sdb my-disk",
        ],
        "tunnel" => &[
            "veriplex key generate --private server # makes server and server.pub",
            "veriplex tunnel serve --key-file server --peer-file client.pub --listen 0.0.0.0:7000 --connect localhost:80",
            "veriplex tunnel connect --key-file client --peer-file server.pub --listen localhost:8080 --connect SERVER:7000",
        ],
        "tunnel serve" => &[
            "veriplex tunnel serve --key-file server --peer-file client.pub --listen 0.0.0.0:7000 --connect localhost:80",
            "veriplex tunnel serve --config /etc/veriplex/tunnel.toml",
        ],
        "tunnel connect" => &[
            "veriplex tunnel connect --key-file client --peer-file server.pub --listen localhost:8080 --connect SERVER:7000",
        ],
        "tunnel pipe" => {
            &["veriplex tunnel pipe --key-file client --peer-file server.pub --connect SERVER:7000"]
        }
        "tunnel echo" => &["veriplex tunnel echo --listen localhost:7001"],
        "completions" => &["veriplex completions bash > ~/.local/share/bash-completion/completions/veriplex"],
        _ => &[],
    }
}

/// Adds examples, which `--help` shows, to a command and those below it.
pub fn add(command: Command) -> Command {
    add_below(command, "")
}

fn add_below(command: Command, name: &str) -> Command {
    let command = command.mut_subcommands(|below| {
        let path = format!("{name} {}", below.get_name());
        add_below(below, path.trim_start())
    });
    // The program's own help is long enough.
    match of(name) {
        [] => command,
        _ if name.is_empty() => command,
        examples => command.after_long_help(format!("Examples:\n  {}", examples.join("\n  "))),
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, FromArgMatches};

    use super::*;
    use crate::command::Cli;

    fn check(command: &Command, name: &str) {
        let examples = of(name);
        assert!(!examples.is_empty(), "{name} has no example");
        let mut is_shown = false;
        for example in examples {
            let line = example
                .split(" # ")
                .next()
                .unwrap()
                .replace("DIGEST", &"5a".repeat(32));
            for part in line.split([';', '|', '&', '>']).map(str::trim) {
                let Some(arguments) = part.strip_prefix("veriplex ") else {
                    continue;
                };
                is_shown |= name.is_empty() || format!("{arguments} ").starts_with(&format!("{name} "));
                let words = part.split_whitespace();
                let parsed = add(Cli::command()).try_get_matches_from(words);
                match parsed.and_then(|found| Cli::from_arg_matches(&found)) {
                    Ok(_) => {}
                    Err(error) if error.kind() == clap::error::ErrorKind::DisplayHelp => {}
                    Err(error) => panic!("{example}: {error}"),
                }
            }
        }
        assert!(is_shown, "{name}");
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            check(below, format!("{name} {}", below.get_name()).trim_start());
        }
    }

    #[test]
    fn every_command_has_examples_that_are_accepted() {
        check(&Cli::command(), "");
    }
}
