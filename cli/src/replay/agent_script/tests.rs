//! The scripts that are made from recorded messages.

use super::*;
use crate::support::transcript::read;

/// Returns the script of a transcript with these messages: the milliseconds, the sender and the text.
fn script(lines: &[(u64, &str, Value)]) -> Result<String, String> {
    let texts: Vec<String> = lines.iter().map(|(.., message)| message.to_string()).collect();
    let lines = lines.iter().zip(&texts).map(|((ms, from, _), text)| (*ms, *from, text.as_str()));
    script_of(&lines.collect::<Vec<_>>())
}

fn script_of(lines: &[(u64, &str, &str)]) -> Result<String, String> {
    let mut text = String::from("{\"ms\":0,\"from\":\"client\",\"http\":\"GET / HTTP/1.1\\r\\n\\r\\n\"}\n");
    for (ms, from, message) in lines {
        text.push_str(&format!("{}\n", json!({"ms": ms, "from": from, "text": message})));
    }
    let script = AgentScript::new(&read(&text).unwrap(), None, Some("/p"))?;
    Ok(script.text)
}

#[test]
fn requests_and_answers_become_steps() {
    let call = |id: u64, tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}});
        json!({"id": id, "method": "tools/call", "params": params})
    };
    let texts = |texts: &[&str]| -> Value {
        texts.iter().map(|text| json!({"type": "text", "text": text})).collect()
    };
    let text = script(&[
        (0, "client", json!({"id": 0, "method": "initialize", "params": {}})),
        (0, "server", json!({"id": 0, "result": {}})),
        (1, "client", json!({"method": "notifications/initialized"})),
        (1, "client", json!({"method": "ide_connected", "params": {"pid": 7}})),
        (2, "client", json!({"id": 1, "method": "tools/list"})),
        (3, "server", json!({"id": 1, "result": {"tools": [{"name": "t", "description": "d"}]}})),
        (3, "server", json!({"id": 5, "method": "roots/list"})),
        (4, "client", json!({"id": 5, "result": {"roots": []}})),
        (4, "server", json!({"method": "selection_changed", "params": {}})),
        (4, "server", json!({"method": "selection_changed", "params": {}})),
        (5, "client", call(2, "openDiff", json!({"old_file_path": "/p/a"}))),
        (6, "client", call(3, "t", json!({}))),
        (7, "server", json!({"id": 3, "error": {"code": -1, "message": "no"}})),
        (8, "server", json!({"id": 6, "method": "elicitation/create", "params": {"message": "sure?", "requestedSchema": {}}})),
        (9, "client", json!({"id": 6, "result": {"action": "decline"}})),
        (7_005, "server", json!({"id": 2, "result": {"content": texts(&["FILE_SAVED", "x"])}})),
        (7_006, "client", json!({"method": "notifications/roots/list_changed"})),
        (7_007, "client", call(4, "t", json!({}))),
        (7_008, "client", json!({"method": "notifications/cancelled", "params": {"requestId": 4}})),
        (7_009, "client", call(7, "t", json!({}))),
    ])
    .unwrap();
    let steps: Vec<&str> = text.lines().skip(2).collect();
    let expected = [
        r#"{"request":"tools/list"}"#,
        r#"{"expect":{"event":"outcome","line":3,"outcome":{"result":{"tools":[{"name":"t"}]}}}}"#,
        "# the editor sent selection_changed, which no request caused",
        r#"{"call":"openDiff","arguments":{"old_file_path":"${folder}/a"}}"#,
        r#"{"call":"t","arguments":{}}"#,
        r#"{"expect":{"event":"outcome","line":7,"outcome":{"error":{"code":-1,"message":"no"}}}}"#,
        r#"{"expect":{"event":"form","message":"sure?"}}"#,
        r#"{"answer":{"action":"decline"},"unchecked":true}"#,
        r#"{"expect":{"event":"outcome","line":6,"outcome":{"result":{"content":[{"text":"FILE_SAVED","type":"text"},{"text":"x","type":"text"}]}}},"within":17000}"#,
        r#"{"notify":"notifications/roots/list_changed"}"#,
        r#"{"call":"t","arguments":{}}"#,
        "# the agent cancelled the request of line 13",
        r#"{"call":"t","arguments":{}}"#,
        "# t of line 15 has no answer in the record",
    ];
    assert_eq!(steps, expected, "{text}");
}

#[test]
fn unreadable_values_stay_as_recorded() {
    let rows = [
        (
            "the arguments of a call",
            vec![(
                "client",
                r#"{"id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":"/p/x","n":1e999}}}"#,
            )],
            vec![
                "# the next line is as recorded: number out of range at line 1 column 21",
                r#"{"call":"t","arguments":{"a":"/p/x","n":1e999}}"#,
                "# t of line 4 has no answer in the record",
            ],
        ),
        (
            "the parameters of a request",
            vec![("client", r#"{"id":1,"method":"m","params":{"n":1e999}}"#)],
            vec![
                "# the next line is as recorded: number out of range at line 1 column 10",
                r#"{"request":"m","params":{"n":1e999}}"#,
                "# m of line 4 has no answer in the record",
            ],
        ),
        (
            "the parameters of a notification",
            vec![
                ("client", r#"{"id":1,"method":"m"}"#),
                ("client", r#"{"method":"n","params":{"n":-1e999}}"#),
            ],
            vec![
                r#"{"request":"m"}"#,
                "# the next line is as recorded: number out of range at line 1 column 11",
                r#"{"notify":"n","params":{"n":-1e999}}"#,
                "# m of line 3 has no answer in the record",
            ],
        ),
        (
            "the answer to a form",
            vec![
                ("client", r#"{"id":1,"method":"m"}"#),
                ("server", r#"{"id":6,"method":"elicitation/create","params":{"message":"?"}}"#),
                ("client", r#"{"id":6,"result":{"action":"accept","content":{"n":1e999}}}"#),
            ],
            vec![
                r#"{"request":"m"}"#,
                r#"{"expect":{"event":"form","message":"?"}}"#,
                "# the next line is as recorded: number out of range at line 1 column 39",
                r#"{"answer":{"action":"accept","content":{"n":1e999}},"unchecked":true}"#,
                "# m of line 3 has no answer in the record",
            ],
        ),
        (
            "a result",
            vec![("client", r#"{"id":1,"method":"m"}"#), ("server", r#"{"id":1,"result":{"n":1e999}}"#)],
            vec![
                r#"{"request":"m"}"#,
                "# the answer to m of line 3 cannot be compared: number out of range at line 1 column 10",
            ],
        ),
    ];
    for (name, lines, expected) in rows {
        let lines: Vec<(u64, &str, &str)> = lines.into_iter().map(|(from, text)| (0, from, text)).collect();
        let text = script_of(&lines).unwrap();
        assert_eq!(text.lines().skip(2).collect::<Vec<_>>(), expected, "{name}");
    }
}

#[test]
fn connection_without_requests_is_refused() {
    let greeting = json!({"id": 0, "method": "initialize"});
    let problem = script(&[(0, "client", greeting)]).unwrap_err();
    assert!(problem.contains("connection 1 of the record has no request"), "{problem}");
}
