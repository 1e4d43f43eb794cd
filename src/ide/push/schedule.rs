//! When one client accepts pushes, and which selection to send it.
//!
//! ```text
//!            initialized               settle time, or 10 s of lists
//!  Attaching ───────────▶ Settling ─────────────────────────────────▶ Settled
//!                         │  ▲  ▲                                        │
//!                         └──┘  └────────────────────────────────────────┘
//!                  tools/list answered          tools/list answered, our list_changed
//!                  (the time starts again)
//! ```
//!
//! No message tells when a client begins to accept pushes. The real client accepts them 40 to 500 ms after the answer
//! to `tools/list`; opencode, which never lists tools, after `initialized` (measured). When a client is told that the
//! tools, prompts or resources have changed, it forgets the selection, lists them again, and again ignores pushes that
//! come too early (measured). The settle time begins once the answer or the notification was written, because a client
//! cannot act on bytes that it does not have.
//!
//! Repeating a selection does no harm. The latest one is sent
//!
//! 1. at once in `Settling` and `Settled`, and after each list;
//! 2. again when the settle time is over;
//! 3. once more 5 s after that, unless a newer one was sent meanwhile.
//!
//! A selection that is due waits while the previous one is in the send buffer. Then it is sent, even after a list or a
//! notification that came in between.
//!
//! Repeating a mention would mention the file twice, so mentions wait for `Settled`. Each also waits until 100 ms after
//! the previous one was written: two versions of the real client drop faster ones (measured).

use crate::Time;
use crate::rpc::SerializedNotification;
use core::time::Duration;

/// How long a client that lists its tools over and over may keep mentions waiting, unless the settle time itself is
/// longer. The server keeps a mention for 30 s by default, so it is sent before it expires.
const LONGEST_SETTLING: Duration = Duration::from_secs(10);

/// When to send the selection once more after the settle time, for a client that is slower than all that were measured.
const REPEAT: Duration = Duration::from_secs(5);

/// The shortest time between two mentions.
const MENTION_GAP: Duration = Duration::from_millis(100);

/// The pushes of one connection.
#[derive(Debug)]
pub(crate) struct PushSchedule {
    latest: Option<SerializedNotification>,
    /// True if the latest selection should be sent as soon as the send buffer has room.
    pub(crate) wants_to_send: bool,
    state: State,
    settle: Duration,
    /// Where the last selection and the last mention end in the outgoing stream, until they are written; [`WRITTEN`]
    /// afterwards.
    selection_ends: u64,
    mention_ends: u64,
    /// When the next mention may be sent; [`Time::NEVER`] once that has passed.
    next_mention: Time,
    /// When the next [`tick`](Self::tick) is due.
    pub(crate) due: Time,
    /// Up to where the outgoing stream must be written before anything changes here.
    pub(crate) awaits: u64,
}

/// A position in the outgoing stream that means "nothing waits to be written".
const WRITTEN: u64 = u64::MAX;

/// How far the outgoing stream has come: where it ends, and up to where it was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamPos {
    pub(crate) end: u64,
    pub(crate) written: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Attaching,
    Settling {
        /// When the settle time first began.
        since: Option<Time>,
        /// Up to where the outgoing stream must be written before the settle time begins; [`WRITTEN`] once it has
        /// begun.
        awaits_written: u64,
        until: Time,
    },
    /// The settle time is over. The selection is sent once more at `repeat`.
    Settled {
        repeat: Time,
    },
}

impl PushSchedule {
    pub(crate) const fn new() -> Self {
        Self {
            latest: None,
            wants_to_send: false,
            state: State::Attaching,
            settle: Duration::ZERO,
            selection_ends: WRITTEN,
            mention_ends: WRITTEN,
            next_mention: Time::NEVER,
            due: Time::NEVER,
            awaits: WRITTEN,
        }
    }

    /// Replaces the selection.
    pub(crate) fn set(&mut self, selection: SerializedNotification) {
        self.latest = Some(selection);
        self.wants_to_send = true;
        if let State::Settled { repeat } = &mut self.state {
            *repeat = Time::NEVER;
            self.due = self.next_mention;
        }
    }

    /// Begins to settle: the client sent `initialized`.
    pub(crate) fn on_initialized(&mut self, now: Time, out: StreamPos, settle: Duration) {
        if self.state == State::Attaching {
            self.settle = settle;
            self.settle_from(None, now, out);
            self.wants_to_send = self.latest.is_some();
        }
    }

    /// Begins to settle again: the client gets the answer to its `tools/list`.
    pub(crate) fn on_tools_listed(&mut self, now: Time, out: StreamPos) {
        match self.state {
            State::Attaching => return,
            State::Settling { since, .. } => self.settle_from(since, now, out),
            State::Settled { .. } => self.settle_from(None, now, out),
        }
        self.wants_to_send = self.latest.is_some();
    }

