//! What a JavaScript peer can write: halves of surrogate pairs, whole numbers with a decimal point, null, unknown
//! members, and the diagnostics of language servers. Both roles read all of it, and a bad member that is not needed
//! does no harm.

use crate::mcp_scripts::{Situations, judge, play};
use crate::sessions::Hits;
use crate::support::ide::{Editor, call, called, close_tab, config, open_diff, shown};
use arbtest::arbitrary::{Result, Unstructured};
use ide_mcp::ide::tool::{Diagnostics, DiffOutcome, OpenFile, Tool, ToolCall, ToolSet};
use ide_mcp::ide::{Dialect, FromResult, ServerEvent};
use ide_mcp::mcp::ToolResult;
use ide_mcp::rpc::{Message, NotAnswered, SessionLimits, classify};
use ide_mcp::testing::read_answer;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::ops::Range;

fn attached(dialect: Dialect) -> Editor {
    let tools = Tool::ALL.into_iter().fold(ToolSet::new(), ToolSet::handle);
    let mut config = config().with_dialect(dialect);
    config.tools = tools.into();
    Editor::attached(config)
}

/// Returns the only call among the events, which can begin with the announcement of an edit.
fn only(events: Vec<ServerEvent>) -> ToolCall {
    let mut calls = events.into_iter().filter_map(|event| match event {
        ServerEvent::Call { call, .. } => Some(call),
        _ => None,
    });
    calls.next().expect("a call")
}

fn read<A: FromResult>(result: &str) -> Option<A> {
    read_answer(&RawValue::from_string(result.into()).unwrap()).ok()
}

#[test]
fn halves_of_pairs_in_a_proposal_are_replaced() {
    let mut editor = attached(Dialect::VsCode);
    let arguments = r#"{"old_file_path":"/w/\udc00","new_file_path":"/w/\udc00","new_file_contents":"x\ud800y😀\ud83d\ude00","tab_name":"t\udbff","\ud800":[1.0]}"#;
    let ToolCall::OpenDiff(open, diff) = only(editor.receive(&call(5, "openDiff", arguments))) else {
        panic!("a diff")
    };
    assert_eq!(diff.new_file_path, "/w/\u{fffd}");
    assert_eq!(diff.new_file_contents, "x\u{fffd}y😀😀");
    editor.server.answer(open, diff.accept()).unwrap();
    let answer = editor.texts().remove(0);
    assert!(answer.contains("FILE_SAVED") && answer.contains("x\u{fffd}y"), "{answer}");
}

#[test]
fn tab_is_closed_by_the_name_that_the_agent_chose() {
    for (name, open, close, is_closed) in [
        ("the same half", r"t\ud800", r"t\ud800", true),
        ("as Node writes it", r"t\ud800", "t\u{fffd}", true),
        ("another name", r"t\ud800", "t", false),
    ] {
        let mut editor = attached(Dialect::VsCode);
        editor.receive(&open_diff(5, open));
        let events = shown(&editor.receive(&close_tab(6, close)));
        assert_eq!(
            events.first().is_some_and(|event| event.ends_with("TabClosed")),
            is_closed,
            "{name}: {events:?}"
        );
    }
}

