//! A run, from the first connection to the end of the editor.

use super::Options;
use super::desk::Desk;
use super::editor::Editor;
use super::memory::Memory;
use super::person::Person;
use super::shared::Client;
use super::shared::{Phase, Soak};
use super::totals::Counter;
use crate::support::Place;
use ide_mcp::Time;
use ide_mcp::testing::Random;
use std::io::BufRead;
use std::thread;
use std::time::Duration;

/// The time between two samples of the memory. A short run takes at least [`MIN_SAMPLES`].
const SAMPLE: Duration = Duration::from_secs(10);
const MIN_SAMPLES: u32 = 12;

/// The time between two lines of progress.
const REPORT: Duration = Duration::from_secs(30);

/// The timeout of settling, and of ending.
const PATIENCE: Duration = Duration::from_secs(60);

/// The timeout for the exit status of a crashed process.
const CRASH: Duration = Duration::from_secs(1);

/// The events that a run of a minute or more must have, or it has tested nothing.
const MUST: [Counter; 7] = [
    Counter::Kills,
    Counter::Rebuffed,
    Counter::Answers,
    Counter::Cancelled,
    Counter::Abandoned,
    Counter::Verdicts,
    Counter::Mentions,
];
const MINUTE: Duration = Duration::from_secs(60);

/// Runs the soak to the end. Returns the totals, or the first fault.
pub(super) fn run(
    options: &Options,
    home: &Place,
    editor: &Editor,
    output: impl BufRead + Send,
) -> Result<String, String> {
    let (soak, desk) = (Soak::new(editor, home.project(), options.clients), Desk::default());
    let mut memory = Memory::default();
    let idle = editor.descriptors();
    // A crash is reported rather than other faults, which are its consequences.
    let mut crashed = None;
    thread::scope(|scope| {
        scope.spawn(|| desk.read(&soak, output));
        let person = scope.spawn(|| Person::new(&soak, &desk, Random::new(options.seed)).work());
        let mut seeds = Random::new(options.seed);
        for number in 0..options.clients {
            let client = Client { soak: &soak, number, random: Random::new(seeds.number()) };
            scope.spawn(|| client.work());
        }
        watch(&soak, options.length, &mut memory);
        let settled = settle(&soak, idle, || person.is_finished());
        if let Err(problem) = settled.and_then(|()| end(&soak)) {
            soak.fail(problem);
        }
        // All threads end with the editor.
        if soak.phase() == Phase::Failed {
            crashed = editor.ends_within(CRASH).filter(|status| !status.success());
        }
        editor.kill();
    });
    let counted = soak.totals.line();
    let crashed = crashed.map(|status| format!("the editor ended with {status}"));
    let kept = || editor.is_tidy(home).and_then(|()| judge(&soak, options.length)).err();
    let found = crashed.or_else(|| soak.found()).or_else(kept);
    match (found, memory.verdict(options.length)) {
        (None, Ok(memory)) => Ok(format!("{counted}; {memory}")),
        (Some(problem), Ok(memory) | Err(memory)) => Err(format!("{problem}; {counted}; {memory}")),
        (None, Err(memory)) => Err(format!("{memory}; {counted}")),
    }
}

/// Waits for the length of the run, samples the memory and prints progress.
fn watch(soak: &Soak<'_>, length: Duration, memory: &mut Memory) {
    let every = SAMPLE.min(length / MIN_SAMPLES);
    let (end, mut sample, mut report) = (
        Time::ZERO.saturating_add(length),
        Time::ZERO.saturating_add(every),
        Time::ZERO.saturating_add(REPORT),
    );
    while soak.phase() == Phase::Busy {
        let now = soak.now();
        if now >= sample {
            sample = sample.saturating_add(every);
            memory.note(soak.editor.rss());
        }
        if now >= report {
            report = report.saturating_add(REPORT);
            progress(soak, now);
        }
        if now >= end {
            return soak.enter(Phase::Settling);
        }
        thread::sleep(sample.min(report).min(end).saturating_since(now).min(Duration::from_millis(100)));
    }
}

fn progress(soak: &Soak<'_>, now: Time) {
    let seconds = now.saturating_since(Time::ZERO).as_secs();
    let rss = soak.editor.rss().map(|kib| format!("RSS {kib} KiB, ")).unwrap_or_default();
    println!("{:3}:{:02} {rss}{}", seconds / 60, seconds % 60, soak.totals.line());
}

/// Waits until the user rests, all clients are attached, only proposals are open, and all other
/// sockets are closed.
fn settle(soak: &Soak<'_>, idle: Option<usize>, rests: impl Fn() -> bool) -> Result<(), String> {
    soak.wait(PATIENCE, "the person rests", rests)?;
    soak.wait(PATIENCE, "all is answered", || soak.seen().iter().all(|seen| seen.is_settled))
        .map_err(|late| format!("{late}: {:?}", soak.seen()))?;
    let Some(idle) = idle else { return Ok(()) };
    let most = idle.saturating_add(soak.seen().len());
    let few = || soak.editor.descriptors().is_none_or(|many| many <= most);
    soak.wait(PATIENCE, "few files are open", few)
        .map_err(|late| format!("{late}: {:?} and not {most}", soak.editor.descriptors()))
}

/// Ends the editor while proposals are open.
fn end(soak: &Soak<'_>) -> Result<(), String> {
    if soak.phase() == Phase::Failed {
        return Ok(());
    }
    soak.enter(Phase::Ending);
    soak.editor.terminate()?;
    match soak.editor.ends_within(PATIENCE) {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(format!("SIGTERM ended the editor with {status}")),
        None => Err(format!("SIGTERM does not end the editor within {} s", PATIENCE.as_secs())),
    }
}

/// Checks that the required events have happened.
fn judge(soak: &Soak<'_>, length: Duration) -> Result<(), String> {
    if length < MINUTE {
        return Ok(());
    }
    match MUST.iter().find(|of| soak.totals.get(**of) == 0) {
        Some(of) => Err(format!("this never happened: {of:?}")),
        None if soak.totals.get(Counter::Storms) <= soak.totals.get(Counter::Disturbed) => {
            Err("no storm went undisturbed".into())
        }
        None => Ok(()),
    }
}
