//! The program `lrmask`.

use std::process::ExitCode;

fn main() -> ExitCode {
    lrmask_cli::run(std::env::args_os()).into()
}
