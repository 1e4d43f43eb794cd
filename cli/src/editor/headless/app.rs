//! The application without a screen: takes commands as lines of JSON, and reports events as lines of JSON.
//!
//! The editor writes files only for `undo`; accepted changes are written by the agent. The disk has its own thread,
//! so a disk that hangs delays only the work that needs it, and the commands after that work.

use super::command::{Command, range};
use super::context::Offered;
use super::forms::Forms;
use super::offer::tool_set;
use super::own::Programs;
use super::report::{Event, Report};
use crate::editor::diffs::{Diffs, Proposal, Verdict};
use crate::editor::edits::Expected;
use crate::editor::options::OnDiff;
use crate::editor::worker::Worker;
use crate::editor::workspace::Workspace;
use crate::support::Line;
use ide_mcp::Time;
use ide_mcp::ide::kit::Range;
use ide_mcp::ide::{AgentId, Dialect, Selected, Selection, Server};
use std::io;
use std::time::Duration;

/// How long `quit` and the end of standard input wait for the commands before them.
const FOR_COMMANDS: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Headless {
    pub(super) disk: Worker<Workspace, Self>,
    /// The latest selection in a file, or the cursor in it.
    pub(super) latest: Option<Selection>,
    /// True if the file of the latest selection has the focus: the selection was not cleared.
    pub(super) has_focus: bool,
    pub(super) expected_edits: Expected,
    pub(super) dialect: Dialect,
    pub(super) on_diff: OnDiff,
    pub(super) diffs: Diffs,
    pub(super) context: Offered,
    pub(super) own: Programs,
    pub(super) forms: Forms,
    pub(super) report: Report,
    ending: Option<Ending>,
}

/// A requested end of the editor: once the earlier commands are done, or at the time `at` if that is earlier.
#[derive(Debug)]
struct Ending {
    reason: String,
    at: Time,
}

impl Headless {
    /// Creates the application. Its threads call `wake` after each job on the disk and each program; the loop must
    /// then call [`tick`](Self::tick).
    ///
    /// # Errors
    /// Returns the error of the system if it cannot create a thread.
    pub(crate) fn new(
        workspace: Workspace,
        dialect: Dialect,
        on_diff: OnDiff,
        report: Report,
        wake: impl Fn() + Send + Sync + Clone + 'static,
    ) -> io::Result<Self> {
        let own = Programs::new(workspace.folders().first(), wake.clone());
        let disk = Worker::new(workspace, wake)?;
        Ok(Self {
            disk,
            latest: None,
            has_focus: false,
            expected_edits: Expected::new(),
            dialect,
            on_diff,
            diffs: Diffs::default(),
            context: Offered::default(),
            own,
            forms: Forms::default(),
            report,
            ending: None,
        })
    }

    pub(crate) const fn report(&mut self) -> &mut Report {
        &mut self.report
    }

    /// Drops the application and returns its report, whose last events may still be unread.
    pub(crate) fn into_report(self) -> Report {
        self.report
    }

    /// Continues the work whose jobs on the disk are done.
    pub(crate) fn tick(&mut self, server: &mut Server, now: Time) {
        while let Some(follow_up) = self.disk.next().or_else(|| self.own.next()) {
            follow_up(self, server, now);
        }
    }

    /// Returns why the editor must end now, if it must.
    pub(crate) fn end(&mut self, now: Time) -> Option<String> {
        let is_due = |ending: &mut Ending| ending.at <= now || !self.disk.has_own_jobs();
        self.ending.take_if(is_due).map(|ending| ending.reason)
    }

    /// Returns true if the editor is ending, and takes no more commands.
    pub(crate) const fn is_ending(&self) -> bool {
        self.ending.is_some()
    }

