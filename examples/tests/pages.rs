//! Checks that the code and numbers in the pages are those of the examples.

use std::fs;
use std::path::{Path, PathBuf};

/// Marks the lines of an example that a page leaves out.
const GAP: &str = "// …";

/// The pages with code from the examples.
const PAGES: [&str; 5] =
    ["README.md", "docs/first-editor.md", "docs/first-agent.md", "docs/embedding.md", "src/lib.rs"];

/// The pages on which a newcomer sees the project first.
const FRONT_PAGES: [&str; 2] = ["README.md", "src/lib.rs"];

/// Each row of a table that names an example also has the example's number of lines.
#[test]
fn tables_have_numbers_of_lines() {
    let mut seen = 0;
    for page in PAGES {
        for row in read(page).lines().filter(|row| row.contains("| `examples/") && row.ends_with(" |")) {
            let mut cells = row.trim_matches(['|', ' ']).rsplit(" | ");
            let (number, example) = (cells.next().unwrap(), cells.next().unwrap().trim_matches('`'));
            let Ok(number) = number.parse::<usize>() else { continue };
            assert_eq!(number, code(example).len(), "{page}: {example}");
            seen += 1;
        }
    }
    assert!(seen >= 11, "{seen} rows");
}

#[test]
fn both_front_pages_have_the_same_table_of_loops() {
    let tables = FRONT_PAGES.map(|page| {
        let text = read(page);
        let rows = text.lines().map(|line| line.trim_start_matches("//! "));
        let table =
            rows.skip_while(|row| !row.starts_with("| your loop |")).take_while(|row| row.starts_with('|'));
        table.map(without_links).collect::<Vec<_>>()
    });
    let [readme, front_page] = &tables;
    assert_eq!(readme, front_page);
    assert!(readme.len() > 10, "the tables were read: {readme:?}");
}

/// Returns a line without the addresses of its links, which differ between the two pages.
fn without_links(line: &str) -> String {
    let mut plain = String::new();
    for (at, part) in line.split("](").enumerate() {
        plain.push_str(if at == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) });
    }
    plain.replace('[', "")
}

/// Each block that names an example in its first line consists of lines of that example, in order, with
/// [`GAP`] where the block leaves lines out.
#[test]
fn code_of_the_pages_is_code_of_examples() {
    let mut seen = 0;
    for page in PAGES {
        let text = read(page).replace("//! ", "").replace("//!", "");
        for block in text.split("```rust,ignore\n").skip(1) {
            let block = block.split("```").next().unwrap();
            let example = block.lines().next().and_then(|line| line.strip_prefix("// ")).unwrap_or_default();
            assert!(example.starts_with("examples/"), "{page}: a block names its example first: {block}");
            let quoted: Vec<&str> = block.lines().skip(1).collect();
            assert_eq!(quotes(&quoted, &code(example)), Ok(()), "{page}: {example}");
            seen += 1;
        }
    }
    assert!(seen >= 8, "{seen} blocks");
}

/// Each test that docs/bugs.md names as the guard against a bug is in the file it names, and is a `#[test]`.
#[test]
fn tests_against_found_bugs_exist() {
    let mut rows = 0;
    for row in read("docs/bugs.md").lines().filter(|row| row.starts_with("| ")).skip(2) {
        let guards = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let mut seen = 0;
        for (name, path) in guards.split("` in `").zip(guards.split("` in `").skip(1)) {
            let name = name.rsplit('`').next().unwrap();
            let source = read(path.split('`').next().unwrap());
            let (above, _) = source
                .split_once(&format!("fn {name}() {{"))
                .unwrap_or_else(|| panic!("no test {name}: {row}"));
            let attribute = above.trim_end().lines().next_back().unwrap().trim();
            assert_eq!(attribute, "#[test]", "{name}");
            seen += 1;
        }
        assert!(seen > 0, "no test: {row}");
        rows += 1;
    }
    assert_eq!(rows, 10);
}

#[test]
fn a_quote_must_mark_its_gaps() {
    let code = ["a", "b", "c", "b", "d"].map(String::from);
    let rows: [(&str, &[&str], Result<(), &str>); 8] = [
        ("the beginning", &["a", "b"], Ok(())),
        ("the end", &["b", "d"], Ok(())),
        ("blank lines and comments", &["b", "", "// why", "  c"], Ok(())),
        ("a gap", &["a", "// …", "d"], Ok(())),
        ("a gap without its mark", &["a", "c"], Err("a\nc")),
        ("a mark without a gap", &["a", "// …", "b", "c", "b", "d"], Ok(())),
        ("another order", &["c", "// …", "a"], Err("a")),
        ("a line that is not in the example", &["a", "e"], Err("a\ne")),
    ];
    for (name, quoted, expected) in rows {
        assert_eq!(quotes(quoted, &code), expected.map_err(String::from), "{name}");
    }
}

/// Looks for the parts of a quote in the code. Returns the first part that is not there.
fn quotes(quoted: &[&str], code: &[String]) -> Result<(), String> {
    let mut rest = code;
    for part in quoted.split(|line| line.trim() == GAP) {
        let part: Vec<&str> = part.iter().map(|line| line.trim()).filter(|line| is_code(line)).collect();
        let Some(at) = rest.windows(part.len().max(1)).position(|lines| lines == part) else {
            return Err(part.join("\n"));
        };
        rest = &rest[at + part.len()..];
    }
    Ok(())
}

/// Returns the lines of code without indentation: no comments, no blank lines, none of the attributes that
/// allow the lints of this repository.
fn code(example: &str) -> Vec<String> {
    let text = read(example);
    let mut lines = text.lines().map(str::trim).filter(|line| is_code(line));
    let mut code = Vec::new();
    while let Some(line) = lines.next() {
        if line.starts_with("#![allow(") {
            let mut line = line;
            while !line.ends_with(")]") {
                line = lines.next().unwrap();
            }
        } else {
            code.push(line.to_owned());
        }
    }
    code
}

fn is_code(line: &str) -> bool {
    !line.is_empty() && !line.starts_with("//")
}

fn read(path: &str) -> String {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().into();
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
