//! `veriplex`: digests, authenticates, encrypts and signs files, and tunnels connections.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    veriplex_cli::command::main()
}
