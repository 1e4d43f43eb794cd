//! The files that agents wrote, with their contents before and after, to show and to undo.

use crate::Time;
use crate::rpc::{CallId, digest};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::mem;

/// Remembers what agents wrote, oldest first, so that a person can look at it and undo it: both accepted diffs and
/// edits that the editor was not asked about. The client announces and writes both in the same way.
///
/// You read each file twice: at an [`EditExpected`](crate::ide::ServerEvent::EditExpected), before you answer the call,
/// for [`expect`](Self::expect), and at the [`EditEnded`](crate::ide::ServerEvent::EditEnded), for [`end`](Self::end).
/// If the two states differ, the edit is confirmed and listed.
///
/// ```
/// use ide_mcp::Time;
/// use ide_mcp::ide::kit::{EditLog, FileState};
/// # use ide_mcp::ide::{AgentId, Server, ServerConfig};
/// # let agent = AgentId::from(Server::new(ServerConfig::new("editor", "1")).connect(Time::ZERO));
/// # let edit = agent.call(7);
///
/// let mut log = EditLog::new();
/// log.expect(edit, "/w/a", FileState::Contents(b"before".to_vec()));
/// assert!(log.end(Time::ZERO, edit, FileState::Contents(b"after".to_vec())).is_some());
///
/// let present = FileState::Contents(b"after".to_vec()); // as the file is now
/// assert_eq!(log.undo(edit, &present), Ok(&FileState::Contents(b"before".to_vec())));
/// ```
///
/// | limit | value | reason |
/// | --- | --: | --- |
/// | [`MAX_EDITS`](Self::MAX_EDITS) | 1,000 confirmed edits | more than a person looks through; the oldest is forgotten |
/// | [`MAX_EXPECTED`](Self::MAX_EXPECTED) | 4,096 expected edits | 256 of each of 16 agents; the oldest is forgotten |
/// | [`MAX_TEXT`](Self::MAX_TEXT) | 4 MiB in a state | the largest file that a person would review as a change |
/// | [`MAX_BYTES`](Self::MAX_BYTES) | 64 MiB in all states | 8 edits of the largest files, thousands of usual files |
///
/// A state that several edits share counts once.
///
/// A state above `MAX_TEXT`, and the oldest states above `MAX_BYTES`, are dropped. Their edits are still confirmed, by
/// a digest, and listed without this text.
#[derive(Debug, Default)]
pub struct EditLog {
    expected: VecDeque<Expected>,
    edits: VecDeque<Edit>,
    /// The bytes of all states. A state that several edits share counts once.
    bytes: usize,
}

impl EditLog {
    /// The maximum number of confirmed edits.
    pub const MAX_EDITS: usize = 1_000;
    /// The maximum number of expected edits.
    pub const MAX_EXPECTED: usize = 4_096;
    /// The maximum size of a state in bytes. You may stop reading a file there and pass [`FileState::Unknown`]; the
    /// edit is then not confirmed.
    pub const MAX_TEXT: usize = 4 * 1024 * 1024;
    /// The maximum size of all states together in bytes.
    pub const MAX_BYTES: usize = 64 * 1024 * 1024;

    /// Creates an empty log.
    #[must_use]
    pub const fn new() -> Self {
        Self { expected: VecDeque::new(), edits: VecDeque::new(), bytes: 0 }
    }

    /// Takes the state of the file at `path` before an expected edit.
    pub fn expect(&mut self, edit: CallId, path: impl Into<Arc<str>>, before: FileState) {
        self.forget(edit);
        if self.expected.len() >= Self::MAX_EXPECTED {
            self.forget_first_expected();
        }
        let before = self.keep(before);
        self.expected.push_back(Expected { edit, path: path.into(), before });
        self.drop_oldest_states();
    }

