//! The steps of the demo, and what the agent tells the user in each. Nothing here waits, reads or writes: the [agent]
//! reports what happened, and does what the tour wants next.
//!
//! [agent]: super::agent

use super::project::{GREETING, GUESTBOOK};
use crate::editor::{Ink, Panel};
use std::time::Duration;

/// The tour goes on after this time without another selection: the user has finished selecting.
const QUIET: Duration = Duration::from_millis(1200);
/// How long the answer to a verdict stays before the next proposal covers the file.
const READING: Duration = Duration::from_millis(2500);

/// An empty row of the panel.
const BLANK: (Ink, String) = (Ink::Text, String::new());

/// The number of steps: a selection, and the proposals.
const STEPS: usize = PROPOSALS.len() + 1;

/// A change that the agent proposes, and what it tells the user about each verdict.
#[derive(Debug)]
pub(crate) struct Proposal {
    pub(crate) file: &'static str,
    /// Returns the proposed text for the one on disk.
    pub(crate) change: fn(&str) -> String,
    text: &'static str,
    hint: &'static str,
    accepted: &'static str,
    rejected: &'static str,
}

pub(crate) const PROPOSALS: [Proposal; 3] = [
    Proposal {
        file: GREETING,
        change: |old| old.replace("Helo", "Hello"),
        text: "There is a typo in greeting.py, so I propose a change.",
        hint: "Press a to accept it.",
        accepted: "Thank you. I have written greeting.py.",
        rejected: "You rejected it, so I write nothing.",
    },
    Proposal {
        file: GUESTBOOK,
        // The cursor of an edit is at the beginning of the change: the name is all there is to type.
        change: |old| format!("{old} was here.\n"),
        text: "I would like to add you to the guestbook, but I do not know your name.",
        hint: "Press e, type it, then Ctrl+S and a.",
        accepted: "I have written it without a name. With e, you change it before you accept it.",
        rejected: "You rejected it, so the guestbook stays without you.",
    },
    Proposal {
        file: GUESTBOOK,
        change: |_| String::new(),
        text: "Now a bad idea: I want to empty the guestbook.",
        hint: "Press r to reject it.",
        accepted: "You accepted it, so the guestbook is empty now.",
        rejected: "Understood. I write nothing, and the guestbook stays.",
    },
];

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The agent is attached.
    Attached,
    /// The user has selected this text of a file, from this line on, counted from 1. All strings are safe to display.
    Selected {
        file: String,
        line: usize,
        text: String,
    },
    /// The user has accepted the proposal, and the agent has written the file. The text is the first line that the
    /// user put into it, safe to display; `None` if the proposal was accepted as it was.
    Accepted(Option<String>),
    /// The user has accepted the proposal, but the file could not be written, for this reason.
    NotWritten(String),
    Rejected,
    /// The editor has answered the proposal with this error.
    Failed(String),
    /// The [pause](Act::Pause) is over.
    PauseOver,
    /// The user skips the step.
    Skipped,
    /// The connection has ended for this reason.
    Lost(String),
}

/// What the agent does next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Waits this long, unless another pause begins or a proposal is made.
    Pause(Duration),
    Propose(&'static Proposal),
    /// Withdraws the proposal, and ignores an answer to it.
    Withdraw,
}

/// How far the user is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Attaching,
    Selecting,
    Deciding(usize),
    /// The user reads what the agent says about the verdict on this proposal.
    Reading(usize),
    End,
    Lost,
}

/// The tour: how far the user is, and the agent's text.
#[derive(Debug)]
pub(crate) struct Tour {
    at: At,
    /// The steps that are over, a line each.
    done: Vec<String>,
    /// The agent's text in this step.
    lines: Vec<(Ink, String)>,
}

impl Tour {
    pub(crate) fn new() -> Self {
        Self { at: At::Attaching, done: Vec::new(), lines: vec![(Ink::Dim, "attaching …".into())] }
    }

