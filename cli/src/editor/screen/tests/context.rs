//! The prompt, the resources and the question of the editor.

use super::Desk;
use ide_mcp::ide::ClientEvent;
use ide_mcp::mcp::{FieldValue, FormAnswer, GetPrompt, Outcome, PromptResult};
use std::collections::BTreeMap;

/// Returns the text of the prompt, or the message of the error.
fn prompt(desk: &mut Desk, agent: usize, focus: &str) -> String {
    let id = GetPrompt::new("review").argument("focus", focus);
    let id = desk.agents[agent].1.get_prompt(&id).unwrap().id();
    desk.turn();
    let outcome = desk.received.iter().find_map(|(_, event)| match event {
        ClientEvent::Outcome { request, outcome } if *request == id => Some(outcome),
        _ => None,
    });
    match outcome.unwrap() {
        Outcome::Result(result) => PromptResult::read(result).unwrap().texts().collect(),
        Outcome::Error(error) => error.message.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn prompt_names_what_is_shown() {
    let mut desk = Desk::new(&[("a.txt", "one\ntwo\nthree\n"), (".env", "TOKEN=1\n")]);
    let agent = desk.attach("claude-code");
    assert_eq!(prompt(&mut desk, agent, ""), "no file is shown in the editor");
    desk.open("a.txt");
    let path = desk.path("a.txt");
    assert_eq!(prompt(&mut desk, agent, ""), format!("Review @{path}."));
    desk.keys("\x1b[1;2B\x1b[1;2F");
    assert_eq!(prompt(&mut desk, agent, "names"), format!("Review @{path}#L1-2. Look for this: names"));
    desk.keys("\x0f");
    assert_eq!(prompt(&mut desk, agent, ""), "the editor is paused by its user");
    desk.keys("\x0f");
    desk.open(".env");
    assert_eq!(prompt(&mut desk, agent, ""), "the file may not leave the editor");
}

#[test]
fn question_is_answered_each_time() {
    let mut desk = Desk::new(&[]);
    desk.keys("\x1ba");
    desk.shows("no agent is attached");
    assert!(desk.app.model.prompt.is_none(), "without an agent there is no question to type");
    let agent = desk.attach("claude-code");
    let answers: &[(FormAnswer, &str)] = &[
        (
            FormAnswer::Accepted(BTreeMap::from([("answer".into(), FieldValue::Text("main\x1b[2J".into()))])),
            "the answer is: main",
        ),
        (FormAnswer::Declined, "declined to answer"),
        (FormAnswer::Cancelled, "closed the question"),
    ];
    for (answer, shown) in answers {
        desk.keys("\x1baWhich branch?\r");
        let form = desk.received.iter().rev().find_map(|(_, event)| match event {
            ClientEvent::Form { call, form } => Some((*call, form.message.clone())),
            _ => None,
        });
        let (call, message) = form.unwrap();
        assert_eq!(message, "Which branch?");
        desk.agents[agent].1.answer_form(call, answer).unwrap();
        desk.turn();
        desk.shows(shown);
    }
}