    /// Takes the state of the file after an expected edit. Returns the edit if it is confirmed: both states are known,
    /// and they differ.
    ///
    /// From now on, the other expected edits of this path begin with this state, so that the edit of one agent is not
    /// confirmed a second time for another agent.
    pub fn end(&mut self, now: Time, edit: CallId, after: FileState) -> Option<&Edit> {
        let at = self.expected.iter().position(|expected| expected.edit == edit)?;
        let Expected { path, before, .. } = self.expected.remove(at)?;
        let after = self.keep(after);
        if !before.differs(&after) {
            self.release([before, after]);
            return None;
        }
        for other in self.expected.iter_mut().filter(|other| other.path == path) {
            // The contents are shared, because up to 4,095 other edits may begin with them.
            let replaced = mem::replace(&mut other.before, after.clone());
            self.bytes = self.bytes.saturating_sub(replaced.unshared_len());
        }
        if self.edits.len() >= Self::MAX_EDITS {
            if let Some(Edit { before, after, .. }) = self.edits.pop_front() {
                self.release([before, after]);
            }
        }
        self.edits.push_back(Edit { id: edit, path, at: now, before, after });
        self.drop_oldest_states();
        self.edits.back()
    }

    /// Returns the confirmed edits, oldest first.
    pub fn edits(&self) -> impl DoubleEndedIterator<Item = &Edit> {
        self.edits.iter()
    }

    /// Returns the confirmed edit with this id.
    #[must_use]
    pub fn get(&self, edit: CallId) -> Option<&Edit> {
        self.edits.iter().find(|known| known.id == edit)
    }

    /// Returns what to restore to undo an edit, if the file is now `present`. Undo several edits of one file in reverse
    /// order, and call [`remove`](Self::remove) once the file is restored.
    ///
    /// # Errors
    ///
    /// [`UndoError::Changed`] if `present` is not the state that the agent left. [`UndoError::NoEdit`] if there is no
    /// such confirmed edit, [`UndoError::Dropped`] if one of its states was dropped.
    pub fn undo(&self, edit: CallId, present: &FileState) -> Result<&FileState, UndoError> {
        let edit = self.get(edit).ok_or(UndoError::NoEdit)?;
        let (before, after) = edit.before().zip(edit.after()).ok_or(UndoError::Dropped)?;
        if after == present { Ok(before) } else { Err(UndoError::Changed) }
    }

    /// Removes an edit from the list, because the person has undone it or no longer wants to see it.
    pub fn remove(&mut self, edit: CallId) -> Option<Edit> {
        let at = self.edits.iter().position(|known| known.id == edit)?;
        let mut removed = self.edits.remove(at)?;
        for state in [&mut removed.before, &mut removed.after] {
            self.bytes = self.bytes.saturating_sub(state.unshared_len());
            // From here on the application decides when the edit is dropped.
            state.unshare();
        }
        Some(removed)
    }

    /// Forgets everything about the edit with this id.
    fn forget(&mut self, edit: CallId) {
        if let Some(at) = self.expected.iter().position(|known| known.edit == edit) {
            let dropped = self.expected.remove(at);
            self.release(dropped.map(|dropped| dropped.before));
        }
        self.remove(edit);
    }

    fn forget_first_expected(&mut self) {
        let first = self.expected.pop_front();
        self.release(first.map(|first| first.before));
    }

    /// Counts the bytes of a state, or drops it if it is too large.
    fn keep(&mut self, state: FileState) -> Kept {
        let kept = Kept::new(state);
        self.bytes = self.bytes.saturating_add(kept.len());
        kept
    }

    /// Drops these states, and subtracts their bytes.
    fn release(&mut self, states: impl IntoIterator<Item = Kept>) {
        for state in states {
            self.bytes = self.bytes.saturating_sub(state.unshared_len());
        }
    }

    /// Drops the oldest states until the others fit, those of confirmed edits first: a person most likely needs the
    /// text before an expected edit.
    fn drop_oldest_states(&mut self) {
        let of_edits = self.edits.iter_mut().flat_map(|edit| [&mut edit.before, &mut edit.after]);
        let of_expected = self.expected.iter_mut().map(|expected| &mut expected.before);
        // One digest is enough for all edits that share contents.
        let mut digests = BTreeMap::new();
        for state in of_edits.chain(of_expected) {
            if self.bytes <= Self::MAX_BYTES {
                return;
            }
            let Kept::Whole(shared) = &*state else { continue };
            let FileState::Contents(contents) = &**shared else { continue };
            let digest = digests.entry(Arc::as_ptr(shared)).or_insert_with(|| Digest::of(contents));
            let dropped = mem::replace(state, Kept::Dropped(*digest));
            self.bytes = self.bytes.saturating_sub(dropped.unshared_len());
        }
    }
}

/// What is in a file at one time.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileState {
    /// There is no such file.
    Absent,
    /// The file has these bytes.
    Contents(Vec<u8>),
    /// The file cannot be read, or is too large to read.
    Unknown,
}

