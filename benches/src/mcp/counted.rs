//! The cases of `--check`: instructions and allocations of a call and of a selection.

use super::calls::{SIZES, get_diagnostics, open_diff, own_tool};
use super::ours::{self, Session};
use crate::case::Case;

/// How many calls were answered before the measured one.
pub const ANSWERED: usize = 10_000;
/// How many other calls are open: one less than the maximum.
pub const OPEN: usize = 255;

/// Returns all cases, in the order of the baseline.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut push = |name: String, run: Box<dyn FnMut(usize)>, times| cases.push(Case { name, run, times });
    let texts = [("getDiagnostics", get_diagnostics(7))]
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text))
        .chain(SIZES.map(|(size, bytes)| (format!("openDiff {size}"), open_diff(7, bytes))));
    for (name, text) in texts {
        let times = (256 * 1024 / text.len()).clamp(2, 64);
        push(format!("call {name}"), Box::new(ours::session(text.clone())), times);
        push(format!("call {name}, frames"), Box::new(ours::frames(&text)), times);
    }
    for (size, bytes) in SIZES {
        let text = own_tool(7, bytes);
        let times = (256 * 1024 / text.len()).clamp(2, 64);
        push(format!("call own tool {size}, frames"), Box::new(ours::frames(&text)), times);
    }
    let text = get_diagnostics(7);
    push("call after 1 answered".into(), Box::new(after(1, 0, text.clone())), 8);
    push(format!("call after {ANSWERED} answered"), Box::new(after(ANSWERED, 0, text.clone())), 8);
    push("call with 1 open".into(), Box::new(after(0, 1, text.clone())), 8);
    push(format!("call with {OPEN} open"), Box::new(after(0, OPEN, text)), 8);
    for (size, bytes) in [("40 B", 40), ("4 KiB", 4 * 1024)] {
        for clients in [1, 16, 100] {
            push(format!("selection {size} to {clients}"), Box::new(ours::select(clients, bytes)), 8);
        }
    }
    cases
}

/// Answers calls in a session that has already answered `answered` calls and has `open` calls open.
pub fn after(answered: usize, open: usize, text: String) -> impl FnMut(usize) {
    let mut session = Session::open();
    for _ in 0..answered {
        session.serve(&text);
    }
    for id in 0..open {
        session.leave_open(&get_diagnostics(1000 + u32::try_from(id).expect("few")));
    }
    move |times| {
        for _ in 0..times {
            session.serve(&text);
        }
    }
}
