//! Turns a stream of selections, one per key press, into few that are worth sending.

use crate::Time;
use crate::ide::Selection;
use alloc::sync::Arc;
use core::time::Duration;

/// The time for which a selection equal to the last sent one is dropped. An editor that reports its selection with
/// each frame then sends it about once a second; a person who selects the same text again later gets it sent again.
const SAME_AGAIN: Duration = Duration::from_secs(1);

/// Holds the latest selection until the person pauses, or for so long that it has to go anyway.
#[derive(Debug)]
pub(super) struct Debounce {
    pause: Duration,
    at_most: Duration,
    held: Option<Held>,
    /// The last released selection and the time of its release.
    last: Option<(Arc<Selection>, Time)>,
}

#[derive(Debug)]
struct Held {
    selection: Arc<Selection>,
    since: Time,
    due: Time,
}

impl Debounce {
    pub(super) const fn new(pause: Duration, at_most: Duration) -> Self {
        Self { pause, at_most, held: None, last: None }
    }

    pub(super) fn hold(&mut self, now: Time, selection: Selection) {
        let since = self.held.take().map_or(now, |held| held.since);
        let is_repeated =
            |(last, at): &(Arc<Selection>, Time)| **last == selection && now.since(*at) < SAME_AGAIN;
        if self.last.as_ref().is_some_and(is_repeated) {
            return;
        }
        let due = now.after(self.pause).min(since.after(self.at_most));
        self.held = Some(Held { selection: Arc::new(selection), since, due });
    }

    /// What is to go now, once.
    pub(super) fn release(&mut self, now: Time) -> Option<Arc<Selection>> {
        let held = self.held.take_if(|held| held.due <= now)?;
        self.last = Some((held.selection.clone(), now));
        Some(held.selection)
    }

    /// What was let go last: what a client that comes now is to know.
    pub(super) fn last(&self) -> Option<Arc<Selection>> {
        self.last.as_ref().map(|(selection, _)| selection.clone())
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.held.as_ref().map(|held| held.due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::Range;
    use alloc::{string::String, vec::Vec};

    /// Holds a selection at each of these times and says when which came out.
    fn run(pause: u64, at_most: u64, held: &[(u64, &str)]) -> Vec<(u64, String)> {
        let millis = Duration::from_millis;
        let mut debounce = Debounce::new(millis(pause), millis(at_most));
        let mut out = Vec::new();
        for now in 0..1_200 {
            for (_, text) in held.iter().filter(|(at, _)| *at == now) {
                debounce.hold(Time::from_millis(now), Selection::new("/a", Range::default(), *text));
            }
            if let Some(selection) = debounce.release(Time::from_millis(now)) {
                out.push((now, selection.text.clone()));
            }
        }
        out
    }

    #[test]
    fn selections_wait_for_a_pause_and_not_for_ever() {
        let texts: Vec<String> = (0..30).map(|i| alloc::format!("{i}")).collect();
        let steady: Vec<(u64, &str)> = (0..).step_by(20).zip(texts.iter().map(String::as_str)).collect();
        let cases: &[(&str, u64, &[(u64, &str)], &[u64])] = &[
            ("one", 50, &[(10, "x")], &[60]),
            ("two close together", 50, &[(10, "x"), (59, "y")], &[109]),
            ("two far apart", 50, &[(10, "x"), (61, "y")], &[60, 111]),
            ("the same again", 50, &[(10, "x"), (100, "x")], &[60]),
            ("an equal selection just before one second", 50, &[(10, "x"), (1_059, "x")], &[60]),
            ("an equal selection after one second", 50, &[(10, "x"), (1_060, "x")], &[60, 1_110]),
            ("back to what was sent", 50, &[(10, "x"), (100, "y"), (110, "x")], &[60]),
            ("at once", 0, &[(10, "x"), (11, "y")], &[10, 11]),
            ("never a pause", 50, &steady, &[200, 420, 630]),
        ];
        for (name, pause, held, times) in cases {
            let found: Vec<u64> = run(*pause, 200, held).into_iter().map(|(at, _)| at).collect();
            assert_eq!(found, *times, "{name}");
        }
    }
}
