//! The program `ide-mcp`: how fast it starts, and how large it is.

use crate::data::{Grid, Section};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The program, built by [`build`].
pub const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/program/release/ide-mcp");
const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/program/small/ide-mcp");
const EMPTY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/program/empty");

/// The directory in which an editor publishes its lock file.
const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/program/config");

/// Builds the program with all its commands.
pub fn build() {
    cargo(&["--release"]);
}

/// Measures the start of each command that an editor or a plugin waits for, and of an empty program for
/// comparison.
pub fn program(rounds: usize) -> Section {
    build();
    cargo(&["--profile", "small", "--no-default-features", "--features", "sidecar"]);
    write_empty();
    let starts: [(&str, &str, &[&str], &str); 5] = [
        ("an empty program", EMPTY, &[], ""),
        ("ide-mcp --version", PROGRAM, &["--version"], ""),
        ("ide-mcp editor --headless", PROGRAM, &["editor", "--headless"], ""),
        ("ide-mcp sidecar", PROGRAM, &["sidecar"], SIDECAR),
        ("ide-mcp sidecar alone, profile small", SMALL, &["sidecar"], SIDECAR),
    ];
    let columns = ["first line, ms", "median, ms", "program, KiB"].map(Into::into);
    let unit = "the least and the median of the rounds, from the start of the process to its first line; size as cargo builds it";
    let mut grid = Grid::new("starting the program", unit, columns);
    let mut times = starts.map(|_| Vec::new());
    for _ in 0..rounds {
        for ((_, program, arguments, input), times) in starts.iter().zip(&mut times) {
            times.push(first_line(program, arguments, input));
        }
    }
    for ((name, program, ..), mut times) in starts.into_iter().zip(times) {
        times.sort_by(f64::total_cmp);
        let size = fs::metadata(program).expect("it was built").len() as f64 / 1024.0;
        for (column, value) in [times[0], times[times.len() / 2], size].into_iter().enumerate() {
            grid.set(name, column, value);
        }
    }
    let mut section = Section::default();
    section.grids.push(grid);
    section
}

const SIDECAR: &str = "{\"name\":\"editor\",\"folders\":[]}\n";

/// Returns the milliseconds until the first line of the program.
fn first_line(program: &str, arguments: &[&str], input: &str) -> f64 {
    let start = Instant::now();
    let mut process = Command::new(program)
        .args(arguments)
        .env("CLAUDE_CONFIG_DIR", CONFIG)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it was built");
    let mut commands = process.stdin.take().expect("it is piped");
    commands.write_all(input.as_bytes()).expect("it reads");
    let (mut output, mut line) = (BufReader::new(process.stdout.take().expect("it is piped")), String::new());
    output.read_line(&mut line).expect("it says text");
    let took = start.elapsed().as_secs_f64() * 1e3;
    assert!(!line.is_empty(), "{program} says nothing");
    // The program ends cleanly at the end of its standard input.
    drop(commands);
    output.read_to_string(&mut line).expect("it says text");
    process.wait().expect("it ends");
    took
}

fn cargo(arguments: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let built = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args([
            "build",
            "--quiet",
            "--locked",
            "--package",
            "ide-mcp-cli",
            "--target-dir",
            "benches/target/program",
        ])
        .args(arguments)
        .current_dir(root)
        .status();
    assert!(built.is_ok_and(|status| status.success()), "the program can be built");
}

/// Builds a program that prints one empty line.
fn write_empty() {
    let mut compiler = Command::new("rustc")
        .args(["-O", "-o", EMPTY, "-"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("the compiler is there");
    compiler.stdin.take().expect("it is piped").write_all(b"fn main() { println!() }").expect("it reads");
    assert!(compiler.wait().is_ok_and(|status| status.success()), "an empty program can be built");
}
