//! Proposals of agents: their order, the keys that decide about them, and their end.

use super::Desk;
use crate::editor::options::OnDiff;
use crate::editor::screen::model::Focus;
use crate::editor::screen::view::palette::Ink;
use ide_mcp::ide::tool::{CloseAllDiffTabs, CloseTab, OpenDiff, OpenFile};

const OLD: &str = "one\ntwo\nthree\n";

pub(super) fn diff(desk: &Desk, name: &str, contents: &str) -> OpenDiff {
    OpenDiff::new(desk.path(name), contents, format!("tab {name}"))
}

fn open(desk: &Desk, name: &str) -> OpenFile {
    OpenFile::new(desk.path(name))
}

#[test]
fn proposal_is_accepted_rejected_and_edited() {
    let mut desk = Desk::new(&[("a.txt", OLD)]);
    let agent = desk.attach("claude-code");
    desk.shows("● claude-code 2.1");
    let request = diff(&desk, "a.txt", "one\n2\nthree\n");
    let cases: &[(&str, &[&str], &[&str], &str)] = &[
        ("accepted", &["a"], &["FILE_SAVED", "one\n2\nthree\n"], "accepted a.txt; the agent writes it"),
        ("rejected", &["r"], &["DIFF_REJECTED", "tab a.txt"], "rejected a.txt"),
        (
            "edited",
            &["e", "x", "\x13", "a"],
            &["FILE_SAVED", "one\nx2\nthree\n"],
            "accepted a.txt, as you changed it; the agent writes it",
        ),
        (
            "edited back",
            &["e", "x", "\x7f", "\x1b", "a"],
            &["FILE_SAVED", "one\n2\nthree\n"],
            "accepted a.txt;",
        ),
        ("edited and rejected", &["e", "x", "\x13", "r"], &["DIFF_REJECTED", "tab a.txt"], "rejected a.txt"),
    ];
    for (name, keys, answer, text) in cases {
        let id = desk.call(agent, &request);
        desk.shows("✻ claude-code 2.1 proposes a.txt  +1 −1");
        desk.assert_ink("- two", Ink::Removed);
        desk.assert_ink("+ 2", Ink::Added);
        desk.wait(500);
        for key in *keys {
            desk.keys(key);
        }
        assert_eq!(desk.result(id).unwrap_or_default(), *answer, "{name}");
        desk.shows(text);
        desk.shows("No file is open");
        assert_eq!(desk.read("a.txt"), OLD, "{name}: the agent writes, not we");
        assert_eq!(desk.ask(agent, &CloseTab::new("tab a.txt")), "TAB_CLOSED");
    }
}

/// Until the keys take effect, their row says that a proposal has arrived. No input begins the turn that changes this.
#[test]
fn keys_are_shown_as_soon_as_they_decide() {
    let mut desk = Desk::new(&[("a.txt", OLD)]);
    let agent = desk.attach("agent");
    desk.call(agent, &diff(&desk, "a.txt", "new\n"));
    desk.shows("look at it first");
    assert!(!desk.app.stale, "the screen was drawn");
    desk.now = desk.app.deadline().unwrap();
    desk.app.inputs(&mut desk.server, desk.now, || None);
    desk.app.tick(&mut desk.server, desk.now);
    assert!(desk.app.stale, "and is drawn again");
    assert!(!desk.screen().contains("look at it first"), "{}", desk.screen());
}

#[test]
fn keys_decide_only_after_proposal_is_seen() {
    let mut desk = Desk::new(&[("a.txt", OLD), ("b.txt", "b")]);
    let agent = desk.attach("agent");
    let first = desk.call(agent, &diff(&desk, "a.txt", "new\n"));
    let second = desk.call(agent, &diff(&desk, "b.txt", "new\n"));
    desk.shows("1 of 2");
    desk.shows("then b.txt");
    desk.keys("a");
    assert_eq!(desk.result(first), None, "it has just come in front");
    desk.shows("look at it first");
    desk.wait(500);
    desk.keys("aa");
    assert!(desk.result(first).is_some());
    assert_eq!(desk.result(second), None, "the next proposal has just come in front too");
    desk.wait(500);
    desk.keys("r");
    assert_eq!(desk.result(second).unwrap()[0], "DIFF_REJECTED");
    // The second `a` comes when the last proposal has just gone: it is not typed into the file that
    // was behind the proposal.
    desk.open("a.txt");
    let third = desk.call(agent, &diff(&desk, "b.txt", "new\n"));
    desk.wait(500);
    desk.keys("aa");
    assert!(desk.result(third).is_some());
    assert_eq!(desk.app.model.document().unwrap().buffer.text().as_str(), OLD);
    assert_eq!(desk.app.model.focus, Focus::Text);
    desk.wait(500);
    desk.keys("x");
    desk.shows("xone");
}

