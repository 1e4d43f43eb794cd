//! The line that the user types into a form, below everything else in the terminal.
//!
//! The terminal is raw only while the session waits. [`Line::pause`] gives it back for everything else that the
//! program writes, which then appears above the line.

use crate::support::columns::{column_of, cut_start, glyphs, width};
use crate::support::find::is_in_foreground;
use crate::support::keys::Keys;
use crossterm::cursor::MoveToColumn;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::style::Print;
use crossterm::terminal::{self, Clear, ClearType};
use crossterm::{execute, queue};
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::time::Duration;
use tui_input::Input;
use tui_input::backend::crossterm::EventHandler as _;

/// The longest line in bytes, as in a terminal on Linux that is not raw. A key that would make it longer rings the
/// bell.
const MAX_LINE: usize = 4_096;
/// How many keys are taken before the session goes on: a long paste must not delay an answer to the editor.
const MAX_KEYS: usize = 256;
/// How long to wait for a key.
const LOOK: Duration = Duration::from_millis(1);
/// The columns that a prompt leaves for the line. A wider prompt is written above it.
const ROOM: usize = 16;
/// The number of columns that we assume if the terminal does not report its size.
const USUAL: usize = 80;

#[derive(Debug, Default)]
pub(super) struct Line {
    prompt: String,
    input: Input,
    keys: Keys,
    /// True while the terminal is raw and shows the line.
    is_shown: bool,
    /// True until the keys from before the form have been dropped.
    is_first: bool,
    /// True if a signal that ends the program gives the terminal back first.
    restores: bool,
}

impl Line {
    /// Begins the first line of a form as [`ask`](Self::ask) does, and drops the keys that were typed before: they
    /// belong to an earlier form.
    pub(super) fn begin(&mut self, text: &str) {
        self.is_first = true;
        self.ask(text);
    }

    /// Writes a text, and lets the user type after its last line.
    pub(super) fn ask(&mut self, text: &str) {
        let (above, prompt) = text.rsplit_once('\n').unwrap_or(("", text));
        self.input.reset();
        self.write(above);
        self.prompt = if width(prompt).saturating_add(ROOM) > columns() {
            self.write(prompt.trim_end_matches([' ', '>']));
            "  > ".into()
        } else {
            prompt.into()
        };
    }

    /// Writes a line of text above the line of the user.
    pub(super) fn write(&mut self, text: &str) {
        self.pause();
        // An error can be ignored: if the terminal is gone, the keys end too, and the form is closed. The first part
        // removes a progress line.
        let mut out = io::stderr();
        let _ = queue!(out, MoveToColumn(0), Clear(ClearType::CurrentLine))
            .and_then(|()| writeln!(out, "{text}"));
    }

    /// Takes the user's keys, and returns the line once Enter is pressed. `Some(None)` means that the user closes the
    /// form, or that the terminal is gone. Reads nothing in the background.
    pub(super) fn next(&mut self) -> Option<Option<String>> {
        self.take_keys().unwrap_or(Some(None))
    }

    fn take_keys(&mut self) -> io::Result<Option<Option<String>>> {
        if !io::stdin().is_terminal() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if !self.is_shown && !self.show()? {
            return Ok(None);
        }
        let mut is_changed = false;
        for _ in 0..MAX_KEYS {
            let Some(event) = self.keys.next(Some(LOOK))? else { break };
            is_changed = true;
            match event {
                Event::Key(key) if key.kind == KeyEventKind::Release => {}
                Event::Key(key) => match meaning(key) {
                    Some(Meaning::Enter) => {
                        self.end();
                        return Ok(Some(Some(self.input.value_and_reset())));
                    }
                    Some(Meaning::Close) if self.input.value().is_empty() => {
                        self.end();
                        return Ok(Some(None));
                    }
                    Some(Meaning::Close) => {}
                    Some(Meaning::Signal(signal)) => {
                        self.end();
                        signals::send(signal)?;
                        return Ok(None);
                    }
                    None => {
                        let before = self.input.clone();
                        self.input.handle_event(&event);
                        if self.input.value().len() > MAX_LINE {
                            self.input = before;
                            execute!(io::stderr(), Print('\x07'))?;
                        }
                    }
                },
                Event::FocusGained
                | Event::FocusLost
                | Event::Mouse(_)
                | Event::Paste(_)
                | Event::Resize(..) => {}
            }
        }
        if is_changed {
            self.draw()?;
        }
        Ok(None)
    }

