//! The user's own tools: each call runs a program, without a shell. The arguments of the call go to its standard
//! input, so nothing that an agent sends becomes part of a command.
//!
//! ```text
//!   Waiting ──▶ Running ──▶ Over: exited, too late, too much output, or its call has ended
//!      └─ its call has ended ──▶ Over
//! ```

mod group;

use super::app::Headless;
use crate::editor::worker::{FollowUp, Worker};
use group::{Group, Pipes};
use ide_mcp::ide::Server;
use ide_mcp::ide::tool::{Tool, ToolSet};
use ide_mcp::mcp::ToolResult;
use ide_mcp::rpc::CallId;
use ide_mcp::{Clock, Time};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How many programs run at the same time. A model calls few tools at once, and the programs share the machine with the
/// user's editor. Further calls wait.
const AT_ONCE: usize = 4;

/// The limits of a program.
#[derive(Clone, Copy, Debug)]
struct Limits {
    time: Duration,
    /// The largest standard output, in bytes.
    output: usize,
}

/// A call is answered with an error after 30 s. A slow program is ended before that, so that the model reads which one
/// was slow. The output may be as long as the longest selection; a model reads far less.
const LIMITS: Limits = Limits { time: Duration::from_secs(25), output: 256 * 1024 };

/// How many bytes of standard error the model gets after a failure: the first lines have the reason.
const SHOWN_ERRORS: u64 = 4096;

/// How often to look at a program that has closed its output but has not ended.
const LOOK: Duration = Duration::from_millis(10);

/// A tool of the user's own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnTool {
    name: String,
    #[serde(default)]
    description: String,
    /// The JSON Schema of the arguments.
    schema: Option<Map<String, Value>>,
    /// The program and its arguments.
    run: Vec<String>,
    /// True if models that connect by `mcp-config` get the tool.
    #[serde(default)]
    models: bool,
}

/// The tools of the user's own, and their programs.
pub(super) struct Programs {
    commands: BTreeMap<String, Vec<String>>,
    workers: Vec<Worker<(), Headless>>,
    /// The calls whose programs wait or run.
    stages: BTreeMap<CallId, Shared>,
    dir: PathBuf,
    wake: Arc<dyn Fn() + Send + Sync>,
}

/// The stage of a program, for its thread and for the loop.
type Shared = Arc<Mutex<Stage>>;

#[derive(Debug)]
enum Stage {
    Waiting,
    /// The program and what it has started.
    Running(Group),
    Over,
}

impl Programs {
    /// Creates no tools. The programs run in `dir`, and `wake` is called after each.
    pub(super) fn new(dir: &Path, wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            commands: BTreeMap::new(),
            workers: Vec::new(),
            stages: BTreeMap::new(),
            dir: dir.to_owned(),
            wake: Arc::new(wake),
        }
    }

    /// Replaces the tools, and returns `tools` with them. Programs that run go on.
    ///
    /// # Errors
    /// A tool that cannot be offered. Nothing has changed then.
    pub(super) fn offer(&mut self, tools: ToolSet, own: Vec<OwnTool>) -> Result<ToolSet, String> {
        let mut commands = BTreeMap::new();
        let tools = own.into_iter().try_fold(tools, |tools, own| {
            let OwnTool { name, description, schema, run, models } = own;
            if name.is_empty() || Tool::from_name(&name).is_some() {
                return Err(format!("{name:?} cannot name a tool of your own"));
            }
            if run.first().is_none_or(String::is_empty) {
                return Err(format!("the `run` of {name:?} has no program"));
            }
            let schema = schema
                .map_or_else(|| r#"{"type":"object"}"#.into(), |schema| Value::Object(schema).to_string());
            if commands.insert(name.clone(), run).is_some() {
                return Err(format!("{name:?} is there twice"));
            }
            let tools = tools.custom(name.clone(), description, schema);
            Ok(if models { tools.offer_to_models(name) } else { tools })
        })?;
        self.commands = commands;
        Ok(tools)
    }

    /// Runs the program of this tool for a call. Its output is the answer.
    pub(super) fn called(&mut self, server: &mut Server, call: CallId, name: &str, arguments: String) {
        let Some(command) = self.commands.get(name) else {
            return failed(server, call, &format!("{name:?} is not offered any more"));
        };
        let (name, command, dir) = (name.to_owned(), command.clone(), self.dir.clone());
        let stage: Shared = Arc::new(Mutex::new(Stage::Waiting));
        self.stages.insert(call, stage.clone());
        let worker = match self.worker() {
            Ok(worker) => worker,
            Err(error) => return failed(server, call, &format!("{name} cannot be run: {error}")),
        };
        worker.run(
            Some(call),
            move |()| run(&command, &dir, &arguments, &stage, LIMITS),
            move |app, server, _, outcome: Result<String, String>| {
                app.own.stages.remove(&call);
                match outcome {
                    // If this fails, the agent is gone, and nobody waits for the answer.
                    Ok(output) => drop(server.call(call).answer_json(&output)),
                    Err(problem) => failed(server, call, &format!("{name}: {problem}")),
                }
            },
        );
    }

    /// Returns the worker with the fewest jobs. If all are busy, another one is started, up to [`AT_ONCE`].
    fn worker(&mut self) -> io::Result<&mut Worker<(), Headless>> {
        if self.workers.len() < AT_ONCE && self.workers.iter().all(|worker| worker.jobs() > 0) {
            let wake = self.wake.clone();
            self.workers.push(Worker::new((), move || wake())?);
        }
        let idlest = self.workers.iter_mut().min_by_key(|worker| worker.jobs());
        idlest.ok_or_else(|| io::Error::other("there is no thread"))
    }

    /// Returns the follow-up of the next program that is over.
    pub(super) fn next(&mut self) -> Option<FollowUp<Headless>> {
        self.workers.iter_mut().find_map(Worker::next)
    }

    /// Ends the program of a call that has ended.
    pub(super) fn cancel(&mut self, call: CallId) {
        if let Some(stage) = self.stages.remove(&call) {
            end(&stage);
            self.workers.iter_mut().for_each(|worker| worker.cancel(call));
        }
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        self.stages.values().for_each(end);
    }
}

