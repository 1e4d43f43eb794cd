//! The bytes of a terminal, through the thread that reads it. Each row is a process at a
//! pseudoterminal of its own, which [`prints_its_input`] is.

#[allow(dead_code, unreachable_pub, reason = "the tests of the commands use the rest of it")]
#[path = "../../../../tests/it/support/terminal.rs"]
mod terminal;

use crate::editor::screen::keys::Key;
use crate::editor::screen::reader::Reader;
use crossterm::event::{Event, KeyCode};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Begins each line that the process prints.
const MARK: &str = "input: ";
/// The key that ends each row. No row contains it.
const LAST: &[u8] = b"\x02";
/// The time between two pieces: longer than the silence that ends Esc, shorter than the silence that ends half a
/// sequence.
const PAUSE: Duration = Duration::from_millis(200);

fn key(name: &str) -> String {
    format!("key {name}")
}

fn keys(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| key(name)).collect()
}

/// The rows: a name, bytes, and the input that they are.
fn cases() -> Vec<(&'static str, Vec<u8>, Vec<String>)> {
    let of = |text: &str| text.as_bytes().to_vec();
    let other = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    vec![
        ("letters", of("aB?"), keys(&["a", "B", "?"])),
        ("characters of several bytes", of("\u{e9}\u{1f980}"), keys(&["\u{e9}", "\u{1f980}"])),
        ("not UTF-8", vec![0xff, b'a', 0xe2, 0x28], keys(&["a", "("])),
        (
            "enter, tab, backspace",
            of("\r\n\t\x7f\x08"),
            keys(&["Enter", "Enter", "Tab", "Backspace", "Backspace"]),
        ),
        (
            "control",
            vec![0, 1, 3, 26, 28, 29, 30, 31],
            keys(&["c ", "ca", "cc", "cz", "c\\", "c]", "c^", "c_"]),
        ),
        ("arrows", of("\x1b[A\x1b[B\x1bOC\x1bOD"), keys(&["Up", "Down", "Right", "Left"])),
        (
            "with modifiers",
            of("\x1b[1;2A\x1b[1;5C\x1b[1;6H\x1b[1;3D"),
            keys(&["sUp", "cRight", "csHome", "aLeft"]),
        ),
        (
            "editing keys",
            of("\x1b[3~\x1b[5~\x1b[6;5~\x1b[1~\x1b[4~\x1b[2~"),
            keys(&["Delete", "PageUp", "cPageDown", "Home", "End", "Insert"]),
        ),
        (
            "function keys",
            of("\x1bOP\x1bOR\x1b[15~\x1b[19~\x1b[24~\x1b[[B\x1b[1;2S"),
            keys(&["F(1)", "F(3)", "F(5)", "F(8)", "F(12)", "F(2)", "sF(4)"]),
        ),
        ("shift and tab", of("\x1b[Z"), keys(&["sTab"])),
        ("alt", of("\x1bx\x1b\r\x1b\u{e9}"), keys(&["ax", "aEnter", "a\u{e9}"])),
        (
            "the mouse",
            of("\x1b[<0;1;1M\x1b[<32;5;2M\x1b[<0;5;2m\x1b[<64;9;9M\x1b[<65;300;200M"),
            other(&[
                "Down(Left) 0 0",
                "Drag(Left) 4 1",
                "Up(Left) 4 1",
                "ScrollUp 8 8",
                "ScrollDown 299 199",
            ]),
        ),
        ("the mouse in column or row 0", of("\x1b[<0;0;1M\x1b[<0;1;0ma"), keys(&["a"])),
        ("half a report of the mouse", of("\x1b[<0;1M\x1b[<;;Ma"), keys(&["a"])),
        ("unknown sequences are ignored", of("\x1b[99~\x1b[?1;2cx"), keys(&["x"])),
        (
            "pasted",
            of("a\x1b[200~b\r\nc\rd\n\x1b[A\x1b[201~e"),
            [key("a"), format!("paste {:?}", "b\r\nc\rd\n\x1b[A"), key("e")].into(),
        ),
        ("an empty paste", of("\x1b[200~\x1b[201~x"), other(&["paste \"\"", "key x"])),
        (
            "a paste with characters of several bytes",
            of("\x1b[200~\u{1f980}\u{e9}\x1b[201~"),
            other(&["paste \"\u{1f980}\u{e9}\""]),
        ),
        ("more than a read takes", vec![b'a'; 3000], vec![key("a"); 3000]),
        (
            "a long paste",
            format!("\x1b[200~{}\x1b[201~", "0123456789".repeat(20_000)).into(),
            vec![format!("paste {:?}", "0123456789".repeat(20_000))],
        ),
    ]
}

