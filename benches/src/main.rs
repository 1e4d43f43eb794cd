//! Measurements of the WebSocket layer and of tool calls, beside other implementations and beside
//! floors, which are the cost of the bytes alone.
//!
//! ```text
//! cargo run --release -- report                       everything, and docs/performance.md from it
//! cargo run --release -- report --render              the page again, from the results beside it
//! cargo run --release -- report --quick --out DIR     a short run, to check that it works
//! cargo run --release [-- decode | encode | handshake | calls | adapters | idle | echo | memory | call-sockets | turns | languages | program | minimal ...] [--rounds N]
//! cargo run --release --features check -- calls                       and the allocations of each for a call
//! cargo run --release --no-default-features                         ours and the floors alone
//! cargo run --release --no-default-features --features check -- --check | --bless
//! ```

#[cfg_attr(not(feature = "check"), allow(dead_code, reason = "some of it is only counted"))]
mod case;
#[cfg_attr(not(feature = "check"), allow(dead_code, reason = "some of it is only counted"))]
mod cases;
#[cfg(feature = "check")]
mod check;
mod data;
mod floor;
#[cfg(feature = "check")]
mod goals;
#[cfg(feature = "check")]
mod growth;
mod handshake;
#[cfg(feature = "check")]
mod heap;
mod mcp;
mod measure;
mod minimal;
#[cfg_attr(not(feature = "check"), allow(dead_code, reason = "some of it is only counted"))]
mod ours;
mod page;
#[cfg(feature = "peers")]
mod peers;
mod program;
mod report;
mod serve;
mod sockets;
mod table;
mod tables;
mod tally;
mod workload;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [mode, name, core] if mode == sockets::SERVE || mode == sockets::SERVE_CALLS => {
            serve::pin(core.parse().expect("the number of a core"));
            if mode == sockets::SERVE {
                serve::serve(name)
            } else {
                serve::calls::serve(name)
            }
            return ExitCode::SUCCESS;
        }
        [mode, rounds, path] if mode == "--write-tables" => {
            let rounds = rounds.parse().expect("the number of rounds");
            let measured = MEASUREMENTS.iter().filter(|(name, _)| DEPENDS_ON_SIMD.contains(name));
            let sections: Vec<_> = measured.map(|(_, measure)| measure(rounds)).collect();
            let text = serde_json::to_string(&sections).expect("it can be written");
            std::fs::write(path, text).expect("the file can be written");
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    #[cfg(feature = "check")]
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--run-counted", which] => {
            check::run_counted(which);
            return ExitCode::SUCCESS;
        }
        ["--write-counts", path] => return check::write_counts(path),
        ["--check"] => return check::check(false),
        ["--bless"] => return check::check(true),
        _ => {}
    }
    if args.first().is_some_and(|arg| arg == "report") {
        return page::report(&args[1..]);
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

/// The measurements that the feature `simd` changes.
const DEPENDS_ON_SIMD: [&str; 3] = ["decode", "encode", "calls"];

/// All measurements, by name; each takes the number of rounds.
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
    ("turns", sockets::turns::turns),
    ("languages", sockets::languages::languages),
    ("program", program::program),
    ("minimal", minimal::minimal),
];
