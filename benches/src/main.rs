//! Measures the WebSocket layer and calls of tools beside other implementations and beside what the bytes cost anyway.
//!
//! ```text
//! cargo run --release [-- decode | encode | handshake | calls | echo | memory | call-sockets ...] [--rounds N]
//! cargo run --release --features check -- calls                       and how often each allocates for a call
//! cargo run --release --no-default-features                         ours and the floors alone
//! cargo run --release --no-default-features --features check -- --check | --bless
//! ```

#[cfg_attr(not(feature = "check"), allow(dead_code, reason = "some of it is only counted"))]
mod cases;
#[cfg(feature = "check")]
mod check;
mod data;
mod floor;
#[cfg(feature = "check")]
mod goals;
mod handshake;
#[cfg(feature = "check")]
mod heap;
mod mcp;
mod measure;
#[cfg_attr(not(feature = "check"), allow(dead_code, reason = "some of it is only counted"))]
mod ours;
#[cfg(feature = "peers")]
mod peers;
mod report;
mod serve;
mod sockets;
mod tables;
mod tally;
mod workload;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [mode, name] if mode == sockets::SERVE => {
            serve::serve(name);
            return ExitCode::SUCCESS;
        }
        [mode, name] if mode == sockets::SERVE_CALLS => {
            serve::calls::serve(name);
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    #[cfg(feature = "check")]
    match args.first().map(String::as_str) {
        Some("--run-counted") => {
            check::run_counted();
            return ExitCode::SUCCESS;
        }
        Some("--check") => return check::check(false),
        Some("--bless") => return check::check(true),
        _ => {}
    }
    #[cfg(not(feature = "check"))]
    if args.iter().any(|arg| arg == "--check" || arg == "--bless") {
        eprintln!("allocations are counted in a build of its own: --no-default-features --features check");
        return ExitCode::FAILURE;
    }
    let rounds = args.iter().position(|arg| arg == "--rounds").and_then(|at| args.get(at + 1)?.parse().ok());
    let names: Vec<&String> = args.iter().take_while(|arg| *arg != "--rounds").collect();
    if let Some(unknown) =
        names.iter().find(|name| !MEASUREMENTS.iter().any(|(known, _)| *known == name.as_str()))
    {
        let known: Vec<&str> = MEASUREMENTS.iter().map(|(name, _)| *name).collect();
        eprintln!("{unknown}: not one of {}", known.join(", "));
        return ExitCode::FAILURE;
    }
    for (name, measure) in MEASUREMENTS {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            measure(rounds.unwrap_or(21)).print();
        }
    }
    ExitCode::SUCCESS
}

/// Everything that can be measured, by name: takes the number of rounds.
const MEASUREMENTS: &[(&str, fn(usize) -> data::Section)] = &[
    ("decode", |rounds| report::section("decode", &tables::decode(rounds))),
    ("encode", |rounds| report::section("encode", &tables::encode(rounds))),
    ("handshake", |rounds| report::section("handshake", &tables::handshake(rounds))),
    ("calls", |rounds| report::section("calls", &mcp::tables::calls(rounds))),
    ("adapters", sockets::adapters::adapters),
    ("idle", sockets::idle::idle),
    ("echo", sockets::echo::echo),
    ("memory", sockets::memory::memory),
    ("call-sockets", sockets::calls::calls),
];
