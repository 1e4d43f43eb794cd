//! Bounds on the wording of the comments, checked in each folder of [`FOLDERS`]. The counts guard against a relapse;
//! they do not replace a reader.

use crate::support::source::rust_files;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders whose comments are counted, each for itself.
const FOLDERS: &[&str] = &["src", "adapters", "tests", "fuzz", "examples", "benches"];

/// The greatest number of paragraphs that begin with a wh-word, in 100 paragraphs. This bound and the next are those
/// of crates that are a pleasure to read. No word of [`KIN`] is accepted.
const MAX_OPENINGS: usize = 5;

/// The greatest number of words of [`SPEECH`], in 1,000 words.
const MAX_SPEECH: usize = 1;

const WH_WORDS: &[&str] = &["what", "whether", "how", "where", "when", "which", "who", "whose", "why"];
const SPEECH: &[&str] = &[
    "say", "says", "said", "saying", "tell", "tells", "told", "telling", "hear", "hears", "heard", "hearing",
];
const KIN: &[&str] = &["whoever", "whomever", "whosoever", "whatever", "whichever"];

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    paragraphs: usize,
    openings: usize,
    words: usize,
    speech: usize,
    kin: usize,
}

impl Counts {
    fn add_all(&mut self, source: &str) {
        paragraphs(source).iter().for_each(|paragraph| self.add(paragraph));
    }

    fn add(&mut self, paragraph: &str) {
        let words: Vec<String> = words(paragraph);
        let count = |list: &[&str]| words.iter().filter(|word| list.contains(&word.as_str())).count();
        let Some(first) = words.first() else { return };
        self.paragraphs += 1;
        self.openings += usize::from(WH_WORDS.contains(&first.as_str()));
        self.words += words.len();
        self.speech += count(SPEECH);
        self.kin += count(KIN);
    }
}

#[test]
fn comments_keep_the_language() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in FOLDERS {
        let mut counts = Counts::default();
        for file in rust_files(&root.join(folder)) {
            counts.add_all(&fs::read_to_string(file).unwrap());
        }
        assert!(counts.paragraphs > 100, "{folder} was read: {counts:?}");
        let within = counts.openings * 100 <= MAX_OPENINGS * counts.paragraphs
            && counts.speech * 1000 <= MAX_SPEECH * counts.words
            && counts.kin == 0;
        assert!(within, "{folder}: {counts:?}");
    }
}

/// Checks that the pages have no word of [`KIN`]. Their openings and their words of [`SPEECH`] have no bound.
#[test]
fn pages_keep_the_language() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = pages(root);
    assert!(pages.len() > 20, "the pages were read: {pages:?}");
    for page in pages {
        let mut counts = Counts::default();
        counts.add_all(&as_comment(&fs::read_to_string(&page).unwrap()));
        assert_eq!(counts.kin, 0, "{}", page.display());
    }
}

#[test]
fn only_prose_is_counted() {
    let rows: &[(&str, &str, Counts)] = &[
        ("code", "fn what() { say() } // end", Counts { paragraphs: 1, words: 1, ..Counts::default() }),
        (
            "a sentence",
            "/// What it says.\n",
            Counts { paragraphs: 1, openings: 1, words: 3, speech: 1, kin: 0 },
        ),
        (
            "two paragraphs",
            "//! One.\n//!\n//! How it\n//! goes.\n",
            Counts { paragraphs: 2, openings: 1, words: 4, ..Counts::default() },
        ),
        (
            "a list",
            "/// - Who.\n/// - Two.\n",
            Counts { paragraphs: 2, openings: 1, words: 2, ..Counts::default() },
        ),
        ("an example", "/// ```\n/// whoever said\n/// ```\n", Counts::default()),
        ("a table and a heading", "/// # What\n/// | say |\n", Counts::default()),
        (
            "code in a line",
            "/// `whoever`, told\n",
            Counts { paragraphs: 1, words: 1, speech: 1, ..Counts::default() },
        ),
        ("a link", "/// See [it](crate::say)\n", Counts { paragraphs: 1, words: 2, ..Counts::default() }),
        ("kin", "/// Whatever\n", Counts { paragraphs: 1, words: 1, kin: 1, ..Counts::default() }),
    ];
    for (name, text, expected) in rows {
        let mut counts = Counts::default();
        counts.add_all(text);
        assert_eq!(counts, *expected, "{name}");
    }
}

/// Returns the pages of the repository, without the rules of the language, which name its words.
fn pages(root: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![root.to_owned()];
    folders.extend(["docs", "examples/cli", "examples/cli/docs"].map(|folder| root.join(folder)));
    folders.extend(fs::read_dir(root.join("adapters")).unwrap().map(|entry| entry.unwrap().path()));
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        pages.extend(fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    }
    pages.retain(|page| {
        page.extension().is_some_and(|kind| kind == "md") && !page.ends_with("CONTRIBUTING.md")
    });
    pages
}

/// Returns a page as a comment. The cells of a table are prose.
fn as_comment(page: &str) -> String {
    page.lines().map(|line| format!("/// {}\n", line.trim().trim_matches('|').trim())).collect()
}

/// Returns the paragraphs of the comments, without examples, tables and headings.
fn paragraphs(text: &str) -> Vec<String> {
    let (mut all, mut kind, mut in_example) = (vec![String::new()], "", false);
    for line in text.lines() {
        let found = ["///", "//!", "//"].into_iter().find_map(|mark| Some((mark, comment(line, mark)?)));
        let (mark, said) = found.unwrap_or_default();
        let is_fence = said.starts_with("```");
        in_example ^= is_fence;
        let is_prose = !in_example && !is_fence && !said.starts_with(['|', '#']);
        if mark != kind || !is_prose || said.is_empty() || said.starts_with("- ") {
            all.push(String::new());
        }
        kind = mark;
        if let Some(paragraph) = all.last_mut().filter(|_| is_prose) {
            paragraph.push_str(said);
            paragraph.push(' ');
        }
    }
    all
}

/// Returns the text of a comment with this mark, if the line has one.
fn comment<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let is_whole = line.trim_start().starts_with(mark);
    let (before, text) = line.split_once(mark)?;
    // In a line of code the mark counts only with a space before and after it, since the `//` of an address begins no
    // comment.
    (is_whole || mark == "//" && before.ends_with(' ') && text.starts_with(' ')).then(|| text.trim())
}

/// Returns the words of a paragraph in lower case, without code and the targets of links.
fn words(paragraph: &str) -> Vec<String> {
    let prose: String = paragraph.split('`').step_by(2).collect();
    let mut plain = String::new();
    for (at, part) in prose.split("](").enumerate() {
        plain.push_str(if at == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) });
    }
    let letters = |c: char| !(c.is_ascii_alphabetic() || c == '\'' || c == '-');
    let words = plain.split(letters).filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
    words.map(str::to_lowercase).collect()
}