impl std::fmt::Debug for Programs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Programs").field("commands", &self.commands).finish_non_exhaustive()
    }
}

fn failed(server: &mut Server, call: CallId, problem: &str) {
    let _ = server.call(call).respond(&ToolResult::error(problem));
}

fn look(stage: &Mutex<Stage>) -> MutexGuard<'_, Stage> {
    stage.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends a running program, and keeps a waiting one from starting.
fn end(stage: &Shared) {
    match &mut *look(stage) {
        Stage::Running(group) => group.end(),
        stage => *stage = Stage::Over,
    }
}

/// Runs a program. Returns its output, or why there is none.
fn run(
    command: &[String],
    dir: &Path,
    arguments: &str,
    stage: &Shared,
    limits: Limits,
) -> Result<String, String> {
    let clock = Clock::new();
    let until = clock.now().saturating_add(limits.time);
    let Pipes { input, output, errors } = start(command, dir, stage)?;
    feed(input, format!("{arguments}\n"));
    let output = read_output(output, limits.output);
    let errors = read_errors(errors);
    let outcome = match output.recv_timeout(until.saturating_since(clock.now())) {
        Ok(bytes) if bytes.len() > limits.output => {
            Err(format!("its output has more than {} bytes", limits.output))
        }
        Ok(bytes) => Ok(bytes),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(too_late(limits)),
    };
    if outcome.is_err() {
        end(stage);
    }
    let status = wait(clock, until, stage);
    let bytes = outcome?;
    match status {
        Some(status) if status.success() => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Some(status) => {
            // What the program started may hold its standard error open.
            let errors = errors.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
            Err(format!("{status}: {}", String::from_utf8_lossy(&errors).trim_end()))
        }
        None => Err(too_late(limits)),
    }
}

fn too_late(limits: Limits) -> String {
    format!("it has not ended within {} s", limits.time.as_secs_f32())
}

/// Starts a program in its own group, unless its call has ended.
fn start(command: &[String], dir: &Path, stage: &Shared) -> Result<Pipes, String> {
    let (program, arguments) = command.split_first().ok_or("there is no program")?;
    let mut stage = look(stage);
    if matches!(*stage, Stage::Over) {
        return Err("its call has ended".into());
    }
    let mut command = Command::new(group::located(program, dir));
    command.args(arguments).current_dir(dir);
    let started = Group::start(command);
    let (group, pipes) = started.map_err(|error| format!("{program:?} cannot be started: {error}"))?;
    *stage = Stage::Running(group);
    Ok(pipes)
}