    /// Handles an event, and returns what the agent does next, in order.
    pub(crate) fn on(&mut self, event: Event) -> Vec<Act> {
        match (self.at, event) {
            (At::End | At::Lost, Event::Lost(_)) => self.at = At::Lost,
            (_, Event::Lost(reason)) => {
                self.add_text(&format!("The connection has ended: {reason}"));
                self.add_hint("Ctrl+Q ends the demo.");
                self.at = At::Lost;
            }
            (At::Attaching, Event::Attached) => {
                self.at = At::Selecting;
                self.begin_selecting();
            }
            (At::Selecting, Event::Selected { file, line, text }) => {
                self.begin_selecting();
                self.wire("← selection_changed");
                self.add_text(&format!("I see line {line} of {file}: {text}"));
                self.done = vec!["✓ I saw your selection".into()];
                return vec![Act::Pause(QUIET)];
            }
            (At::Selecting, Event::Skipped) => {
                self.done = vec!["· skipped the selection".into()];
                return self.propose(0);
            }
            (At::Selecting, Event::PauseOver) => return self.propose(0),
            (At::Reading(at), Event::PauseOver | Event::Skipped) => {
                return self.propose(at.saturating_add(1));
            }
            (At::Deciding(at), event) => return self.decide(at, event),
            _ => {}
        }
        Vec::new()
    }

    /// Returns what the panel shows now.
    pub(crate) fn panel(&self) -> Panel {
        let step = match self.at {
            At::Attaching | At::Selecting => Some(1),
            At::Deciding(at) | At::Reading(at) => Some(at.saturating_add(2)),
            At::End | At::Lost => None,
        };
        let note = step.map_or_else(|| "^Q ends".to_owned(), |step| format!("{step} of {STEPS} · F6 skips"));
        // What was done in this step is in the lines below.
        let is_shown_below = matches!(self.at, At::Selecting | At::Reading(_));
        let over = self.done.len().saturating_sub(is_shown_below.into());
        let mut paragraphs: Vec<(Ink, String)> =
            self.done.iter().take(over).map(|line| (Ink::Dim, line.clone())).collect();
        if !paragraphs.is_empty() {
            paragraphs.push(BLANK);
        }
        paragraphs.extend(self.lines.iter().cloned());
        Panel { title: "The agent".into(), note, paragraphs }
    }

    fn begin_selecting(&mut self) {
        self.lines.clear();
        self.wire("→ initialize, with the token");
        self.add_text("I am an agent, attached to this editor (●). I see what you select.");
        self.add_hint("Select a line: hold Shift and press ↓, or drag the mouse.");
    }

    /// Makes a proposal, or ends the tour after the last one.
    fn propose(&mut self, at: usize) -> Vec<Act> {
        self.lines.clear();
        if let Some(proposal) = PROPOSALS.get(at) {
            self.wire(&format!("→ openDiff {}", proposal.file));
            self.add_text(proposal.text);
            // The editor does not put a change in front of a user who has just typed.
            self.add_text("If you do not see it, press F3.");
            self.add_hint(proposal.hint);
            self.at = At::Deciding(at);
            return vec![Act::Propose(proposal)];
        }
        self.add_text("That is all. You decide before anything is written.");
        self.lines.push(BLANK);
        self.add_text(
            "In your editor: `ide-mcp plugin nvim` (or vim, emacs). Here: `ide-mcp editor`. Then `claude --ide`; without an \
             account, `ide-mcp agent diff FILE NEWFILE`. If it does not attach: `ide-mcp doctor`",
        );
        self.add_hint("a accept  e edit  r reject  Esc later");
        self.add_text("Ctrl+Q ends the demo.");
        self.at = At::End;
        Vec::new()
    }

    /// Handles an event while a proposal waits for its verdict.
    fn decide(&mut self, at: usize, event: Event) -> Vec<Act> {
        let Some(proposal) = PROPOSALS.get(at) else { return Vec::new() };
        let file = proposal.file;
        match event {
            Event::Accepted(None) => {
                self.wire("← FILE_SAVED");
                self.add_text(proposal.accepted);
                self.done.push(format!("✓ you accepted {file}"));
            }
            Event::Accepted(Some(line)) => {
                self.wire("← FILE_SAVED, with your text");
                self.add_text(&format!("I wrote your text instead of mine: {line}"));
                self.done.push(format!("✓ you edited {file}"));
            }
            Event::NotWritten(reason) => {
                self.wire("← FILE_SAVED");
                self.add_text(&format!("I could not write {file}: {reason}"));
                self.done.push(format!("✗ {file} was not written"));
            }
            Event::Rejected => {
                self.wire("← DIFF_REJECTED");
                self.add_text(proposal.rejected);
                self.done.push(format!("✗ you rejected {file}"));
            }
            Event::Failed(reason) => {
                self.add_text(&format!("The editor answered with an error: {reason}"));
                self.done.push(format!("✗ no verdict about {file}"));
            }
            Event::Skipped => {
                self.done.push(format!("· skipped {file}"));
                return [Act::Withdraw].into_iter().chain(self.propose(at.saturating_add(1))).collect();
            }
            _ => return Vec::new(),
        }
        self.at = At::Reading(at);
        vec![Act::Pause(READING)]
    }

