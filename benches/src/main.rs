//! Measures the WebSocket layer beside other implementations and beside what the bytes cost anyway.

#[cfg(feature = "check")]
mod check;
mod cases;
mod floor;
mod handshake;
#[cfg(feature = "check")]
mod heap;
mod measure;
mod ours;
mod tally;
mod workload;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    #[cfg(feature = "check")]
    match args.first().map(String::as_str) {
        Some("--run-counted") => { check::run_counted(); return ExitCode::SUCCESS; }
        Some("--check") => return check::check(false),
        Some("--bless") => return check::check(true),
        _ => {}
    }
    ExitCode::FAILURE
}
