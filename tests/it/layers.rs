//! Which modules of the crate may use which: each names only those below it.
//!
//! ```text
//!  time ◀── machine ◀── pass;  time ◀── keepalive
//!  time, text, buf, machine, pass, keepalive ◀── ws ◀────────┐
//!  time, text ◀── rpc ◀── outbox ◀── ws, mcp                 │
//!  time, text, buf, keepalive, rpc, outbox ◀── mcp ◀────── ide ◀── adapters, by a few names
//!  all of them ◀── testing
//! ```
//!
//! The tests search the source text for paths with `crate::` or `super`. They skip comments, so documentation can
//! link anywhere.

use crate::support::source::{rust_files, without_comments_and_text};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules that each module of the core can name. `lib.rs` names all modules and is not checked.
const ALLOWED: &[(&str, &[&str])] = &[
    ("time", &[]),
    ("text", &[]),
    ("buf", &[]),
    ("keepalive", &["time"]),
    ("machine", &["time"]),
    ("pass", &["time", "machine"]),
    // The trait by which `mcp` writes into `ws`. `ws` names no other module above it.
    ("outbox", &["rpc"]),
    ("ws", &["time", "keepalive", "text", "buf", "machine", "pass", "outbox"]),
    ("rpc", &["time", "text"]),
    ("mcp", &["time", "keepalive", "text", "buf", "outbox", "rpc"]),
    // `ide` names `outbox` for the messages that wait for a client.
    ("ide", &["time", "keepalive", "text", "buf", "machine", "pass", "outbox", "ws", "rpc", "mcp"]),
    // Pages of documentation.
    ("guide", &[]),
    // For tests: it uses all modules, and no module uses it.
    ("testing", &["time", "outbox", "machine", "pass", "ws", "rpc", "mcp", "ide"]),
];

/// The names that the root exports, and the module of each.
const AT_THE_ROOT: &[(&str, &str)] = &[
    ("Time", "time"),
    ("Clock", "time"),
    ("Outbox", "outbox"),
    ("To", "outbox"),
    ("Keepalive", "keepalive"),
    ("Machine", "machine"),
    ("Output", "machine"),
];

/// The names of the core that adapters can use.
const FOR_ADAPTERS: &[&str] = &["Machine", "Output", "Time", "Clock", "ide"];

/// The names of the core that the files in [`WITH_VALUES`] can use in addition: the values in the
/// signatures of `ide::Client` and `ide::Server`, such as an `Implementation`, a `CallId` or a `Closed`.
const FOR_VALUES: &[&str] = &["mcp", "rpc", "ws"];

/// The files for the agents of the adapters, for the options of an editor, and for the handle to a server.
const WITH_VALUES: &[&str] = &["agent", "agent.rs", "options.rs", "handle.rs"];

/// Words of the protocol. An adapter contains none of them, not even in comments.
const PROTOCOL: &[&str] =
    &["openDiff", "selection", "jsonrpc", "initialize", "tools/", "Sec-WebSocket", "1008"];

/// The adapter that translates the protocol for other languages, so it may use all names of the core and the words of
/// the protocol.
const TRANSLATOR: &str = "adapters/editors/embed/";

#[test]
fn modules_name_only_lower_modules() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    let mut seen = 0;
    for file in rust_files(&src) {
        let module = module_of(file.strip_prefix(&src).unwrap());
        if module.is_empty() {
            continue;
        }
        seen += 1;
        faults.extend(wrong_arrows(&module, &fs::read_to_string(&file).unwrap()));
    }
    assert!(seen > 20, "only {seen} files were read");
    assert!(faults.is_empty(), "wrong arrows: {faults:#?}");
}

#[test]
fn every_file_is_a_module() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in rust_files(&src) {
        let (folder, name) = (file.parent().unwrap(), file.file_stem().unwrap().to_str().unwrap());
        if matches!(name, "lib" | "mod") {
            continue;
        }
        let parent = folder.join(if folder == src { "lib.rs" } else { "mod.rs" });
        let declares = fs::read_to_string(&parent).unwrap().contains(&format!("mod {name};"));
        assert!(declares, "{} is not compiled: {} does not name it", file.display(), parent.display());
    }
}

#[test]
fn adapters_use_only_the_contract() {
    let mut faults = Vec::new();
    for file in adapter_files() {
        // Tests can name all of the core.
        if file.ends_with("tests.rs") || is_translator(&file) {
            continue;
        }
        let mut text = fs::read_to_string(&file).unwrap();
        if file.ends_with("src/lib.rs") {
            // An adapter re-exports the core for its users.
            text = text.replace("pub use ide_mcp::", "");
        }
        let has_values =
            file.components().any(|part| WITH_VALUES.iter().any(|name| part.as_os_str() == *name));
        let mut foreign = foreign_names(&text);
        foreign.retain(|name| !(has_values && FOR_VALUES.contains(&name.as_str())));
        faults.extend(foreign.into_iter().map(|name| format!("{}: {name}", file.display())));
    }
    assert!(faults.is_empty(), "adapters name more of the core than its contract: {faults:#?}");
}

