//! The tests of one build of the sources: which changes they reach, and whether they notice one.

use crate::changes::{Change, Verdict};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// The environment variable with the number of the active change.
pub const ACTIVE: &str = "IDE_MCP_MUTANT";
/// The environment variable with the path of the file that gets the numbers of the reached changes.
pub const REACHED: &str = "IDE_MCP_MUTANTS_REACHED";

/// The usual times of the tests that run together, in seconds. Most changes fail a test of the first group. The
/// tests after the last group run together, because some of them share one long computation.
const GROUPS: [f64; 3] = [0.4, 1.6, 6.4];
/// Parts of the names of tests that do not run: they plant faults to test the laws, for minutes.
const LEFT_OUT: [&str; 2] = ["laws_detect_every_bug", "planted_faults_are_found"];
/// The longest accepted time of a group, in multiples of the usual time, and the seconds on top.
const PATIENCE: (f64, f64) = (8.0, 5.0);
/// The most memory of a test program, in KiB: a change can make a loop push forever.
const MEMORY: u32 = 6_000_000;

/// The tests of one build.
pub struct Suite {
    pub tests: Vec<Test>,
}

/// One test of a test program.
#[derive(Clone)]
pub struct Test {
    /// The folder of the package and the target of the program, which are the same in each build.
    target: (PathBuf, String),
    program: PathBuf,
    folder: PathBuf,
    name: String,
    seconds: f64,
    reached: BTreeSet<u32>,
}

impl Suite {
    /// Builds the tests of `packages` in `tree` and lists them. Returns `None` if the sources do not compile. A tree
    /// that is built `often` is built in less time, and its tests take more.
    pub fn build(tree: &Path, packages: &[&str], often: bool) -> Result<Option<Self>> {
        let mut command = cargo(tree, "test", packages);
        if often {
            command.env("CARGO_INCREMENTAL", "1").env("CARGO_PROFILE_MUTANTS_OPT_LEVEL", "1");
        }
        let output = command.args(["--no-run", "--lib", "--test", "it"]).stderr(Stdio::null()).output()?;
        if !output.status.success() {
            return Ok(None);
        }
        let mut tests = Vec::new();
        for line in String::from_utf8(output.stdout)?.lines() {
            let Ok(Artifact { executable: Some(program), manifest_path, target }) =
                serde_json::from_str(line)
            else {
                continue;
            };
            let folder = manifest_path.parent().context("a manifest without a folder")?.to_owned();
            let list = |more: &[&str]| -> Result<BTreeSet<String>> {
                let output = Command::new(&program).arg("--list").args(more).current_dir(&folder).output()?;
                let names = String::from_utf8(output.stdout)?;
                Ok(names.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
            };
            let (all, ignored) = (list(&[])?, list(&["--ignored"])?);
            for name in
                all.difference(&ignored).filter(|name| !LEFT_OUT.iter().any(|part| name.contains(part)))
            {
                tests.push(Test {
                    target: (folder.strip_prefix(tree)?.to_owned(), target.name.clone()),
                    program: program.clone(),
                    folder: folder.clone(),
                    name: name.clone(),
                    seconds: 0.0,
                    reached: BTreeSet::new(),
                });
            }
        }
        Ok(Some(Self { tests }))
    }

    /// Runs each test alone, without a change. A test that fails this way is not used.
    pub fn trace(self, work: &Path) -> Result<Self> {
        let traced = Mutex::new(Vec::new());
        let numbered: Vec<(usize, &Test)> = self.tests.iter().enumerate().collect();
        crate::on_all_processors(&numbered, |(number, test)| {
            let file = work.join(format!("reached-{number}"));
            fs::write(&file, "")?;
            let start = Instant::now();
            let status = test.command([*test]).env(REACHED, &file).status()?;
            let seconds = start.elapsed().as_secs_f64();
            if status.success() {
                let reached = fs::read_to_string(&file)?.lines().map(str::parse).collect::<Result<_, _>>()?;
                traced.lock().unwrap().push(Test { seconds, reached, ..(*test).clone() });
            } else {
                println!("not used, as it fails without a change: {}", test.name);
            }
            Ok(fs::remove_file(&file)?)
        })?;
        Ok(Self { tests: traced.into_inner().unwrap() })
    }

    /// Takes the times of the tests of `other`, and only the tests that `other` has.
    pub fn with_times_of(mut self, other: &Self) -> Self {
        let key = |test: &Test| (test.target.clone(), test.name.clone());
        let times: BTreeMap<_, _> = other.tests.iter().map(|test| (key(test), test.seconds)).collect();
        self.tests.retain_mut(|test| {
            times.get(&key(test)).is_some_and(|seconds| {
                test.seconds = *seconds;
                true
            })
        });
        self
    }

    /// Returns the time of all tests, one by one.
    pub fn seconds(&self) -> f64 {
        self.tests.iter().map(|test| test.seconds).sum()
    }

    /// Returns the tests that run the code of `change`.
    pub fn reaching(&self, change: &Change) -> Vec<&Test> {
        self.tests.iter().filter(|test| test.reached.contains(&change.number)).collect()
    }

    /// Runs `tests`, the fastest first, until one fails, with `active` as the active change.
    pub fn verdict(&self, mut tests: Vec<&Test>, active: Option<&Change>) -> Result<Verdict> {
        tests.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let (mut tests, mut groups) = (tests.as_slice(), GROUPS.into_iter());
        while !tests.is_empty() {
            let (room, mut seconds) = (groups.next().unwrap_or(f64::INFINITY), 0.0);
            let fitting = tests.iter().take_while(|test| {
                seconds += test.seconds;
                seconds <= room
            });
            let (group, rest) = tests.split_at(fitting.count().max(1));
            if group_fails(group, active)? {
                return Ok(Verdict::Noticed);
            }
            tests = rest;
        }
        Ok(Verdict::Missed)
    }
}

impl Test {
    /// Returns the command that runs `tests` of the program of this test.
    fn command<'a>(&self, tests: impl IntoIterator<Item = &'a Test>) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")).arg(&self.program);
        command.args(["--exact", "--test-threads=1"]).args(tests.into_iter().map(|test| &test.name));
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder).env("RUST_BACKTRACE", "0");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

