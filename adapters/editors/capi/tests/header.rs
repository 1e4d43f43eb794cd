//! The header lists the events of the table, and the package has the lints of the workspace. To renew the
//! list of events: `UPDATE_DOCS=1 cargo test -p ide-mcp-capi`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test states what it expects")]

use ide_mcp_embed::{EVENTS, MAX_COMMAND};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn kinds_are_those_of_the_table() {
    let header = fs::read_to_string(path("include/ide_mcp.h")).unwrap();
    let (before, rest) = header.split_once("enum idemcp_kind {\n").unwrap();
    let (_, after) = rest.split_once("\n};").unwrap();
    let made = format!("{before}enum idemcp_kind {{\n{}\n}};{after}", kinds());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path("include/ide_mcp.h"), &made).unwrap();
    } else {
        assert!(header == made, "ide_mcp.h is out of date: UPDATE_DOCS=1 cargo test -p ide-mcp-capi");
    }
}

#[test]
fn header_names_the_size_limit() {
    let header = fs::read_to_string(path("include/ide_mcp.h")).unwrap();
    assert!(header.contains("over 100,728,832 bytes") && MAX_COMMAND == 100_728_832);
}

#[test]
fn unsafe_code_is_in_one_file() {
    let files = fs::read_dir(path("src")).unwrap().map(|file| file.unwrap().path());
    let mut of_unsafe = files.filter(|file| fs::read_to_string(file).unwrap().contains("allow(unsafe_code"));
    assert_eq!((of_unsafe.next(), of_unsafe.next()), (Some(path("src/ffi.rs")), None));
}

#[test]
fn lints_are_those_of_the_workspace() {
    let section = |file: &str, name: &str| {
        let text = fs::read_to_string(path(file)).unwrap();
        let (_, rest) = text.split_once(&format!("[{name}]\n")).unwrap();
        rest.lines().take_while(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    for part in ["rust", "clippy"] {
        let mut workspace = section("../../../Cargo.toml", &format!("workspace.lints.{part}"));
        let own = section("Cargo.toml", &format!("lints.{part}"));
        match part {
            "rust" => workspace[0] = workspace[0].replace("forbid", "deny"),
            _ => workspace.push("undocumented_unsafe_blocks = \"warn\"".into()),
        }
        assert_eq!(own, workspace);
    }
}

/// Returns the lines of the enum.
fn kinds() -> String {
    let mut lines = String::from("    IDEMCP_NOTHING = 0, /* the end of the turn */");
    for row in EVENTS {
        let members = row.members.iter().map(|member| match member.is_required {
            true => member.name.to_owned(),
            false => format!("{}?", member.name),
        });
        let members = members.collect::<Vec<_>>().join(", ");
        let comma = if row.name == "over" { "" } else { "," };
        write!(lines, "\n    IDEMCP_{} = {}{comma}", row.name.to_uppercase(), row.number).unwrap();
        if !members.is_empty() {
            write!(lines, " /* {members} */").unwrap();
        }
    }
    lines
}

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}
