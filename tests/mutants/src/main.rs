//! Makes one small change of the state machines after another, and fails if the tests do not notice a change.
//!
//! `cargo mutants --list` names the changes: `<` becomes `<=`, a function returns the default, a match arm is
//! deleted. There are thousands, and a build for each of them takes a day. This program builds the tests once:
//! one copy of the sources has every change, each behind a condition, and the environment of a test names the
//! change to make.
//!
//! 1. [`changes`] reads the list, without the files that have passed as they are.
//! 2. [`weave`] writes the copy. A change that does not compile in this copy is not made; a change in a constant
//!    has no condition and gets its own build.
//! 3. [`suite`] runs each test once, for its time and for the changes whose code it reaches.
//! 4. For each change, the tests that reach it run, the fastest first, until one fails.
//!
//! Every result is kept in `target/mutants/results`, so that an interrupted run continues.

mod changes;
mod suite;
mod weave;

use anyhow::{Context, Result, bail};
use changes::{Change, Passed, Results, Verdict};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use std::{env, fs, thread};
use suite::Suite;
use weave::Woven;

/// The packages whose tests run. Those of the adapters are the tests of the driver with sockets.
const TESTED: [&str; 6] = [
    "ide-mcp",
    "ide-mcp-driver",
    "ide-mcp-embed",
    "ide-mcp-mio",
    "ide-mcp-blocking",
    "ide-mcp-adapter-tests",
];

/// The packages whose sources are changed, with their folders.
const PACKAGES: &[(&str, &str)] =
    &[("ide-mcp", ""), ("ide-mcp-driver", "adapters/driver/"), ("ide-mcp-embed", "adapters/editors/embed/")];

fn main() -> Result<()> {
    let parts: Vec<String> = env::args().skip(1).collect();
    let root = env::current_dir()?;
    let work = root.join("target/mutants");
    fs::create_dir_all(&work)?;

    let mut passed = Passed::read(&root)?;
    let changes = changes::list(&passed, &parts)?;
    let results = Mutex::new(Results::open(&work.join("results"))?);
    let left: Vec<&Change> =
        changes.iter().filter(|change| results.lock().unwrap().get(change).is_none()).collect();
    println!("{} changes, {} without a result", changes.len(), left.len());
    if !left.is_empty() {
        run(&root, &work, &left, &results)?;
    }

    let results = results.into_inner().unwrap();
    passed.record(&changes, &results)?;
    let missed: Vec<&Change> =
        changes.iter().filter(|change| results.get(change) == Some(Verdict::Missed)).collect();
    for change in &missed {
        println!("missed: {}", change.name);
    }
    if !missed.is_empty() {
        bail!("the tests do not notice {} changes", missed.len());
    }
    Ok(())
}

fn run(root: &Path, work: &Path, changes: &[&Change], results: &Mutex<Results>) -> Result<()> {
    let add = |change: &Change, verdict| results.lock().unwrap().add(change, verdict);
    let tree = copy(root, work, "woven")?;
    let Woven { behind, single, invalid } = weave::weave(&tree, changes)?;
    println!("{} behind conditions, {} single, {} do not compile", behind.len(), single.len(), invalid.len());
    for change in invalid {
        add(change, Verdict::Invalid)?;
    }

    let suite = Suite::build(&tree, &TESTED, false)?.context("the copy with all changes does not compile")?;
    let suite = suite.trace(work)?;
    println!("{} tests, {:.0} seconds one by one", suite.tests.len(), suite.seconds());
    on_all_processors(&behind, |change| add(change, suite.verdict(suite.reaching(change), Some(change))?))?;

    let tree = copy(root, work, "single")?;
    let start = Instant::now();
    for (change, done) in single.iter().zip(1..) {
        let path = tree.join(&change.file);
        let text = fs::read_to_string(&path)?;
        fs::write(&path, change.apply(&text))?;
        let tested =
            if change.package == "ide-mcp-driver" { &TESTED[1..] } else { &[change.package.as_str()] };
        let built = Suite::build(&tree, tested, true)?;
        fs::write(&path, text)?;
        let verdict = built
            .map(|built| built.with_times_of(&suite))
            .map(|built| built.verdict(built.tests.iter().collect(), None));
        add(change, verdict.unwrap_or(Ok(Verdict::Invalid))?)?;
        progress(done, single.len(), start);
    }
    Ok(())
}

/// Calls `run` for each of `items`, on all processors, and prints the progress.
fn on_all_processors<T: Sync>(items: &[T], run: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    let (next, start) = (AtomicUsize::new(0), Instant::now());
    let worker = || -> Result<()> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return Ok(()) };
            run(item)?;
            progress(index + 1, items.len(), start);
        }
    };
    thread::scope(|scope| {
        let workers = (0..thread::available_parallelism()?.get()).map(|_| scope.spawn(worker));
        workers.collect::<Vec<_>>().into_iter().try_for_each(|worker| worker.join().unwrap())
    })
}

/// Prints the progress after each hundredth of the changes.
fn progress(done: usize, all: usize, start: Instant) {
    if done.is_multiple_of((all / 100).max(1)) {
        println!("{done} of {all} after {} s", start.elapsed().as_secs());
    }
}

/// Copies the files of the project to a folder of `work`.
fn copy(root: &Path, work: &Path, name: &str) -> Result<PathBuf> {
    let tree = work.join(name);
    let script = "rm -rf \"$0\" && mkdir \"$0\" && git ls-files -z --cached --others --exclude-standard |
        tar --create --null --files-from - | tar --extract --directory \"$0\"";
    let status = Command::new("sh").arg("-c").arg(script).arg(&tree).current_dir(root).status()?;
    if !status.success() {
        bail!("cannot copy {} to {}", root.display(), tree.display());
    }
    Ok(tree)
}
