//! The agent of the demo, on its own thread. It attaches, proposes and writes like a real one, and knows only what it
//! gets over its connection.

use super::tour::{Act, Event, Proposal, Tour};
use crate::editor::PanelWriter;
use crate::support::save::{Seen, save};
use ide_mcp::Time;
use ide_mcp::ide::kit::display_line;
use ide_mcp::ide::paths::{LocalPath, Platform};
use ide_mcp::ide::tool::{CloseTab, DiffOutcome, GetDiagnostics, OpenDiff, OpenFile, ToolArguments};
use ide_mcp::ide::{Client, ClientConfig, ClientEvent, Pending, Push, Selection};
use ide_mcp::mcp::{Implementation, Outcome};
use ide_mcp::rpc::{RequestId, SessionId};
use ide_mcp_blocking::{Conn, Trust, connect_checked};
use ide_mcp_lockfile::EditorSearch;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

/// How often the agent checks whether the user has skipped a step.
const SLICE: Duration = Duration::from_millis(50);
/// How long connecting to the editor may take. It is listening already.
const CONNECTING: Duration = Duration::from_secs(5);
/// How much of a user's text the panel shows, in characters, so that it takes two rows.
const SHOWN: usize = 40;
/// How much of an error the panel shows, in characters.
const REASON: usize = 200;

/// Attaches to the editor of this lock file, and leads the user through the tour until the editor ends.
///
/// # Errors
/// Why the agent could not attach. The panel shows it too.
pub(crate) fn play(lock: &Path, folder: &Path, panel: &PanelWriter) -> Result<(), String> {
    let mut tour = Tour::new();
    panel.show(tour.panel());
    let (is_attached, reason) = match connect(lock) {
        Ok(conn) => {
            let mut stage = Stage { conn, folder, panel, tour, is_attached: false, open: None, pause: None };
            let reason = loop {
                if let Some(reason) = stage.turn() {
                    break reason;
                }
            };
            tour = stage.tour;
            (stage.is_attached, reason)
        }
        Err(error) => (false, error.to_string()),
    };
    let reason = display_line(&reason, REASON).into_owned();
    tour.on(Event::Lost(reason.clone()));
    panel.show(tour.panel());
    // The end of an attached agent is not a failure: it ends with its editor.
    if is_attached { Ok(()) } else { Err(format!("the agent could not attach: {reason}")) }
}

/// Connects to the editor of this lock file. Ignores the user's variables that lead agents to other hosts.
fn connect(lock: &Path) -> Result<Conn<Client>, Box<dyn Error>> {
    let editor = EditorSearch::of_lock_file(lock).find()?;
    // If the system does not report the owner of the socket, it is trusted all the same: this process listens there.
    let (stream, _) = connect_checked("127.0.0.1", editor.port, CONNECTING, Trust::default())?;
    let info = Implementation::new("demo-agent", env!("CARGO_PKG_VERSION"));
    let mut config = ClientConfig::new(info, editor.port, editor.token);
    config.pid = Some(process::id());
    let client = Client::new(config, getrandom::fill, SessionId::new(1), Time::ZERO)?;
    Ok(Conn::from_stream(stream, client)?)
}

/// The agent in its session.
struct Stage<'a> {
    conn: Conn<Client>,
    folder: &'a Path,
    panel: &'a PanelWriter,
    tour: Tour,
    is_attached: bool,
    /// The change in progress.
    open: Option<Change>,
    /// The end of the pause.
    pause: Option<Time>,
}

/// A change from its proposal to its file.
struct Change {
    path: PathBuf,
    tab: String,
    /// The proposed text.
    text: String,
    /// What the file contained when the change was proposed.
    seen: Seen,
    at: At,
}

enum At {
    /// The user decides.
    Proposed(Pending<DiffOutcome>),
    /// The agent has announced that it will write this text. The editor answers once it has read the file.
    Announced(RequestId, String),
}

