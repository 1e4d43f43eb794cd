//! Writes all changes into one copy of the sources, each behind a condition.
//!
//! `a < b` becomes `(if on(7) { a <= b } else { a < b })`, and the same pair of insertions around an expression
//! serves each genre of change. Nested insertions need no care: only one change is active, so the replaced text
//! within a condition is the original.
//!
//! A condition cannot be in a constant. `const fn` becomes `fn` as far as the copy compiles without it; the
//! changes in the other constants are made singly.

use crate::changes::{Change, Genre};
use crate::{PACKAGES, TESTED, suite};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The changes of a copy.
pub struct Woven<'a> {
    /// The changes in the copy.
    pub behind: Vec<&'a Change>,
    /// The changes that cannot have a condition.
    pub single: Vec<&'a Change>,
    /// The changes that do not compile.
    pub invalid: Vec<&'a Change>,
}

/// Writes `changes` into `tree`, a copy of the project, without those that do not compile.
pub fn weave<'a>(tree: &Path, changes: &[&'a Change]) -> Result<Woven<'a>> {
    let count = changes.iter().map(|change| change.number + 1).max().unwrap_or(1).to_string();
    let switch =
        SWITCH.replace("ACTIVE", suite::ACTIVE).replace("REACHED", suite::REACHED).replace("COUNT", &count);
    for (_, folder) in PACKAGES {
        OpenOptions::new()
            .append(true)
            .open(tree.join(folder).join("src/lib.rs"))?
            .write_all(switch.as_bytes())?;
    }
    let files = sources(tree)?;
    let (mut constant, mut invalid) = (BTreeSet::new(), BTreeSet::new());
    loop {
        let (mut behind, mut single, mut woven) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (name, text) in &files {
            let of_file =
                changes.iter().filter(|change| change.file == *name && !invalid.contains(&change.number));
            let of_file: Vec<&Change> = of_file.copied().collect();
            let file = File::weave(text, &of_file, &constant).with_context(|| name.clone())?;
            fs::write(tree.join(name), &file.text)?;
            let is_single = |change: &&Change| file.single.contains(&change.number);
            single.extend(of_file.iter().copied().filter(is_single));
            behind.extend(of_file.iter().copied().filter(|change| !is_single(change)));
            woven.insert(name.clone(), file);
        }
        let faults = Faults::find(tree, &woven)?;
        if faults.is_none {
            let invalid = changes.iter().filter(|change| invalid.contains(&change.number)).copied().collect();
            return Ok(Woven { behind, single, invalid });
        }
        if faults.constant.is_subset(&constant) && faults.invalid.is_subset(&invalid) {
            bail!("the copy does not compile, apart from its changes:\n{}", faults.unexplained);
        }
        constant.extend(faults.constant);
        invalid.extend(faults.invalid);
    }
}

/// Reads the sources of the packages, without the tests of the packages, by their paths in `tree`.
fn sources(tree: &Path) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    let mut folders: Vec<PathBuf> =
        PACKAGES.iter().map(|(_, folder)| Path::new(folder).join("src")).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(tree.join(&folder))? {
            let path = folder.join(entry?.file_name());
            if tree.join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.insert(path.to_string_lossy().into_owned(), fs::read_to_string(tree.join(&path))?);
            }
        }
    }
    Ok(files)
}

/// The module at the end of each library.
const SWITCH: &str = r#"
/// The active change.
pub mod mutants {
    extern crate std;
    use std::io::Write;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    pub fn on(number: u32) -> bool {
        static NUMBER: LazyLock<u32> =
            LazyLock::new(|| std::env::var("ACTIVE").ok().and_then(|text| text.parse().ok()).unwrap_or(0));
        static FILE: LazyLock<Option<std::ffi::OsString>> = LazyLock::new(|| std::env::var_os("REACHED"));
        static SEEN: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
        if let Some(file) = &*FILE
            && SEEN.get(number as usize).is_some_and(|seen| !seen.swap(true, Ordering::Relaxed))
        {
            let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
            file.write_all(std::format!("{number}\n").as_bytes()).unwrap();
        }
        *NUMBER == number
    }

    /// The iterator of a function with a change, or that of the change.
    #[derive(Clone)]
    pub enum Either<A, B> {
        Change(A),
        Original(B),
    }

    impl<T, A: Iterator<Item = T>, B: Iterator<Item = T>> Iterator for Either<A, B> {
        type Item = T;

        fn next(&mut self) -> Option<T> {
            match self {
                Self::Change(change) => change.next(),
                Self::Original(original) => original.next(),
            }
        }
    }
}
"#;

/// A file with its changes.
struct File {
    text: String,
    /// The ranges of the inserted changes in `text`, with their numbers.
    ranges: Vec<(Range<usize>, u32)>,
    /// The changes that got no condition.
    single: Vec<u32>,
}

/// A text to insert at a position of the file.
struct Insertion {
    at: usize,
    /// Orders the insertions at one position: the ends of inner ranges, those of outer ranges, the beginnings of
    /// outer ranges, those of inner ranges.
    order: (bool, isize),
    text: String,
    number: Option<u32>,
}

