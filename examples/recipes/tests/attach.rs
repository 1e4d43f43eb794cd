//! Each recipe as a process: an agent attaches with the token of the lock file, and the recipe
//! removes the file at its end.

use ide_mcp::Time;
use ide_mcp::ide::{Client, ClientConfig, ClientEvent, LockFile};
use ide_mcp::mcp::Implementation;
use ide_mcp::rpc::SessionId;
use ide_mcp_blocking::Conn;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs, process};

#[test]
fn calloop_recipe() {
    attaches_and_ends("calloop_recipe");
}

#[test]
fn tokio_recipe() {
    attaches_and_ends("tokio_recipe");
}

fn attaches_and_ends(recipe: &str) {
    let home = env::temp_dir().join(format!("ide-mcp-{recipe}-{}", process::id()));
    fs::create_dir_all(&home).unwrap();
    // The test program is in target/*/deps, and the recipes are in target/*/examples.
    let test = env::current_exe().unwrap();
    let program = test.parent().and_then(Path::parent).unwrap().join("examples").join(recipe);
    let mut editor = Command::new(program)
        .env("HOME", &home)
        .env_remove("CLAUDE_CONFIG_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(editor.stdout.take().unwrap()).lines().map(Result::unwrap);
    let listening = said.next().unwrap();
    let port =
        listening.strip_prefix("listening on port ").and_then(|rest| rest.strip_suffix("; Enter ends it"));
    let port: u16 = port.unwrap().parse().unwrap();
    let lock = home.join(format!(".claude/ide/{port}.lock"));
    let token = LockFile::parse(&fs::read_to_string(&lock).unwrap()).unwrap().auth_token;

    let config = ClientConfig::new(Implementation::new("agent", "1.0"), port, token);
    let client = Client::new(config, getrandom::SysRng, SessionId::new(1), Time::ZERO).unwrap();
    let mut agent = Conn::connect(("127.0.0.1", port), client).unwrap();
    while !matches!(agent.next_event().expect("it lets us in"), ClientEvent::Ready(_)) {}
    // This turn writes `initialized`, for which the editor waits.
    assert!(agent.poll(Duration::ZERO).is_none());
    assert_eq!(said.next().unwrap(), "an agent is attached");

    drop(editor.stdin.take());
    while agent.next_event().is_some() {}
    assert!(editor.wait().unwrap().success());
    assert!(!lock.exists());
    fs::remove_dir_all(home).unwrap();
}
