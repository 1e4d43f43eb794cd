//! The editor with its screen in tmux, driven by keys as by a user, with the agent as a process
//! beside it. The tests are skipped if tmux is not installed.

mod address;
mod work;

use crate::support::Place;
use crate::support::tmux::{self, Tmux};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;

pub(crate) struct Desk {
    pub(crate) tmux: Tmux,
    pub(crate) place: Place,
}

impl Desk {
    /// Starts a shell in a project.
    pub(crate) fn new(name: &str) -> Self {
        Self::with(name, &[])
    }

    /// Starts a shell in a project, with further variables.
    fn with(name: &str, variables: &[(&str, &str)]) -> Self {
        let place = Place::new(name);
        let command = place.command("editor", &[]);
        let home = place.home();
        let own = [
            ("HOME", home.to_str().unwrap()),
            ("EDITOR", command.get_program().to_str().unwrap()),
            ("COLORTERM", "truecolor"),
            ("IDE_MCP_EDITOR_PANICS_AT", "SIGUSR2"),
            ("RUST_BACKTRACE", "0"),
        ];
        let tmux = Tmux::new(&home, &place.project(), &[&own, variables].concat());
        Self { tmux, place }
    }

    /// Starts a shell and the editor in it.
    fn started(name: &str) -> Self {
        let desk = Self::new(name);
        desk.start();
        desk
    }

    fn start(&self) {
        self.start_with("");
    }

    /// Starts the editor with arguments.
    pub(crate) fn start_with(&self, arguments: &str) {
        let line = format!("stty -a > ../before; clear; \"$EDITOR\" editor {arguments}; echo \"status $?\"");
        self.tmux.line(&line);
        self.tmux.wait("nobody attached");
    }