#[test]
fn typing_user_is_not_interrupted() {
    let mut desk = Desk::new(&[("a.txt", OLD), ("b.txt", "b")]);
    let agent = desk.attach("agent");
    desk.open("a.txt");
    desk.keys("x");
    let id = desk.call(agent, &diff(&desk, "b.txt", "new\n"));
    desk.shows("✻ 1 proposed change waits: b.txt");
    desk.keys("ar");
    desk.shows("xarone");
    let mut file = open(&desk, "b.txt");
    file.start_text = Some("b".into());
    let text = desk.ask(agent, &file.clone());
    assert!(text.contains("the user is typing"), "{text}");
    desk.shows("xarone");
    desk.keys("\x1bOR");
    desk.shows("proposes b.txt");
    desk.keys("a");
    assert!(desk.result(id).is_some(), "a user who opens the proposal has seen it: no wait is needed");
    desk.shows("xarone");
    desk.wait(3000);
    assert_eq!(desk.ask(agent, &file), format!("Opened file: {}", desk.path("b.txt")));
    assert_eq!(desk.app.model.document().unwrap().buffer.selected(), "b");
}

#[test]
fn several_proposals_queue() {
    let mut desk = Desk::new(&[("a.txt", OLD)]);
    let agents = [desk.attach("one"), desk.attach("two")];
    desk.shows("● one 2.1, two 2.1");
    for (at, name) in ["a.txt", "b.txt", "c.txt"].iter().enumerate() {
        desk.call(agents[at % 2], &diff(&desk, name, "new\n"));
    }
    desk.shows("then b.txt, c.txt · 1 of 3");
    desk.keys("\t");
    desk.shows("✻ two 2.1 proposes b.txt");
    desk.shows("a new file");
    desk.keys("\t\t");
    desk.shows("1 of 3");
    desk.keys("\x1b");
    desk.shows("✻ 3 proposed changes wait: a.txt, b.txt, c.txt");
    assert_eq!(desk.app.model.focus, Focus::Files);
    desk.keys("\x11");
    desk.shows("^Q again ends the editor and rejects 3 proposed changes");
    // A click on the banner shows the proposals as well.
    desk.keys("\x1b[<0;9;2M");
    desk.shows("proposes a.txt");
}

#[test]
fn ended_proposal_leaves_with_its_reason() {
    let mut desk = Desk::new(&[("a.txt", OLD)]);
    let agent = desk.attach("agent");
    let leave = |desk: &mut Desk, agent: usize| {
        let (conn, _) = desk.agents.remove(agent);
        desk.server.feed_eof(desk.now, conn);
        desk.turn();
    };
    let rows: [(fn(&mut Desk, usize), &str); 3] = [
        (
            |desk, agent| drop(desk.ask(agent, &CloseTab::new("tab a.txt"))),
            "the proposal was decided at the agent",
        ),
        (|desk, agent| drop(desk.ask(agent, &CloseAllDiffTabs)), "the agent closed all its proposals"),
        (leave, "the agent detached before your decision"),
    ];
    for (end, text) in rows {
        desk.call(agent, &diff(&desk, "a.txt", "new\n"));
        desk.shows("proposes a.txt");
        desk.wait(500);
        desk.keys("ex");
        end(&mut desk, agent);
        let text = format!("{text}; your edit is lost: a.txt");
        assert_eq!(desk.app.model.message.as_ref().map(|message| message.text.as_str()), Some(text.as_str()));
        desk.keys("y");
        desk.shows("No file is open");
    }
    desk.shows("○ nobody");
}

#[test]
fn proposal_has_notices_for_the_user() {
    let mut desk = Desk::new(&[("a.txt", OLD)]);
    let agent = desk.attach("agent");
    desk.open("a.txt");
    desk.keys("x");
    desk.wait(3000);
    desk.call(agent, &diff(&desk, "a.txt", "new\n"));
    desk.shows("the file has unsaved changes here");
    desk.shows("- xone");
    desk.keys("\t");
    desk.call(agent, &OpenDiff::new("/etc/hostname", "x\n", "t"));
    desk.keys("\t");
    desk.shows("it is outside the open folders; all of the proposal is shown as new");
    desk.shows("proposes /etc/hostname  +1 −0");
    let mut moved = OpenDiff::new(desk.path("b.txt"), format!("x{OLD}"), "t2");
    moved.old_file_path = desk.path("a.txt");
    desk.call(agent, &moved);
    desk.keys("\t");
    desk.shows("the old path of the file is ");
    desk.shows("the same text as before");
}

#[test]
fn on_diff_option_decides_without_the_user() {
    for (on_diff, answer) in [(OnDiff::Accept, "FILE_SAVED"), (OnDiff::Reject, "DIFF_REJECTED")] {
        let mut desk = Desk::with(&[("a.txt", OLD)], on_diff);
        let agent = desk.attach("agent");
        let id = desk.call(agent, &diff(&desk, "a.txt", "new\n"));
        assert_eq!(desk.result(id).unwrap()[0], answer);
        desk.shows("a.txt");
        assert!(desk.app.model.proposals.is_empty());
    }
}
