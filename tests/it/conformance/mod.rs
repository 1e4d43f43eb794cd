//! The protocol, row by row: tools, dialects, notifications, quirks and measurements, with the
//! bytes that come in and the bytes that go out. `docs/conformance.md` is written from the results
//! of the rows, by `UPDATE_DOCS=1 cargo test -p ide-mcp --test it conformance`.

mod context;
mod dialects;
mod discovery;
mod doc;
mod measured;
mod notifications;
mod quirks;
mod row;
pub mod tools;

use ide_mcp::ide::tool::Tool;
use ide_mcp::ide::{Dialect, EditorNotification};
use row::{Proof, Row, run};
use std::{collections::BTreeSet, fs, path::Path};

const SECTIONS: &[(&str, &[Row])] = &[
    ("Tools", tools::ROWS),
    ("Dialects", dialects::ROWS),
    ("Notifications", notifications::ROWS),
    ("Prompts, resources, roots, forms", context::ROWS),
    ("Quirks", quirks::ROWS),
    ("Measured", measured::ROWS),
    ("Discovery", discovery::ROWS),
];

fn rows() -> impl Iterator<Item = &'static Row> {
    SECTIONS.iter().flat_map(|(_, rows)| rows.iter())
}

#[test]
fn every_row_holds() {
    let failed: Vec<&str> =
        rows().filter(|row| std::panic::catch_unwind(|| run(row)).is_err()).map(|row| row.id).collect();
    assert_eq!(failed, [""; 0], "each failed row has printed its expectation above");
}

#[test]
fn document_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/conformance.md");
    let made = doc::document(SECTIONS);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == made,
        "docs/conformance.md is out of date: UPDATE_DOCS=1 cargo test -p ide-mcp --test it conformance"
    );
}

#[test]
fn every_named_test_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for row in rows() {
        let Proof::Test(file, name) = row.proof else { continue };
        let source = fs::read_to_string(root.join(file)).unwrap_or_else(|_| panic!("{}: no {file}", row.id));
        let head = format!("fn {name}() {{");
        let at = source.find(&head).unwrap_or_else(|| panic!("{}: no {name} in {file}", row.id));
        let above = source[..at].trim_end().lines().next_back().unwrap_or_default();
        assert_eq!(above.trim(), "#[test]", "{}: {name} is no test", row.id);
    }
}

#[test]
fn every_declared_tool_is_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ide/tool");
    let list = fs::read_to_string(folder.join("mod.rs")).unwrap();
    let mut count = 0;
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let source = fs::read_to_string(&file).unwrap();
        let Some((_, rest)) = source.split_once("\nimpl ToolDef for ") else { continue };
        let (tool, _) = rest.split_once(' ').unwrap();
        let entry = format!("{}::{tool} -> ", file.file_stem().unwrap().to_string_lossy());
        assert!(list.contains(&entry), "{entry} is not in the list of src/ide/tool/mod.rs");
        count += 1;
    }
    assert_eq!(count, Tool::ALL.len());
}

#[test]
fn every_tool_notice_and_quirk_has_rows() {
    let ids: Vec<&str> = rows().map(|row| row.id).collect();
    let set: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), set.len(), "an id has two rows");
    let tools = Tool::ALL.map(|tool| tool.name(Dialect::VsCode));
    let notices = EditorNotification::ALL.map(|notice| Dialect::VsCode.notification(notice));
    for name in tools.into_iter().chain(notices) {
        assert!(set.contains(name), "{name} has no row");
    }
    for quirk in 1..=42 {
        let id = format!("Q{quirk}");
        assert!(
            ids.iter().any(|there| *there == id || there.starts_with(&format!("{id} "))),
            "{id} has no row"
        );
    }
    // The number of measurements in each part.
    for (part, count) in [("connecting", 10), ("session", 16), ("calls", 9), ("discovery", 10)] {
        for number in 1..=count {
            let id = format!("{part} {number}");
            assert!(set.contains(id.as_str()), "{id} has no row");
        }
    }
}
