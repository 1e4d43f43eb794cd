//! `docs/sidecar.md` has the tables of this crate between its markers. To write them:
//! `UPDATE_DOCS=1 cargo test -p ide-mcp-embed page`.

use ide_mcp_embed::{COMMANDS, CONFIG, EVENTS, PARTS, Row};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

#[test]
fn page_has_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/sidecar.md");
    let there = fs::read_to_string(&path).unwrap();
    let mut made = with_section(&there, "configuration", &members(&CONFIG));
    made = with_section(&made, "parts", &rows(PARTS, ""));
    made = with_section(&made, "commands", &rows(COMMANDS, "cmd"));
    made = with_section(&made, "events", &rows(EVENTS, "event"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &made).unwrap();
        return;
    }
    assert!(there == made, "docs/sidecar.md is out of date: UPDATE_DOCS=1 cargo test -p ide-mcp-embed page");
}

#[test]
fn numbers_of_events_are_distinct() {
    let mut numbers: Vec<u32> = EVENTS.iter().map(|row| row.number).collect();
    numbers.sort_unstable();
    assert!(numbers[0] > 0 && numbers.windows(2).all(|pair| pair[0] != pair[1]), "{numbers:?}");
    assert!(COMMANDS.iter().chain(PARTS).all(|row| row.number == 0));
}

#[test]
fn names_of_the_table_are_distinct() {
    for rows in [COMMANDS, EVENTS, PARTS] {
        let mut names: Vec<&str> = rows.iter().map(|row| row.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        for row in rows {
            assert!(
                !row.doc.is_empty() && row.members.iter().all(|member| !member.doc.is_empty()),
                "{}",
                row.name
            );
        }
    }
}

/// Returns the page with this text between the two markers of a section.
fn with_section(page: &str, name: &str, text: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("{begin} is missing"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{end} is missing"));
    format!("{before}{begin}\n{text}\n{end}{after}")
}

fn rows(rows: &[Row], kind: &str) -> String {
    let mut page = String::new();
    for row in rows {
        let head = if kind.is_empty() { row.name.to_owned() } else { format!("`{}`", row.name) };
        let body = if row.members.is_empty() { String::new() } else { format!("\n{}", members(row)) };
        writeln!(page, "### {head}\n\n{}\n{body}", text(row.doc)).unwrap();
    }
    page.truncate(page.trim_end().len());
    page + "\n"
}

fn members(row: &Row) -> String {
    let mut table = String::from("| member | value | |\n| --- | --- | --- |\n");
    for member in row.members {
        let optional = if member.is_required { "" } else { ", optional" };
        writeln!(table, "| `{}` | {}{optional} | {} |", member.name, member.kind, text(member.doc)).unwrap();
    }
    table
}

fn text(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}