/// Writes the arguments on a thread: a program may end without reading them.
fn feed(pipe: Option<ChildStdin>, text: String) {
    if let Some(mut pipe) = pipe {
        thread::spawn(move || pipe.write_all(text.as_bytes()));
    }
}

/// Reads the output to its end, or to one byte more than the limit, on a thread of its own.
fn read_output(pipe: Option<ChildStdout>, limit: usize) -> mpsc::Receiver<Vec<u8>> {
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    on_thread(move || read(pipe, most).0)
}

/// Reads the first errors. A full pipe would block the program, so read the rest too.
fn read_errors(pipe: Option<ChildStderr>) -> mpsc::Receiver<Vec<u8>> {
    on_thread(move || {
        let (bytes, pipe) = read(pipe, SHOWN_ERRORS);
        let _ = pipe.map(|mut pipe| io::copy(&mut pipe, &mut io::sink()));
        bytes
    })
}

fn on_thread(read: impl FnOnce() -> Vec<u8> + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(read()));
    receiver
}

fn read<P: Read>(mut pipe: Option<P>, most: u64) -> (Vec<u8>, Option<P>) {
    let mut bytes = Vec::new();
    let _ = pipe.as_mut().map(|pipe| pipe.take(most).read_to_end(&mut bytes));
    (bytes, pipe)
}