/// Returns what a process at a terminal reads of pieces that are written one after another.
fn read(name: &str, pieces: &[&[u8]]) -> Vec<String> {
    let (mut person, program) = terminal::terminal();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "editor::screen::tests::reader::prints_its_input", "--nocapture"]);
    let mut process = command.stdin(Stdio::from(program)).stdout(Stdio::piped()).spawn().unwrap();
    // Only the process holds the other side, as at a real terminal.
    drop(command);
    let lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut lines = lines.filter_map(|line| Some(line.split_once(MARK)?.1.to_owned()));
    assert_eq!(lines.next().as_deref(), Some("ready"), "{name}");
    let pieces: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
    let writer = thread::spawn(move || {
        for piece in [&pieces[..], &[LAST.into()]].concat() {
            person.write_all(&piece).unwrap();
            thread::sleep(PAUSE);
        }
        person
    });
    let read = lines.by_ref().take_while(|line| *line != key("cb")).collect();
    // The terminal goes, and the process with it.
    drop(writer.join().unwrap());
    assert_eq!(lines.last().as_deref(), Some("gone"), "{name}");
    assert!(process.wait().unwrap().success(), "{name}");
    read
}

#[test]
fn terminal_input_is_read() {
    for (name, bytes, expected) in cases() {
        let found = read(name, &[&bytes]);
        assert!(found == expected, "{name}: {found:?}");
    }
}

#[test]
fn input_that_arrives_in_pieces_is_read() {
    let cases: [(&str, &[&[u8]], &[&str]); 5] = [
        ("escape", &[b"\x1b"], &["Esc"]),
        ("escape twice", &[b"\x1b", b"\x1b"], &["Esc", "Esc"]),
        ("a sequence", &[b"\x1b[", b"1;5", b"C"], &["cRight"]),
        ("a character", &[b"\xe2\x9c", b"\x93"], &["\u{2713}"]),
        ("letters", &[b"a", b"b"], &["a", "b"]),
    ];
    for (name, pieces, expected) in cases {
        assert_eq!(read(name, pieces), keys(expected), "{name}");
    }
    assert_eq!(read("pasted", &[b"\x1b[200~one\rt", b"wo\x1b[20", b"1~"]), ["paste \"one\\rtwo\""]);
}

/// The other half of the tests above, in a process of its own.
#[test]
#[ignore = "it needs a terminal of its own, which the tests above give it"]
#[allow(clippy::print_stdout, reason = "a pipe to the test that has started it")]
fn prints_its_input() {
    crossterm::terminal::enable_raw_mode().unwrap();
    let (sender, wakes) = mpsc::channel();
    let reader = Reader::new(move || sender.send(()).unwrap_or_default()).unwrap();
    println!("\n{MARK}ready");
    while let Ok(()) = wakes.recv() {
        match reader.next() {
            Ok(None) => {}
            Ok(Some(Event::Key(event))) => println!("{MARK}{}", described(Key::of(event))),
            Ok(Some(Event::Mouse(mouse))) => {
                println!("{MARK}{:?} {} {}", mouse.kind, mouse.column, mouse.row)
            }
            Ok(Some(Event::Paste(text))) => println!("{MARK}paste {text:?}"),
            Ok(Some(other)) => println!("{MARK}{other:?}"),
            Err(_) => println!("{MARK}gone"),
        }
    }
}

/// Returns a key with the first letters of its modifiers.
fn described(pressed: Key) -> String {
    let modifiers = [(pressed.ctrl, "c"), (pressed.alt, "a"), (pressed.shift, "s")];
    let modifiers: String = modifiers.into_iter().filter(|(has, _)| *has).map(|(_, letter)| letter).collect();
    match pressed.code {
        KeyCode::Char(character) => key(&format!("{modifiers}{character}")),
        other => key(&format!("{modifiers}{other:?}")),
    }
}