impl fmt::Debug for FileState {
    /// Shows only the size of the contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("Absent"),
            Self::Contents(bytes) => write!(f, "Contents({} bytes)", bytes.len()),
            Self::Unknown => f.write_str("Unknown"),
        }
    }
}

/// A confirmed edit of an [`EditLog`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Edit {
    /// Identifies the edit, as in the events, and the agent too: [`AgentId::of_call`](crate::ide::AgentId::of_call).
    pub id: CallId,
    /// The path of the file.
    pub path: Arc<str>,
    /// When the edit was confirmed.
    pub at: Time,
    before: Kept,
    after: Kept,
}

impl Edit {
    /// Returns the state of the file before the edit; `None` if the log dropped it.
    #[must_use]
    pub fn before(&self) -> Option<&FileState> {
        self.before.state()
    }

    /// Returns the state of the file after the edit; `None` if the log dropped it.
    #[must_use]
    pub fn after(&self) -> Option<&FileState> {
        self.after.state()
    }
}

/// Why an edit cannot be undone.
///
/// [Causes and reactions](crate::guide::errors#a-method-of-yours-was-refused).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UndoError {
    /// There is no confirmed edit with this id.
    NoEdit,
    /// A state of the file was dropped, because the file, or all of them together, are too large.
    Dropped,
    /// The file is not as the agent left it.
    Changed,
}

impl fmt::Display for UndoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoEdit => "there is no such edit",
            Self::Dropped => "the log of edits has dropped the text of the file",
            Self::Changed => "the file has changed since the edit",
        })
    }
}

impl core::error::Error for UndoError {}

/// An edit that has not ended yet.
#[derive(Debug)]
struct Expected {
    edit: CallId,
    path: Arc<str>,
    before: Kept,
}

/// A state, which several edits may share, or its digest once its contents were dropped.
#[derive(Clone, Debug)]
enum Kept {
    Whole(Arc<FileState>),
    Dropped(Digest),
}

/// The size and the digest of contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digest(usize, u64);

impl Digest {
    fn of(contents: &[u8]) -> Self {
        Self(contents.len(), digest(contents.iter().copied()))
    }
}

impl Kept {
    /// Drops the contents of a state that is too large.
    fn new(state: FileState) -> Self {
        match &state {
            FileState::Contents(bytes) if bytes.len() > EditLog::MAX_TEXT => Self::Dropped(Digest::of(bytes)),
            FileState::Absent | FileState::Contents(_) | FileState::Unknown => Self::Whole(Arc::new(state)),
        }
    }

    fn state(&self) -> Option<&FileState> {
        match self {
            Self::Whole(state) => Some(state),
            Self::Dropped(_) => None,
        }
    }

    /// Returns true if both states are known and differ.
    fn differs(&self, other: &Self) -> bool {
        match (self.state(), other.state()) {
            (Some(FileState::Unknown), _) | (_, Some(FileState::Unknown)) => false,
            (Some(one), Some(other)) => one != other,
            _ => self.digest() != other.digest(),
        }
    }

    /// Returns the digest of the contents; `None` for a state without contents.
    fn digest(&self) -> Option<Digest> {
        match self {
            Self::Dropped(digest) => Some(*digest),
            Self::Whole(state) => match &**state {
                FileState::Contents(bytes) => Some(Digest::of(bytes)),
                FileState::Absent | FileState::Unknown => None,
            },
        }
    }

    /// Returns the number of bytes of the contents.
    fn len(&self) -> usize {
        match self.state() {
            Some(FileState::Contents(bytes)) => bytes.len(),
            Some(FileState::Absent | FileState::Unknown) | None => 0,
        }
    }

    /// Returns how many bytes are freed if this state is dropped.
    fn unshared_len(&self) -> usize {
        match self {
            Self::Whole(state) if Arc::strong_count(state) == 1 => self.len(),
            Self::Whole(_) | Self::Dropped(_) => 0,
        }
    }

