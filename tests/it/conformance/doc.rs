//! The rows as a document.

use super::row::{Line, Proof, Row, run};
use std::fmt::Write;

const HEAD: &str = "\
# What the protocol asks for, row by row

Written by `tests/it/conformance` from what its rows really do; a test fails where this file says something else. `▶` is
what comes over the wire, `◀` what the crate writes to it, `●` what the application is told. Frames are left out: every
text here is one WebSocket message. Where another test is the proof, it is named.
";

pub fn document(sections: &[(&str, &[Row])]) -> String {
    let mut out = String::from(HEAD);
    for (title, rows) in sections {
        write!(out, "\n## {title}\n\n| | what holds | what goes over the wire |\n| --- | --- | --- |\n")
            .unwrap();
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
        Proof::Editor(..) | Proof::Agent(..) | Proof::Reads(..) => {}
    }
    let lines = run(row).into_iter().map(|line| match line {
        Line::In(text) => format!("▶ {}", code(&text)),
        Line::Out(text) => format!("◀ {}", code(&text)),
        Line::Event(text) => format!("● {}", code(&text)),
    });
    lines.collect::<Vec<_>>().join("<br>")
}

/// Long texts are cut: what is checked is the whole.
fn code(text: &str) -> String {
    let short: String = text.chars().take(400).collect();
    let cut = if short.len() < text.len() { "…" } else { "" };
    format!("`{}`{cut}", cell(&short))
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