    /// Returns when [`end`](Self::end) gives a reason even if commands still wait.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.ending.as_ref().map(|ending| ending.at)
    }

    /// Ends the editor after the commands that it has received so far, or after [`FOR_COMMANDS`].
    pub(crate) fn end_after_commands(&mut self, now: Time, reason: String) {
        self.ending.get_or_insert_with(|| Ending { reason, at: now.saturating_add(FOR_COMMANDS) });
    }

    /// Carries out a line of standard input after the lines before it. `pause` and `resume` take effect at once. A
    /// line that is not a command is only reported.
    pub(crate) fn line(&mut self, server: &mut Server, now: Time, Line { number, text }: Line) {
        let command = text.map_err(|bad| format!("it {bad}")).and_then(|text| Command::parse(&text));
        match command {
            Ok(Command::Open { path }) => self.select_in(number, path, Range::default()),
            Ok(Command::Select { path, start, end }) => self.select_in(number, path, range(start, end)),
            Ok(Command::Mention { path, lines, conn }) => self.disk.run(
                None,
                move |workspace| workspace.mention(&path, lines),
                move |app, server, now, mention| {
                    let done = mention.and_then(|mention| {
                        let to = addressee(server, conn)?;
                        server.mention(now, mention, to).map_err(|error| error.to_string())
                    });
                    app.done(number, done);
                },
            ),
            Ok(Command::Clear {}) => self.in_order(server, now, number, |app, server, now| {
                app.select(server, now, Selection::cleared());
                Ok(())
            }),
            Ok(Command::Answer { tab, verdict, contents, conn }) => {
                self.in_order(server, now, number, move |app, server, _| {
                    let proposal = app.diffs.take(tab.as_deref(), conn)?;
                    app.decide(server, proposal, verdict, contents);
                    Ok(())
                });
            }
            Ok(Command::Tools { offer, own }) => self.in_order(server, now, number, move |app, server, _| {
                server.set_tools(app.own.offer(tool_set(&offer)?, own)?);
                Ok(())
            }),
            Ok(Command::Edits {}) => self.list_edits(number),
            Ok(Command::Undo { conn, edit }) => self.undo(number, conn, edit),
            // At once, so that a disk that hangs does not delay a pause.
            Ok(Command::Pause {}) => {
                server.pause(now);
                self.report.write(&Event::Paused);
            }
            Ok(Command::Resume {}) => {
                server.resume(now);
                self.report.write(&Event::Resumed);
            }
            Ok(Command::Context { prompts, resources }) => {
                self.in_order(server, now, number, move |app, server, _| {
                    app.context = Offered::new(prompts, resources);
                    server.set_context(app.context.to_context());
                    Ok(())
                });
            }
            Ok(Command::Form { form, conn, within }) => {
                self.in_order(server, now, number, move |app, server, _| {
                    app.forms.open(server, number, &form, addressee(server, conn)?, within)
                });
            }
            Ok(Command::Quit {}) => self.end_after_commands(now, "quit".into()),
            Err(problem) => self.done(number, Err(format!("line {number} is not a command: {problem}"))),
        }
    }

    /// Carries out a command that needs no disk: at once, or after the earlier commands that wait for the disk.
    fn in_order(
        &mut self,
        server: &mut Server,
        now: Time,
        number: u64,
        command: impl FnOnce(&mut Self, &mut Server, Time) -> Result<(), String> + Send + 'static,
    ) {
        let command = move |app: &mut Self, server: &mut Server, now: Time| {
            let done = command(app, server, now);
            app.done(number, done);
        };
        if self.disk.has_own_jobs() {
            self.disk.run(None, |_| (), move |app, server, now, ()| command(app, server, now));
        } else {
            command(self, server, now);
        }
    }

    fn select_in(&mut self, number: u64, path: String, range: Range) {
        self.disk.run(
            None,
            move |workspace| workspace.select(&path, range),
            move |app, server, now, selection| {
                let done = selection.map(|selection| app.select(server, now, selection));
                app.done(number, done);
            },
        );
    }

    pub(super) fn done(&mut self, number: u64, done: Result<(), String>) {
        if let Err(message) = done {
            self.report.write(&Event::Error { line: Some(number), message: &message });
        }
    }

    pub(super) fn select(&mut self, server: &mut Server, now: Time, selection: Selection) {
        self.has_focus = !selection.file_path.is_empty();
        if self.has_focus {
            self.latest = Some(selection.clone());
        }
        let path = selection.file_path.clone();
        match server.select(now, selection) {
            Selected::Truncated => self.report.error("the selected text is longer than 256 KiB and was cut"),
            Selected::Hidden if !server.is_paused() => self.report.write(&Event::Hidden { path: &path }),
            _ => {}
        }
    }

    pub(super) fn decide(
        &mut self,
        server: &mut Server,
        proposal: Proposal,
        verdict: Verdict,
        contents: Option<String>,
    ) {
        let (conn, tab) = (proposal.agent.number(), proposal.diff.tab_name.clone());
        let (call, outcome) = proposal.decided(verdict, contents);
        match server.answer(call, &outcome) {
            Ok(()) => self.report.write(&Event::DiffClosed { conn, tab: &tab, reason: verdict.done() }),
            Err(gone) => self.report.error(&format!("the verdict about {tab:?} came too late: {gone}")),
        }
    }
}

