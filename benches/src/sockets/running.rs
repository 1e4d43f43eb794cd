//! A server in a process of its own, so that its CPU time and its memory are its own.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

/// Ended when this is dropped.
pub struct Running {
    process: Child,
    told: BufReader<ChildStdout>,
    pub port: u16,
}

impl Running {
    /// This program, started with this mode and name.
    pub fn start(mode: &str, name: &str) -> Self {
        let program = std::env::current_exe().expect("a running program has a path");
        let mut process = Command::new(program)
            .args([mode, name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started again");
        let mut told = BufReader::new(process.stdout.take().expect("it is piped"));
        let port = number(&mut told).and_then(|port| port.try_into().ok()).expect("the server says its port");
        Self { process, told, port }
    }

    /// Microseconds of CPU time of its longest turn since this was asked last; zero for a server that does not time its turns.
    pub fn longest_turn(&mut self) -> u64 {
        self.process.stdin.as_mut().expect("it is piped").write_all(b"?").expect("the server listens");
        number(&mut self.told).expect("the server says its longest turn")
    }

    /// The CPU time of all its threads so far.
    pub fn cpu(&self) -> Duration {
        let nanos = self.threads("schedstat").filter_map(|stat| stat.split(' ').next()?.parse::<u64>().ok());
        Duration::from_nanos(nanos.sum())
    }

    /// How often one of its threads has waited so far.
    pub fn waits(&self) -> u64 {
        let count = |status: String| value(&status, "voluntary_ctxt_switches:");
        self.threads("status").filter_map(count).sum()
    }

    /// Resident memory in KiB.
    pub fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        value(&status.expect("it is running"), "VmRSS:").expect("it has memory")
    }

    /// Instructions that it runs during `work`, in its own code and in the kernel. `None` without perf(1), or where
    /// it may not count.
    pub fn instructions(&self, work: impl FnOnce()) -> Option<(f64, f64)> {
        let out = std::env::temp_dir().join(format!("ide-mcp-perf-{}", self.process.id()));
        let mut perf = Command::new("perf")
            .args(["stat", "-x", ",", "-e", "instructions:u", "-e", "instructions:k", "-p"])
            .arg(self.process.id().to_string())
            .arg("-o")
            .arg(&out)
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        // It does not say when it has begun.
        thread::sleep(Duration::from_millis(200));
        work();
        // It may have ended by itself.
        let _ = kill_process(Pid::from_child(&perf), Signal::INT);
        let _ = perf.wait();
        let told = fs::read_to_string(&out).ok()?;
        let _ = fs::remove_file(&out);
        let count = |of: &str| {
            let line = told.lines().find(|line| line.contains(of))?;
            line.split(',').next()?.parse::<f64>().ok()
        };
        Some((count("instructions:u")?, count("instructions:k")?))
    }

    fn threads(&self, file: &'static str) -> impl Iterator<Item = String> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.process.id())).expect("it is running");
        threads.flatten().map(move |thread| fs::read_to_string(thread.path().join(file)).unwrap_or_default())
    }
}

fn number(told: &mut impl BufRead) -> Option<u64> {
    let mut line = String::new();
    told.read_line(&mut line).ok()?;
    line.trim().parse().ok()
}

/// The number behind a name that begins a line of a status.
fn value(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
