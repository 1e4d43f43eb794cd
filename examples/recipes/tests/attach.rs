//! Runs each recipe as a process, together with `ide-mcp agent`, which attaches with the token of the lock
//! file and proposes two changes. The recipe accepts them (`tokio_recipe` first asks about each). It
//! removes its lock file when it ends, whether or not an agent is attached.
//!
//! First build the program: `cargo build --package ide-mcp-cli` in the root.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use std::{env, fs, process, thread};

macro_rules! recipes {
    ($($(#[$attribute:meta])* $recipe:ident,)*) => {
        $(
            $(#[$attribute])*
            mod $recipe {
                #[test]
                fn attaches_and_ends() {
                    super::attaches_and_ends(stringify!($recipe));
                }

                #[test]
                fn ends_without_an_agent() {
                    super::ends_without_an_agent(stringify!($recipe));
                }
            }
        )*
    };
}

recipes! {
    calloop_recipe,
    polling_recipe,
    tokio_recipe,
    #[cfg(feature = "glib")]
    glib_recipe,
    #[cfg(feature = "winit")]
    winit_recipe,
}

fn attaches_and_ends(recipe: &str) {
    let mut editor = Editor::start(recipe, "attached");
    let mut agent = editor.agent();
    let (mut requests, mut outcomes) =
        (agent.stdin.take().unwrap(), BufReader::new(agent.stdout.take().unwrap()).lines());
    for text in ["first", "second"] {
        let proposal =
            r#"{"old_file_path":"/x","new_file_path":"/x","new_file_contents":"TEXT","tab_name":"tab"}"#;
        writeln!(requests, "openDiff {}", proposal.replace("TEXT", text)).unwrap();
        if recipe == "tokio_recipe" {
            editor.accept(text);
        }
        let outcome = outcomes.next().expect("the recipe decides").unwrap();
        let accepted = r#"[{"type":"text","text":"FILE_SAVED"},{"type":"text","text":"TEXT"}]"#;
        assert!(outcome.contains(&accepted.replace("TEXT", text)), "{outcome}");
    }

    drop(editor.process.stdin.take());
    // The recipe closes the connection before it ends.
    let mut complaint = String::new();
    agent.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    assert_eq!(complaint, "agent: the editor ended\n");
    agent.wait().unwrap();
    editor.ends();
}

/// Without an agent, Enter still ends a recipe, although its loop has nothing else to wait for.
fn ends_without_an_agent(recipe: &str) {
    let mut editor = Editor::start(recipe, "alone");
    editor.process.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    editor.ends();
}

/// A signal ends a recipe in order, although its keyboard is still open.
#[cfg(unix)]
#[test]
fn tokio_recipe_ends_at_ctrl_c() {
    let mut editor = Editor::start("tokio_recipe", "interrupted");
    let mut agent = editor.agent();
    let proposal =
        r#"{"old_file_path":"/x","new_file_path":"/x","new_file_contents":"text","tab_name":"tab"}"#;
    writeln!(agent.stdin.as_mut().unwrap(), "openDiff {proposal}").unwrap();
    // It asks, so its loop runs.
    editor.accept("text");
    let id = editor.process.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    drop(agent.stdin.take());
    agent.wait().unwrap();
    editor.ends();
}

/// How long a recipe may take to end.
const LIMIT: Duration = Duration::from_secs(10);

/// A recipe that runs with its own home directory.
struct Editor {
    process: Child,
    output: BufReader<ChildStdout>,
    home: PathBuf,
    port: String,
    lock: PathBuf,
}

impl Editor {
    fn start(recipe: &str, test: &str) -> Self {
        let home = env::temp_dir().join(format!("ide-mcp-{recipe}-{test}-{}", process::id()));
        fs::create_dir_all(&home).unwrap();
        // The test program is in target/*/deps, and the recipes are in target/*/examples.
        let program = env::current_exe().unwrap();
        let program = program.parent().and_then(Path::parent).unwrap().join("examples").join(recipe);
        let mut process = Command::new(program)
            .env("HOME", &home)
            .env_remove("CLAUDE_CONFIG_DIR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut output, mut line) = (BufReader::new(process.stdout.take().unwrap()), String::new());
        output.read_line(&mut line).unwrap();
        let port = line.strip_prefix("listening on port ").and_then(|rest| rest.split(';').next());
        let port = port.unwrap().to_owned();
        let lock = home.join(format!(".claude/ide/{port}.lock"));
        Self { process, output, home, port, lock }
    }

    /// Starts `ide-mcp agent`, which reads calls and writes their outcomes.
    fn agent(&self) -> Child {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debug/ide-mcp");
        let agent = Command::new(&program)
            .args(["agent", "--port", &self.port, "calls"])
            .env("HOME", &self.home)
            .env_remove("CLAUDE_CONFIG_DIR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        agent.unwrap_or_else(|error| panic!("{}: {error}; build ide-mcp-cli first", program.display()))
    }

    /// Waits until the recipe asks about a proposal with this text, and accepts it.
    fn accept(&mut self, text: &str) {
        let mut lines = self.output.by_ref().lines().map(Result::unwrap);
        assert_eq!(lines.by_ref().take(3).collect::<Vec<_>>(), ["/x", text, "Accept? [y/N]"]);
        writeln!(self.process.stdin.as_mut().unwrap(), "y").unwrap();
    }

    /// Checks that the recipe ends with success, and that its lock file is gone.
    fn ends(mut self) {
        let pause = Duration::from_millis(10);
        let mut ended = None;
        for _ in 0..LIMIT.as_millis() / pause.as_millis() {
            ended = self.process.try_wait().unwrap();
            if ended.is_some() {
                break;
            }
            thread::sleep(pause);
        }
        if ended.is_none() {
            self.process.kill().unwrap();
        }
        assert!(ended.expect("the recipe ends").success());
        assert!(!self.lock.exists());
        fs::remove_dir_all(self.home).unwrap();
    }
}
