//! `--check` compares the instructions and allocations of this crate with a committed baseline. It needs
//! valgrind, but none of the other implementations.
//!
//! The program runs itself once under callgrind, which records the instructions of each case. So the
//! counts do not depend on what else the computer does.

use crate::case::{Case, Counts};
use crate::cases;
use crate::data::{Grid, Plot};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs};

/// How far a count may exceed the baseline: different versions of the compiler and of the C library differ
/// by about this much.
const TOLERANCE: f64 = 0.03;

/// How far a count may fall below the baseline. A larger gain must be recorded in the baseline, or it
/// could be lost again unnoticed.
const SLACK: f64 = 0.1;

const BASELINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/baseline.txt");

/// Counts, and compares with the baseline, or writes the baseline if `bless` is true.
pub fn check(bless: bool) -> ExitCode {
    let counts = match count() {
        Ok(counts) => counts,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    grid(&counts).print();
    if bless {
        fs::write(BASELINE, render(&counts)).expect("the baseline can be written");
        return ExitCode::SUCCESS;
    }
    let written = fs::read_to_string(BASELINE).unwrap_or_default();
    let baseline = parse(&written);
    let other = compare(&baseline, &counts);
    if other.is_empty() {
        let (above, below) = (TOLERANCE * 100.0, SLACK * 100.0);
        println!(
            "\nno count is above the baseline by more than {above} %, or below it by more than {below} %"
        );
        return ExitCode::SUCCESS;
    }
    eprintln!("\nnot as in the baseline (renew it with --bless):\n{}", other.join("\n"));
    ExitCode::FAILURE
}

/// Counts how the cost grows with sizes, cuts, open calls and connections, and prints the curves.
pub fn growth() -> ExitCode {
    let points = crate::growth::points();
    match instructions(GROWTH, points.len()) {
        Ok(counts) => crate::growth::plots(&points, &counts).iter().for_each(Plot::print),
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The sets of cases that run under callgrind.
const CASES: &str = "cases";
const GROWTH: &str = "growth";

/// Runs a set of cases, under callgrind.
pub fn run_counted(which: &str) {
    let cases = match which {
        GROWTH => crate::growth::points().into_iter().map(|point| point.case).collect(),
        _ => cases::all(),
    };
    for mut case in cases {
        (case.run)(case.times);
        counted(&mut case);
        case_is_over(&case);
    }
}

/// Runs a case. callgrind counts only inside this function: [`instructions`] gives it the names of this
/// function and of [`case_is_over`].
#[inline(never)]
fn counted(case: &mut Case) {
    (case.run)(case.times);
    // Prevents a tail call, which would leave this function before the work is done.
    std::hint::black_box(case);
}

/// Marks the end of a case: callgrind writes its counts before it enters this function.
#[inline(never)]
fn case_is_over(case: &Case) {
    std::hint::black_box(case);
}

fn count() -> Result<Counts, String> {
    let mut counts = Vec::new();
    let cases = cases::all();
    let instructions = instructions(CASES, cases.len())?;
    for (mut case, instructions) in cases.into_iter().zip(instructions) {
        counts.push((format!("{}: instructions", case.name), instructions / case.times as f64));
        if !case.name.starts_with("floor") {
            // After these repetitions the buffers have their full size, so we do not count their growth.
            (case.run)(2 * case.times);
            let heap = allocation_counter::measure(|| (case.run)(case.times));
            let each = heap.count_total as f64 / case.times as f64;
            counts.push((format!("{}: allocations", case.name), each));
        }
    }
    counts.extend(crate::heap::held());
    Ok(counts)
}

/// Returns the instructions of each case, in order, and fails unless there are `expected` cases.
fn instructions(which: &str, expected: usize) -> Result<Vec<f64>, String> {
    let dir = env::temp_dir().join(format!("ide-mcp-benches-{}", std::process::id()));
    fs::create_dir_all(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let run = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--toggle-collect=*check::counted*",
            "--dump-before=*check::case_is_over*",
        ])
        .arg(format!("--callgrind-out-file={}", dir.join("out").display()))
        .arg(program)
        .args(["--run-counted", which])
        .stdin(Stdio::null())
        .output();
    let counts = match run {
        Err(error) => Err(format!("valgrind does not run ({error}): install it (apt-get install valgrind)")),
        Ok(output) if !output.status.success() => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Ok(_) => dumps(&dir),
    };
    // If this fails, files stay behind in the directory for temporary files.
    let _ = fs::remove_dir_all(&dir);
    let counts = counts?;
    if counts.len() != expected {
        return Err(format!("callgrind dumped {} cases of {expected}", counts.len()));
    }
    Ok(counts)
}

/// Reads the dumps, which are numbered from one.
fn dumps(dir: &Path) -> Result<Vec<f64>, String> {
    let mut counts = Vec::new();
    while let Ok(dump) = fs::read_to_string(dir.join(format!("out.{}", counts.len() + 1))) {
        if !dump.contains("desc: Trigger: --dump-before") {
            break;
        }
        let total = dump.lines().find_map(|line| line.strip_prefix("totals: "));
        let total = total.and_then(|total| total.trim().parse().ok());
        counts.push(total.ok_or("a dump without a total")?);
    }
    Ok(counts)
}

fn render(counts: &Counts) -> String {
    let mut text = String::from(
        "# Written by --bless; see benches/src/check.rs. Per message, per handshake, or in bytes.\n",
    );
    for (name, count) in counts {
        writeln!(text, "{name} = {count:.2}").expect("a string takes everything");
    }
    text
}

fn parse(text: &str) -> BTreeMap<&str, f64> {
    let pairs = text.lines().filter_map(|line| line.split_once(" = "));
    pairs.filter_map(|(name, count)| Some((name, count.parse().ok()?))).collect()
}

/// Returns a line for each count that is out of tolerance, new, or missing.
fn compare(baseline: &BTreeMap<&str, f64>, counts: &Counts) -> Vec<String> {
    let mut other = Vec::new();
    let mut left = baseline.clone();
    for (name, count) in counts {
        match left.remove(name.as_str()) {
            None => other.push(format!("{name}: {count:.2}, not in the baseline")),
            // 0.005 is half a unit of the last digit in the baseline.
            Some(before)
                if *count > before * (1.0 + TOLERANCE) + 0.005 || *count < before * (1.0 - SLACK) - 0.005 =>
            {
                other.push(format!("{name}: {count:.2}, baseline {before:.2}"));
            }
            Some(_) => {}
        }
    }
    other.extend(left.keys().map(|name| format!("{name}: in the baseline, but not counted")));
    other
}

/// Returns a table of the counts, each next to its floor if it has one.
fn grid(counts: &Counts) -> Grid {
    let columns = ["ours", "floor", "above it"].map(Into::into);
    let mut grid = Grid::new("counts", "per message, per handshake, or in bytes; callgrind", columns);
    let floors: BTreeMap<&str, f64> =
        counts.iter().filter_map(|(name, count)| Some((name.strip_prefix("floor: ")?, *count))).collect();
    for (name, count) in counts.iter().filter(|(name, _)| !name.starts_with("floor")) {
        grid.set(name, 0, *count);
        if let Some(floor) = floors.get(name.as_str()) {
            grid.set(name, 1, *floor);
            grid.set(name, 2, count - floor);
        }
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_new_and_missing_counts_are_reported() {
        let baseline = parse("# a comment\na = 100.00\nb = 0.00\ngone = 1.00\n");
        let cases: &[(&str, &[(&str, f64)], usize)] = &[
            ("the same", &[("a", 100.0), ("b", 0.0), ("gone", 1.0)], 0),
            ("at the tolerance", &[("a", 103.0), ("b", 0.0), ("gone", 1.0)], 0),
            ("above the tolerance", &[("a", 103.1), ("b", 0.0), ("gone", 1.0)], 1),
            ("one allocation in a hundred", &[("a", 100.0), ("b", 0.01), ("gone", 1.0)], 1),
            ("at the slack", &[("a", 90.0), ("b", 0.0), ("gone", 1.0)], 0),
            ("below the slack", &[("a", 89.9), ("b", 0.0), ("gone", 0.0)], 2),
            ("a count that is missing", &[("a", 100.0), ("b", 0.0)], 1),
            ("a new count", &[("a", 100.0), ("b", 0.0), ("gone", 1.0), ("new", 1.0)], 1),
        ];
        for (name, counts, expected) in cases {
            let counts = counts.iter().map(|(name, count)| ((*name).into(), *count)).collect();
            assert_eq!(compare(&baseline, &counts).len(), *expected, "{name}");
        }
    }
}