    /// Takes the terminal and shows the line; returns false if the program is in the background.
    fn show(&mut self) -> io::Result<bool> {
        // The system would stop a program in the background that changes the terminal.
        if !is_in_foreground() {
            return Ok(false);
        }
        if !self.restores {
            signals::restore_before(terminal::disable_raw_mode)?;
            self.restores = true;
        }
        terminal::enable_raw_mode()?;
        self.is_shown = true;
        if self.is_first {
            for _ in 0..MAX_LINE {
                if self.keys.next(Some(LOOK))?.is_none() {
                    break;
                }
            }
            self.is_first = false;
        }
        self.draw()?;
        Ok(true)
    }

    /// Shows as much of the line as there is room for, with the cursor.
    fn draw(&self) -> io::Result<()> {
        let columns = columns();
        let prompt = cut_start(&self.prompt, columns.saturating_sub(ROOM));
        let (row, cursor) = row(&self.input, columns.saturating_sub(width(&prompt)));
        let cursor = u16::try_from(width(&prompt).saturating_add(cursor)).unwrap_or(u16::MAX);
        let clear = Clear(ClearType::FromCursorDown);
        execute!(io::stderr(), MoveToColumn(0), clear, Print(prompt), Print(row), MoveToColumn(cursor))
    }

    /// Gives the terminal back, and removes the line until the next call of [`next`](Self::next).
    pub(super) fn pause(&mut self) {
        self.give_back(|out| queue!(out, MoveToColumn(0), Clear(ClearType::FromCursorDown)));
    }

    /// Gives the terminal back, and leaves the line as it is.
    pub(super) fn end(&mut self) {
        let (prompt, (row, _)) = (self.prompt.clone(), row(&self.input, usize::MAX));
        self.give_back(|out| {
            queue!(
                out,
                MoveToColumn(0),
                Clear(ClearType::FromCursorDown),
                Print(prompt),
                Print(row),
                Print("\r\n")
            )
        });
    }

    fn give_back(&mut self, finish: impl FnOnce(&mut io::Stderr) -> io::Result<()>) {
        if std::mem::take(&mut self.is_shown) {
            let mut out = io::stderr();
            // The terminal can be gone.
            let _ = finish(&mut out).and_then(|()| out.flush());
            let _ = terminal::disable_raw_mode();
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.pause();
    }
}

/// Returns the columns of the terminal.
fn columns() -> usize {
    terminal::size().ok().map(|(columns, _)| columns.into()).filter(|columns| *columns > 0).unwrap_or(USUAL)
}

/// Returns the part of an input that is shown in this number of columns, and the column of the cursor in it. The last
/// column stays free for the cursor.
fn row(input: &Input, columns: usize) -> (String, usize) {
    let value = input.value();
    let byte = value.char_indices().nth(input.cursor()).map_or(value.len(), |(byte, _)| byte);
    let (room, cursor) = (columns.saturating_sub(1), column_of(value, byte));
    let hidden = cursor.saturating_sub(room);
    let mut seen = glyphs(value).skip_while(|glyph| glyph.column < hidden).peekable();
    let start = seen.peek().map_or(cursor, |glyph| glyph.column);
    let row = seen.take_while(|glyph| glyph.column.saturating_add(glyph.width).saturating_sub(start) <= room);
    (row.map(|glyph| glyph.shown).collect(), cursor.saturating_sub(start))
}

/// A key that does not edit the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Enter,
    Close,
    Signal(signals::Signal),
}

/// Returns the meaning that a key has in a terminal that is not raw.
fn meaning(key: KeyEvent) -> Option<Meaning> {
    match (key.code, key.modifiers) {
        (KeyCode::Enter, _) => Some(Meaning::Enter),
        (KeyCode::Char(letter), KeyModifiers::CONTROL) => match letter {
            // A line feed in pasted text.
            'j' => Some(Meaning::Enter),
            'd' => Some(Meaning::Close),
            letter => signals::of(letter).map(Meaning::Signal),
        },
        _ => None,
    }
}

