//! `watch`: prints the pushes of the editor as they arrive: as rows at a terminal, and as lines of JSON elsewhere.

use super::{Verdict, has_reader, print, print_json};
use crate::agent::events::{Link, Pushed};
use crate::agent::session::{Failure, Session, SessionEvent};
use crate::support::json_line;
use crate::support::transcript::{Line, Side, What};
use crate::view::{Filter, Screen, View};
use ide_mcp::Clock;
use std::io::{self, IsTerminal as _};

pub(crate) fn watch(session: &mut Session, json: bool) -> Result<Verdict, Failure> {
    let mut out = if json || !io::stdout().is_terminal() { Out::Json } else { Out::rows() };
    let mut selection = None;
    if !out.attached()? {
        return Ok(Verdict::Good);
    }
    while let Some(event) = session.next_while(has_reader)? {
        let is_read = match (Link::of(&event, session), event) {
            (Some(link), _) => {
                selection = None;
                out.link(&link)?
            }
            (None, SessionEvent::Client(event)) => match Pushed::of(event) {
                // Editors send a selection again, because an agent that has just attached may have missed it.
                Some(pushed) if is_repeated(&pushed, &mut selection) => true,
                Some(pushed) => out.pushed(&pushed)?,
                None => true,
            },
            (None, _) => true,
        };
        if !is_read {
            break;
        }
    }
    Ok(Verdict::Good)
}

/// Returns true if a selection equals the last one, which `last` remembers.
fn is_repeated(pushed: &Pushed, last: &mut Option<String>) -> bool {
    let Some(now) = pushed.selection() else { return false };
    if last.as_deref() == Some(now) {
        return true;
    }
    *last = Some(now.to_owned());
    false
}

/// The form of the output. Its functions return false if nobody reads it.
enum Out {
    Json,
    Rows {
        view: View,
        clock: Clock,
        /// The number of the connection, from 1.
        conn: u32,
    },
}

impl Out {
    fn rows() -> Self {
        Self::Rows { view: View::new(Filter::default()), clock: Clock::new(), conn: 1 }
    }

    /// Tells the user that the agent is attached. A program does not need to be told: otherwise the agent would have
    /// ended.
    fn attached(&mut self) -> Result<bool, Failure> {
        self.row(What::Open)
    }

    fn link(&mut self, link: &Link) -> Result<bool, Failure> {
        if let Self::Json = self {
            return print_json(link);
        }
        match link {
            Link::Lost { reason } => self.row(What::End(Side::Editor, reason.clone())),
            Link::Attached { .. } => {
                if let Self::Rows { conn, .. } = self {
                    *conn = conn.saturating_add(1);
                }
                self.attached()
            }
        }
    }

    fn pushed(&mut self, pushed: &Pushed) -> Result<bool, Failure> {
        if let Self::Json = self {
            return print_json(pushed);
        }
        let message = json_line(&pushed.message()).map_err(|error| error.to_string())?;
        self.row(What::Text(Side::Editor, message))
    }

    /// Prints the rows of this part of a transcript; as JSON, it prints nothing.
    fn row(&mut self, what: What) -> Result<bool, Failure> {
        let Self::Rows { view, clock, conn } = self else { return Ok(true) };
        let line = Line { at: clock.now(), conn: *conn, what, by_tap: false };
        for row in view.show(&line, &Screen::of_stdout()) {
            if !print(&row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