    fn add_text(&mut self, text: &str) {
        self.lines.push((Ink::Text, text.into()));
    }

    /// Tells the user what to do.
    fn add_hint(&mut self, text: &str) {
        self.lines.extend([BLANK, (Ink::Heading, text.into()), BLANK]);
    }

    /// Shows a message of the protocol.
    fn wire(&mut self, text: &str) {
        self.lines.push((Ink::Dim, text.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::wrap::rows;

    fn selected(text: &str) -> Event {
        Event::Selected { file: "a.py".into(), line: 2, text: text.into() }
    }

    fn texts(tour: &Tour) -> Vec<String> {
        let texts = tour.panel().paragraphs.into_iter().map(|(_, text)| text);
        texts.filter(|text| !text.is_empty()).collect()
    }

    /// Returns a tour after these events.
    fn after(events: &[Event]) -> Tour {
        let mut tour = Tour::new();
        for event in events {
            tour.on(event.clone());
        }
        tour
    }

    /// The events up to the proposal of this number.
    fn up_to(proposal: usize) -> Vec<Event> {
        let mut events = vec![Event::Attached, selected("x"), Event::PauseOver];
        for _ in 0..proposal {
            events.extend([Event::Accepted(None), Event::PauseOver]);
        }
        events
    }

    #[test]
    fn each_event_leads_to_its_step_and_text() {
        use Event::{Accepted, Attached, Failed, Lost, NotWritten, PauseOver, Rejected, Skipped};
        let mine = || Accepted(Some("Ada was here.".into()));
        let with = |proposal: usize, event: Event| [up_to(proposal), vec![event]].concat();
        // The name, the events, the note, what the last event causes, and the last paragraphs.
        let cases: &[(&str, Vec<Event>, &str, &str, &[&str])] = &[
            ("nothing yet", vec![], "1 of 4", "", &["attaching …"]),
            (
                "attached",
                vec![Attached],
                "1 of 4",
                "",
                &["Select a line: hold Shift and press ↓, or drag the mouse."],
            ),
            (
                "selected",
                vec![Attached, selected("x")],
                "1 of 4",
                "pause",
                &["← selection_changed", "I see line 2 of a.py: x"],
            ),
            (
                "selected something else",
                vec![Attached, selected("x"), selected("y")],
                "1 of 4",
                "pause",
                &[
                    "Select a line: hold Shift and press ↓, or drag the mouse.",
                    "← selection_changed",
                    "I see line 2 of a.py: y",
                ],
            ),
            ("the first proposal", up_to(0), "2 of 4", "propose greeting.py", &["Press a to accept it."]),
            (
                "selected during the first proposal",
                with(0, selected("y")),
                "2 of 4",
                "",
                &["Press a to accept it."],
            ),
            ("a pause that ends late", with(0, PauseOver), "2 of 4", "", &["Press a to accept it."]),
            (
                "accepted",
                with(0, Accepted(None)),
                "2 of 4",
                "pause",
                &["← FILE_SAVED", "Thank you. I have written greeting.py."],
            ),
            (
                "edited",
                with(0, mine()),
                "2 of 4",
                "pause",
                &["I wrote your text instead of mine: Ada was here."],
            ),
            (
                "rejected",
                with(0, Rejected),
                "2 of 4",
                "pause",
                &["← DIFF_REJECTED", "You rejected it, so I write nothing."],
            ),
            (
                "not written",
                with(0, NotWritten("no".into())),
                "2 of 4",
                "pause",
                &["I could not write greeting.py: no"],
            ),
            (
                "no verdict",
                with(0, Failed("no".into())),
                "2 of 4",
                "pause",
                &["The editor answered with an error: no"],
            ),
            (
                "skipped",
                with(0, Skipped),
                "3 of 4",
                "withdraw, propose guestbook.txt",
                &["Press e, type it, then Ctrl+S and a."],
            ),
            (
                "the second proposal",
                up_to(1),
                "3 of 4",
                "propose guestbook.txt",
                &["Press e, type it, then Ctrl+S and a."],
            ),
            (
                "edited, the second",
                with(1, mine()),
                "3 of 4",
                "pause",
                &["← FILE_SAVED, with your text", "I wrote your text instead of mine: Ada was here."],
            ),
            ("the third proposal", up_to(2), "4 of 4", "propose guestbook.txt", &["Press r to reject it."]),
            (
                "rejected, the third",
                with(2, Rejected),
                "4 of 4",
                "pause",
                &["Understood. I write nothing, and the guestbook stays."],
            ),
            (
                "skipped while reading",
                [with(2, Rejected), vec![Skipped]].concat(),
                "^Q ends",
                "",
                &["Ctrl+Q ends the demo."],
            ),
            (
                "the end",
                up_to(3),
                "^Q ends",
                "",
                &["a accept  e edit  r reject  Esc later", "Ctrl+Q ends the demo."],
            ),
            ("skipped after the end", with(3, Skipped), "^Q ends", "", &["Ctrl+Q ends the demo."]),
            (
                "all skipped",
                vec![Attached, Skipped, Skipped, Skipped, Skipped],
                "^Q ends",
                "withdraw",
                &["Ctrl+Q ends the demo."],
            ),
            (
                "lost before attaching",
                vec![Lost("no".into())],
                "^Q ends",
                "",
                &["The connection has ended: no", "Ctrl+Q ends the demo."],
            ),
            (
                "lost during a selection",
                vec![Attached, Lost("no".into())],
                "^Q ends",
                "",
                &["The connection has ended: no", "Ctrl+Q ends the demo."],
            ),
            (
                "lost during a proposal",
                with(1, Lost("no".into())),
                "^Q ends",
                "",
                &["The connection has ended: no", "Ctrl+Q ends the demo."],
            ),
            (
                "lost after the end",
                with(3, Lost("no".into())),
                "^Q ends",
                "",
                &["a accept  e edit  r reject  Esc later", "Ctrl+Q ends the demo."],
            ),
        ];
        for (name, events, note, expected, lines) in cases {
            let (last, before) =
                events.split_last().map_or((None, &[][..]), |(last, before)| (Some(last), before));
            let mut tour = after(before);
            let acts = last.map_or_else(Vec::new, |event| tour.on(event.clone()));
            let named = acts.iter().map(|act| match act {
                Act::Pause(_) => "pause".to_owned(),
                Act::Propose(proposal) => format!("propose {}", proposal.file),
                Act::Withdraw => "withdraw".into(),
            });
            assert_eq!(named.collect::<Vec<_>>().join(", "), *expected, "{name}");
            let panel = tour.panel();
            assert!(panel.note.starts_with(note), "{name}: {panel:?}");
            let shown = texts(&tour);
            let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
            assert!(shown.ends_with(lines), "{name}: {panel:?}");
        }
    }

    #[test]
    fn steps_that_are_over_stay_as_a_line() {
        let mut tour = after(&up_to(0));
        for event in
            [Event::Accepted(None), Event::PauseOver, Event::Accepted(Some("x".into())), Event::PauseOver]
        {
            tour.on(event);
        }
        let over = ["✓ I saw your selection", "✓ you accepted greeting.py", "✓ you edited guestbook.txt"];
        assert_eq!(texts(&tour)[..3], over);
        tour.on(Event::Rejected);
        // The last answer is below.
        assert_eq!(texts(&tour)[..4], [&over[..], &["→ openDiff guestbook.txt"]].concat());
        tour.on(Event::PauseOver);
        assert_eq!(texts(&tour)[3], "✗ you rejected guestbook.txt");
    }

    #[test]
    fn small_panel_shows_what_to_do() {
        // Below an editor of 40 columns and 10 rows: 3 rows of 38 columns. The smallest beside it has 27 columns.
        for (columns, room) in [(38, 3), (27, 23)] {
            let steps = [vec![Event::Attached], up_to(0), up_to(1), up_to(2), up_to(3)];
            for (at, events) in steps.iter().enumerate() {
                let tour = after(events);
                let lines: Vec<(Ink, usize)> = tour
                    .panel()
                    .paragraphs
                    .iter()
                    .filter(|(_, text)| !text.is_empty())
                    .flat_map(|(ink, text)| rows(text, columns).into_iter().map(|row| (*ink, row.start)))
                    .collect();
                let first = lines.iter().position(|line| *line == (Ink::Heading, 0)).unwrap();
                assert!(lines.len() - first <= room, "{at}, {columns}: {lines:?}");
            }
        }
    }

    #[test]
    fn proposals_change_their_files() {
        let [greeting, signed, emptied] = PROPOSALS.map(|proposal| proposal.change);
        assert_eq!(greeting("print(\"Helo\")"), "print(\"Hello\")");
        assert_eq!(signed("Ada was here.\n"), "Ada was here.\n was here.\n");
        assert_eq!(emptied("Ada was here.\n"), "");
    }
}
