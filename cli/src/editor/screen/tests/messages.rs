//! Messages that call for action are whole on a screen of 80 columns, whatever else the status line shows, and
//! however long the names are.

use super::Desk;
use super::review::propose;
use crate::editor::paths::Target;
use crate::editor::screen::model::Confirm;
use crate::support::columns::width;
use ide_mcp::ide::tool::OpenDiff;
use std::fs;

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n";
/// A name that fills a screen on its own.
const LONG: &str =
    "a/folder/with/a/rather/long/name/and/a/file/with/a/name/that/is/even/longer/than/that.txt";

/// Creates a desk with two agents with long names, problems, a selection and mixed line ends.
fn busy(name: &str) -> Desk {
    let mut desk = Desk::new(&[(name, &format!("{LINES}\r\n")), ("b.txt", "b\n")]);
    desk.attach("an-agent-with-a-long-name");
    desk.attach("another-agent");
    desk.app.model.unauthenticated.wrong_tokens = 12;
    desk.app.open_targets(&[Target { path: desk.root.join(name), place: None }]).unwrap();
    desk.turn();
    desk
}

#[test]
fn messages_to_act_on_are_whole() {
    // What the user does, and the text that tells them; the name of a file follows it.
    type Steps = fn(&mut Desk, &str);
    let cases: &[(&str, Steps, &str)] = &[
        ("quit, not saved", |desk, _| desk.keys("x\x1b[1;2B\x11"), "^Q again ends the editor; not saved: "),
        (
            "quit, not saved and not decided",
            |desk, name| {
                propose(desk, name, "new\n");
                desk.keys("\x1b");
                desk.keys("x\x1b[1;2B\x11");
            },
            "^Q again ends the editor and rejects 1 proposed change; not saved: ",
        ),
        (
            "quit during a save",
            |desk, _| {
                desk.keys("x");
                desk.hang();
                desk.keys("\x13\x11");
            },
            "^Q again ends the editor at once; being saved: ",
        ),
        (
            "close",
            |desk, _| desk.keys("x\x17"),
            "^W again discards the changes in this file, which are not saved",
        ),
        (
            "reload",
            |desk, _| desk.keys("x\x12"),
            "^R again discards the changes in this file, which are not saved",
        ),
        (
            "save a file that has changed",
            |desk, name| {
                desk.keys("x");
                desk.write(name, "of another program\n");
                desk.wait(2_000);
                desk.keys("\x13");
            },
            "^S again overwrites it, ^R reads it: the file has changed on disk",
        ),
        (
            "changed on both sides",
            |desk, name| {
                desk.keys("x");
                desk.write(name, "of another program\n");
                desk.wait(2_000);
            },
            "changed here and on disk: ",
        ),
        (
            "deleted",
            |desk, name| {
                desk.keys("x");
                fs::remove_file(desk.root.join(name)).unwrap();
                desk.wait(2_000);
            },
            "deleted on disk, and its text is still here: ",
        ),
        (
            "save as a file that exists",
            |desk, _| desk.keys("\x1b[24~\x01b.txt\r"),
            "Enter again overwrites b.txt",
        ),
        (
            "accept what has changed",
            |desk, name| {
                propose(desk, name, "new\n");
                desk.write(name, "of another program\n");
                desk.keys("a");
            },
            "look at it, then press a again: ",
        ),
        (
            "accept what changed and is not shown any more",
            |desk, name| {
                propose(desk, name, "new\n");
                desk.write(name, "of another program\n");
                desk.hang();
                desk.keys("a\x1b");
                desk.recover();
            },
            "not accepted, look at it again: ",
        ),
        (
            "reject what is accepted in part",
            |desk, name| {
                propose(desk, name, &LINES.replace("2\n", "two\n"));
                desk.keys("yr");
            },
            "r again rejects all: 1 of ",
        ),
        (
            "an edit is lost",
            |desk, name| {
                propose(desk, name, "new\n");
                desk.keys("ex");
                let (conn, _) = desk.agents.remove(0);
                desk.server.feed_eof(desk.now, conn);
                desk.turn();
            },
            "the agent detached before your decision; your edit is lost: ",
        ),
        (
            "nobody to ask",
            |desk, _| {
                for (conn, _) in std::mem::take(&mut desk.agents) {
                    desk.server.feed_eof(desk.now, conn);
                }
                desk.turn();
                desk.keys("\x1ba");
            },
            "no agent is attached",
        ),
        ("a key without a meaning", |desk, _| desk.keys("\x1bOQ:"), "Ctrl+Q ends the editor, F1 lists keys"),
    ];
    for (what, steps, text) in cases {
        for name in ["a.txt", LONG] {
            let mut desk = busy(name);
            steps(&mut desk, name);
            let screen = desk.screen();
            assert!(screen.contains(text), "{what}, {name}: {text:?} is not whole:\n{screen}");
            // A short name is whole too.
            assert!(
                !text.ends_with(": ") || name == LONG || screen.contains(&format!("{text}a.txt")),
                "{screen}"
            );
        }
    }
}

/// However long a message is, it does not hide whether an agent is attached.
#[test]
fn no_message_hides_whether_an_agent_is_attached() {
    let mut desk = Desk::new(&[("a.txt", "a\n")]);
    for sign in ["○", "●"] {
        for length in 0..=100 {
            desk.app.model.hold("m".repeat(length));
            let screen = desk.screen();
            let status = screen.lines().nth_back(1).unwrap();
            assert!(status.contains(&format!(" {sign} ")), "{length}: {status}");
        }
        desk.attach("claude-code");
    }
}

#[test]
fn question_begins_with_the_key_to_press_again() {
    // The message begins with the key, whatever else there is to say.
    for confirm in
        [Confirm::Quit, Confirm::Close, Confirm::Reload, Confirm::Save, Confirm::SaveAs, Confirm::Reject]
    {
        let (key, begin) = match confirm {
            Confirm::Quit => ("x\x11", "^Q again"),
            Confirm::Close => ("x\x17", "^W again"),
            Confirm::Reload => ("x\x12", "^R again"),
            Confirm::Save => ("x\x13", "^S again"),
            Confirm::SaveAs => ("\x1b[24~\x01b.txt\r", "Enter again"),
            Confirm::Reject => ("yr", "r again"),
        };
        let mut desk = busy("a.txt");
        match confirm {
            Confirm::Reject => drop(propose(&mut desk, "a.txt", &LINES.replace("2\n", "two\n"))),
            Confirm::Save => desk.app.model.document_mut().unwrap().conflict = true,
            _ => {}
        }
        desk.keys(key);
        let message = desk.app.model.message.as_ref().map(|message| message.text.clone()).unwrap();
        assert!(message.starts_with(begin), "{confirm:?}: {message}");
    }
}

#[test]
fn notices_of_proposal_fit_in_80_columns() {
    let mut desk = Desk::new(&[("a.txt", "old\n"), ("b.txt", "other\n")]);
    desk.open("b.txt");
    desk.keys("x");
    let agent = desk.attach("claude-code");
    let mut request = OpenDiff::new(desk.path("b.txt"), "new\n", "t");
    request.old_file_path = desk.path("a.txt");
    desk.call(agent, &request);
    desk.wait(4_000);
    desk.keys("\x1bOR");
    desk.shows("proposes b.txt");
    let notices: Vec<String> = desk.app.model.proposed().unwrap().notices().collect();
    assert!(notices.iter().any(|notice| notice.contains("accepting overwrites them")), "{notices:?}");
    for notice in notices.iter().filter(|notice| notice.contains("accepting")) {
        assert!(width(notice) < 80, "{notice}");
        desk.shows(notice);
    }
}
