//! `veriplex-lift`: see `USAGE`.

use std::path::Path;
use std::process::ExitCode;
use veriplex_lift::{Report, lift_file};

const USAGE: &str = "\
veriplex-lift FILE [--write FOLDER | --check FOLDER]

Lifts every Veriplex kernel in an object file, a static library or a program to Cryptol, and prints what that shows.

  --write  write the modules to FOLDER/ARCHITECTURE/KERNEL.cry
  --check  fail if a module differs from the file there
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (file, action) = match args[..] {
        ["--help"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        [file] => (file, None),
        [file, option @ ("--write" | "--check"), folder] => (file, Some((option == "--write", folder))),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(
        Path::new(file),
        action.map(|(write, folder)| (write, Path::new(folder))),
    ) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("veriplex-lift: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(file: &Path, action: Option<(bool, &Path)>) -> std::io::Result<()> {
    let lifted = lift_file(file)?;
    for kernel in &lifted {
        if let Some((write, folder)) = action {
            let path = folder.join(kernel.path());
            if write {
                std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
                std::fs::write(&path, &kernel.module)?;
            } else if std::fs::read_to_string(&path)? != kernel.module {
                return Err(std::io::Error::other(format!(
                    "{}: not what the kernel lifts to",
                    path.display()
                )));
            }
        }
    }
    print!("{}", Report(&lifted));
    Ok(())
}
