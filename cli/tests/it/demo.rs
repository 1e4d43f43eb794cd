//! The demo in tmux: a user does what the agent asks for, at three sizes, and leaves the demo at every step and in
//! every way. The demo leaves nothing behind and touches nothing of the user's.

use crate::support::terminal::{at, terminal};
use crate::support::tmux::{self, Tmux};
use crate::support::{Place, ended};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;

struct Stage {
    tmux: Tmux,
    place: Place,
}

impl Stage {
    fn new(name: &str, size: (u16, u16), variables: &[(&str, &str)]) -> Self {
        let place = Place::new(name);
        let home = place.home();
        fs::create_dir(home.join("tmp")).unwrap();
        let command = place.command("demo", &[]);
        let own = [
            ("HOME", home.to_str().unwrap()),
            ("TMPDIR", &format!("{}/tmp", home.display())),
            ("PROGRAM", command.get_program().to_str().unwrap()),
            ("IDE_MCP_EDITOR_PANICS_AT", "SIGUSR2"),
            ("RUST_BACKTRACE", "0"),
        ];
        let tmux = Tmux::new(&home, &place.project(), &[&own, variables].concat());
        tmux.resize(size.0, size.1);
        let stage = Self { tmux, place };
        stage.start();
        stage
    }

    fn start(&self) {
        self.tmux.line("stty -a > ../before; clear; \"$PROGRAM\" demo; echo \"status $?\"");
        self.tmux.wait("1 of 4");
        self.tmux.wait("● ");
    }

