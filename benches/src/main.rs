//! Measures the WebSocket layer and tool calls, and compares them with other implementations and with
//! floors: the cost of handling the bytes and nothing else.
//!
//! `--help` lists what you can measure.

#[cfg_attr(not(feature = "check"), allow(dead_code, reason = "some of it is only counted"))]
mod case;
#[cfg_attr(not(feature = "check"), allow(dead_code, reason = "some of it is only counted"))]
mod cases;
#[cfg(feature = "check")]
mod check;
mod data;
mod floor;
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
#[cfg(feature = "peers")]
mod peers;
mod program;
mod serve;
mod sockets;
mod table;
mod tables;
mod tally;
mod workload;

use std::process::ExitCode;
use table::Table;

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
        _ => {}
    }
    #[cfg(feature = "check")]
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--run-counted", which] => {
            check::run_counted(which);
            return ExitCode::SUCCESS;
        }
        ["--growth"] => return check::growth(),
        ["--check"] => return check::check(false),
        ["--bless"] => return check::check(true),
        _ => {}
    }
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    #[cfg(not(feature = "check"))]
    if args.iter().any(|arg| arg == "--check" || arg == "--bless") {
        eprintln!("allocations are counted in a build of its own: --no-default-features --features check");
        return ExitCode::FAILURE;
    }
    let rounds = args.iter().position(|arg| arg == "--rounds").and_then(|at| args.get(at + 1)?.parse().ok());
    // A quick run only shows that everything works; its figures mean little.
    let rounds = if args.iter().any(|arg| arg == "--quick") { Some(1) } else { rounds };
    let names: Vec<&String> = args.iter().take_while(|arg| !arg.starts_with("--")).collect();
    if let Some(unknown) =
        names.iter().find(|name| !MEASUREMENTS.iter().any(|(known, _)| *known == name.as_str()))
    {
        let known: Vec<&str> = MEASUREMENTS.iter().map(|(name, _)| *name).collect();
        eprintln!("{unknown}: not one of {}; --help says more", known.join(", "));
        return ExitCode::FAILURE;
    }
    for (name, measure) in MEASUREMENTS {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            measure(rounds.unwrap_or(21)).print();
        }
    }
    ExitCode::SUCCESS
}

/// All measurements, by name; each takes the number of rounds.
const MEASUREMENTS: &[(&str, fn(usize) -> data::Section)] = &[
    ("decode", |rounds| tables(&tables::decode(rounds))),
    ("encode", |rounds| tables(&tables::encode(rounds))),
    ("handshake", |rounds| tables(&tables::handshake(rounds))),
    ("calls", |rounds| tables(&mcp::tables::calls(rounds))),
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

fn tables(tables: &[Table]) -> data::Section {
    data::Section::of(tables.iter().map(Table::grid).collect())
}

const HELP: &str = "\
Measures the WebSocket layer and tool calls beside other implementations, and prints tables.

  cargo run --release [-- NAME…] [--rounds N | --quick]      all measurements, or these:
      decode encode handshake calls adapters idle echo memory call-sockets turns languages program minimal
  cargo run --release --features simd -- decode encode calls the same with the feature simd of this crate
  cargo run --release --no-default-features                  this crate and the floors alone, without peers

With --no-default-features --features check, which needs valgrind:
  -- --check      compares instructions and allocations with the baseline; --bless writes the baseline
  -- --growth     instructions by size, cuts, open calls and connections
  -- calls        prints the allocations for a call as well";
