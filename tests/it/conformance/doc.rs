//! The rows as a document.

use super::row::{Line, Proof, Row, run};
use std::fmt::Write;

const HEAD: &str = "\
# The protocol, row by row

The bytes behind [the protocol][protocol]: what comes in (`▶`), what this library answers (`◀`), and the event that your
program gets (`●`). Each piece of code is one WebSocket message, without its frame. `tests/it/conformance` writes this page from what
happens, and fails if it differs; where another test is the proof, the row names it.

[protocol]: protocol.md
";

pub fn document(sections: &[(&str, &[Row])]) -> String {
    let mut out = String::from(HEAD);
    for (title, rows) in sections {
        write!(out, "\n## {title}\n\n| | claim | on the wire |\n| --- | --- | --- |\n").unwrap();
        for row in *rows {
            writeln!(out, "| {} | {} | {} |", cell(row.id), cell(row.claim), shown(row)).unwrap();
        }
    }
    out
}

fn shown(row: &Row) -> String {
    match row.proof {
        Proof::Test(file, name) => return format!("`{name}` in `{file}`"),
        Proof::Elsewhere(why) => return cell(why),
        Proof::Editor(..)
        | Proof::Agent(..)
        | Proof::AgentAnswers(..)
        | Proof::AgentSends(..)
        | Proof::Reads(..) => {}
    }
    let lines = run(row).into_iter().map(|line| match line {
        Line::In(text) => format!("▶ {}", code(&text)),
        Line::Out(text) => format!("◀ {}", code(&text)),
        Line::Event(text) => format!("● {}", code(&text)),
    });
    lines.collect::<Vec<_>>().join("<br>")
}

/// Returns the text as code, cut at 400 characters. The checks use the whole text.
fn code(text: &str) -> String {
    let short: String = text.chars().take(400).collect();
    let cut = if short.len() < text.len() { "…" } else { "" };
    format!("`{}`{cut}", cell(&short))
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