/// The keys that a terminal turns into signals while it is not raw.
#[cfg(unix)]
mod signals {
    use crate::support::signals::{is_ignored, on_signals};
    pub(super) use rustix::process::Signal;
    use rustix::process::kill_current_process_group;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::low_level::emulate_default_handler;
    use std::io;

    /// Returns the signal of a key with Ctrl.
    pub(super) const fn of(letter: char) -> Option<Signal> {
        match letter {
            'c' => Some(Signal::INT),
            'z' => Some(Signal::TSTP),
            // Ctrl+\ arrives as Ctrl+4.
            '4' => Some(Signal::QUIT),
            _ => None,
        }
    }

    /// Sends a signal to all programs in the foreground, as the key would.
    pub(super) fn send(signal: Signal) -> io::Result<()> {
        kill_current_process_group(signal)?;
        // The thread that handles signals may run later, and this thread must not take the terminal before that.
        if signal != Signal::TSTP && !is_ignored(signal.as_raw()) {
            emulate_default_handler(signal.as_raw())?;
        }
        Ok(())
    }

    /// Calls `restore` before a signal ends the program.
    pub(super) fn restore_before(restore: fn() -> io::Result<()>) -> io::Result<()> {
        let mut ends = vec![SIGHUP, SIGINT, SIGQUIT, SIGTERM];
        ends.retain(|signal| !is_ignored(*signal));
        on_signals(&ends, move |signal| {
            let _ = restore();
            emulate_default_handler(signal).is_ok()
        })
    }
}

#[cfg(windows)]
mod signals {
    use crate::support::signals::on_end;
    use std::io;

    /// Ctrl+C, which is not a signal on Windows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Signal;

    /// The status with which Windows ends a program at Ctrl+C.
    const STATUS_CONTROL_C_EXIT: i32 = 0xC000_013A_u32.cast_signed();

    pub(super) const fn of(letter: char) -> Option<Signal> {
        if letter == 'c' { Some(Signal) } else { None }
    }

    pub(super) fn send(_: Signal) -> io::Result<()> {
        std::process::exit(STATUS_CONTROL_C_EXIT)
    }

    /// Calls `restore` before Ctrl+Break or the end of the console ends the program.
    pub(super) fn restore_before(restore: fn() -> io::Result<()>) -> io::Result<()> {
        on_end(move |_| {
            let _ = restore();
            std::process::exit(STATUS_CONTROL_C_EXIT)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_shows_the_line_around_the_cursor() {
        let rows = [
            ("nothing", "", 0, 5, "", 0),
            ("with room", "abc", 3, 5, "abc", 3),
            ("without room", "abcd", 4, 4, "bcd", 3),
            ("the cursor at the start", "abcdef", 0, 4, "abc", 0),
            ("the cursor inside", "abcdef", 4, 4, "bcd", 3),
            ("a wide character that is cut", "a\u{6f22}bc", 4, 4, "bc", 2),
            ("characters that are unsafe to display", "a\u{202e}\u{200b}", 3, 9, "a\u{fffd}\u{fffd}", 3),
            ("no columns", "abc", 3, 0, "", 0),
        ];
        for (name, value, cursor, columns, shown, column) in rows {
            let input = Input::new(value.into()).with_cursor(cursor);
            assert_eq!(row(&input, columns), (shown.into(), column), "{name}");
        }
    }

    #[test]
    fn keys_mean_what_they_mean_to_a_terminal() {
        let key = |code| KeyEvent::new(code, KeyModifiers::CONTROL);
        for (code, is_it) in [('c', true), ('x', false)] {
            let meaning = meaning(key(KeyCode::Char(code)));
            assert_eq!(matches!(meaning, Some(Meaning::Signal(_))), is_it, "{code}");
        }
        assert_eq!(meaning(key(KeyCode::Char('d'))), Some(Meaning::Close));
        assert_eq!(meaning(key(KeyCode::Char('j'))), Some(Meaning::Enter));
        assert_eq!(meaning(KeyEvent::from(KeyCode::Enter)), Some(Meaning::Enter));
        assert_eq!(meaning(KeyEvent::from(KeyCode::Char('d'))), None);
    }
}
