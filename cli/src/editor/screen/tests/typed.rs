//! The bytes that a terminal sends, as the events that crossterm makes of them. The tests name keys by their
//! bytes; `tests/reader.rs` passes such bytes through a real terminal and crossterm.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

pub(super) fn events(mut bytes: &str) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some((event, rest)) = first(bytes) {
        events.push(event);
        bytes = rest;
    }
    events
}

fn first(bytes: &str) -> Option<(Event, &str)> {
    if let Some(pasted) = bytes.strip_prefix("\x1b[200~") {
        let (text, rest) = pasted.split_once("\x1b[201~").unwrap();
        return Some((Event::Paste(text.into()), rest));
    }
    if let Some(report) = bytes.strip_prefix("\x1b[<") {
        let end = report.find(['M', 'm']).unwrap();
        let (report, rest) = report.split_at(end);
        return Some((mouse(report, rest.starts_with('m')), rest.split_at(1).1));
    }
    let special = [("\x1b[", true), ("\x1bO", false)].into_iter().find_map(|(begin, is_long)| {
        let sequence = bytes.strip_prefix(begin)?;
        let end = if is_long { sequence.find(|c: char| !matches!(c, '0'..='9' | ';'))? } else { 0 };
        let (sequence, rest) = sequence.split_at(end + 1);
        Some((named(sequence), rest))
    });
    if let Some((key, rest)) = special {
        return Some((Event::Key(key), rest));
    }
    let mut characters = bytes.chars();
    let (code, modifiers) = match characters.next()? {
        '\x1b' => match characters.clone().next().filter(|next| *next != '\x1b') {
            Some(next) => {
                characters.next();
                (KeyCode::Char(next), KeyModifiers::ALT)
            }
            None => (KeyCode::Esc, KeyModifiers::NONE),
        },
        '\r' => (KeyCode::Enter, KeyModifiers::NONE),
        '\t' => (KeyCode::Tab, KeyModifiers::NONE),
        '\x7f' => (KeyCode::Backspace, KeyModifiers::NONE),
        '\0' => (KeyCode::Char(' '), KeyModifiers::CONTROL),
        control @ '\x01'..='\x1a' => (KeyCode::Char(char::from(control as u8 | 0x60)), KeyModifiers::CONTROL),
        character => (KeyCode::Char(character), KeyModifiers::NONE),
    };
    Some((Event::Key(KeyEvent::new(code, modifiers)), characters.as_str()))
}

/// Returns the key of a sequence without its begin.
fn named(sequence: &str) -> KeyEvent {
    let (parameters, last) = sequence.split_at(sequence.len() - 1);
    let numbers: Vec<u8> = parameters.split(';').map(|number| number.parse().unwrap_or(1)).collect();
    let modifiers = match numbers.get(1).copied().unwrap_or(1) {
        1 => KeyModifiers::NONE,
        2 => KeyModifiers::SHIFT,
        5 => KeyModifiers::CONTROL,
        other => panic!("{other}"),
    };
    let code = match (last, numbers[0]) {
        ("A", _) => KeyCode::Up,
        ("B", _) => KeyCode::Down,
        ("C", _) => KeyCode::Right,
        ("D", _) => KeyCode::Left,
        ("F", _) => KeyCode::End,
        ("H", _) => KeyCode::Home,
        ("P" | "Q" | "R" | "S", _) => KeyCode::F(last.as_bytes()[0] - b'P' + 1),
        ("~", 3) => KeyCode::Delete,
        ("~", 5) => KeyCode::PageUp,
        ("~", 6) => KeyCode::PageDown,
        ("~", number @ 11..=15) => KeyCode::F(number - 10),
        ("~", number @ 17..=21) => KeyCode::F(number - 11),
        ("~", number @ 23..=24) => KeyCode::F(number - 12),
        other => panic!("{other:?}"),
    };
    KeyEvent::new(code, modifiers)
}

fn mouse(report: &str, is_release: bool) -> Event {
    let numbers: Vec<u16> = report.split(';').map(|number| number.parse().unwrap()).collect();
    let [buttons, column, row] = numbers[..] else { panic!("{report}") };
    let kind = match (buttons, is_release) {
        (64, _) => MouseEventKind::ScrollUp,
        (65, _) => MouseEventKind::ScrollDown,
        (32, _) => MouseEventKind::Drag(MouseButton::Left),
        (0, false) => MouseEventKind::Down(MouseButton::Left),
        (0, true) => MouseEventKind::Up(MouseButton::Left),
        other => panic!("{other:?}"),
    };
    Event::Mouse(MouseEvent { kind, column: column - 1, row: row - 1, modifiers: KeyModifiers::NONE })
}