impl File {
    /// Returns `original` with `changes`, where the functions named in `constant` stay constant.
    fn weave(original: &str, changes: &[&Change], constant: &BTreeSet<String>) -> Result<Self> {
        let original = &without_const(original, constant);
        let mut found = Found::default();
        found.visit_file(&syn::parse_file(original)?);

        let (mut insertions, mut single) = (Vec::new(), Vec::new());
        for change in changes {
            match found.condition(original, change) {
                Some(condition) => insertions.extend(condition),
                None => single.push(change.number),
            }
        }
        insertions.sort_by_key(|insertion| (insertion.at, insertion.order));

        let (mut text, mut ranges, mut taken) = (String::new(), Vec::new(), 0);
        for insertion in insertions {
            text.push_str(&original[taken..insertion.at]);
            taken = insertion.at;
            let start = text.len();
            text.push_str(&insertion.text);
            ranges.extend(insertion.number.map(|number| (start..text.len(), number)));
        }
        text.push_str(&original[taken..]);
        Ok(Self { text, ranges, single })
    }
}

/// Replaces `const` before `fn` by spaces, so that no position changes, but for the functions named in `constant`.
fn without_const(text: &str, constant: &BTreeSet<String>) -> String {
    let mut parts = text.split("const fn ");
    let mut without = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        without.push_str(if constant.contains(&name) { "const fn " } else { "      fn " });
        without.push_str(part);
    }
    without
}

/// The ranges of a file in bytes, by the starts of the spans that cargo-mutants gives.
#[derive(Default)]
struct Found {
    /// The expressions by their operators.
    operators: BTreeMap<usize, Range<usize>>,
    /// The `match` expressions, each with an arm.
    arms: BTreeMap<usize, (Range<usize>, Range<usize>)>,
    /// The struct expressions, each with a field.
    fields: BTreeMap<usize, (Range<usize>, Range<usize>)>,
    /// The constants and the constant functions.
    constants: Vec<Range<usize>>,
    /// The functions that return an `impl Iterator`.
    iterators: Vec<Range<usize>>,
}

impl Found {
    /// Returns the texts before and after the changed code, or `None` if it cannot have a condition.
    fn condition(&self, original: &str, change: &Change) -> Option<[Insertion; 2]> {
        let span = change.start..change.end;
        let is_in = |ranges: &[Range<usize>]| {
            ranges.iter().any(|range| range.start <= span.start && span.end <= range.end)
        };
        if is_in(&self.constants) {
            return None;
        }
        let on = format!("crate::mutants::on({})", change.number);
        // Returns the text of `range` in which the change replaces `removed`.
        let replaced = |range: &Range<usize>, removed: &Range<usize>| {
            [&original[range.start..removed.start], &change.replacement, &original[removed.end..range.end]]
                .concat()
        };
        let expression = |range: &Range<usize>, removed: &Range<usize>| {
            (range.clone(), 0, format!("(if {on} {{ {} }} else {{ ", replaced(range, removed)), " })")
        };
        let value = &change.replacement;
        let (range, rank, before, after) = match change.genre {
            Genre::FnValue if is_in(&self.iterators) => {
                let either = "crate::mutants::Either";
                // A type argument of `Either` takes no `&mut` for a `&`.
                let value = value.replace("Box::leak(", "&*Box::leak(").replace("Vec::leak(", "&*Vec::leak(");
                (
                    span,
                    3,
                    format!("if {on} {{ {either}::Change({value}) }} else {{ {either}::Original({{ "),
                    " }) }",
                )
            }
            Genre::FnValue => (span, 3, format!("if {on} {{ return {value}; }} "), ""),
            Genre::BinaryOperator | Genre::UnaryOperator => {
                expression(self.operators.get(&span.start)?, &span)
            }
            Genre::StructField => {
                self.fields.get(&span.start).map(|(range, field)| expression(range, field))?
            }
            // Without parentheses, as a statement needs no semicolon then.
            Genre::MatchArm => {
                let (range, arm) = self.arms.get(&span.start)?;
                (range.clone(), 0, format!("if {on} {{ {} }} else {{ ", replaced(range, arm)), " }")
            }
            Genre::MatchArmGuard if value == "true" => (span, 2, format!("({on} || ("), "))"),
            Genre::MatchArmGuard => (span, 1, format!("(!{on} && ("), "))"),
        };
        let (start, end) = (range.start.cast_signed(), range.end.cast_signed());
        Some([
            Insertion {
                at: range.start,
                order: (true, -4 * end - rank),
                text: before,
                number: Some(change.number),
            },
            Insertion { at: range.end, order: (false, -4 * start + rank), text: after.into(), number: None },
        ])
    }

    fn function(&mut self, signature: &syn::Signature, whole: Range<usize>) {
        if signature.constness.is_some() {
            self.constants.push(whole.clone());
        }
        if matches!(&signature.output, syn::ReturnType::Type(_, output) if matches!(**output, syn::Type::ImplTrait(_)))
        {
            self.iterators.push(whole);
        }
    }
}

