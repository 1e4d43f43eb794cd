//! Checks that docs/errors.md has every error text of the sources and no empty cell, and that the error
//! types link to the page.

use crate::support::source::rust_files;
use ide_mcp::OutboxClosed;
use ide_mcp::rpc::{InvalidMessage, NotOpen, RespondError, code};
use ide_mcp::ws::{AcceptError, CloseCode, Closed, ProtocolError, SendError};
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

/// The beginning and the end of each place in the sources that has texts for people or peers.
const PLACES: [(&str, &str); 9] = [
    ("fmt::Display for ", "\n}\n"),
    ("const fn rule(", "\n    }\n"),
    ("const fn text(", "\n    }\n"),
    ("-> Refusal {", "\n}\n"),
    ("-> Result<Option<usize>, &'static str> {", "\n    }\n"),
    ("Refusal::new(", ")"),
    ("bad(", ")"),
    (" refuse(", ")"),
    ("ErrorObject::new(", ")"),
];

/// Types that are no errors, or that only put the texts of others together.
const OTHERS: [&str; 9] = [
    "CloseCode",
    "Refusal",
    "ErrorObject",
    "ProtocolVersion",
    "LogLevel",
    "Id",
    "Broken",
    "Masked",
    "Severity",
];

/// Types with a text that is no error.
const NO_ERRORS: [&str; 4] = ["CloseCode", "ProtocolVersion", "LogLevel", "Bind"];