#[test]
fn adapters_contain_no_word_of_protocol() {
    let words =
        |text: &str| -> Vec<&str> { PROTOCOL.iter().copied().filter(|word| text.contains(word)).collect() };
    assert_eq!(words("a selection, closed with 1008"), ["selection", "1008"], "the scanner finds the words");
    for file in adapter_files().iter().filter(|file| !is_translator(file)) {
        assert_eq!(words(&fs::read_to_string(file).unwrap()), Vec::<&str>::new(), "{}", file.display());
    }
}

#[test]
fn scanner_finds_wrong_arrows() {
    let bad: &[(&str, &[&str], &str)] = &[
        ("a plain use", &["ws"], "use crate::rpc::Id;"),
        ("a use upwards", &["mcp"], "use crate::ide::Server;"),
        ("the other side", &["rpc"], "use crate::ws;"),
        ("in a group", &["ws", "server"], "use crate::{Time, mcp::Session};"),
        ("in a group over lines", &["ws"], "use crate::{\n    Time,\n    buf::{Rx, Tx},\n    ide,\n};"),
        ("a path in code", &["buf"], "fn f() { crate::ws::Server::new() }"),
        ("public in the crate", &["time"], "pub(crate) use crate::buf::Rx;"),
        ("by super", &["ws"], "use super::mcp::Session;"),
        ("by super twice", &["ws", "server"], "use super::super::mcp::Session;"),
        ("by super in a group", &["ws", "server"], "use super::super::{Time, rpc};"),
        ("super from a module of its own", &["ws", "server"], "mod tests { use super::super::super::mcp; }"),
        ("by its name at the root", &["rpc"], "use crate::Machine;"),
        ("everything", &["ws"], "use crate::*;"),
        ("under another name", &["mcp"], "use crate::{self as root, Time};"),
        ("after a comment", &["rpc"], "/* crate:: */ use crate::ws; // crate::"),
        ("after a string with slashes", &["rpc"], "const A: &str = \"http://x\"; use crate::ws;"),
        ("in a macro", &["ws"], "macro_rules! m { () => { $crate::rpc::Id } }"),
        ("with space in it", &["ws"], "use crate :: rpc :: Id;"),
        ("a module for tests", &["ide", "server"], "use crate::testing::Random;"),
        ("by the name of the crate", &["ws"], "use ide_mcp::rpc::Id;"),
    ];
    for (name, module, text) in bad {
        let module: Vec<String> = module.iter().map(|part| (*part).to_owned()).collect();
        assert_eq!(wrong_arrows(&module, text).len(), 1, "{name}: {:?}", wrong_arrows(&module, text));
    }
    let good: &[(&str, &[&str], &str)] = &[
        (
            "its own part",
            &["ws", "server"],
            "use crate::ws::Client; use super::Client; use super::super::ws;",
        ),
        ("a lower module", &["ide"], "use crate::{Time, mcp, ws::Server}; use super::rpc;"),
        (
            "a doc link",
            &["ws"],
            "//! See [`ide`](crate::ide).\n/// [`Server`](crate::ide::Server)\nfn f() {}",
        ),
        ("a comment", &["ws"], "/* crate::ide /* nested */ crate::mcp */ fn f() {} // crate::rpc"),
        (
            "text",
            &["rpc"],
            "const A: &str = \"crate::ws \\\" crate::ide\"; const B: &str = r#\"crate::\"ws\"#;",
        ),
        ("visible in the crate", &["time"], "pub(crate) fn f(a: crate::time::Timers<1>) {}"),
        (
            "a character",
            &["rpc"],
            "const A: char = '\"'; const B: &str = \"crate::ws\"; const C: u8 = b'\\'';",
        ),
        (
            "super in a module of its own",
            &["ws", "frame"],
            "mod tests { use super::*; use super::super::Violation; }",
        ),
    ];
    for (name, module, text) in good {
        let module: Vec<String> = module.iter().map(|part| (*part).to_owned()).collect();
        assert_eq!(wrong_arrows(&module, text), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn scanner_finds_foreign_names_in_adapters() {
    for (name, text) in [
        ("the layer below", "use ide_mcp::ws::Server;"),
        ("in a group", "use ide_mcp::{Machine, mcp};"),
        ("everything", "use ide_mcp::*;"),
        ("a path in code", "fn f(a: ide_mcp::rpc::Id) {}"),
    ] {
        assert_eq!(foreign_names(text).len(), 1, "{name}");
    }
    let good =
        "use ide_mcp::{Clock, Machine as _, Output, Time, ide::{self, Server}}; use ide_mcp_driver::Link;";
    assert_eq!(foreign_names(good), Vec::<String>::new());
}

fn is_translator(file: &Path) -> bool {
    file.starts_with(Path::new(env!("CARGO_MANIFEST_DIR")).join(TRANSLATOR))
}

/// Returns the sources of all adapters.
fn adapter_files() -> Vec<PathBuf> {
    let adapters = Path::new(env!("CARGO_MANIFEST_DIR")).join("adapters");
    let is_source = |file: &PathBuf| {
        let inside = file.strip_prefix(&adapters).unwrap();
        inside.components().any(|part| part.as_os_str() == "src")
    };
    let mut files = rust_files(&adapters);
    files.retain(is_source);
    for adapter in ["driver", "lockfile", "mio", "smol", "blocking", "editors/embed", "editors/capi"] {
        let folder = adapters.join(adapter);
        assert!(files.iter().any(|file| file.starts_with(&folder)), "no file of {adapter} was read");
    }
    files
}

/// Returns the modules that `text`, a file of `module`, names against the order.
fn wrong_arrows(module: &[String], text: &str) -> Vec<String> {
    let code = without_comments_and_text(text);
    let part = module[0].as_str();
    let allowed = ALLOWED.iter().find(|entry| entry.0 == part).map(|entry| entry.1);
    let Some(allowed) = allowed else { return vec![format!("{part} has no place in the order")] };
    let mut named = BTreeSet::new();
    for root in ["crate", "ide_mcp"] {
        named.extend(heads_after(&code, root));
    }
    named.extend(named_by_super(&code, module.len()));
    let mut wrong = Vec::new();
    for name in named {
        let at_the_root = AT_THE_ROOT.iter().find(|entry| entry.0 == name).map(|entry| entry.1);
        let target = at_the_root.unwrap_or(&name);
        if target != part && !allowed.contains(&target) {
            wrong.push(format!("{} names {name}", module.join("::")));
        }
    }
    wrong
}

/// Returns the names of the core in `text`, a file of an adapter, that are not part of the contract.
fn foreign_names(text: &str) -> Vec<String> {
    let code = without_comments_and_text(text);
    heads_after(&code, "ide_mcp").into_iter().filter(|name| !FOR_ADAPTERS.contains(&name.as_str())).collect()
}

/// Returns the names at the root of the crate that a file reaches by `super`. The module of the
/// file is `depth` levels below the root; the file can hold inner modules.
fn named_by_super(code: &str, depth: usize) -> Vec<String> {
    let mut named = Vec::new();
    let mut inner_modules: Vec<usize> = Vec::new();
    let mut braces = 0;
    let mut at = 0;
    while at < code.len() {
        let rest = &code[at..];
        match rest.as_bytes()[0] {
            b'{' => braces += 1,
            b'}' => {
                braces -= 1;
                inner_modules.retain(|level| *level <= braces);
            }
            _ => {}
        }
        let begins = at == 0 || !is_word(code.as_bytes()[at - 1]);
        if begins
            && rest.starts_with("mod ")
            && rest.find(['{', ';']).is_some_and(|end| rest[end..].starts_with('{'))
        {
            inner_modules.push(braces + 1);
        }
        if begins && rest.starts_with("super") {
            let (ups, behind) = count_supers(rest);
            at += rest.len() - behind.len();
            if ups >= depth + inner_modules.len() {
                named.extend(heads(behind));
            }
            continue;
        }
        at += rest.chars().next().unwrap().len_utf8();
    }
    named
}

/// Returns the number of consecutive `super::`, and the code after them.
fn count_supers(mut code: &str) -> (usize, &str) {
    let mut ups = 0;
    while let Some(behind) =
        code.strip_prefix("super").map(str::trim_start).and_then(|rest| rest.strip_prefix("::"))
    {
        ups += 1;
        code = behind.trim_start();
    }
    (ups, code.strip_prefix("super").unwrap_or(code))
}

/// Returns the first names of all paths that begin with `root::`; `*` and `self` stand for the
/// whole root.
fn heads_after(code: &str, root: &str) -> Vec<String> {
    let mut named = Vec::new();
    for (at, _) in code.match_indices(root) {
        let begins = at == 0 || !is_word(code.as_bytes()[at - 1]);
        let behind = code[at + root.len()..].trim_start();
        if let Some(path) = behind.strip_prefix("::").filter(|_| begins) {
            named.extend(heads(path.trim_start()));
        }
    }
    named
}

/// Returns the first names of a path or of a group of paths.
fn heads(path: &str) -> Vec<String> {
    let path = path.trim_start();
    if path.starts_with('*') {
        return vec!["*".into()];
    }
    let Some(group) = path.strip_prefix('{') else {
        let word: String = path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        return if word.is_empty() { Vec::new() } else { vec![word] };
    };
    let mut named = Vec::new();
    let mut depth = 0;
    let mut element = String::new();
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => named.extend(heads(&std::mem::take(&mut element))),
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if !(c == ',' && depth == 0) {
            element.push(c);
        }
    }
    named.extend(heads(&element));
    named
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the module path of a file: `ws::server` for `ws/server.rs`, nothing for `lib.rs`.
fn module_of(file: &Path) -> Vec<String> {
    let mut parts: Vec<String> = file
        .with_extension("")
        .components()
        .map(|part| part.as_os_str().to_str().unwrap().to_owned())
        .collect();
    if parts.last().is_some_and(|last| last == "mod" || last == "lib") {
        parts.pop();
    }
    parts
}
