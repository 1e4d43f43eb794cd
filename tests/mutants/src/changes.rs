//! The list of the changes, and what is known of them from earlier runs.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One change, in the terms of cargo-mutants.
#[derive(Deserialize)]
pub struct Change {
    pub name: String,
    pub file: String,
    pub package: String,
    pub genre: Genre,
    pub replacement: String,
    span: LineSpan,
    /// The number in the environment of the tests. 0 is no change.
    #[serde(skip)]
    pub number: u32,
    /// The replaced bytes of the file.
    #[serde(skip)]
    pub start: usize,
    #[serde(skip)]
    pub end: usize,
    /// The git blob of the code of the file.
    #[serde(skip)]
    digest: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Genre {
    FnValue,
    BinaryOperator,
    UnaryOperator,
    MatchArm,
    MatchArmGuard,
    StructField,
}

#[derive(Deserialize)]
struct LineSpan {
    start: LineColumn,
    end: LineColumn,
}

/// A position in characters; both numbers begin at 1.
#[derive(Deserialize)]
struct LineColumn {
    line: usize,
    column: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A test failed, or took far more than its usual time.
    Noticed,
    /// All tests passed.
    Missed,
    /// The change does not compile.
    Invalid,
}

/// Returns the changes of the files that have not passed as they are. If `parts` is not empty, the files are
/// those whose path contains one of `parts`, passed or not.
pub fn list(passed: &Passed, parts: &[String]) -> Result<Vec<Change>> {
    let mut command = Command::new("cargo");
    command.args(["mutants", "--list", "--json"]);
    command.args(crate::PACKAGES.iter().flat_map(|(package, _)| ["--package", package]));
    let output = command.output().context("cannot run `cargo mutants`")?;
    if !output.status.success() {
        bail!("`cargo mutants --list` fails: {}", String::from_utf8_lossy(&output.stderr));
    }
    let mut changes: Vec<Change> = serde_json::from_slice(&output.stdout)?;
    changes.retain(|change| {
        if parts.is_empty() {
            !passed.has(&change.file)
        } else {
            parts.iter().any(|part| change.file.contains(part))
        }
    });
    let mut text = (String::new(), String::new());
    for (change, number) in changes.iter_mut().zip(1..) {
        if text.0 != change.file {
            text = (change.file.clone(), fs::read_to_string(&change.file)?);
        }
        change.number = number;
        change.start = offset(&text.1, &change.span.start)?;
        change.end = offset(&text.1, &change.span.end)?;
        change.digest = passed.digests.get(&change.file).context("a file that git does not know")?.clone();
    }
    Ok(changes)
}

fn offset(text: &str, at: &LineColumn) -> Result<usize> {
    let line = text.split_inclusive('\n').nth(at.line - 1).context("a line beyond the file")?;
    let before: usize = text.split_inclusive('\n').take(at.line - 1).map(str::len).sum();
    Ok(before + line.char_indices().nth(at.column - 1).map_or(line.len(), |(offset, _)| offset))
}

impl Change {
    /// Returns `text` of the file with this change.
    pub fn apply(&self, text: &str) -> String {
        [&text[..self.start], &self.replacement, &text[self.end..]].concat()
    }
}

/// `tests/mutants.txt`: a line for each file that has passed, with the git blob of its [`code`], the commit
/// and the number of changes.
pub struct Passed {
    path: PathBuf,
    lines: BTreeMap<String, String>,
    digests: BTreeMap<String, String>,
}

impl Passed {
    pub fn read(root: &Path) -> Result<Self> {
        let path = root.join("tests/mutants.txt");
        let lines = fs::read_to_string(&path).unwrap_or_default();
        let lines = lines.lines().filter_map(|line| line.split_once(' '));
        let lines = lines.map(|(file, rest)| (file.to_owned(), rest.to_owned())).collect();
        let files = git(&["ls-files", "--cached", "--others", "--exclude-standard", "*.rs"], "")?;
        let mut digests = BTreeMap::new();
        for file in files.lines().filter(|file| Path::new(file).exists()) {
            let digest = git(&["hash-object", "--stdin"], &code(&fs::read_to_string(file)?))?;
            digests.insert(file.to_owned(), digest[..12].to_owned());
        }
        Ok(Self { path, lines, digests })
    }

    /// Returns whether `file` has passed as it is now.
    fn has(&self, file: &str) -> bool {
        let digest = self.lines.get(file).and_then(|line| line.split(' ').next());
        digest.is_some() && digest == self.digests.get(file).map(String::as_str)
    }

    /// Writes a line for each file of `changes` without a missed change.
    pub fn record(&mut self, changes: &[Change], results: &Results) -> Result<()> {
        let commit = git(&["rev-parse", "--short=8", "HEAD"], "")?;
        for file in changes.iter().map(|change| &change.file).collect::<BTreeSet<_>>() {
            let of_file: Vec<&Change> = changes.iter().filter(|change| change.file == *file).collect();
            let passes =
                |change: &&Change| matches!(results.get(change), Some(Verdict::Noticed | Verdict::Invalid));
            self.lines.remove(file);
            if of_file.iter().all(passes) {
                let line = format!("{} {} {}", of_file[0].digest, commit.trim(), of_file.len());
                self.lines.insert(file.clone(), line);
            }
        }
        self.lines.retain(|file, _| self.digests.contains_key(file));
        let text: String = self.lines.iter().map(|(file, line)| format!("{file} {line}\n")).collect();
        Ok(fs::write(&self.path, text)?)
    }
}

/// Returns a file without the lines of comments, and without its tests, which are last: a change of them
/// repeats no file.
fn code(text: &str) -> String {
    let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.split_inclusive('\n').filter(|line| !line.trim_start().starts_with("//")).collect()
}

fn git(arguments: &[&str], input: &str) -> Result<String> {
    let mut git = Command::new("git");
    let mut git = git.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    git.stdin.take().context("no pipe")?.write_all(input.as_bytes())?;
    let output = git.wait_with_output()?;
    if !output.status.success() {
        bail!("`git {}` fails: {}", arguments[0], String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The file of the results: the verdict, the git blob of the code and the name of the change in each line.
pub struct Results {
    file: File,
    verdicts: BTreeMap<String, Verdict>,
}

const WORDS: [(Verdict, &str); 3] =
    [(Verdict::Noticed, "noticed"), (Verdict::Missed, "missed"), (Verdict::Invalid, "invalid")];

impl Results {
    /// Reads the results of earlier runs, without the missed changes: a test may notice them now.
    pub fn open(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).unwrap_or_default();
        let verdicts = text.lines().filter_map(|line| {
            let (word, key) = line.split_once(' ')?;
            let (verdict, _) = WORDS.iter().find(|(_, known)| *known == word)?;
            (*verdict != Verdict::Missed).then(|| (key.to_owned(), *verdict))
        });
        let verdicts = verdicts.collect();
        Ok(Self { file: OpenOptions::new().create(true).append(true).open(path)?, verdicts })
    }

    pub fn get(&self, change: &Change) -> Option<Verdict> {
        self.verdicts.get(&Self::key(change)).copied()
    }

    pub fn add(&mut self, change: &Change, verdict: Verdict) -> Result<()> {
        let word = WORDS.iter().find(|(known, _)| *known == verdict).map_or("", |(_, word)| word);
        let key = Self::key(change);
        writeln!(self.file, "{word} {key}")?;
        self.verdicts.insert(key, verdict);
        Ok(())
    }

    fn key(change: &Change) -> String {
        format!("{} {}", change.digest, change.name)
    }
}
