//! `--watch`: the doctor looks again and again, and prints the changes.
//!
//! It looks every second instead of waiting for notifications: the system sends none when a process ends, a
//! port closes or a directory far above changes its mode. A look reads the directories of lock files. It connects
//! only to editors whose lock file or process is new or has changed, since an editor that accepts one agent can
//! drop its agent for the doctor. An editor that refused the doctor, or did not answer, loses no agent by another
//! attempt, so the doctor tries it again every ten seconds.

use super::diagnosis::{Diagnosis, Doctor};
use super::kinds::Status;
use super::options::Format;
use super::report::{self, Change, Paint};
use super::rules::Finding;
use crate::support::{MAX_WAITING, NOT_BEGUN, Progress, Writer, on_signal, unix_ms};
use ide_mcp::Clock;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

/// The pause between two looks: short for a user who has just fixed something, and long compared with
/// the milliseconds that a look takes.
const PAUSE: Duration = Duration::from_secs(1);
/// How long to wait before probing again an editor that did not answer.
const RETRY: Duration = Duration::from_secs(10);
/// How long the program waits at its end for lines that are not written yet. A user hardly notices it, and a reader that
/// still reads needs less.
const FOR_LINES: Duration = Duration::from_millis(100);

enum News {
    Look(Arc<Diagnosis>),
    /// A signal asks the program to end, or nobody reads standard output.
    End,
}

/// Prints the report and then each change of it, until a signal arrives or nobody reads any more.
/// Returns the exit status of the last report.
///
/// # Errors
/// Every error of the system during the setup, and of standard output.
pub(crate) fn watch(doctor: Doctor, format: Format) -> io::Result<u8> {
    let (sender, news) = mpsc::channel();
    let (signaled, failed) = (sender.clone(), sender.clone());
    on_signal(move || signaled.send(News::End).is_ok())?;
    // A signal ends the program even while nobody reads standard output.
    let writer = Writer::new(io::stdout(), MAX_WAITING, move || drop(failed.send(News::End)));
    // On a thread of its own: a look can wait for editors, but a signal must end the program at once.
    thread::spawn(move || look_again(&doctor, &sender));
    let (mut last, mut status): (Option<Arc<Diagnosis>>, u8) = (None, NOT_BEGUN);
    while let Ok(News::Look(now)) = news.recv() {
        let report = now.report();
        status = report.exit_status();
        let lines = match (&last, format) {
            (None, Format::Text { verbose }) => vec![report::text(&report, verbose, Paint::of_stdout())],
            (None, _) => report::json(&report)?,
            (Some(last), _) => {
                let mut changes = changes(&last.findings, &now.findings);
                if format == (Format::Text { verbose: false }) {
                    changes.retain(|(_, finding)| finding.kind.status != Status::Ok);
                }
                match format {
                    _ if changes.is_empty() && last.verdict == now.verdict => Vec::new(),
                    Format::Text { .. } => report::text_of(&changes, &report, unix_ms(), Paint::of_stdout()),
                    _ => report::json_of(&changes, &report, unix_ms())?,
                }
            }
        };
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        if !text.is_empty() && writer.put(text.into_bytes(), Duration::ZERO).is_err() {
            break;
        }
        last = Some(now);
    }
    match writer.flush(FOR_LINES) {
        Err(error) if !matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::TimedOut) => Err(error),
        _ => Ok(status),
    }
}

/// Looks until nobody receives the results.
fn look_again(doctor: &Doctor, sender: &Sender<News>) {
    let mut progress = Progress::new("doctor");
    let (mut before, clock) = (Vec::new(), Clock::new());
    let mut probed_at = None;
    loop {
        let diagnosis = Arc::new(doctor.look(&before, &mut progress));
        if sender.send(News::Look(Arc::clone(&diagnosis))).is_err() {
            return;
        }
        thread::sleep(PAUSE);
        before.clone_from(&diagnosis.facts.locks);
        let now = clock.now();
        if now.saturating_since(*probed_at.get_or_insert(now)) >= RETRY {
            probed_at = None;
            before.retain(|lock| lock.probe.as_ref().is_some_and(|probe| !probe.can_be_repeated()));
        }
    }
}

/// Returns the findings that went, then those that came.
fn changes<'a>(before: &'a [Finding], now: &'a [Finding]) -> Vec<(Change, &'a Finding)> {
    let removed =
        before.iter().filter(|finding| !now.contains(finding)).map(|finding| (Change::Removed, finding));
    let added =
        now.iter().filter(|finding| !before.contains(finding)).map(|finding| (Change::Added, finding));
    removed.chain(added).collect()
}