impl Stage<'_> {
    /// Waits a moment for the next event. Returns why the connection ended, if it did.
    fn turn(&mut self) -> Option<String> {
        let now = self.conn.now();
        if self.pause.take_if(|until| *until <= now).is_some() {
            self.happens(Event::PauseOver);
        }
        // Write an accepted text before anything is skipped.
        let is_writing = matches!(self.open, Some(Change { at: At::Announced(..), .. }));
        match self.conn.poll(SLICE) {
            Some(ClientEvent::Ready(_)) => {
                self.is_attached = true;
                self.happens(Event::Attached);
            }
            Some(ClientEvent::Pushed(Push::SelectionChanged(selection))) => {
                if let Some(event) = selected(&selection) {
                    self.happens(event);
                }
            }
            Some(ClientEvent::Outcome { request, outcome }) => self.answered(request, outcome),
            Some(ClientEvent::Closed(reason)) => return Some(reason.to_string()),
            Some(_) => {}
            None if self.conn.is_over() => return Some("the connection is over".into()),
            None if self.is_attached && !is_writing && self.panel.is_skipped() => {
                self.happens(Event::Skipped);
            }
            None => {}
        }
        None
    }

    /// Reports an event to the tour, does what the tour wants, and shows its new text.
    fn happens(&mut self, event: Event) {
        let acts = self.tour.on(event);
        self.panel.show(self.tour.panel());
        for act in acts {
            match act {
                Act::Pause(time) => self.pause = Some(self.conn.now().saturating_add(time)),
                Act::Withdraw => self.withdraw(),
                Act::Propose(proposal) => {
                    self.pause = None;
                    if let Err(reason) = self.propose(proposal) {
                        self.happens(Event::Failed(display_line(&reason, REASON).into_owned()));
                    }
                }
            }
        }
    }

    fn propose(&mut self, proposal: &Proposal) -> Result<(), String> {
        let path = self.folder.join(proposal.file);
        let seen = Seen::now(&path);
        // The user may have removed the file, or filled it with something that is not text. Then the proposal starts
        // from an empty file.
        let text = (proposal.change)(&fs::read_to_string(&path).unwrap_or_default());
        let tab = format!("✻ [demo] {}", proposal.file);
        let name = path.to_str().ok_or("the temporary folder has a name that is not Unicode")?;
        let diff = OpenDiff::new(name, text.as_str(), tab.as_str());
        let pending = self.conn.machine_mut().call_tool(&diff).map_err(|error| error.to_string())?;
        self.open = Some(Change { path, tab, text, seen, at: At::Proposed(pending) });
        Ok(())
    }

    fn withdraw(&mut self) {
        if let Some(Change { at: At::Proposed(pending), .. }) = self.open.take() {
            self.conn.machine_mut().cancel(pending.id(), None);
        }
    }

    /// Handles the outcome of a request. As the real client does, closes the tab of a proposal after its verdict, and
    /// asks for problems before and after a write, which is how the editor learns what an agent writes.
    fn answered(&mut self, request: RequestId, outcome: Outcome) {
        let is_of = |change: &mut Change| match &change.at {
            At::Proposed(pending) => pending.id() == request,
            At::Announced(announced, _) => *announced == request,
        };
        let Some(Change { path, tab, text, seen, at }) = self.open.take_if(is_of) else { return };
        let event = match at {
            At::Announced(..) if !matches!(outcome, Outcome::Result(_)) => {
                Event::NotWritten("the editor did not prepare for it".into())
            }
            At::Announced(_, accepted) => {
                let written = save(&path, accepted.as_bytes(), Some(&seen));
                self.ask(&GetDiagnostics::new(None));
                // So that the user sees what was written.
                self.ask(&OpenFile::new(path.to_string_lossy()));
                match written {
                    Ok(_) => Event::Accepted(changed(&text, &accepted)),
                    Err(error) => Event::NotWritten(display_line(&error.to_string(), REASON).into_owned()),
                }
            }
            At::Proposed(pending) => match pending.answer(outcome) {
                Ok(DiffOutcome::Accepted { contents }) => {
                    self.ask(&CloseTab::new(tab.as_str()));
                    let uri = LocalPath::parse(&path.to_string_lossy(), Platform::native())
                        .map(|path| path.to_uri())
                        .ok();
                    if let Some(announced) = self.ask(&GetDiagnostics::new(uri)) {
                        let at = At::Announced(announced, contents);
                        self.open = Some(Change { path, tab, text, seen, at });
                    }
                    return;
                }
                Ok(_) => {
                    self.ask(&CloseTab::new(tab));
                    Event::Rejected
                }
                Err(error) => Event::Failed(display_line(&error.to_string(), REASON).into_owned()),
            },
        };
        self.happens(event);
    }

    /// Calls a tool. If the session is gone, the next event says so.
    fn ask(&mut self, arguments: &impl ToolArguments) -> Option<RequestId> {
        self.conn.machine_mut().call_tool(arguments).ok().map(|pending| pending.id())
    }
}

/// Returns the event of a selection; `None` for a cursor.
fn selected(selection: &Selection) -> Option<Event> {
    let text = selection.text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let file = Path::new(&selection.file_path).file_name()?.to_string_lossy();
    let line = usize::try_from(selection.range.start.line).ok()?.saturating_add(1);
    Some(Event::Selected { file: shown(&file), line, text: shown(text) })
}

/// Returns the first line of the accepted text that is not in the proposed one; `None` if both are equal. If lines are
/// only missing, there is no such line, and the result says that.
fn changed(proposed: &str, accepted: &str) -> Option<String> {
    if proposed == accepted {
        return None;
    }
    let is_new = |line: &&str| !line.trim().is_empty() && !proposed.lines().any(|other| other == *line);
    Some(accepted.lines().find(is_new).map_or_else(|| "it has fewer lines".into(), |line| shown(line.trim())))
}

/// Returns a text of the user for the panel.
fn shown(text: &str) -> String {
    display_line(text, SHOWN).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ide_mcp::ide::kit::{Position, Range};

    #[test]
    fn edit_is_described_by_its_first_new_line() {
        let cases = [
            ("no edit", "a\nb\n", "a\nb\n", None),
            ("a name added", "a\n was here.\n", "a\nAda was here.\n", Some("Ada was here.")),
            ("a line added", "a\n", "a\n\n  b\n", Some("b")),
            ("a line removed", "a\nb\n", "a\n", Some("it has fewer lines")),
            ("an escape sequence", "", "\u{1b}[2J", Some("\u{fffd}[2J")),
        ];
        for (name, proposed, accepted, expected) in cases {
            assert_eq!(changed(proposed, accepted).as_deref(), expected, "{name}");
        }
        for (length, shown) in [(SHOWN, "x".repeat(SHOWN)), (SHOWN + 1, "x".repeat(SHOWN - 1) + "…")] {
            assert_eq!(changed("", &"x".repeat(length)), Some(shown), "{length}");
        }
    }

    #[test]
    fn selection_is_described_by_its_first_line() {
        let range = Range::new(Position::new(1, 0), Position::new(2, 0));
        let event = |text: &str| selected(&Selection::new("/p/a.py", range, text));
        let expected = Event::Selected { file: "a.py".into(), line: 2, text: "two".into() };
        assert_eq!(event("\n  two\nthree\n"), Some(expected));
        assert_eq!(event(""), None, "a cursor");
        assert_eq!(event(" \n"), None, "nothing to see");
        assert_eq!(selected(&Selection::cleared()), None);
    }
}