#[test]
fn numbers_are_judged_by_value() {
    let arguments = [
        ("plain", r#"{"line":3,"column":4}"#, Some((3, 4))),
        ("decimal points", r#"{"line":3.0,"column":4.000}"#, Some((3, 4))),
        ("exponents", r#"{"line":3e0,"column":40E-1}"#, Some((3, 4))),
        ("a fraction", r#"{"line":3.5,"column":4}"#, None),
        ("below 0", r#"{"line":-3.0,"column":4}"#, None),
    ];
    for (name, arguments, want) in arguments {
        let mut editor = attached(Dialect::VsCode);
        let events = editor.receive(&call(5, "set_cursor_position", arguments));
        let at = events.into_iter().find_map(|event| match event {
            ServerEvent::Call { call: ToolCall::SetCursorPosition(_, at), .. } => Some(at),
            _ => None,
        });
        assert_eq!(at.map(|at| (at.line, at.column)), want, "{name}");
    }
    let mut editor = attached(Dialect::VsCode);
    let shown =
        only(editor.receive(&call(5, "openFile", r#"{"filePath":"/w/a","startLine":2.0,"endLine":null}"#)));
    assert!(
        matches!(shown, ToolCall::OpenFile(_, OpenFile { start_line: Some(2), end_line: None, .. })),
        "{shown:?}"
    );
    for (name, error, want) in [
        ("a code with a decimal point", r#"{"code":-32601.0,"message":"no \ud800"}"#, "no \u{fffd} (-32601)"),
        ("members that come twice", r#"{"code":1,"message":7,"code":2,"message":"m"}"#, "m (2)"),
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#);
        let Message::Response { answer: ide_mcp::rpc::Answer::Error(error), .. } =
            classify(&text, &SessionLimits::default())
        else {
            panic!("{name}")
        };
        assert_eq!(error.to_string(), want, "{name}");
    }
}

const RANGE: &str = r#""range":{"start":{"line":1.0,"character":2},"end":{"line":1,"character":3}}"#;

#[test]
fn diagnostics_of_language_servers_reach_the_agent() {
    let list = format!(
        r#"[{{"message":"m","severity":2,"code":2304,"source":"ts","tags":[1],"data":{{}},"relatedInformation":[],{RANGE}}}]"#
    );
    // The shape, and true if it names no file.
    let rows = [
        ("files", r#"[{"uri":"file:///w/a","diagnostics":LIST}]"#, false),
        ("by path", r#"[{"filePath":"/w/a","diagnostics":LIST}]"#, false),
        ("published", r#"{"uri":"file:///w/a","version":3,"diagnostics":LIST}"#, false),
        ("a report", r#"{"kind":"full","items":LIST}"#, true),
        ("reports", r#"{"items":[{"kind":"full","uri":"file:///w/a","version":null,"items":LIST}]}"#, false),
    ];
    let calls = [
        (r#"{"uri":"file:///w/a"}"#, Some("file:///w/a")),
        (r#"{"uri":"/w/a"}"#, Some("/w/a")),
        (r#"{"uri":"file://localhost/w/a"}"#, Some("file://localhost/w/a")),
        ("{}", None),
    ];
    for dialect in Dialect::ALL {
        for (name, shape, is_nameless) in rows {
            for (arguments, pending) in calls {
                let text = shape.replace("LIST", &list);
                let answers: [fn(&mut Editor, _, &str) -> std::result::Result<(), NotAnswered>; 2] = [
                    |editor, call, text| editor.server.call(call).answer_json(text),
                    |editor, call, text| editor.server.call(call).respond(&ToolResult::text(text)),
                ];
                for answer in answers {
                    let mut editor = attached(dialect);
                    let call = called(&editor.receive(&call(5, "getDiagnostics", arguments)));
                    let done = answer(&mut editor, call, &text);
                    if is_nameless && pending.is_none() {
                        assert_eq!(done, Err(NotAnswered::NotAnAnswer), "{name}");
                        continue;
                    }
                    assert_eq!(done, Ok(()), "{dialect:?} {name}");
                    let sent: Value = serde_json::from_str(&editor.texts()[0]).unwrap();
                    let read: Diagnostics = read(&sent["result"].to_string()).unwrap();
                    let problem = &read.files[0].diagnostics[0];
                    assert_eq!((&*problem.message, problem.range.start.line), ("m", 1), "{dialect:?} {name}");
                    if !sent.to_string().contains("file_path") {
                        assert_eq!(problem.code.as_deref(), Some("2304"), "{dialect:?} {name}");
                        assert_eq!(read.files[0].uri, pending.unwrap_or("file:///w/a"), "{dialect:?} {name}");
                        assert!(!sent.to_string().contains(r#"\"severity\":2"#), "{sent}");
                    }
                }
            }
        }
    }
}

#[test]
fn unusable_diagnostics_are_never_an_empty_answer() {
    for text in [
        "OK",
        "null",
        "{}",
        r#"{"kind":"unchanged","resultId":"7"}"#,
        r#"[{"uri":"file:///w/a"}]"#,
        r#"[{"uri":"file:///w/a","problems":[]}]"#,
        r#"[{"uri":"file:///w/a","diagnostics":null}]"#,
        r#"[{"uri":"file:///w/a","diagnostics":[{"message":"m"}]}]"#,
    ] {
        let mut editor = attached(Dialect::VsCode);
        let call = called(&editor.receive(&call(5, "getDiagnostics", r#"{"uri":"file:///w/a"}"#)));
        assert_eq!(editor.server.call(call).answer_json(text), Err(NotAnswered::NotAnAnswer), "{text}");
        let result = serde_json::to_string(&ToolResult::text(text)).unwrap();
        assert_eq!(read::<Diagnostics>(&result), None, "{text}");
    }
}

/// A string of UTF-16 code units, half of which are halves of surrogate pairs.
fn units(u: &mut Unstructured<'_>) -> Result<Vec<u16>> {
    let unit = |u: &mut Unstructured<'_>| {
        Ok(match u.int_in_range(0..=3)? {
            0 => u.int_in_range(0xd800..=0xdbff)?,
            1 => u.int_in_range(0xdc00..=0xdfff)?,
            2 => *u.choose(&[0x22, 0x5c, 0x0a, 0x09, 0x00, 0x7f, 0xe9, 0xfffd, 0xfeff])?,
            _ => u.int_in_range(0x20..=0x7e)?,
        })
    };
    (0..u.int_in_range(0..=6)?).map(|_| unit(u)).collect()
}

/// Writes a string as `JSON.stringify` does: it escapes only lone halves and what JSON forbids.
fn text_of(units: &[u16]) -> String {
    let mut json = String::from("\"");
    for character in char::decode_utf16(units.iter().copied()) {
        match character {
            Ok('"') => json.push_str("\\\""),
            Ok('\\') => json.push_str("\\\\"),
            Ok(control) if control < ' ' => write!(json, "\\u{:04x}", u32::from(control)).unwrap(),
            Ok(character) => json.push(character),
            Err(half) => write!(json, "\\u{:04x}", half.unpaired_surrogate()).unwrap(),
        }
    }
    json.push('"');
    json
}

fn value(u: &mut Unstructured<'_>, depth: u8) -> Result<String> {
    Ok(match u.int_in_range(0..=if depth == 0 { 4 } else { 6 })? {
        0 => "null".into(),
        1 => u.choose(&["true", "false"])?.to_string(),
        2 => u.choose(&["0", "1.0", "-0.0", "2.5", "1e3", "9007199254740993", "1e400", "-7"])?.to_string(),
        3 | 4 => text_of(&units(u)?),
        5 => {
            let items: Result<Vec<String>> =
                (0..u.int_in_range(0..=3)?).map(|_| value(u, depth - 1)).collect();
            format!("[{}]", items?.join(","))
        }
        _ => format!("{{{}}}", members(u, depth - 1, &[])?.join(",")),
    })
}

/// Returns members that are not needed: unknown ones, and some with these names, which may repeat.
fn members(u: &mut Unstructured<'_>, depth: u8, names: &[&str]) -> Result<Vec<String>> {
    let member = |u: &mut Unstructured<'_>| {
        let name = match names.is_empty() || u.arbitrary()? {
            true => format!(r#""x-{}"#, &text_of(&units(u)?)[1..]),
            false => format!("{:?}", u.choose(names)?),
        };
        Ok(format!("{name}:{}", value(u, depth)?))
    };
    (0..u.int_in_range(0..=3)?).map(|_| member(u)).collect()
}

/// Writes an object with these members, and others that are not needed, in any order.
fn object(u: &mut Unstructured<'_>, required: &[String], names: &[&str]) -> Result<String> {
    let mut all = members(u, 2, names)?;
    for member in required {
        let at = u.int_in_range(0..=all.len())?;
        all.insert(at, member.clone());
    }
    Ok(format!("{{{}}}", all.join(",")))
}

/// Returns a whole number in one of its spellings.
fn number(u: &mut Unstructured<'_>) -> Result<(u32, String)> {
    let number = u.int_in_range(0..=999)?;
    let spelling = u.choose(&["", ".0", ".00", "e0", ".0E+0"])?;
    Ok((number, format!("{number}{spelling}")))
}

/// Checks a law on one random input for each seed; the seed of an input that breaks it is printed.
fn check(seeds: Range<u64>, law: fn(&mut Unstructured<'_>) -> Result<Hits>, situations: Situations<'_>) {
    let hits = play(seeds, |random| {
        let len = random.below(1024);
        // An input that is too short for a case is skipped.
        law(&mut Unstructured::new(&random.bytes(len))).unwrap_or_default()
    });
    judge(&hits, situations);
}

const DIAGNOSTICS: Situations<'_> = &[("diagnostics", "0 1 2 3"), ("shape", "0 1 2 3")];

#[test]
fn every_diagnostic_of_javascript_is_read() {
    check(0..6_000, diagnostics, DIAGNOSTICS);
}

#[test]
#[ignore = "some 20 s; tests/lab/run laws runs it"]
fn hundred_thousand_diagnostics_of_javascript() {
    check(1_000_000..1_100_000, diagnostics, DIAGNOSTICS);
}

fn diagnostics(u: &mut Unstructured<'_>) -> Result<Hits> {
    let mut wanted = Vec::new();
    let mut list = Vec::new();
    for _ in 0..u.int_in_range(0..=3)? {
        let message = units(u)?;
        let mut place = || -> Result<_> {
            let ((line, line_text), (column, column_text)) = (number(u)?, number(u)?);
            let required = [format!(r#""line":{line_text}"#), format!(r#""character":{column_text}"#)];
            Ok(((line, column), object(u, &required, &[])?))
        };
        let ((start, start_text), (_, end_text)) = (place()?, place()?);
        let range = object(u, &[format!(r#""start":{start_text}"#), format!(r#""end":{end_text}"#)], &[])?;
        let required = [format!(r#""message":{}"#, text_of(&message)), format!(r#""range":{range}"#)];
        list.push(object(
            u,
            &required,
            &["severity", "code", "source", "tags", "data", "relatedInformation"],
        )?);
        wanted.push((String::from_utf16_lossy(&message), start));
    }
    let list = format!("[{}]", list.join(","));
    let (uri, name) = (units(u)?, *u.choose(&["uri", "filePath"])?);
    let file = |u: &mut Unstructured<'_>, member: &str| {
        let required = [format!(r#""{name}":{}"#, text_of(&uri)), format!(r#""{member}":{list}"#)];
        object(u, &required, &["version", "resultId", "linesInFile"])
    };
    let shape = u.int_in_range(0..=3)?;
    let text = match shape {
        0 => format!("[{}]", file(u, "diagnostics")?),
        1 => file(u, "diagnostics")?,
        2 => object(u, &[r#""kind":"full""#.into(), format!(r#""items":{list}"#)], &["resultId"])?,
        _ => format!(r#"{{"items":[{}]}}"#, file(u, "items")?),
    };
    let places = |read: &Diagnostics| -> Vec<_> {
        let all = read.files.iter().flat_map(|file| &file.diagnostics);
        all.map(|one| (one.message.clone(), (one.range.start.line, one.range.start.character))).collect()
    };
    // The text of an editor's result, with members around it that are not needed.
    let block =
        object(u, &[r#""type":"text""#.into(), format!(r#""text":{}"#, json!(text))], &["annotations"])?;
    let result = object(u, &[format!(r#""content":[{block}]"#)], &["structuredContent", "_meta"])?;
    let received: Diagnostics = read(&result).unwrap_or_else(|| panic!("{result}"));
    assert_eq!(places(&received), wanted, "{result}");
    // The same text, as an application gives it for its answer.
    let mut editor = attached(*u.choose(&[Dialect::VsCode, Dialect::JetBrains])?);
    let call = called(&editor.receive(&call(5, "getDiagnostics", r#"{"uri":"file:///w/a"}"#)));
    editor.server.call(call).answer_json(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let sent: Value = serde_json::from_str(&editor.texts()[0]).unwrap();
    assert_eq!(places(&read(&sent["result"].to_string()).unwrap()), wanted, "{text}");
    let seen = [format!("diagnostics {}", wanted.len()), format!("shape {shape}")];
    Ok(seen.map(|what| (what, 1)).into())
}

const PROPOSALS: Situations<'_> = &[("contents", "empty text halves")];

#[test]
fn every_proposal_and_every_verdict_of_javascript_is_read() {
    check(0..6_000, proposal, PROPOSALS);
}

#[test]
#[ignore = "some 20 s; tests/lab/run laws runs it"]
fn hundred_thousand_proposals_of_javascript() {
    check(1_000_000..1_100_000, proposal, PROPOSALS);
}

fn proposal(u: &mut Unstructured<'_>) -> Result<Hits> {
    let mut editor = attached(Dialect::VsCode);
    let (tab, contents) = (units(u)?, units(u)?);
    let required = [
        r#""old_file_path":"/w/a""#.to_owned(),
        format!(r#""new_file_contents":{}"#, text_of(&contents)),
        format!(r#""tab_name":"t{}"#, &text_of(&tab)[1..]),
    ];
    let arguments = object(u, &required, &[])?;
    let ToolCall::OpenDiff(open, diff) = only(editor.receive(&call(5, "openDiff", &arguments))) else {
        panic!("{arguments}")
    };
    assert_eq!(diff.new_file_contents, String::from_utf16_lossy(&contents), "{arguments}");
    assert_eq!(diff.tab_name, format!("t{}", String::from_utf16_lossy(&tab)), "{arguments}");
    editor.server.answer(open, diff.accept()).unwrap();
    assert_eq!(editor.texts().len(), 1);
    // The verdict of an editor in JavaScript.
    let mut block =
        |text: &str| object(u, &[r#""type":"text""#.into(), format!(r#""text":{text}"#)], &["_meta"]);
    let content = format!("[{},{}]", block(r#""FILE_SAVED""#)?, block(&text_of(&contents))?);
    let result = object(u, &[format!(r#""content":{content}"#)], &["structuredContent"])?;
    let want = DiffOutcome::Accepted { contents: String::from_utf16_lossy(&contents) };
    assert_eq!(read(&result), Some(want), "{result}");
    let kind = match String::from_utf16(&contents) {
        Ok(text) if text.is_empty() => "empty",
        Ok(_) => "text",
        Err(_) => "halves",
    };
    Ok([(format!("contents {kind}"), 1)].into())
}