#[test]
fn every_error_text_is_documented() {
    let page = one_line(&page());
    let (mut found, mut missing) = (0, Vec::new());
    for (file, source) in sources() {
        let of_places = PLACES.iter().flat_map(|place| texts(&source, place));
        for text in of_places.chain(io_errors(&source)) {
            // The page has an ellipsis in place of a format argument.
            for piece in text.split(['{', '}']).step_by(2).map(str::trim).filter(|piece| piece.len() > 8) {
                found += 1;
                if !page.contains(&one_line(piece)) {
                    missing.push(format!("{piece:?} of {}", file.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "docs/errors.md does not explain\n{}", missing.join("\n"));
    assert!(found > 200, "only {found} texts were found: the sources have changed their form");
}

/// Checks that errors show the texts of the page.
#[test]
fn errors_show_their_texts() {
    let by_peer = |reason: &str| Closed::Remote { code: Some(CloseCode::NORMAL), reason: reason.into() };
    let rows: &[(&dyn Display, &str)] = &[
        (&OutboxClosed::new(), "the connection cannot send this message"),
        (&RespondError::NotOpen(NotOpen::Closed), "the session ended before the call was answered"),
        (&RespondError::Unserializable, "the result cannot be written as a JSON object"),
        (&RespondError::NotAnAnswer, "the result is no answer to this kind of call"),
        (&SendError::NotOpen, "the connection is not open yet"),
        (&SendError::Full, "the send buffer is full: the peer does not read"),
        (&AcceptError::NoPendingRequest, "no handshake is pending"),
        (&AcceptError::NotOffered, "the client did not offer this sub-protocol"),
        (&InvalidMessage::NotJson, "not JSON"),
        (&ProtocolError::Unmasked, "frame from a client not masked (RFC 6455 5.1)"),
        (&ProtocolError::InvalidCloseCode(1005), "close code that may not be sent (RFC 6455 7.4): 1005"),
        (&by_peer(""), "the peer closed with 1000"),
        (&by_peer("bye"), "the peer closed with 1000: bye"),
    ];
    for (error, text) in rows {
        assert_eq!(error.to_string(), *text);
    }
    let codes = [code::PARSE_ERROR, code::INVALID_REQUEST, code::METHOD_NOT_FOUND, code::INVALID_PARAMS];
    assert_eq!(codes, [-32700, -32600, -32601, -32602], "as JSON-RPC has them");
}

#[test]
fn no_cell_is_empty() {
    let page = page();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 200, "only {} rows were read", rows.len());
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert!(!cells[1..cells.len() - 1].contains(&""), "an empty cell in {row}");
    }
}

#[test]
fn error_types_link_to_their_section() {
    let page = page();
    let headings = page.lines().filter_map(|line| line.strip_prefix("## "));
    let links: Vec<String> = headings.map(|heading| format!("guide::errors#{})", anchor(heading))).collect();
    let mut linked = 0;
    // The crate of reviews does not depend on the core, so rustdoc finds no page of the core to link to.
    let review = root().join("adapters/review");
    for (file, source) in sources().into_iter().filter(|(file, _)| !file.starts_with(&review)) {
        for name in ["Display for ", "Error for "].iter().flat_map(|begin| names_behind(&source, begin)) {
            let declaration =
                ["enum", "struct"].iter().find_map(|kind| source.find(&format!("\npub {kind} {name}")));
            let Some(at) = declaration.filter(|_| !NO_ERRORS.contains(&name)) else { continue };
            let is_of_item = |line: &&str| line.starts_with("///") || line.starts_with("#[");
            let comment: Vec<&str> = source[..at].lines().rev().take_while(is_of_item).collect();
            let has_link = links.iter().any(|link| comment.concat().contains(link));
            assert!(has_link, "{name} of {} links to no section of docs/errors.md", file.display());
            linked += 1;
        }
    }
    assert!(linked > 50, "only {linked} links were found: the sources have changed their form");
}

fn page() -> String {
    fs::read_to_string(root().join("docs/errors.md")).unwrap()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the files of the core and of the adapters, with their code without its tests.
fn sources() -> Vec<(PathBuf, String)> {
    let mut files = rust_files(&root().join("src"));
    files.extend(rust_files(&root().join("adapters")));
    files.retain(|file| {
        let mut parts = file.strip_prefix(root()).unwrap().parent().unwrap().iter();
        !parts.any(|part| part == "tests" || part == "conformance")
    });
    let without_tests = |file: PathBuf| {
        let source = fs::read_to_string(&file).unwrap();
        let code = source.split("#[cfg(test)]").next().unwrap().to_owned();
        (file, code)
    };
    files.into_iter().map(without_tests).collect()
}

/// Returns the anchor of a heading, as rustdoc and the hosts of repositories make it.
fn anchor(heading: &str) -> String {
    heading.to_lowercase().replace(',', "").replace(' ', "-")
}

/// Returns the names of types behind each `begin`.
fn names_behind<'a>(source: &'a str, begin: &'a str) -> impl Iterator<Item = &'a str> {
    source.split(begin).skip(1).map(|rest| rest.split([' ', '<']).next().unwrap())
}

fn texts(source: &str, (begin, end): &(&str, &str)) -> Vec<String> {
    let mut texts = Vec::new();
    for (at, _) in source.match_indices(begin) {
        let place = &source[at + begin.len()..];
        let place = &place[..place.find(end).unwrap_or(place.len())];
        if OTHERS.iter().any(|other| place.starts_with(&format!("{other} "))) {
            continue;
        }
        texts.extend(literals(place));
    }
    texts
}

/// Returns the texts of `io::Error`s. A variable can hold such a text before its use.
fn io_errors(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in source.match_indices("io::Error::new(").chain(source.match_indices("Error::other(")) {
        let block = source[..at].rfind('{').unwrap();
        let end = at + source[at..].find(';').unwrap();
        let texts = literals(&source[block..end]);
        assert!(!texts.is_empty(), "no text is seen in {}", &source[block..end]);
        found.extend(texts);
    }
    found
}

/// Returns the string literals of a piece of code, unescaped.
fn literals(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut chars = code.chars().peekable();
    while let Some(char) = chars.next() {
        if char != '"' {
            continue;
        }
        let mut text = String::new();
        while let Some(char) = chars.next().filter(|char| *char != '"') {
            match (char, chars.peek()) {
                ('\\', Some('\n')) => while chars.next_if(|char| char.is_whitespace()).is_some() {},
                ('\\', Some(_)) => text.extend(chars.next()),
                _ => text.push(char),
            }
        }
        found.push(text);
    }
    found
}

/// Returns the text without backquotes and line breaks.
fn one_line(text: &str) -> String {
    text.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ")
}