    /// Begins to settle again: the client learns that the tools, the prompts or the resources have changed, and lists
    /// them again.
    pub(crate) fn on_list_changed(&mut self, now: Time, out: StreamPos) {
        if self.state != State::Attaching {
            self.settle_from(None, now, out);
        }
    }

    /// Ends all pushes: the connection shuts down. The mention in the send buffer may still be written.
    pub(crate) fn stop(&mut self) {
        *self = Self { mention_ends: self.mention_ends, awaits: self.mention_ends, ..Self::new() };
    }

    fn settle_from(&mut self, since: Option<Time>, now: Time, out: StreamPos) {
        self.state = State::Settling { since, awaits_written: out.end, until: Time::NEVER };
        self.on_written(now, out.written);
        self.tick(now);
    }

    /// Call this when the outgoing stream was written up to `written`.
    pub(crate) fn on_written(&mut self, now: Time, written: u64) {
        if self.selection_ends <= written {
            self.selection_ends = WRITTEN;
        }
        if self.mention_ends <= written {
            self.mention_ends = WRITTEN;
            self.next_mention = now.saturating_add(MENTION_GAP);
            self.tick(now);
        }
        self.awaits = self.selection_ends.min(self.mention_ends);
        if let State::Settling { since, awaits_written, until } = &mut self.state {
            if *awaits_written <= written {
                let latest = since.get_or_insert(now).saturating_add(self.settle.max(LONGEST_SETTLING));
                (*awaits_written, *until) = (WRITTEN, now.saturating_add(self.settle).min(latest));
                // A settle time of zero is over at once.
                self.tick(now);
            } else {
                self.awaits = self.awaits.min(*awaits_written);
            }
        }
    }

    /// Advances the clock to `now`, and sets `due` to when this must be called again.
    pub(crate) fn tick(&mut self, now: Time) {
        match &mut self.state {
            State::Settling { until, .. } if until.is_due(now) => {
                let has_selection = self.latest.is_some();
                self.wants_to_send |= has_selection && !self.settle.is_zero();
                let repeat = if has_selection { now.saturating_add(REPEAT) } else { Time::NEVER };
                self.state = State::Settled { repeat };
            }
            State::Settled { repeat } if repeat.is_due(now) => {
                self.wants_to_send = true;
                *repeat = Time::NEVER;
            }
            State::Attaching | State::Settling { .. } | State::Settled { .. } => {}
        }
        if self.next_mention.is_due(now) {
            self.next_mention = Time::NEVER;
        }
        let at = match self.state {
            State::Attaching => Time::NEVER,
            State::Settling { until, .. } => until,
            State::Settled { repeat } => repeat,
        };
        self.due = at.min(self.next_mention);
    }

    /// Returns true if the settle time is over at `now`: we then expect the client to accept pushes.
    pub(crate) fn is_settled(&self, now: Time) -> bool {
        match self.state {
            State::Attaching => false,
            State::Settling { until, .. } => until.is_due(now),
            State::Settled { .. } => true,
        }
    }

    /// Returns true if a mention may be sent at `now`.
    pub(crate) fn can_mention(&self, now: Time) -> bool {
        let is_free = self.next_mention == Time::NEVER || self.next_mention <= now;
        self.is_settled(now) && is_free && !self.has_unwritten_mention()
    }

    /// Returns true if the last mention is in the send buffer.
    pub(crate) const fn has_unwritten_mention(&self) -> bool {
        self.mention_ends != WRITTEN
    }

    /// Call this when a mention was sent. `end` is where it ends in the outgoing stream.
    pub(crate) fn on_mention_sent(&mut self, end: u64) {
        self.mention_ends = end;
        self.awaits = self.awaits.min(end);
    }

    /// Returns the selection to send now, if any. While the previous one is in the send buffer, the latest one waits
    /// here, so that a newer one can replace it.
    pub(crate) fn selection_to_send(&self) -> Option<&SerializedNotification> {
        let is_attached = !matches!(self.state, State::Attaching);
        self.latest.as_ref().filter(|_| self.wants_to_send && is_attached && self.selection_ends == WRITTEN)
    }