    /// Copies contents that other edits share.
    fn unshare(&mut self) {
        if let Self::Whole(state) = self {
            Arc::make_mut(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::SessionId;
    use alloc::vec;

    const A: u64 = 1;
    const B: u64 = 2;

    fn edit(agent: u64, number: u64) -> CallId {
        CallId::new(SessionId::new(agent), number)
    }

    fn text(text: &str) -> FileState {
        FileState::Contents(text.into())
    }

    fn of_size(size: usize, byte: u8) -> FileState {
        FileState::Contents(vec![byte; size])
    }

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn only_a_known_difference_confirms() {
        let large = EditLog::MAX_TEXT + 1;
        let cases = [
            ("another text", text("a"), text("b"), true),
            ("the same text", text("a"), text("a"), false),
            ("a new file", FileState::Absent, text("a"), true),
            ("a new empty file", FileState::Absent, text(""), true),
            ("a removed file", text("a"), FileState::Absent, true),
            ("no file before and after", FileState::Absent, FileState::Absent, false),
            ("unknown before", FileState::Unknown, text("a"), false),
            ("unknown after", text("a"), FileState::Unknown, false),
            ("unknown twice", FileState::Unknown, FileState::Unknown, false),
            ("large, another text", of_size(large, 1), of_size(large, 2), true),
            ("large, the same text", of_size(large, 1), of_size(large, 1), false),
            ("large before", of_size(large, 1), of_size(large - 1, 1), true),
            ("large after", of_size(large - 1, 1), of_size(large, 1), true),
            ("large and removed", of_size(large, 1), FileState::Absent, true),
            ("large and unknown", of_size(large, 1), FileState::Unknown, false),
        ];
        for (name, before, after, expected) in cases {
            let mut log = EditLog::new();
            log.expect(edit(A, 1), "/w/a", before.clone());
            let confirmed = log.end(at(5), edit(A, 1), after.clone());
            assert_eq!(
                confirmed.map(|edit| (&*edit.path, edit.at)),
                expected.then_some(("/w/a", at(5))),
                "{name}"
            );
            assert_eq!(log.edits().count(), usize::from(expected), "{name}");
            assert!(log.end(at(6), edit(A, 1), text("c")).is_none(), "{name}: it ends once");
            assert_bytes(&log);
        }
    }

    #[test]
    fn undo_needs_the_state_the_agent_left() {
        let cases = [
            ("a change", text("a"), text("b")),
            ("a new file", FileState::Absent, text("b")),
            ("a removed file", text("a"), FileState::Absent),
        ];
        for (name, before, after) in cases {
            let mut log = EditLog::new();
            log.expect(edit(A, 1), "/w/a", before.clone());
            assert_eq!(log.undo(edit(A, 1), &after), Err(UndoError::NoEdit), "{name}: not confirmed yet");
            log.end(at(1), edit(A, 1), after.clone());
            assert_eq!(log.undo(edit(A, 1), &after), Ok(&before), "{name}");
            for present in [text("by hand"), FileState::Unknown, before.clone()] {
                assert_eq!(log.undo(edit(A, 1), &present), Err(UndoError::Changed), "{name}: {present:?}");
            }
            assert_eq!(log.undo(edit(A, 2), &after), Err(UndoError::NoEdit), "{name}");
            assert_eq!(log.remove(edit(A, 1)).map(|edit| edit.id), Some(edit(A, 1)), "{name}");
            assert_eq!(log.undo(edit(A, 1), &after), Err(UndoError::NoEdit), "{name}: removed");
            assert!(log.remove(edit(A, 1)).is_none() && log.bytes == 0, "{name}");
        }
    }

    #[test]
    fn edits_of_one_file_undo_in_reverse() {
        let mut log = EditLog::new();
        for (number, before, after) in [(1, "a", "b"), (2, "b", "c")] {
            log.expect(edit(A, number), "/w/a", text(before));
            log.end(at(number), edit(A, number), text(after));
        }
        assert!(log.edits().map(|edit| edit.id).eq([edit(A, 1), edit(A, 2)]));
        assert_eq!(
            log.undo(edit(A, 1), &text("c")),
            Err(UndoError::Changed),
            "the second edit is still there"
        );
        assert_eq!(log.undo(edit(A, 2), &text("c")), Ok(&text("b")));
        assert_eq!(log.undo(edit(A, 1), &text("b")), Ok(&text("a")));
    }

    #[test]
    fn each_edit_belongs_to_one_agent() {
        let cases = [("both write", "b", "c", true), ("the second only asked", "b", "b", false)];
        for (name, of_first, of_second, is_confirmed) in cases {
            let mut log = EditLog::new();
            for agent in [A, B] {
                log.expect(edit(agent, 1), "/w/a", text("a"));
            }
            log.expect(edit(B, 2), "/w/other", text("a"));
            log.end(at(1), edit(A, 1), text(of_first));
            let second =
                log.end(at(2), edit(B, 1), text(of_second)).map(|edit| (edit.id, edit.before().cloned()));
            let expected = is_confirmed.then(|| (edit(B, 1), Some(text(of_first))));
            assert_eq!(second, expected, "{name}");
            let other = log.end(at(3), edit(B, 2), text("b")).and_then(Edit::before).cloned();
            assert_eq!(other, Some(text("a")), "{name}: another file");
            assert_bytes(&log);
        }
    }

    #[test]
    fn repeated_id_replaces_its_edit() {
        let mut log = EditLog::new();
        log.expect(edit(A, 1), "/w/a", text("a"));
        log.expect(edit(A, 1), "/w/b", text("long text"));
        log.end(at(1), edit(A, 1), text("b"));
        assert!(log.edits().map(|edit| &*edit.path).eq(["/w/b"]));
        log.expect(edit(A, 1), "/w/c", text("c"));
        assert_eq!(log.edits().count(), 0);
        assert_bytes(&log);
    }

    #[test]
    fn states_above_limit_are_dropped() {
        for (size, is_kept) in [(EditLog::MAX_TEXT, true), (EditLog::MAX_TEXT + 1, false)] {
            let mut log = EditLog::new();
            log.expect(edit(A, 1), "/w/a", of_size(size, 1));
            let confirmed = log.end(at(1), edit(A, 1), text("b")).unwrap();
            assert_eq!(confirmed.before().is_some(), is_kept);
            assert_eq!(confirmed.after(), Some(&text("b")));
            let undone = log.undo(edit(A, 1), &text("b")).err();
            assert_eq!(undone, (!is_kept).then_some(UndoError::Dropped));
        }
    }

    #[test]
    fn oldest_states_make_room_for_new() {
        let mut log = EditLog::new();
        let full = EditLog::MAX_BYTES / EditLog::MAX_TEXT;
        log.expect(edit(A, 1), "/w/a", of_size(EditLog::MAX_TEXT, 1));
        log.end(at(1), edit(A, 1), FileState::Absent);
        for number in 2..=full as u64 {
            log.expect(edit(A, number), alloc::format!("/w/{number}"), of_size(EditLog::MAX_TEXT, 1));
        }
        assert_eq!(log.bytes, EditLog::MAX_BYTES);
        assert!(log.get(edit(A, 1)).unwrap().before().is_some(), "exactly full");
        log.expect(edit(B, 1), "/w/c", text("x"));
        assert!(log.get(edit(A, 1)).unwrap().before().is_none(), "the confirmed edit loses its text");
        log.expect(edit(B, 2), "/w/d", of_size(EditLog::MAX_TEXT, 2));
        assert!(log.bytes <= EditLog::MAX_BYTES);
        let lost = log.end(at(2), edit(A, 2), FileState::Absent).unwrap();
        assert!(lost.before().is_none(), "then the oldest expected edit, which is still confirmed");
        assert!(log.end(at(2), edit(A, 3), FileState::Absent).unwrap().before().is_some());
        assert_bytes(&log);
    }

    #[test]
    fn edits_of_one_file_share_its_state() {
        let mut log = EditLog::new();
        let all = EditLog::MAX_EXPECTED as u64;
        let large = EditLog::MAX_TEXT;
        for round in 0..2 {
            for number in 1..=all {
                log.expect(edit(A, number), "/w/a", text("a"));
            }
            assert!(log.end(at(1), edit(A, 1), of_size(large, round)).is_some());
            assert_bytes(&log);
            let shared = log.expected.back().unwrap().before.clone();
            let Kept::Whole(shared) = shared else { panic!("the state was dropped") };
            // All the other edits, the confirmed one, and the variable above.
            assert_eq!(Arc::strong_count(&shared) as u64, all + 1, "{round}");
            drop(shared);
            // The removed edit has a copy, so the log counts without it.
            let removed = log.remove(edit(A, 1)).unwrap();
            assert_eq!(removed.after(), Some(&of_size(large, round)));
            for number in 2..=all {
                assert!(log.end(at(2), edit(A, number), FileState::Unknown).is_none(), "{number}");
            }
            assert_eq!(log.bytes, 0, "{round}");
        }
    }

    #[test]
    fn shared_state_is_dropped_everywhere() {
        let mut log = EditLog::new();
        let full = EditLog::MAX_BYTES / EditLog::MAX_TEXT;
        for number in 1..=100 {
            log.expect(edit(A, number), "/w/a", FileState::Absent);
        }
        log.end(at(1), edit(A, 1), of_size(EditLog::MAX_TEXT, 1));
        for number in 1..full as u64 {
            log.expect(edit(B, number), alloc::format!("/w/{number}"), of_size(EditLog::MAX_TEXT, 1));
        }
        assert_eq!(log.bytes, EditLog::MAX_BYTES);
        assert!(log.get(edit(A, 1)).unwrap().after().is_some(), "exactly full");
        log.expect(edit(B, full as u64), "/w/c", text("x"));
        assert_bytes(&log);
        assert!(log.get(edit(A, 1)).unwrap().after().is_none());
        let same = log.end(at(2), edit(A, 2), of_size(EditLog::MAX_TEXT, 1));
        assert!(same.is_none(), "the digest still shows that nothing changed");
        let other = log.end(at(2), edit(A, 3), text("y"));
        assert!(other.unwrap().before().is_none());
        assert!(log.end(at(2), edit(B, 1), text("y")).unwrap().before().is_some(), "the newer state stays");
        assert_bytes(&log);
    }

    #[test]
    fn oldest_edits_make_room_for_new() {
        let mut log = EditLog::new();
        for number in 1..=EditLog::MAX_EDITS as u64 + 1 {
            assert_eq!(log.get(edit(A, 1)).is_some(), number > 1, "{number}");
            log.expect(edit(A, number), "/w/a", text("a"));
            log.end(at(number), edit(A, number), text("b"));
        }
        assert_eq!(log.edits().count(), EditLog::MAX_EDITS);
        assert!(log.edits().next().map(|edit| edit.id) == Some(edit(A, 2)));
        for number in 1..=EditLog::MAX_EXPECTED as u64 + 1 {
            log.expect(edit(B, number), "/w/b", text("b"));
        }
        assert!(log.end(at(1), edit(B, 1), text("c")).is_none(), "the oldest is forgotten");
        assert!(log.end(at(1), edit(B, 2), text("c")).is_some());
        assert_bytes(&log);
    }

    /// Runs random scripts, and checks the sum of the bytes after each step.
    #[test]
    fn bytes_are_those_of_the_states() {
        arbtest::arbtest(|u| {
            let mut log = EditLog::new();
            for _ in 0..u.int_in_range(0..=40)? {
                let name = edit(u.int_in_range(1..=2)?, u.int_in_range(1..=4)?);
                let state = match u.int_in_range(0..=9)? {
                    0 => FileState::Absent,
                    1 => FileState::Unknown,
                    2 => of_size(EditLog::MAX_TEXT + 1, u.arbitrary()?),
                    size => of_size(size, u.int_in_range(0..=1)?),
                };
                match u.int_in_range(0..=3)? {
                    0 | 1 => log.expect(name, *u.choose(&["/w/a", "/w/b"])?, state),
                    2 => drop(log.end(Time::ZERO, name, state)),
                    _ => drop(log.remove(name)),
                }
                assert_bytes(&log);
            }
            Ok(())
        })
        .budget_ms(300);
    }

    fn assert_bytes(log: &EditLog) {
        let of_edits = log.edits.iter().flat_map(|edit| [&edit.before, &edit.after]);
        let states = of_edits.chain(log.expected.iter().map(|expected| &expected.before));
        let whole = states.filter_map(|state| match state {
            Kept::Whole(shared) => Some((Arc::as_ptr(shared), state.len())),
            Kept::Dropped(_) => None,
        });
        let whole: BTreeMap<_, _> = whole.collect();
        assert_eq!(log.bytes, whole.values().sum::<usize>());
        assert!(log.bytes <= EditLog::MAX_BYTES);
    }

    #[test]
    fn errors_have_messages() {
        let texts = [
            (UndoError::NoEdit, "there is no such edit"),
            (UndoError::Dropped, "the log of edits has dropped the text of the file"),
            (UndoError::Changed, "the file has changed since the edit"),
        ];
        for (error, text) in texts {
            assert_eq!(alloc::string::ToString::to_string(&error), text);
        }
    }
}
