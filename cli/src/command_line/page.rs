//! Shows a Markdown page as text in a terminal. Links to files are left out, because a user may have only the program.

use crate::support::columns::width;
use anstyle::{AnsiColor, Reset, Style};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::fmt::Display;

/// The widest line of running text.
const WIDEST: usize = 80;
const STRONG: Style = Style::new().bold();
const EMPHASIS: Style = Style::new().italic();
const HEADING: Style = Style::new().bold().underline();
const CODE: Style = AnsiColor::Cyan.on_default();

/// Returns the page for a terminal of this many columns; `None`, for all other output, means 80. Without `styled` it
/// has no styles, and code in a line keeps its backticks.
pub(super) fn rendered(markdown: &str, columns: Option<usize>, styled: bool) -> String {
    let columns = columns.unwrap_or(WIDEST).clamp(20, WIDEST);
    let mut page = Page { columns, styled, ..Page::default() };
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        page.take(event);
    }
    page.text
}

#[derive(Default)]
struct Page {
    columns: usize,
    styled: bool,
    text: String,
    /// The running text of the block that is open.
    line: String,
    /// The indentation of the open items and quotes, in columns.
    indents: Vec<usize>,
    /// The dash or the number before the next line.
    marker: Option<String>,
    /// The open lists, with their next numbers.
    lists: Vec<Option<u64>>,
    /// True if no empty line precedes the next block: it is the next item of a list.
    is_joined: bool,
    /// True in a heading: it is styled as a whole, and another style inside would end its style.
    is_heading: bool,
    code: Option<String>,
    /// The address of the open link.
    link: Option<String>,
    /// The rows of the open table, with that of its head first.
    rows: Vec<Vec<String>>,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(tag) => self.close(tag),
            Event::Text(text) => self.code.as_mut().unwrap_or(&mut self.line).push_str(&text),
            Event::Code(text) if self.is_heading => self.line.push_str(&text),
            Event::Code(text) if self.styled => self.line.push_str(&format!("{CODE}{text}{CODE:#}")),
            Event::Code(text) => self.line.extend(["`", &text, "`"]),
            Event::SoftBreak | Event::HardBreak => self.line.push(' '),
            _ => {}
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } => self.is_heading = true,
            Tag::CodeBlock(_) => self.code = Some(String::new()),
            Tag::List(number) => {
                self.end_line();
                self.is_joined = !self.lists.is_empty();
                self.lists.push(number);
            }
            Tag::Item => {
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number = number.saturating_add(1);
                        format!("{}. ", number.saturating_sub(1))
                    }
                    _ => "- ".to_owned(),
                };
                self.indents.push(marker.len());
                self.marker = Some(marker);
            }
            Tag::BlockQuote(_) => self.indents.push(2),
            Tag::Emphasis => self.change(&EMPHASIS),
            Tag::Strong => self.change(&STRONG),
            Tag::Link { dest_url, .. } => {
                self.link = Some(dest_url.into_string()).filter(|address| address.contains("://"));
            }
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                let text = std::mem::take(&mut self.line);
                self.line = if self.styled { format!("{HEADING}{text}{HEADING:#}") } else { text };
                self.is_heading = false;
                self.end_line();
            }
            TagEnd::Paragraph => self.end_line(),
            TagEnd::CodeBlock => {
                let code = self.code.take().unwrap_or_default();
                self.lines(code.lines().map(|line| format!("    {line}")));
            }
            TagEnd::Item => {
                self.end_line();
                self.indents.pop();
                self.is_joined = true;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.is_joined = !self.lists.is_empty();
            }
            TagEnd::BlockQuote(_) => drop(self.indents.pop()),
            TagEnd::Emphasis | TagEnd::Strong => self.change(&Reset),
            TagEnd::Link => {
                let address = self.link.take().filter(|address| !self.line.ends_with(address.as_str()));
                self.line.extend(address.map(|address| format!(" ({address})")));
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.table(),
            _ => {}
        }
    }

    /// Changes the style of the running text.
    fn change(&mut self, style: &dyn Display) {
        if self.styled && !self.is_heading {
            self.line.push_str(&style.to_string());
        }
    }

    /// Writes the running text, if there is any.
    fn end_line(&mut self) {
        let text = std::mem::take(&mut self.line);
        if !text.is_empty() {
            let room = self.columns.saturating_sub(self.indents.iter().sum());
            self.lines(filled(&text, room).into_iter());
        }
    }

    /// Writes a block of lines, after an empty line if there must be one.
    fn lines(&mut self, lines: impl Iterator<Item = String>) {
        if !self.text.is_empty() && !self.is_joined {
            self.text.push('\n');
        }
        self.is_joined = false;
        let indent: usize = self.indents.iter().sum();
        for line in lines {
            let marker = self.marker.take().unwrap_or_default();
            let before = indent.saturating_sub(marker.len());
            self.text.push_str(format!("{:before$}{marker}{line}", "").trim_end());
            self.text.push('\n');
        }
    }

    /// Writes the table in columns if they have room, and otherwise a block for each row: the first cell, and the
    /// others below it.
    fn table(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let count = rows.iter().map(Vec::len).max().unwrap_or(0);
        let of_column = |at: usize| rows.iter().filter_map(move |row| row.get(at));
        let widths: Vec<usize> =
            (0..count).map(|at| of_column(at).map(|cell| visible(cell)).max().unwrap_or(0)).collect();
        let is_narrow = widths.iter().map(|width| width.saturating_add(2)).sum::<usize>() <= self.columns;
        if is_narrow {
            let line = |row: Vec<String>| {
                let cells = row.iter().zip(&widths);
                cells
                    .map(|(cell, width)| format!("{cell}{:1$}", "", width.saturating_sub(visible(cell)) + 2))
                    .collect()
            };
            return self.lines(rows.into_iter().map(line));
        }
        let mut rows = rows.into_iter();
        let head = rows.next().unwrap_or_default();
        let room = self.columns.saturating_sub(4);
        for row in rows {
            let mut cells = row.into_iter().zip(&head);
            let first = cells.next().map(|(cell, _)| cell);
            let others = cells.filter(|(cell, _)| !cell.is_empty());
            let others: Vec<String> = others
                .flat_map(|(cell, head)| {
                    filled(&if count > 2 { format!("{head}: {cell}") } else { cell }, room)
                })
                .map(|line| format!("    {line}"))
                .collect();
            self.lines(first.into_iter().chain(others));
        }
    }
}