    /// Call this when the selection was sent. `end` is where it ends in the outgoing stream.
    pub(crate) fn on_selection_sent(&mut self, end: u64) {
        self.wants_to_send = false;
        self.selection_ends = end;
        self.awaits = self.awaits.min(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const SETTLE: Duration = Duration::from_millis(1_600);

    /// A stream that has been written to its end.
    const WRITTEN: StreamPos = StreamPos { end: 0, written: 0 };

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn selection() -> SerializedNotification {
        SerializedNotification::new("selection_changed", None::<&()>).unwrap()
    }

    /// A step in the life of a schedule.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Select,
        Initialized,
        Listed,
        Changed,
    }

    use Step::{Changed, Initialized, Listed, Select};

    /// Runs the steps at their milliseconds. Returns when a selection was sent, and when the schedule has settled.
    fn run(steps: &[(u64, Step)]) -> (Vec<u64>, Option<u64>) {
        let (mut schedule, mut sent, mut settled) = (PushSchedule::new(), Vec::new(), None);
        for millis in 0..40_000 {
            schedule.tick(at(millis));
            for (_, step) in steps.iter().filter(|(when, _)| *when == millis) {
                match step {
                    Select => schedule.set(selection()),
                    Initialized => schedule.on_initialized(at(millis), WRITTEN, SETTLE),
                    Listed => schedule.on_tools_listed(at(millis), WRITTEN),
                    Changed => schedule.on_list_changed(at(millis), WRITTEN),
                }
            }
            if schedule.selection_to_send().is_some() {
                schedule.on_selection_sent(0);
                schedule.on_written(at(millis), 0);
                sent.push(millis);
            }
            assert!(schedule.due > at(millis), "{steps:?} at {millis} ms");
            settled = if schedule.is_settled(at(millis)) { settled.or(Some(millis)) } else { None };
        }
        (sent, settled)
    }

    #[test]
    fn selections_are_sent_early_settled_and_late() {
        /// A name, the steps, when the selection is sent, and when the client has settled.
        type Row<'a> = (&'a str, &'a [(u64, Step)], &'a [u64], Option<u64>);
        let rows: &[Row<'_>] = &[
            ("never initialized", &[(1, Select), (2, Listed), (3, Changed)], &[], None),
            ("nothing selected", &[(10, Initialized)], &[], Some(1_610)),
            (
                "selected before initialized",
                &[(1, Select), (10, Initialized)],
                &[10, 1_610, 6_610],
                Some(1_610),
            ),
            ("listed", &[(1, Select), (10, Initialized), (40, Listed)], &[10, 40, 1_640, 6_640], Some(1_640)),
            (
                "listed before initialized",
                &[(1, Select), (5, Listed), (10, Initialized)],
                &[10, 1_610, 6_610],
                Some(1_610),
            ),
            (
                "selected while settling",
                &[(10, Initialized), (500, Select), (900, Select)],
                &[500, 900, 1_610, 6_610],
                Some(1_610),
            ),
            (
                "a newer one before the last repeat",
                &[(1, Select), (10, Initialized), (6_609, Select)],
                &[10, 1_610, 6_609],
                Some(1_610),
            ),
            (
                "selected late",
                &[(10, Initialized), (2_000, Select), (9_000, Select)],
                &[2_000, 9_000],
                Some(1_610),
            ),
            (
                "tools changed and listed",
                &[(1, Select), (10, Initialized), (10_000, Changed), (10_020, Listed)],
                &[10, 1_610, 6_610, 10_020, 11_620, 16_620],
                Some(11_620),
            ),
            (
                "tools changed and never listed",
                &[(1, Select), (10, Initialized), (10_000, Changed)],
                &[10, 1_610, 6_610, 11_600, 16_600],
                Some(11_600),
            ),
            (
                "a list under way when the tools change",
                &[(1, Select), (10, Initialized), (10_000, Changed), (10_001, Listed), (10_030, Listed)],
                &[10, 1_610, 6_610, 10_001, 10_030, 11_630, 16_630],
                Some(11_630),
            ),
            (
                "listed although nothing changed",
                &[(1, Select), (10, Initialized), (20_000, Listed)],
                &[10, 1_610, 6_610, 20_000, 21_600, 26_600],
                Some(21_600),
            ),
            ("initialized twice", &[(10, Initialized), (1_000, Initialized)], &[], Some(1_610)),
        ];
        for (name, steps, sent, settled) in rows {
            assert_eq!(run(steps), (sent.to_vec(), *settled), "{name}");
        }
    }

    #[test]
    fn endless_lists_release_mentions_every_10_s() {
        let (mut schedule, mut settled) = (PushSchedule::new(), Vec::new());
        schedule.on_initialized(at(0), WRITTEN, SETTLE);
        for second in 1..40 {
            schedule.tick(at(second * 1_000));
            settled.extend(schedule.is_settled(at(second * 1_000)).then_some(second));
            schedule.on_tools_listed(at(second * 1_000), WRITTEN);
        }
        assert_eq!(settled, [10, 20, 30]);
    }

