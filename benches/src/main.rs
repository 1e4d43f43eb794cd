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
mod echo;
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
mod tables;
mod tally;
mod workload;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [mode, name] if mode == "--serve" => {
            serve::serve(name);
            return ExitCode::SUCCESS;
        }
        [mode, name] if mode == "--serve-calls" => {
            mcp::sockets::serve(name);
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
    let rounds = rounds.unwrap_or(21);
    let names: Vec<&String> = args.iter().take_while(|arg| *arg != "--rounds").collect();
    let all: [(&str, fn(usize) -> Vec<report::Table>); 4] = [
        ("decode", tables::decode),
        ("encode", tables::encode),
        ("handshake", tables::handshake),
        ("calls", mcp::tables::calls),
    ];
    const NAMES: [&str; 7] = ["decode", "encode", "handshake", "calls", "echo", "memory", "call-sockets"];
    if let Some(unknown) = names.iter().find(|name| !NAMES.contains(&name.as_str())) {
        eprintln!("{unknown}: not one of {}", NAMES.join(", "));
        return ExitCode::FAILURE;
    }
    let wants = |name: &str| names.is_empty() || names.iter().any(|wanted| *wanted == name);
    let mut tables = Vec::new();
    for (name, measure) in all {
        if wants(name) {
            let measured = measure(rounds);
            measured.iter().for_each(report::Table::print);
            tables.extend(measured);
        }
    }
    if !tables.is_empty() {
        report::print_goals(&tables);
    }
    let sockets: [(&str, fn(usize)); 3] =
        [("echo", echo::echo), ("memory", echo::memory), ("call-sockets", mcp::sockets::calls)];
    for (name, measure) in sockets {
        if wants(name) {
            measure(rounds);
        }
    }
    ExitCode::SUCCESS
}
