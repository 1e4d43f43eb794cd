//! What the smallest editor costs its author: CPU time of a clean build, crates, and the size of the program,
//! on this crate, on rmcp, and on tungstenite alone. A check shows that each editor answers the same calls.

use crate::data::{Grid, Section};
use crate::mcp::calls::{frame, open_diff};
use crate::sockets::load::{read_text, session};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

const OURS: &str = "ide-mcp over blocking";
const RMCP: &str = "rmcp + tokio-tungstenite";
const BY_HAND: &str = "tungstenite + serde_json";

/// The editors, with their directories in benches/minimal.
const ALL: [(&str, &str); 3] = [(OURS, "ide_mcp"), (RMCP, "rmcp"), (BY_HAND, "tungstenite")];

/// Builds, checks and measures each editor.
pub fn minimal(_: usize) -> Section {
    let columns = ["build, CPU seconds", "crates other than its own", "program, KiB"].map(Into::into);
    let unit = "clean release build, user and system time; stripped";
    let mut grid = Grid::new("the smallest editor", unit, columns);
    for (_, dir) in ALL {
        cargo(dir, &["fetch", "--locked", "--quiet"]);
    }
    for (name, dir) in ALL {
        let target = target(dir);
        // In the first run there is no such directory.
        let _ = fs::remove_dir_all(&target);
        let before = cpu_of_children();
        let path = target.to_str().expect("a path that is text");
        cargo(dir, &["build", "--release", "--locked", "--offline", "--quiet", "--target-dir", path]);
        let build = cpu_of_children() - before;
        let program = target.join("release/minimal");
        prove(&program);
        let size = fs::metadata(&program).expect("it was built").len() as f64 / 1024.0;
        for (column, value) in [build, crates(dir) as f64, size].into_iter().enumerate() {
            grid.set(name, column, value);
        }
    }
    let mut section = Section::default();
    section.grids.push(grid);
    section
}

fn manifest(dir: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("minimal").join(dir).join("Cargo.toml")
}

fn target(dir: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/minimal").join(dir)
}

fn cargo(dir: &str, args: &[&str]) -> String {
    let (command, args) = args.split_first().expect("a command");
    let run = Command::new(env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .arg(command)
        .arg("--manifest-path")
        .arg(manifest(dir))
        .args(args)
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo is there");
    assert!(run.status.success(), "cargo {command} failed for {dir}");
    String::from_utf8(run.stdout).expect("it says text")
}

/// Returns how many crates the program has on this system, not counting its own.
fn crates(dir: &str) -> usize {
    let tree = cargo(dir, &["tree", "--locked", "--offline", "--prefix", "none", "--edges", "normal,build"]);
    let crates: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(" (").next()).collect();
    crates.len() - 1
}

/// Returns the user and system time of all child processes that have ended, in seconds.
fn cpu_of_children() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("this process is there");
    let (_, behind_name) = stat.rsplit_once(") ").expect("a name in parentheses");
    // proc(5): cutime and cstime are the 16th and 17th field; two fields precede the split text.
    let ticks = behind_name.split(' ').skip(13).take(2).map(|ticks| ticks.parse::<f64>().expect("a number"));
    ticks.sum::<f64>() / rustix::param::clock_ticks_per_second() as f64
}

/// Attaches to the editor with the token of its lock file, lists and calls its tools, and ends the
/// editor.
fn prove(program: &Path) {
    let config = env::temp_dir().join(format!("ide-mcp-minimal-{}", std::process::id()));
    fs::create_dir_all(&config).expect("there is room for temporary files");
    let mut editor = Command::new(program)
        .env("CLAUDE_CONFIG_DIR", &config)
        .current_dir(&config)
        .stdin(Stdio::piped())
        .spawn()
        .expect("it was built");
    let (lock_file, port) = wait_for_lock_file(&config.join("ide"));
    let published: serde_json::Value =
        serde_json::from_slice(&fs::read(&lock_file).expect("it is there")).expect("it is JSON");
    let token = published["authToken"].as_str().expect("it has a token");
    let mut stream = session(port, token);
    let listed = ask(&mut stream, r#"{"method":"tools/list","jsonrpc":"2.0","id":1}"#);
    assert!(listed.contains("openDiff"), "{listed}");
    let saved = ask(&mut stream, &open_diff(2, 200));
    assert!(saved.contains("FILE_SAVED") && saved.contains("let value"), "{saved}");
    editor.stdin.take().expect("it is piped").write_all(b"\n").expect("it reads");
    drop(stream);
    assert!(editor.wait().expect("it ends").success(), "it ends well");
    assert!(!lock_file.exists(), "its lock file is gone");
    // If this fails, files stay behind in the directory for temporary files.
    let _ = fs::remove_dir_all(config);
}

fn ask(stream: &mut TcpStream, text: &str) -> String {
    stream.write_all(&frame(text)).expect("it reads");
    read_text(stream)
}

fn wait_for_lock_file(dir: &Path) -> (PathBuf, u16) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(10) {
        let files = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
        for file in files {
            let port = file.file_name().and_then(|name| name.to_str()?.strip_suffix(".lock")?.parse().ok());
            if let (Some(port), false) = (port, fs::read(&file).unwrap_or_default().is_empty()) {
                return (file, port);
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("no lock file in {}", dir.display());
}
