//! Reads any text as a message, and compares the result with what serde_json reads.

use crate::model::Answer;
use crate::sessions::{Ledger, OPENED, answered, check_error_text, token};
use ide_mcp::Time;
use ide_mcp::mcp::{Implementation, RawTools, Server, ServerConfig, ServerEvent, ToolResult, ToolSpec};
use ide_mcp::rpc::{Id, InvalidMessage, Message, SessionId, SessionLimits, classify};
use ide_mcp::testing::Messages;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Checks that a text is reported as not being JSON exactly if it is not, that an id is written as it was read, and
/// that only requests are answered.
pub fn rpc_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let limits = SessionLimits::default();
    let message = classify(text, &limits);
    let json = text.strip_prefix('\u{feff}').unwrap_or(text);

    let is_no_json = matches!(message, Message::Invalid { answer: None, error: InvalidMessage::NotJson });
    let theirs = serde_json::from_str::<&RawValue>(json);
    assert_eq!(theirs.is_err(), is_no_json, "{message:?}");
    if let Message::Invalid { answer, error } = &message {
        check_error_text(error);
        assert!(answer.as_ref().is_none_or(|(_, code)| *code == error.code()));
    }
    if let Some(id) = named(&message) {
        let token = token(id);
        assert!(text.contains(&token), "{token} is not in the text");
        let again = Id::read(serde_json::from_str(&token).unwrap(), &limits);
        assert_eq!(again.as_ref(), Some(id));
        assert_eq!(serde_json::to_string(id).unwrap(), token);
        let seven = Id::from(7);
        assert_eq!(id.cmp(&seven).is_eq(), *id == seven);
        assert_eq!(id.partial_cmp(&seven), Some(seven.cmp(id).reverse()));
    }
    // serde_json stops at 128 levels, as this crate does. Of two members with the same name it takes the last, which
    // this crate rejects.
    if let Ok(value) = serde_json::from_str::<Value>(json) {
        agrees(&message, &value);
    }
    if json == text {
        let padded = format!(" \r\n\t{text}\n ");
        let same = format!("{:?}", classify(&padded, &limits)) == format!("{message:?}");
        // A raw value does not include the white space around it, so its debug output stays the same.
        assert!(same, "white space changes {message:?}");
    }

    let config = ServerConfig::new(Implementation::new("s", "1"));
    let mut server = Server::new(config, RawTools::default(), SessionId::new(1));
    let (mut out, mut ledger) = (Messages::default(), Ledger::default());
    server.receive(Time::ZERO, text, &mut out);
    let effect = ledger.received(text, &limits, false, &out.take());
    assert!(effect.open.is_empty(), "nothing is deferred before the session is open");
    while let Some(event) = server.poll(Time::ZERO, &mut out) {
        assert!(!matches!(event, ServerEvent::Call { .. } | ServerEvent::CallEnded { .. }), "{event:?}");
    }
    assert!(out.take().is_empty(), "polling sends nothing");
    ledger.is_settled();
    called(text, &limits);
    if let Ok(raw) = theirs {
        is_read_again(raw);
    }
}

/// Delivers the text to an open session. Checks that every request is answered or reported, and that a reported call
/// names a known tool and has an object as its arguments.
fn called(text: &str, limits: &SessionLimits) {
    let mut tools = RawTools(Vec::new());
    tools.0.push(ToolSpec::new("t", "", "{}"));
    let mut server = Server::new(ServerConfig::new(Implementation::new("s", "1")), tools, SessionId::new(1));
    let (mut out, mut ledger) = (Messages::default(), Ledger::default());
    for text in OPENED {
        server.receive(Time::ZERO, text, &mut out);
    }
    out.take();
    server.receive(Time::ZERO, text, &mut out);
    let mut open = ledger.received(text, limits, true, &out.take()).open;
    while let Some(event) = server.poll(Time::ZERO, &mut out) {
        if let ServerEvent::Call { call, tool } = event {
            assert!(&*tool.name == "t" && tool.arguments.get().starts_with('{'), "{tool:?}");
            server.respond_with(call, &*tool.arguments, &mut out).expect("it is open");
            let [Answer { id, .. }] = &answered(&out.sent.concat())[..] else {
                panic!("one answer: {:?}", out.sent)
            };
            open.swap_remove(open.iter().position(|open| open == id).expect("it was asked"));
            ledger.sent_unprompted(&out.take());
        }
    }
    assert!(open.is_empty(), "neither answered nor reported: {open:?}");
    ledger.is_settled();
}

/// Checks that the result of a tool has the same meaning when it is written and read again.
fn is_read_again(raw: &RawValue) {
    let Some(read) = ToolResult::read(raw) else { return };
    if let Ok(value) = serde_json::from_str::<Value>(raw.get()) {
        let is_false =
            [json!(null), json!(false), json!("false"), json!(""), json!(0)].contains(&value["isError"]);
        assert_eq!(read.is_error, !is_false, "{raw}");
    }
    let written = serde_json::value::to_raw_value(&read).expect("it was read");
    let again = ToolResult::read(&written).expect("it was written").into_owned();
    assert_eq!((again.is_error, again.content.len()), (read.is_error, read.content.len()));
    assert!(again.texts().eq(read.texts()), "{raw} is {again:?}");
}

const fn named<'a>(message: &'a Message<'_>) -> Option<&'a Id> {
    match message {
        Message::Request { id, .. }
        | Message::Response { id, .. }
        | Message::Invalid { answer: Some((id, _)), .. } => Some(id),
        _ => None,
    }
}

/// Compares a message with the value that serde_json made of it.
fn agrees(message: &Message<'_>, value: &Value) {
    let member = |name| value.as_object().and_then(|members| members.get(name));
    if named(message).is_some() {
        let id = member("id").unwrap_or_else(|| panic!("{value} has no id"));
        assert!(id.is_string() || id.is_number(), "{id}");
    }
    match message {
        Message::Request { method, params, .. } | Message::Notification { method, params } => {
            assert_eq!(member("jsonrpc"), Some(&Value::from("2.0")));
            assert_eq!(member("method"), Some(&Value::from(&**method)));
            let theirs = member("params").filter(|params| !params.is_null());
            assert_eq!(params.map(|raw| serde_json::from_str::<Value>(raw.get()).unwrap()).as_ref(), theirs);
            assert!(theirs.is_none_or(Value::is_object));
            assert!(member("result").is_none() && member("error").is_none());
            let asks = matches!(message, Message::Request { .. });
            assert_eq!(member("id").is_some(), asks, "{value}");
        }
        Message::Response { .. } => assert!(member("method").is_none()),
        Message::PeerError(_) => {
            assert!(member("id").is_none_or(Value::is_null) && member("error").is_some())
        }
        Message::Batch(_) => assert!(value.is_array()),
        _ => {}
    }
}