    /// Returns the temporary folders.
    fn folders(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.place.home().join("tmp")).unwrap();
        folders.map(|folder| folder.unwrap().path()).collect()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folders()[0].join("demo").join(name)).unwrap()
    }

    fn signal(&self, signal: Signal) {
        let locks = fs::read_dir(self.folders()[0].join("ide")).unwrap();
        let mut locks = locks.map(|lock| lock.unwrap().path());
        let lock = locks.find(|lock| lock.extension().is_some_and(|kind| kind == "lock")).unwrap();
        let lock: Value = serde_json::from_str(&fs::read_to_string(lock).unwrap()).unwrap();
        let pid = Pid::from_raw(i32::try_from(lock["pid"].as_u64().unwrap()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Skips the current step, which asks for a selection or about a proposal.
    fn skip(&self, next: &str) {
        self.tmux.keys(&["F6"]);
        self.tmux.wait(next);
    }

    /// Checks that the shell has its terminal back, and that nothing is left.
    fn assert_gone(&self, name: &str, status: u8) {
        let screen = self.tmux.wait(&format!("status {status}"));
        assert!(!screen.contains("The agent  "), "{name}: {screen}");
        let flags = "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag} #{wrap_flag}";
        assert_eq!(self.tmux.format(flags), "0 1 0 0 1", "{name}");
        self.tmux.line("clear; stty -a > ../after; echo compare''d");
        self.tmux.wait("compared");
        let [before, after] = ["../before", "../after"]
            .map(|file| fs::read_to_string(self.place.project().join(file)).unwrap());
        let sizeless = |text: &str| text.split("; line").skip(1).collect::<String>();
        assert_eq!(sizeless(&after), sizeless(&before), "{name}");
        assert_eq!(self.folders(), Vec::<PathBuf>::new(), "{name}");
        for own in [".claude", ".local"] {
            assert!(!self.place.home().join(own).exists(), "{name}: {own}");
        }
        assert_eq!(fs::read_dir(self.place.project()).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn person_is_led_through_all_steps() {
    if tmux::is_missing() {
        return;
    }
    let sizes = [(80, 24), (120, 35), (40, 10)];
    let looks: [&[(&str, &str)]; 2] = [&[("COLORTERM", "truecolor")], &[("NO_COLOR", "1")]];
    // All at the same time, because each tour pauses for some seconds, as for a user who reads.
    thread::scope(|scope| {
        for size in sizes {
            for look in looks {
                scope.spawn(move || tour(size, look));
            }
        }
    });
}

/// Does what the agent asks for, in a terminal of this size with these variables.
fn tour(size: (u16, u16), look: &[(&str, &str)]) {
    let name = format!("{size:?} {look:?}");
    let stage = Stage::new("tour", size, look);
    let tmux = &stage.tmux;
    tmux.wait("Select a line");
    assert_eq!(tmux.colored().contains("\u{1b}[38;"), look[0].0 == "COLORTERM", "{name}");
    tmux.keys(&["S-Down"]);
    tmux.wait("I see line 2");
    // The user accepts.
    tmux.wait("Press a to accept it.");
    tmux.wait("a accept");
    tmux.keys(&["a"]);
    tmux.wait("Thank you.");
    assert!(stage.read("greeting.py").contains("Hello, "), "{name}");
    // The user edits.
    tmux.wait("Press e, type it");
    tmux.wait("a accept");
    tmux.keys(&["e"]);
    tmux.wait("^S back to the diff");
    tmux.type_text("Linus");
    tmux.wait("Linus was here.");
    tmux.keys(&["C-s"]);
    tmux.wait("a accept");
    tmux.keys(&["a"]);
    tmux.wait("your text instead");
    let signed = "Ada was here.\nGrace was here.\nLinus was here.\n";
    assert_eq!(stage.read("guestbook.txt"), signed, "{name}");
    // The user rejects.
    tmux.wait("Press r to reject it.");
    tmux.wait("a accept");
    tmux.keys(&["r"]);
    tmux.wait("Understood.");
    assert_eq!(stage.read("guestbook.txt"), signed, "{name}");
    // The last step lists the keys.
    let screen = tmux.wait("Ctrl+Q ends the demo.");
    let keys = screen.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert!(keys.contains("a accept e edit r reject Esc later"), "{name}: {screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= size.0.into()), "{name}: {screen}");
    tmux.keys(&["C-q"]);
    // On a small screen the first of the last lines may have scrolled away.
    tmux.wait("`ide-mcp editor`");
    // The program of the tests is not in PATH.
    tmux.wait("To install ide-mcp");
    stage.assert_gone(&name, 0);
}

#[test]
fn demo_ends_in_every_step() {
    if tmux::is_missing() {
        return;
    }
    // Variables that lead the user's own agents elsewhere have no effect on the agent of the demo.
    let elsewhere = [
        ("CLAUDE_CODE_IDE_HOST_OVERRIDE", "127.0.0.2"),
        ("CLAUDE_CODE_SSE_PORT", "1"),
        ("CLAUDE_CODE_AUTO_CONNECT_IDE", "false"),
        ("CLAUDE_CONFIG_DIR", "/nowhere"),
        ("XDG_STATE_HOME", "/nowhere"),
    ];
    let stage = Stage::new("steps", (80, 24), &elsewhere);
    let quit = |stage: &Stage, name: &str, asks: bool| {
        stage.tmux.keys(&["C-q"]);
        if asks {
            stage.tmux.wait("^Q again ends the demo");
            stage.tmux.keys(&["C-q"]);
        }
        stage.tmux.wait("editor: ended by Ctrl+Q");
        stage.assert_gone(name, 0);
    };
    quit(&stage, "the selection", false);
    let asks = ["Press a to accept it.", "Press e, type it", "Press r to reject it."];
    for last in 1..=asks.len() {
        // Another run.
        stage.start();
        for next in &asks[..last] {
            stage.skip(next);
        }
        stage.tmux.wait("a accept");
        quit(&stage, asks[last - 1], true);
    }
    stage.start();
    for next in asks.iter().chain(&["Ctrl+Q ends the demo."]) {
        stage.skip(next);
    }
    quit(&stage, "the end", false);
}

#[test]
fn demo_ends_in_every_way() {
    if tmux::is_missing() {
        return;
    }
    let stage = Stage::new("ways", (80, 24), &[]);
    let ways = [
        ("SIGTERM", Signal::TERM, "editor: ended by SIGTERM", 0),
        ("SIGHUP", Signal::HUP, "editor: ended by SIGHUP", 0),
        ("SIGINT", Signal::INT, "editor: ended by SIGINT", 0),
        // IDE_MCP_EDITOR_PANICS_AT makes a debug build panic at this signal.
        ("a panic", Signal::USR2, "asked to panic at SIGUSR2", 101),
    ];
    for (at, (name, signal, text, status)) in ways.into_iter().enumerate() {
        if at > 0 {
            stage.start();
        }
        stage.skip("Press a to accept it.");
        stage.signal(signal);
        stage.tmux.wait(text);
        stage.assert_gone(name, status);
    }
}

#[test]
fn lost_terminal_ends_the_demo() {
    let place = Place::new("demo-gone");
    let (mut person, program) = terminal();
    let demo = at(&program, place.command("demo", &[]).env("TMPDIR", place.project()));
    drop(program);
    let count = || fs::read_dir(place.project()).unwrap().count();
    let (mut shown, mut bytes) = (String::new(), [0; 4096]);
    while !shown.contains("Select a line") {
        let read = person.read(&mut bytes).unwrap();
        shown += &String::from_utf8_lossy(&bytes[..read]);
    }
    assert_eq!(count(), 1);
    drop(person);
    let (status, text) = ended(demo);
    assert_eq!((status, text.as_str()), (Some(0), ""));
    assert_eq!(count(), 0);
}

#[test]
fn panel_moves_with_the_size() {
    if tmux::is_missing() {
        return;
    }
    let stage = Stage::new("sizes", (80, 24), &[]);
    let tmux = &stage.tmux;
    stage.skip("Press a to accept it.");
    tmux.wait("a accept");
    tmux.resize(40, 10);
    let below = |screen: &str| {
        screen.lines().any(|line| line.starts_with(" The agent") && line.ends_with("F6 skips"))
    };
    let screen = tmux.until("the panel below", below);
    assert!(screen.contains("✻ greeting.py  +1 −1") && screen.contains("Press a to accept it."), "{screen}");
    tmux.resize(40, 5);
    tmux.until("no panel", |screen| !screen.contains("The agent") && screen.contains("✻ greeting.py"));
    tmux.resize(120, 35);
    tmux.until("the panel beside it", |screen| {
        screen.lines().any(|line| line.contains("proposes greeting.py") && line.contains("│ The agent"))
    });
    // A click on the panel does nothing.
    tmux.type_text("\u{1b}[<0;100;5M\u{1b}[<0;100;5m");
    tmux.keys(&["a"]);
    tmux.wait("Thank you.");
    tmux.wait("Press e, type it");
    // A proposal can wait.
    tmux.keys(&["Escape"]);
    tmux.wait("1 proposed change waits: guestbook.txt");
    tmux.keys(&["F3"]);
    tmux.wait("proposes guestbook.txt");
    tmux.keys(&["C-q", "C-q"]);
    stage.assert_gone("resized", 0);
}

#[test]
fn demo_needs_a_terminal() {
    let place = Place::new("demo-none");
    let (_person, program) = terminal();
    let side = || Stdio::from(program.try_clone().unwrap());
    let rows: [(&str, Stdio, Stdio, &str); 4] = [
        ("a pipe before it", Stdio::null(), side(), "xterm"),
        ("a pipe after it", side(), Stdio::piped(), "xterm"),
        ("neither", Stdio::null(), Stdio::piped(), "xterm"),
        ("a terminal that shows lines", side(), side(), "dumb"),
    ];
    for (name, input, output, kind) in rows {
        let mut command = place.command("demo", &[]);
        command.env("TERM", kind).env("TMPDIR", place.project()).stdin(input).stdout(output);
        let (status, text) = ended(command.stderr(Stdio::piped()).spawn().unwrap());
        assert_eq!(status, Some(2), "{name}: {text}");
        assert!(
            text.starts_with("demo: the demo needs a terminal") && text.contains("ide-mcp demo"),
            "{name}: {text}"
        );
        assert_eq!(text.lines().count(), 1, "{name}: {text}");
    }
    assert_eq!(fs::read_dir(place.project()).unwrap().count(), 0);
    let mut command = place.command("demo", &[]);
    command.env("TERM", "xterm").env("TMPDIR", place.project().join("missing")).stdin(side()).stdout(side());
    let (status, text) = ended(command.stderr(Stdio::piped()).spawn().unwrap());
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("cannot create a temporary folder") && text.contains("TMPDIR"), "{text}");
}