    #[test]
    fn mentions_are_100_ms_apart_as_written() {
        let mut schedule = PushSchedule::new();
        schedule.on_initialized(at(0), WRITTEN, SETTLE);
        assert!(!schedule.can_mention(at(1_599)) && schedule.can_mention(at(1_600)));
        schedule.tick(at(1_600));
        for (sent, written) in [(1_600, 1_600), (1_700, 9_000), (9_100, 9_150)] {
            schedule.tick(at(sent));
            assert!(schedule.can_mention(at(sent)), "at {sent} ms");
            schedule.on_mention_sent(50);
            schedule.on_written(at(sent), 49);
            schedule.tick(at(written));
            assert!(!schedule.can_mention(at(written)), "it has not been written");
            schedule.on_written(at(written), 50);
            schedule.on_written(at(written + 1), 50);
            schedule.tick(at(written + 99));
            assert!(!schedule.can_mention(at(written + 99)), "at {sent} ms");
            assert_eq!(schedule.due, at(written + 100), "at {sent} ms");
            schedule.tick(at(written + 100));
            assert!(schedule.can_mention(at(written + 100)) && schedule.due == Time::NEVER, "at {sent} ms");
            if sent == 9_100 {
                schedule.on_list_changed(at(9_300), WRITTEN);
                assert!(!schedule.can_mention(at(9_300)));
            }
        }
    }

    #[test]
    fn settle_time_begins_after_list_is_written() {
        let mut schedule = PushSchedule::new();
        schedule.set(selection());
        schedule.on_initialized(at(0), StreamPos { end: 100, written: 0 }, SETTLE);
        assert!(schedule.selection_to_send().is_some() && schedule.due == Time::NEVER);
        schedule.on_selection_sent(200);
        schedule.on_tools_listed(at(10), StreamPos { end: 300, written: 0 });
        assert!(schedule.selection_to_send().is_none(), "the previous selection is in the send buffer");
        schedule.on_written(at(9_000), 299);
        schedule.tick(at(9_000));
        assert!(
            schedule.selection_to_send().is_some()
                && !schedule.is_settled(at(9_000))
                && schedule.due == Time::NEVER
        );
        schedule.on_selection_sent(400);
        schedule.on_written(at(15_000), 400);
        assert_eq!(schedule.due, at(16_600));
        schedule.on_tools_listed(at(16_000), StreamPos { end: 500, written: 400 });
        assert_eq!(schedule.due, Time::NEVER);
        schedule.on_written(at(24_000), 500);
        assert_eq!(schedule.due, at(25_000), "10 s after the settle time first began");
    }

    #[test]
    fn waiting_repeat_follows_a_later_change() {
        let mut schedule = PushSchedule::new();
        schedule.on_initialized(at(0), WRITTEN, SETTLE);
        schedule.set(selection());
        schedule.on_selection_sent(100);
        schedule.tick(at(1_600));
        assert!(schedule.is_settled(at(1_600)) && schedule.selection_to_send().is_none(), "the repeat waits");
        schedule.on_list_changed(at(1_700), StreamPos { end: 150, written: 40 });
        schedule.on_written(at(2_000), 150);
        let mut sent = Vec::new();
        for millis in 2_000..40_000 {
            schedule.tick(at(millis));
            if schedule.selection_to_send().is_some() {
                schedule.on_selection_sent(150);
                schedule.on_written(at(millis), 150);
                sent.push(millis);
            }
        }
        assert_eq!(sent, [2_000, 3_600, 8_600], "the waiting repeat, then those after the change");
    }

    #[test]
    fn settle_time_above_10_s_is_kept() {
        let mut schedule = PushSchedule::new();
        schedule.on_initialized(at(0), WRITTEN, Duration::from_secs(20));
        schedule.on_tools_listed(at(1_000), WRITTEN);
        assert!(!schedule.is_settled(at(19_999)) && schedule.is_settled(at(20_000)));
    }

    #[test]
    fn stopped_schedule_has_no_timer() {
        let mut schedule = PushSchedule::new();
        schedule.set(selection());
        schedule.on_initialized(at(0), WRITTEN, SETTLE);
        schedule.stop();
        assert!(schedule.selection_to_send().is_none() && schedule.due == Time::NEVER);
    }

    #[test]
    fn nothing_settles_at_the_end_of_time() {
        let mut schedule = PushSchedule::new();
        schedule.on_initialized(at(0), WRITTEN, Duration::MAX);
        schedule.tick(Time::new(Duration::MAX));
        assert!(!schedule.is_settled(Time::new(Duration::MAX)) && schedule.due == Time::NEVER);
    }
}