/// Waits for a program to end, and ends it when its time is up: then `None`.
fn wait(clock: Clock, until: Time, stage: &Shared) -> Option<ExitStatus> {
    let mut is_late = false;
    loop {
        {
            let mut stage = look(stage);
            let Stage::Running(group) = &mut *stage else { return None };
            match group.try_wait() {
                Ok(None) => {}
                ended => {
                    *stage = Stage::Over;
                    return ended.ok().flatten().filter(|_| !is_late);
                }
            }
        }
        if !is_late && clock.now() >= until {
            is_late = true;
            end(stage);
        }
        thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env::temp_dir;

    fn ran(script: &str, arguments: &str, limits: Limits) -> Result<String, String> {
        run(&shell(script), &temp_dir(), arguments, &Arc::new(Mutex::new(Stage::Waiting)), limits)
    }

    fn shell(script: &str) -> Vec<String> {
        let shell = if cfg!(windows) { ["cmd", "/d", "/c"].as_slice() } else { &["sh", "-c"] };
        shell.iter().chain([&script]).map(|word| (*word).to_owned()).collect()
    }

    /// The scripts are of a POSIX shell.
    #[cfg(unix)]
    #[test]
    fn output_is_the_answer_and_every_failure_has_its_reason() {
        let limits = Limits { time: Duration::from_secs(20), output: 8 };
        let short = Limits { time: Duration::from_millis(200), ..limits };
        let rows: [(&str, &str, Limits, Result<&str, &str>); 10] = [
            ("the arguments are the input", "cat", limits, Ok("[1,2]\n")),
            ("an input that is not read", "echo x", limits, Ok("x\n")),
            ("not UTF-8", r"printf '\377'", limits, Ok("\u{fffd}")),
            ("as much output as fits", "printf 12345678", limits, Ok("12345678")),
            ("one byte more", "printf 123456789", limits, Err("its output has more than 8 bytes")),
            ("output without end", "yes", limits, Err("its output has more than 8 bytes")),
            ("a failure", "echo why >&2; exit 3", limits, Err("exit status: 3: why")),
            ("a program that waits", "sleep 60", short, Err("it has not ended within 0.2 s")),
            (
                "a program that waits after it has closed its output",
                "exec >&-; sleep 60",
                short,
                Err("it has not ended within 0.2 s"),
            ),
            (
                "a program that leaves another one running",
                "sleep 60 & echo x",
                short,
                Err("it has not ended within 0.2 s"),
            ),
        ];
        for (name, script, limits, expected) in rows {
            let found = ran(script, "[1,2]", limits);
            assert_eq!(found, expected.map(String::from).map_err(String::from), "{name}");
        }
        // More input and more errors than a pipe holds.
        let long = ran("cat >/dev/null; yes | head -c 200000 >&2; exit 1", &"x".repeat(200_000), limits);
        let failed = long.unwrap_err();
        assert!(failed.starts_with("exit status: 1: y\ny") && failed.len() < 5000, "{} bytes", failed.len());
        let missing = run(&["./none".into()], &temp_dir(), "", &Arc::new(Mutex::new(Stage::Waiting)), limits);
        assert!(missing.unwrap_err().starts_with("\"./none\" cannot be started: "));
    }

    /// The same for the command prompt.
    #[cfg(windows)]
    #[test]
    fn output_is_the_answer_and_every_failure_has_its_reason() {
        let limits = Limits { time: Duration::from_secs(20), output: 8 };
        let short = Limits { time: Duration::from_millis(500), ..limits };
        let late = "it has not ended within 0.5 s";
        let rows: [(&str, &str, Limits, Result<&str, &str>); 6] = [
            ("the arguments are the input", "set /p A=& call echo %A%", limits, Ok("[1,2]\r\n")),
            ("an input that is not read", "echo x", limits, Ok("x\r\n")),
            ("too much output", "echo 123456789", limits, Err("its output has more than 8 bytes")),
            ("a failure", "echo why>&2& exit 3", limits, Err("exit code: 3: why")),
            ("a program that waits", "for /l %i in (0,0,1) do @rem", short, Err(late)),
            ("a program that leaves another one running", group::tests::TWO_THAT_WAIT, short, Err(late)),
        ];
        for (name, script, limits, expected) in rows {
            let found = ran(script, "[1,2]", limits);
            assert_eq!(found, expected.map(String::from).map_err(String::from), "{name}");
        }
        let missing = run(&["./none".into()], &temp_dir(), "", &Arc::new(Mutex::new(Stage::Waiting)), limits);
        assert!(missing.unwrap_err().starts_with("\"./none\" cannot be started: "));
        // A batch file, found by the extensions of PATHEXT. The agent's text is only its input.
        let temp = crate::support::temp::private_temp_dir();
        std::fs::write(temp.path().join("tool.cmd"), "@echo off\r\nset /p A=\r\necho %1 %A%\r\n").unwrap();
        let stage = Arc::new(Mutex::new(Stage::Waiting));
        let limits = Limits { output: 100, ..limits };
        let output = run(&["./tool".into(), "a b".into()], temp.path(), "{}", &stage, limits);
        assert_eq!(output, Ok("\"a b\" {}\r\n".into()));
    }

    #[test]
    fn ended_call_ends_its_program() {
        let limits = Limits { time: Duration::from_secs(60), output: 8 };
        for is_started in [false, true] {
            let stage: Shared = Arc::new(Mutex::new(Stage::Waiting));
            let clock = Clock::new();
            if !is_started {
                end(&stage);
            }
            let other = stage.clone();
            let ends = thread::spawn(move || {
                while is_started && !matches!(*look(&other), Stage::Running(_)) {
                    thread::sleep(LOOK);
                }
                end(&other);
            });
            assert!(run(&shell(group::tests::TWO_THAT_WAIT), &temp_dir(), "", &stage, limits).is_err());
            ends.join().unwrap();
            assert!(clock.now() < Time::from_millis(30_000), "{is_started}");
            assert!(matches!(*look(&stage), Stage::Over));
        }
    }

    #[test]
    fn wrong_tool_is_refused() {
        let rows = [
            ("no name", r#"{"name":"","run":["a"]}"#, "\"\" cannot name a tool of your own"),
            ("a tool of the protocol", r#"{"name":"open_diff","run":["a"]}"#, "\"open_diff\" cannot name"),
            ("no program", r#"{"name":"a","run":[]}"#, "the `run` of \"a\" has no program"),
            ("an empty program", r#"{"name":"a","run":["","x"]}"#, "the `run` of \"a\" has no program"),
            ("twice", r#"{"name":"a","run":["a"]},{"name":"a","run":["b"]}"#, "\"a\" is there twice"),
        ];
        for (name, own, expected) in rows {
            let mut programs = Programs::new(Path::new("/"), || ());
            let own: Vec<OwnTool> = serde_json::from_str(&format!("[{own}]")).unwrap();
            let problem = programs.offer(ToolSet::new(), own).err().unwrap();
            assert!(problem.contains(expected) && programs.commands.is_empty(), "{name}: {problem}");
        }
        for own in
            [r#"{"name":"a"}"#, r#"{"name":"a","run":"ls"}"#, r#"{"name":"a","run":["a"],"schema":[]}"#]
        {
            assert!(serde_json::from_str::<OwnTool>(own).is_err(), "{own}");
        }
    }
}