/// Returns who gets a mention or a form: the agent with this number. Without a number it is an error if several
/// agents are attached, and otherwise `None`, which lets the sender choose.
fn addressee(server: &Server, conn: Option<u64>) -> Result<Option<AgentId>, String> {
    let ids: Vec<AgentId> = server.agents().map(|agent| agent.id()).collect();
    let numbers: Vec<u64> = ids.iter().map(|id| id.number()).collect();
    match conn {
        Some(number) => match ids.into_iter().find(|id| id.number() == number) {
            Some(agent) => Ok(Some(agent)),
            None if numbers.is_empty() => {
                Err(format!("there is no connection {number}: no agent is attached"))
            }
            None => Err(format!("there is no connection {number}, only {numbers:?}")),
        },
        None if numbers.len() > 1 => {
            Err(format!("several agents are attached: name one of the conns {numbers:?}"))
        }
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::offer::all_tools;
    use super::*;
    use crate::editor::folders::Folders;
    use ide_mcp::ide::{Auth, Policy, ServerConfig};

    use std::sync::mpsc;

    #[test]
    fn end_waits_for_earlier_commands() {
        let cases = [("the disk recovers", true), ("the disk still hangs", false)];
        for (name, recovers) in cases {
            let config =
                ServerConfig::new("editor", "1").policy(Policy::new(1, Auth::Disabled)).tools(all_tools());
            let mut server = Server::new(config);
            let folders = Folders::open(&[std::env::temp_dir()]).unwrap();
            let report = Report::new(|| ());
            let mut app =
                Headless::new(Workspace::new(folders), Dialect::VsCode, OnDiff::Ask, report, || ()).unwrap();
            let (recover, held) = mpsc::channel::<()>();
            app.disk.run(None, move |_| held.recv().unwrap_or_default(), |_, _, _, ()| {});
            let at = |millis: u64| Time::from_millis(millis);
            let line = |number, text: &str| Line { number, text: Ok(text.into()) };
            app.line(&mut server, at(0), line(1, r#"{"cmd":"tools","offer":[]}"#));
            assert_eq!((app.end(at(0)), app.deadline()), (None, None), "{name}");
            app.line(&mut server, at(1_000), line(2, r#"{"cmd":"quit"}"#));
            app.end_after_commands(at(2_000), "end of standard input".into());
            assert_eq!((app.end(at(5_999)), app.deadline()), (None, Some(at(6_000))), "{name}");
            if recovers {
                drop(recover);
                while let Some(follow_up) = app.disk.wait() {
                    follow_up(&mut app, &mut server, at(3_000));
                }
            }
            let ends = if recovers { at(3_000) } else { at(6_000) };
            assert_eq!(app.end(ends).as_deref(), Some("quit"), "{name}");
            assert_eq!((app.end(ends), app.deadline()), (None, None), "{name}: once");
        }
    }
}
