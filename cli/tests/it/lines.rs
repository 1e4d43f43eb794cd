//! The lines that the programs read and print: which diff an answer refers to, and wrong calls.

use crate::support::{Place, Process};
use serde_json::json;

#[test]
fn verdict_names_tab_if_several_are_open() {
    let place = Place::new("tab");
    let mut editor = place.editor(&[]);
    let open = |agent: &mut Process, editor: &mut Process, tab: &str| {
        let arguments = json!({"new_file_path": "/x", "new_file_contents": "y", "tab_name": tab});
        agent.send_line(&format!("openDiff {arguments}"));
        loop {
            let line = editor.line();
            if line.starts_with(r#"{"event":"diff","#) {
                return line;
            }
        }
    };
    let refused = |editor: &mut Process, command: &str, expected: &[&str]| {
        editor.send_line(command);
        let message = editor.until("error")["message"].as_str().unwrap().to_owned();
        assert!(expected.iter().all(|text| message.contains(text)), "{command}: {message}");
    };
    let accept = r#"{"cmd":"answer","verdict":"accept"}"#;
    refused(&mut editor, accept, &["no diff is open"]);
    let mut agent = place.agent(&["calls"]);
    let first = open(&mut agent, &mut editor, "one");
    assert_eq!(
        first, r#"{"event":"diff","conn":1,"tab":"one","path":"/x","outside":true,"contents":"y"}"#,
        "the long part is the last"
    );
    open(&mut agent, &mut editor, "two");
    let both = [r#"conn 1 "one""#, r#"conn 1 "two""#];
    refused(&mut editor, accept, &both);
    refused(&mut editor, r#"{"cmd":"answer","tab":"three","verdict":"accept"}"#, &both);
    refused(&mut editor, r#"{"cmd":"answer","conn":7,"verdict":"accept"}"#, &both);
    editor.send_line(r#"{"cmd":"answer","tab":"one","verdict":"reject"}"#);
    assert_eq!(editor.until("diff_closed")["tab"], "one");
    editor.send_line(accept);
    assert_eq!(editor.until("diff_closed")["tab"], "two");
    agent.hang_up();
    assert_eq!(agent.end().0, Some(0));
}

#[test]
fn wrong_line_does_not_stop_later_calls() {
    let place = Place::new("lines");
    let _editor = place.editor(&[]);
    let mut agent = place.agent(&["calls"]);
    for line in
        ["getDiagnostics {", "", "openDiff {}", "getDiagnostics []", "closeAllDiffTabs", "executeCode {}"]
    {
        agent.send_line(line);
    }
    agent.hang_up();
    assert_eq!(agent.end().0, Some(1));
    let mut outcomes = agent.rest_of_json();
    outcomes.sort_by_key(|outcome| outcome["line"].as_u64());
    let lines: Vec<_> = outcomes.iter().map(|outcome| outcome["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [1, 3, 4, 5, 6]);
    for (outcome, expected) in
        outcomes.iter().zip(["not JSON", "not arguments of openDiff", "must be a JSON object"])
    {
        assert!(outcome["error"].as_str().unwrap().contains(expected), "{outcome}");
        assert!(outcome.get("outcome").is_none(), "{outcome}");
    }
    assert_eq!(outcomes[3]["tool"], "closeAllDiffTabs");
    assert_eq!(outcomes[3]["outcome"]["result"]["content"][0]["text"], "CLOSED_0_DIFF_TABS");
    assert_eq!(outcomes[4]["outcome"]["error"]["code"], -32602);
}

#[test]
fn ended_calls_say_why_the_connection_ended() {
    for (name, hangs_up) in [("the input has ended", true), ("the input is open", false)] {
        let place = Place::new("ended");
        let _editor = place.editor(&["--on-diff", "hold"]);
        let mut agent = place.agent(&["calls"]);
        agent.propose("one", "y");
        // An editor takes messages of 16 MiB.
        agent.propose("two", &"y".repeat(16 * 1024 * 1024));
        if hangs_up {
            agent.hang_up();
        }
        for line in [1, 2] {
            let outcome = agent.event("outcome");
            assert_eq!(outcome["line"], line, "{name}");
            let ended = outcome["outcome"]["ended"].as_str().unwrap();
            assert!(
                ended.starts_with("the connection ended first: ")
                    && ended.contains("a message that is too long"),
                "{name}: {ended}"
            );
        }
        let (status, output) = agent.end();
        assert_eq!(status, Some(1), "{name}: {output}");
    }
}