fn range(node: &impl Spanned) -> Range<usize> {
    node.span().byte_range()
}

impl<'a> Visit<'a> for Found {
    fn visit_expr_binary(&mut self, node: &'a syn::ExprBinary) {
        self.operators.insert(range(&node.op).start, range(node));
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_unary(&mut self, node: &'a syn::ExprUnary) {
        self.operators.insert(range(&node.op).start, range(node));
        visit::visit_expr_unary(self, node);
    }

    fn visit_expr_match(&mut self, node: &'a syn::ExprMatch) {
        self.arms.extend(node.arms.iter().map(|arm| (range(arm).start, (range(node), range(arm)))));
        visit::visit_expr_match(self, node);
    }

    fn visit_expr_struct(&mut self, node: &'a syn::ExprStruct) {
        for field in node.fields.pairs() {
            self.fields.insert(range(field.value()).start, (range(node), range(&field)));
        }
        visit::visit_expr_struct(self, node);
    }

    fn visit_item_fn(&mut self, node: &'a syn::ItemFn) {
        self.function(&node.sig, range(node));
        visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'a syn::ImplItemFn) {
        self.function(&node.sig, range(node));
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_trait_item_fn(&mut self, node: &'a syn::TraitItemFn) {
        self.function(&node.sig, range(node));
        visit::visit_trait_item_fn(self, node);
    }

    fn visit_item_const(&mut self, node: &'a syn::ItemConst) {
        self.constants.push(range(node));
    }

    fn visit_item_static(&mut self, node: &'a syn::ItemStatic) {
        self.constants.push(range(node));
    }

    fn visit_impl_item_const(&mut self, node: &'a syn::ImplItemConst) {
        self.constants.push(range(node));
    }

    fn visit_trait_item_const(&mut self, node: &'a syn::TraitItemConst) {
        self.constants.push(range(node));
    }

    fn visit_expr_const(&mut self, node: &'a syn::ExprConst) {
        self.constants.push(range(node));
    }

    fn visit_item_enum(&mut self, node: &'a syn::ItemEnum) {
        self.constants.push(range(node));
    }

    fn visit_type_array(&mut self, node: &'a syn::TypeArray) {
        self.constants.push(range(&node.len));
    }

    fn visit_expr_repeat(&mut self, node: &'a syn::ExprRepeat) {
        self.constants.push(range(&node.len));
        visit::visit_expr_repeat(self, node);
    }
}

/// The errors of the compiler.
#[derive(Default)]
struct Faults {
    is_none: bool,
    /// The changes at whose text an error is.
    invalid: BTreeSet<u32>,
    /// The names of functions that constants call.
    constant: BTreeSet<String>,
    /// The other errors.
    unexplained: String,
}

impl Faults {
    fn find(tree: &Path, files: &BTreeMap<String, File>) -> Result<Self> {
        let output = suite::cargo(tree, "check", &TESTED).args(["--tests", "--keep-going"]).output()?;
        let mut faults = Self::default();
        for line in String::from_utf8(output.stdout)?.lines() {
            let Ok(Line { message }) = serde_json::from_str(line) else { continue };
            if message.level == "error" {
                faults.add(&message, files);
            }
        }
        faults.is_none = output.status.success();
        Ok(faults)
    }

    fn add(&mut self, message: &Message, files: &BTreeMap<String, File>) {
        let called =
            message.message.strip_prefix("cannot call non-const ").and_then(|rest| rest.split('`').nth(1));
        if let Some(path) = called {
            self.constant.extend(last_name(path));
            return;
        }
        let at = |spans: &mut dyn Iterator<Item = &Span>| -> Vec<u32> {
            let ranges = spans.flat_map(|span| {
                let ranges = files.get(&span.file_name).map(|file| &file.ranges);
                ranges
                    .into_iter()
                    .flatten()
                    .filter(|(range, _)| range.start <= span.byte_start && span.byte_end <= range.end)
            });
            ranges.map(|(_, number)| *number).collect()
        };
        let mut numbers = at(&mut message.spans.iter().filter(|span| span.is_primary));
        if numbers.is_empty() {
            numbers =
                at(&mut message.spans.iter().chain(message.children.iter().flat_map(|child| &child.spans)));
        }
        if numbers.is_empty() {
            self.unexplained.push_str(message.rendered.as_deref().unwrap_or(&message.message));
        }
        self.invalid.extend(numbers);
    }
}

/// Returns the name of the function in a path with type arguments.
fn last_name(path: &str) -> Option<String> {
    let mut depth = 0_usize;
    let mut plain = String::new();
    for c in path.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain.rsplit("::").find(|name| !name.is_empty()).map(str::to_owned)
}

#[derive(Deserialize)]
struct Line {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    message: String,
    level: String,
    spans: Vec<Span>,
    children: Vec<Message>,
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
    is_primary: bool,
}
