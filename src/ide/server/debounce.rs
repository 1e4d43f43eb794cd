//! Debounces selections: an editor reports one for each key press, and the latest one is sent when the person pauses.

use crate::Time;
use crate::ide::Selection;
use alloc::sync::Arc;
use core::time::Duration;

/// How long a pause must be before an equal selection is sent again. An editor that reports its selection with each
/// frame of the screen never pauses, so its selection is sent once; if a person selects the same text again later, it
/// is sent again.
const PAUSE_FOR_EQUAL: Duration = Duration::from_secs(1);

/// The latest selection, held until the person pauses, or until `at_most` has passed since the first
/// held selection.
#[derive(Debug)]
pub(super) struct Debounce {
    pause: Duration,
    at_most: Duration,
    held: Option<Held>,
    /// When the held selection is released.
    pub(super) due: Time,
    last: Option<Last>,
}

/// The last released selection.
#[derive(Debug)]
struct Last {
    selection: Arc<Selection>,
    /// When an equal selection was last reported.
    reported: Time,
}

#[derive(Debug)]
struct Held {
    selection: Arc<Selection>,
    since: Time,
}

impl Debounce {
    pub(super) const fn new(pause: Duration, at_most: Duration) -> Self {
        Self { pause, at_most, held: None, due: Time::NEVER, last: None }
    }

    pub(super) fn hold(&mut self, now: Time, selection: Selection) {
        // A selection that is reported again has not changed, so its pause goes on.
        if self.held.as_ref().is_some_and(|held| *held.selection == selection) {
            return;
        }
        let since = self.held.take().map_or(now, |held| held.since);
        self.due = Time::NEVER;
        let is_equal = |last: &&mut Last| *last.selection == selection;
        if let Some(last) = self.last.as_mut().filter(is_equal) {
            let pause = now.saturating_since(last.reported);
            last.reported = now;
            if pause < PAUSE_FOR_EQUAL {
                return;
            }
        }
        self.due = now.saturating_add(self.pause).min(since.saturating_add(self.at_most));
        self.held = Some(Held { selection: Arc::new(selection), since });
    }

    /// Takes the held selection if it is due.
    pub(super) fn release(&mut self, now: Time) -> Option<Arc<Selection>> {
        if !self.due.is_due(now) {
            return None;
        }
        self.due = Time::NEVER;
        let held = self.held.take()?;
        self.last = Some(Last { selection: held.selection.clone(), reported: now });
        Some(held.selection)
    }

    /// Releases a selection at once, replacing the held one. Returns false if it equals the last one released.
    pub(super) fn replace(&mut self, now: Time, selection: Arc<Selection>) -> bool {
        (self.held, self.due) = (None, Time::NEVER);
        let last = self.last.replace(Last { selection: selection.clone(), reported: now });
        last.is_none_or(|last| last.selection != selection)
    }

    /// Clears the last selection released if `is_hidden` is true for it. The held one stays. Returns false if nothing
    /// has changed.
    pub(super) fn clear_last(&mut self, now: Time, is_hidden: impl FnOnce(&Selection) -> bool) -> bool {
        let cleared = Selection::cleared();
        let last = self.last.as_mut().filter(|last| *last.selection != cleared && is_hidden(&last.selection));
        let Some(last) = last else { return false };
        *last = Last { selection: Arc::new(cleared), reported: now };
        true
    }

    /// Returns the latest selection, held or released.
    pub(super) fn latest(&self) -> Option<Arc<Selection>> {
        let last = || self.last.as_ref().map(|last| &last.selection);
        self.held.as_ref().map(|held| &held.selection).or_else(last).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::kit::Range;
    use alloc::{string::String, vec::Vec};

    /// Reports each selection at its time, and returns those that are released, with their times.
    fn run(pause: u64, at_most: u64, held: &[(u64, &str)]) -> Vec<(u64, String)> {
        let millis = Duration::from_millis;
        let mut debounce = Debounce::new(millis(pause), millis(at_most));
        let mut out = Vec::new();
        for now in 0..3_000 {
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
    fn selections_wait_for_pause_with_a_limit() {
        let texts: Vec<String> = (0..30).map(|i| alloc::format!("{i}")).collect();
        let steady: Vec<(u64, &str)> = (0..).step_by(20).zip(texts.iter().map(String::as_str)).collect();
        let frames: Vec<(u64, &str)> = (10..3_000).step_by(16).map(|at| (at, "x")).collect();
        let paused: Vec<(u64, &str)> =
            frames.iter().copied().filter(|(at, _)| !(1_000..2_000).contains(at)).collect();
        let cases: &[(&str, u64, &[(u64, &str)], &[u64])] = &[
            ("one selection", 50, &[(10, "x")], &[60]),
            ("two close together", 50, &[(10, "x"), (59, "y")], &[109]),
            ("two far apart", 50, &[(10, "x"), (61, "y")], &[60, 111]),
            ("the same again", 50, &[(10, "x"), (100, "x")], &[60]),
            ("an equal one just before a second is over", 50, &[(10, "x"), (1_059, "x")], &[60]),
            ("an equal one after a second", 50, &[(10, "x"), (1_060, "x")], &[60, 1_110]),
            ("an equal one with each frame", 50, &frames, &[60]),
            ("an equal one after a pause in the frames", 50, &paused, &[60, 2_060]),
            ("back to the selection that was sent", 50, &[(10, "x"), (100, "y"), (110, "x")], &[60]),
            ("a pause of zero", 0, &[(10, "x"), (11, "y")], &[10, 11]),
            ("never a pause", 50, &steady, &[200, 420, 630]),
        ];
        for (name, pause, held, times) in cases {
            let found: Vec<u64> = run(*pause, 200, held).into_iter().map(|(at, _)| at).collect();
            assert_eq!(found, *times, "{name}");
        }
    }
}
