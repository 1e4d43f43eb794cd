//! Each recipe as a process. An agent attaches with the token of the lock file and proposes two changes. The
//! recipe removes the file at its end, with and without an agent.

use ide_mcp::Time;
use ide_mcp::ide::{Client, ClientConfig, ClientEvent, LockFile, OpenDiff};
use ide_mcp::mcp::Implementation;
use ide_mcp::rpc::SessionId;
use ide_mcp_blocking::Conn;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
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
    let token = LockFile::parse(&fs::read_to_string(&editor.lock).unwrap()).unwrap().auth_token;
    let config = ClientConfig::new(Implementation::new("agent", "1.0"), editor.port, token);
    let client = Client::new(config, getrandom::SysRng, SessionId::new(1), Time::ZERO).unwrap();
    let mut agent = Conn::connect(("127.0.0.1", editor.port), client).unwrap();
    while !matches!(agent.next_event().expect("the recipe admits the agent"), ClientEvent::Ready(_)) {}
    for text in ["first", "second"] {
        let proposal = OpenDiff::new("/x", text, "tab");
        let request = agent.machine_mut().call(&proposal).unwrap();
        let decided = loop {
            let event = agent.next_event().expect("the recipe decides");
            if let ClientEvent::Outcome { outcome, .. } = event {
                break request.answer(outcome).unwrap();
            }
        };
        assert_eq!(decided, proposal.accept());
    }

    drop(editor.process.stdin.take());
    while agent.poll(LIMIT).is_some() {}
    assert!(agent.is_over(), "the recipe does not end");
    editor.ends();
}

/// Checks that Enter ends a recipe to which no agent is attached: its loop has nothing else to wait for.
fn ends_without_an_agent(recipe: &str) {
    let mut editor = Editor::start(recipe, "alone");
    editor.process.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    editor.ends();
}

/// The time within which a recipe ends.
const LIMIT: Duration = Duration::from_secs(10);

/// A recipe in a home of its own.
struct Editor {
    process: Child,
    home: PathBuf,
    port: u16,
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
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let port = line.strip_prefix("listening on port ").and_then(|rest| rest.split(';').next());
        let port = port.unwrap().parse().unwrap();
        let lock = home.join(format!(".claude/ide/{port}.lock"));
        Self { process, home, port, lock }
    }

    /// Checks that the recipe ends well, and that its lock file is gone.
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
