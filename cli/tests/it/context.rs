//! The prompts and resources of the editor without a screen, and the folders of the agents.

use crate::support::Place;
use ide_mcp::ide::paths::{LocalPath, Platform};
use serde_json::{Value, json};

const OFFER: &str = r#"{"cmd":"context","prompts":[{"name":"review","description":"Reviews\u001b","arguments":[{"name":"focus","required":true},{"name":"depth"}],"text":"Review {focus}.\nDeeply: {depth}"}],"resources":[{"uri":"notes://today","description":"The notes","mimeType":"text/plain","text":"Buy\nbread."}]}"#;

#[test]
fn agent_gets_offered_prompts_and_resources() {
    let place = Place::new("context");
    let mut editor = place.editor(&[]);
    let mut watching = place.agent(&["watch"]);
    editor.until("ide_connected");
    let run = |arguments: &[&str]| {
        let mut agent = place.agent(arguments);
        let lines = agent.rest();
        let (status, output) = agent.end();
        (lines, status, output)
    };
    let (lines, status, output) = run(&["prompts"]);
    assert_eq!((lines.len(), status, output.as_str()), (0, Some(0), "agent: the editor offers no prompts\n"));

    editor.send_line(OFFER);
    // The first command is carried out before the second one is refused.
    editor.send_line(r#"{"cmd":"context","prompts":[{}]}"#);
    assert!(editor.until("error")["message"].as_str().unwrap().contains("missing field `name`"));
    for _ in 0..2 {
        let (lines, status, _) = run(&["prompts"]);
        assert_eq!((lines, status), (vec!["review focus [depth]     Reviews\u{fffd}".to_owned()], Some(0)));
        let (lines, ..) = run(&["resources"]);
        let own = lines.iter().find(|line| line.starts_with("notes:")).unwrap();
        assert_eq!(own, "notes://today            The notes");
        assert!(lines.iter().any(|line| line.starts_with("ide://selection ")), "{lines:?}");

        let (lines, status, _) = run(&["prompt", "review", r#"{"focus":"a {depth}"}"#]);
        assert_eq!((lines, status), (vec!["Review a {depth}.".to_owned(), "Deeply: ".to_owned()], Some(0)));
        let request = editor.until("prompt");
        assert_eq!(
            (&request["name"], &request["arguments"]),
            (&json!("review"), &json!({"focus": "a {depth}"}))
        );
        let (lines, status, _) = run(&["read", "notes://today"]);
        assert_eq!((lines, status), (vec!["Buy".to_owned(), "bread.".to_owned()], Some(0)));
        assert_eq!(editor.until("resource")["uri"], "notes://today");
        let (lines, ..) = run(&["read", "ide://open-editors"]);
        assert_eq!(lines, [r#"{"tabs":[]}"#]);
    }

    let (lines, status, output) = run(&["prompt", "review"]);
    assert!(status == Some(1) && output.contains("requires the argument focus"), "{lines:?} {output}");
    let (_, status, output) = run(&["read", "notes://never"]);
    assert!(status == Some(1) && output.contains("notes://never not found"), "{output}");

    // An attached agent that has not listed them is notified once of all changes.
    watching.until("notifications/prompts/list_changed");
    watching.until("notifications/resources/list_changed");
    // Another offer replaces the whole one.
    editor.send_line(r#"{"cmd":"context"}"#);
    editor.send_line(r#"{"cmd":"dance"}"#);
    editor.until("error");
    let (_, status, output) = run(&["prompt", "review", r#"{"focus":"x"}"#]);
    assert!(status == Some(1) && output.contains("prompt review not found"), "{output}");
}

#[test]
fn context_commands_print_json_lines() {
    let place = Place::new("context-json");
    let mut editor = place.editor(&[]);
    editor.send_line(OFFER);
    editor.send_line(r#"{"cmd":"dance"}"#);
    editor.until("error");
    let run = |arguments: &[&str]| {
        let mut agent = place.agent(&[&["--json"], arguments].concat());
        let lines: Vec<Value> = agent.rest_of_json();
        (lines, agent.end())
    };
    let good = (Some(0), String::new());
    let arguments = json!([{"name": "focus", "required": true}, {"name": "depth", "required": false}]);
    let prompt =
        json!({"event": "prompt", "name": "review", "description": "Reviews\u{1b}", "arguments": arguments});
    assert_eq!(run(&["prompts"]), (vec![prompt], good.clone()));
    let (lines, ended) = run(&["resources"]);
    let own = json!({
        "event": "resource", "uri": "notes://today", "name": "notes://today", "description": "The notes",
        "mimeType": "text/plain",
    });
    assert!(lines.contains(&own) && ended == good, "{lines:?}");

    let (lines, ended) = run(&["prompt", "review", r#"{"focus":"x"}"#]);
    let messages = &lines[0]["outcome"]["result"]["messages"];
    assert_eq!((&lines[0]["prompt"], &ended), (&json!("review"), &good));
    assert_eq!(messages[0]["content"]["text"], "Review x.\nDeeply: ");
    let (lines, ended) = run(&["read", "notes://today"]);
    let contents = json!([{"uri": "notes://today", "mimeType": "text/plain", "text": "Buy\nbread."}]);
    let outcome = json!({"event": "outcome", "resource": "notes://today", "outcome": {"result": {"contents": contents}}});
    assert_eq!((lines, ended), (vec![outcome], good));
    let (lines, ended) = run(&["read", "notes://never"]);
    assert_eq!((&lines[0]["outcome"]["error"]["code"], ended.0), (&json!(-32002), Some(1)));
}

#[test]
fn editor_reports_the_folder_of_agents() {
    let place = Place::new("roots");
    let mut editor = place.editor(&[]);
    let sub = place.project().join("s p");
    std::fs::create_dir(&sub).unwrap();
    let root = |path: &std::path::Path| {
        let path =
            LocalPath::parse(path.canonicalize().unwrap().to_str().unwrap(), Platform::native()).unwrap();
        json!([{ "uri": path.to_uri() }])
    };
    for (arguments, folder) in [
        (&["watch"][..], &place.project()),
        (&["--cwd", "s p", "watch"], &sub),
        (&["calls"], &place.project()),
    ] {
        let _agent = place.agent(arguments);
        let conn = editor.until("connected")["conn"].clone();
        let event = editor.until("roots");
        assert_eq!((&event["conn"], &event["roots"]), (&conn, &root(folder)), "{arguments:?}");
    }
}