/// Returns whether a test of `group` fails or does not end.
fn group_fails(group: &[&Test], active: Option<&Change>) -> Result<bool> {
    let mut programs: Vec<&Path> = group.iter().map(|test| test.program.as_path()).collect();
    programs.sort_unstable();
    programs.dedup();
    for program in programs {
        let tests = || group.iter().filter(|test| test.program == program);
        let Some(first) = tests().next() else { continue };
        let mut command = first.command(tests().copied());
        if let Some(change) = active {
            command.env(ACTIVE, change.number.to_string());
        }
        let usual: f64 = tests().map(|test| test.seconds).sum();
        if !succeeds_within(command, Duration::from_secs_f64(usual * PATIENCE.0 + PATIENCE.1))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Runs `command` in a process group, which is killed after `limit`.
fn succeeds_within(mut command: Command, limit: Duration) -> Result<bool> {
    let mut child = command.process_group(0).spawn()?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if start.elapsed() > limit {
            Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status()?;
            child.wait()?;
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Returns the cargo command for the libraries of `packages` in `tree`, with messages in JSON.
pub fn cargo(tree: &Path, subcommand: &str, packages: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args([subcommand, "--profile", "mutants", "--message-format", "json"]);
    command.args(["--features", "ide-mcp/testing,ide-mcp/ide,ide-mcp/simd"]);
    for package in packages {
        command.args(["--package", package]);
    }
    // The lints are those of the written code.
    command.env("RUSTFLAGS", "--cap-lints=allow").env("CARGO_TARGET_DIR", tree.with_file_name("build"));
    command.current_dir(tree);
    command
}

#[derive(Deserialize)]
struct Artifact {
    executable: Option<PathBuf>,
    manifest_path: PathBuf,
    target: Target,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}