    /// Returns the process id of the editor, from its lock file.
    pub(crate) fn pid(&self) -> Pid {
        let lock = fs::read_to_string(self.place.published("the editor", None)).unwrap();
        let lock: Value = serde_json::from_str(&lock).unwrap();
        Pid::from_raw(i32::try_from(lock["pid"].as_u64().unwrap()).unwrap()).unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Checks that the shell has its screen back, with the former settings of the terminal.
    fn assert_sane(&self, name: &str) {
        self.tmux.wait("status ");
        let flags = "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag} #{wrap_flag}";
        assert_eq!(
            self.tmux.format(flags),
            "0 1 0 0 1",
            "{name}: alternate screen, cursor, mouse, keys, wrapping"
        );
        self.tmux.line("stty -a > ../after; echo compare''d");
        self.tmux.wait("compared");
        let [before, after] = ["../before", "../after"]
            .map(|file| fs::read_to_string(self.place.project().join(file)).unwrap());
        let sizeless = |text: &str| text.split("; line").skip(1).collect::<String>();
        assert_eq!(sizeless(&after), sizeless(&before), "{name}");
        assert!(!before.is_empty(), "{name}");
        // The contents of the alternate screen are gone.
        assert!(!self.tmux.screen().contains("nobody attached"), "{name}:\n{}", self.tmux.screen());
        let left = self.place.in_lock_dir();
        assert!(left.is_empty(), "{name}: {left:?}");
    }
}

#[test]
fn a_person_and_an_agent() {
    if tmux::is_missing() {
        return;
    }
    let desk = Desk::new("tour");
    let (tmux, place) = (&desk.tmux, &desk.place);
    let old = "fn main() {\n    let name = \"you\";\n    greet(name);\n}\n";
    let new = "fn main() {\n    let name = \"world\";\n    greet(name);\n}\n";
    let path = place.write("a.rs", old);
    place.write("new.rs", new);
    place.write("odd.txt", "tab\there \u{1b}[31mred\n");
    desk.start();
    assert_eq!(tmux.format("#{alternate_on} #{mouse_any_flag} #{cursor_flag}"), "1 1 0");

    // The user opens a file and selects text while an agent watches.
    let mut watching = place.agent(&["watch"]);
    tmux.wait("● ide-mcp-agent");
    tmux.keys(&["Enter"]);
    tmux.wait("1  fn main() {");
    assert_eq!(tmux.format("#{cursor_flag}"), "1", "a text has a cursor");
    tmux.keys(&["S-Down", "S-Right"]);
    tmux.wait("2 lines selected");
    let mut received = watching.event("selection_changed");
    while received["params"]["text"] != "fn main() {\n " {
        received = watching.event("selection_changed");
    }
    assert_eq!(received["params"]["filePath"], path);
    tmux.keys(&["C-k"]);
    tmux.wait("mentioned a.rs lines 1 to 2 to ide-mcp-agent");
    assert_eq!(
        watching.until("at_mentioned")["params"],
        json!({"filePath": path, "lineStart": 0, "lineEnd": 1})
    );

    // The user rejects.
    let mut agent = place.agent(&["diff", "a.rs", "new.rs"]);
    tmux.wait("proposes a.rs  +1 −1");
    let screen = tmux.wait("a accept");
    assert!(screen.contains("   2     -     let name = \"you\";"), "{screen}");
    assert!(screen.contains("       2 +     let name = \"world\";"), "{screen}");
    assert!(tmux.colored().contains("\u{1b}["));
    tmux.keys(&["r"]);
    tmux.wait("rejected a.rs");
    assert_eq!((agent.line().as_str(), agent.end().0), ("rejected", Some(1)));
    assert_eq!(place.read("a.rs"), old);

    // The user edits and accepts: the agent writes the edited text, and the editor reads the file
    // again.
    let mut agent = place.agent(&["diff", "a.rs", "new.rs"]);
    tmux.wait("a accept");
    tmux.keys(&["e"]);
    tmux.wait("editing the proposal for a.rs");
    tmux.keys(&["End"]);
    tmux.type_text(" // edited");
    tmux.wait("\"world\"; // edited");
    tmux.keys(&["C-s"]);
    tmux.wait("+     let name = \"world\"; // edited");
    tmux.wait("a accept");
    tmux.keys(&["a"]);
    assert_eq!(agent.end().0, Some(0));
    let edited = new.replace("\"world\";", "\"world\"; // edited");
    assert_eq!(place.read("a.rs"), edited);
    tmux.wait("2      let name = \"world\"; // edited");
    tmux.wait("read again");

    // The user accepts the change without an edit, after the terminal has become smaller and
    // larger.
    let mut agent = place.agent(&["diff", "a.rs", "new.rs"]);
    tmux.wait("a accept");
    tmux.resize(40, 10);
    let small = tmux.until("a small screen", |screen| {
        screen.lines().count() <= 10 && screen.lines().any(|line| line.ends_with("F1 help"))
    });
    assert!(small.contains("✻ a.rs  +1 −1"), "{small}");
    assert!(small.lines().all(|line| line.chars().count() <= 40), "{small}");
    tmux.resize(120, 40);
    tmux.until("a large screen", |screen| screen.contains("^Q quit") && screen.contains("proposes a.rs"));
    tmux.keys(&["v"]);
    tmux.wait("│   2 +     let name = \"world\";");
    tmux.resize(80, 24);
    tmux.wait("       2 +     let name = \"world\";");
    tmux.keys(&["a"]);
    assert_eq!(agent.end().0, Some(0));
    assert_eq!(place.read("a.rs"), new);

    // The proposal of a killed agent disappears.
    let mut agent = place.agent(&["diff", "a.rs", "odd.txt"]);
    tmux.wait("a accept");
    agent.kill();
    tmux.wait("the agent detached before your decision: a.rs");

    // The screen shows the control characters of a file as symbols.
    tmux.keys(&["F2"]);
    tmux.keys(&["Down", "Down", "Enter"]);
    tmux.wait("tab here ␛[31mred");

    desk.signal(Signal::TERM);
    tmux.wait("editor: ended by SIGTERM");
    desk.assert_sane("SIGTERM");
    assert!(tmux.screen().contains("status 0"));
    watching.end();
}

#[test]
fn every_end_restores_the_terminal() {
    if tmux::is_missing() {
        return;
    }
    let desk = Desk::new("ways");
    desk.place.write("a.txt", "text\n");
    desk.place.write("new.txt", "proposed\n");
    let ways: [(&str, &str, &dyn Fn(&Desk)); 8] = [
        ("Ctrl+Q", "editor: ended by Ctrl+Q", &|desk| desk.tmux.keys(&["C-q"])),
        ("SIGTERM", "editor: ended by SIGTERM", &|desk| desk.signal(Signal::TERM)),
        ("SIGINT", "editor: ended by SIGINT", &|desk| desk.signal(Signal::INT)),
        ("SIGHUP", "editor: ended by SIGHUP", &|desk| desk.signal(Signal::HUP)),
        ("SIGQUIT", "editor: ended by SIGQUIT", &|desk| desk.signal(Signal::QUIT)),
        ("SIGUSR1", "editor: ended by SIGUSR1", &|desk| desk.signal(Signal::USR1)),
        ("SIGALRM", "editor: ended by SIGALRM", &|desk| desk.signal(Signal::ALARM)),
        // IDE_MCP_EDITOR_PANICS_AT makes a debug build panic at this signal.
        ("a panic", "asked to panic at SIGUSR2", &|desk| desk.signal(Signal::USR2)),
    ];
    for (name, output, leave) in ways {
        desk.start();
        leave(&desk);
        desk.tmux.wait(output);
        desk.assert_sane(name);
        desk.tmux.line("clear");
    }

    // The last line of the editor names rejected proposals and unsaved files.
    desk.start();
    desk.tmux.keys(&["Enter"]);
    desk.tmux.wait("1  text");
    desk.tmux.keys(&["x"]);
    desk.tmux.wait("not saved");
    let mut agent = desk.place.agent(&["diff", "a.txt", "new.txt"]);
    desk.tmux.wait("1 proposed change waits: a.txt");
    desk.signal(Signal::TERM);
    desk.tmux.wait("ended by SIGTERM; 1 proposed change rejected; not saved: a.txt");
    assert_eq!(agent.end().0, Some(1));
    desk.assert_sane("SIGTERM, with open ends");
}

#[test]
fn continued_process_draws_again() {
    if tmux::is_missing() {
        return;
    }
    let desk = Desk::started("stopped");
    desk.signal(Signal::TSTP);
    desk.tmux.wait("Stopped");
    assert_eq!(desk.tmux.format("#{alternate_on} #{mouse_any_flag} #{cursor_flag}"), "0 0 1");
    desk.tmux.line("clear; fg; echo \"status $?\"");
    desk.tmux.wait("No file is open");
    desk.tmux.keys(&["F1"]);
    desk.tmux.wait("what the agents did");
    desk.tmux.keys(&["C-q"]);
    desk.tmux.wait("editor: ended by Ctrl+Q");
    desk.assert_sane("continued");
}