/// Breaks a text at spaces into lines of at most this many columns.
fn filled(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if visible(line).saturating_add(1).saturating_add(visible(word)) <= columns => {
                line.extend([" ", word]);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns how many columns a text takes, without its styles.
fn visible(text: &str) -> usize {
    width(&anstream::adapter::strip_str(text).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_is_text_without_marks() {
        let rows = [
            ("a heading", "# Do\n\n## This `now`", "Do\n\nThis now\n"),
            ("a link to a file", "see [the page](../a/b.md) and [that](c.md#d)", "see the page and that\n"),
            ("a place on the page", "- [Filters](#filters)\n", "- Filters\n"),
            ("an address", "see [the site](https://a.example/)", "see the site (https://a.example/)\n"),
            ("an address alone", "<https://a.example/>", "https://a.example/\n"),
            ("brackets", "`[::1]` (loopback), [a], x[1](2", "`[::1]` (loopback), [a], x[1](2\n"),
            ("code", "[a](b)\n```sh\n[a](b)\n\n  x\n```\n[a](b)", "a\n\n    [a](b)\n\n      x\n\na\n"),
            (
                "a list",
                "1. one\n   two\n2. three\n   - four\n\nfive",
                "1. one two\n2. three\n   - four\n\nfive\n",
            ),
            ("emphasis", "*one* **two** \\*", "one two *\n"),
            ("a table", "| a | b |\n| - | - |\n| one | `|` two |", "a    b\none  `\n"),
            ("no HTML", "one <!-- two -->\n\n<!-- three -->", "one\n"),
            (
                "a wide table",
                "| a | b | c |\n| - | - | - |\n| one | two two two two two two two two two two two two two two \
                 two two two two two two | three |",
                "one\n    b: two two two two two two two two two two two two two two two two two two\n    two two\n    \
                 c: three\n",
            ),
        ];
        for (name, markdown, expected) in rows {
            assert_eq!(rendered(markdown, None, false), expected, "{name}");
        }
        let long = rendered(&"word ".repeat(40), Some(30), false);
        assert!(long.lines().count() == 7 && long.lines().all(|line| line.len() <= 30), "{long}");
    }

    #[test]
    fn styles_add_nothing_else() {
        let markdown = "# A `b`\n\n`c` *d* **e** [f](g.md)\n\n| h | `i` |\n| - | - |\n| j | k |";
        let styled = rendered(markdown, None, true);
        assert!(styled.starts_with(&format!("{HEADING}A b{HEADING:#}\n")), "{styled:?}");
        let plain = rendered(markdown, None, false).replace('`', "");
        assert_eq!(anstream::adapter::strip_str(&styled).to_string(), plain);
    }
}
