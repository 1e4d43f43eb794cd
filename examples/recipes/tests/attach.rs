//! Each recipe as a process: an agent attaches with the token of the lock file and proposes two changes, and
//! the recipe removes the file at its end.

use ide_mcp::Time;
use ide_mcp::ide::{Client, ClientConfig, ClientEvent, LockFile, OpenDiff};
use ide_mcp::mcp::Implementation;
use ide_mcp::rpc::SessionId;
use ide_mcp_blocking::Conn;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs, process};

macro_rules! recipes {
    ($($(#[$attribute:meta])* $recipe:ident,)*) => {
        $(
            $(#[$attribute])*
            #[test]
            fn $recipe() {
                attaches_and_ends(stringify!($recipe));
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
    let mut lines = BufReader::new(editor.stdout.take().unwrap()).lines().map(Result::unwrap);
    let listening = lines.next().unwrap();
    let port =
        listening.strip_prefix("listening on port ").and_then(|rest| rest.strip_suffix("; Enter ends it"));
    let port: u16 = port.unwrap().parse().unwrap();
    let lock = home.join(format!(".claude/ide/{port}.lock"));
    let token = LockFile::parse(&fs::read_to_string(&lock).unwrap()).unwrap().auth_token;

    let config = ClientConfig::new(Implementation::new("agent", "1.0"), port, token);
    let client = Client::new(config, getrandom::SysRng, SessionId::new(1), Time::ZERO).unwrap();
    let mut agent = Conn::connect(("127.0.0.1", port), client).unwrap();
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

    drop(editor.stdin.take());
    while agent.poll(Duration::from_secs(10)).is_some() {}
    assert!(agent.is_over(), "the recipe does not end");
    assert!(editor.wait().unwrap().success());
    assert!(!lock.exists());
    fs::remove_dir_all(home).unwrap();
}
