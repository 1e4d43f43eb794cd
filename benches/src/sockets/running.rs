//! A server in a separate process, so that its CPU time and memory are its own.

use super::LOAD_CORE;
use crate::serve::pin;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

/// A server process, ended when this is dropped.
pub struct Running {
    process: Child,
    stdout: BufReader<ChildStdout>,
    pub port: u16,
}

impl Running {
    /// Starts this program with this mode and name, on this core, and keeps this thread on the core of
    /// the load.
    pub fn start(mode: &str, name: &str, core: usize) -> Self {
        pin(LOAD_CORE);
        let program = std::env::current_exe().expect("a running program has a path");
        let mut process = Command::new(program)
            .args([mode, name, &core.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started again");
        let mut stdout = BufReader::new(process.stdout.take().expect("it is piped"));
        let port =
            number(&mut stdout).and_then(|port| port.try_into().ok()).expect("the server prints its port");
        Self { process, stdout, port }
    }

    /// Returns the CPU time of the longest turn since the last query, in microseconds; zero if the server
    /// does not time its turns.
    pub fn longest_turn(&mut self) -> u64 {
        self.process.stdin.as_mut().expect("it is piped").write_all(b"?").expect("the server listens");
        number(&mut self.stdout).expect("the server prints its longest turn")
    }

    /// Returns how much CPU time all threads of the server and of its child have used.
    pub fn cpu(&self) -> Duration {
        let nanos = self.threads("schedstat").filter_map(|stat| stat.split(' ').next()?.parse::<u64>().ok());
        Duration::from_nanos(nanos.sum())
    }

    /// Returns how often a thread of the server has waited.
    pub fn waits(&self) -> u64 {
        let count = |status: String| value(&status, "voluntary_ctxt_switches:");
        self.threads("status").filter_map(count).sum()
    }

    /// Returns the resident memory in KiB.
    pub fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        value(&status.expect("it is running"), "VmRSS:").expect("it has memory")
    }

    /// Counts the instructions of the server during `work`, in user space and in the kernel. `None`
    /// without perf(1), or if perf has no permission to count.
    pub fn instructions(&self, work: impl FnOnce()) -> Option<(f64, f64)> {
        let out = std::env::temp_dir().join(format!("ide-mcp-perf-{}", self.process.id()));
        let mut perf = Command::new("perf")
            .args(["stat", "-x", ",", "-e", "instructions:u", "-e", "instructions:k", "-p"])
            .arg(self.processes().join(","))
            .arg("-o")
            .arg(&out)
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        // perf does not say when it has begun to count, so give it time.
        thread::sleep(Duration::from_millis(200));
        work();
        // perf may have ended already.
        let _ = kill_process(Pid::from_child(&perf), Signal::INT);
        let _ = perf.wait();
        let report = fs::read_to_string(&out).ok()?;
        let _ = fs::remove_file(&out);
        let count = |of: &str| {
            let line = report.lines().find(|line| line.contains(of))?;
            line.split(',').next()?.parse::<f64>().ok()
        };
        Some((count("instructions:u")?, count("instructions:k")?))
    }

    /// Returns the ids of the server and of its child, if it has one.
    fn processes(&self) -> Vec<String> {
        let id = self.process.id();
        // proc_pid_task_tid_children(5): the children that the main thread has started.
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        [id.to_string()].into_iter().chain(children.split_whitespace().map(Into::into)).collect()
    }

    fn threads(&self, file: &'static str) -> impl Iterator<Item = String> {
        let tasks = |id: String| fs::read_dir(format!("/proc/{id}/task")).expect("it is running");
        self.processes()
            .into_iter()
            .flat_map(tasks)
            .flatten()
            .map(move |thread| fs::read_to_string(thread.path().join(file)).unwrap_or_default())
    }
}

fn number(stdout: &mut impl BufRead) -> Option<u64> {
    let mut line = String::new();
    stdout.read_line(&mut line).ok()?;
    line.trim().parse().ok()
}

/// Returns the number after a name that begins a line of a status file.
fn value(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

impl Drop for Running {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
