//! The words of `--only`, and the rows that they show.

use crate::support::transcript::Side;
use crate::view::row::{Kind, Row};
use std::mem::discriminant;

/// Which rows to show. For each column that a word is about, one of its words must match; no word with a minus sign may
/// match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    shown: Vec<Column>,
    hidden: Vec<Column>,
}

/// A word of `--only`. A minus sign before it hides the rows that match it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    hides: bool,
    column: Column,
}

/// A word, with the column that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    From(Side),
    Kind(Kind),
    Conn(u32),
    /// A part of the name of a method or of a tool, in lower case.
    Name(String),
}

impl Filter {
    pub(crate) fn shows(&self, row: &Row) -> bool {
        let is_column = |word: &Column, of: &Column| discriminant(word) == discriminant(of);
        let agrees = |of: &Column| self.shown.iter().any(|word| is_column(word, of) && word.agrees(row));
        self.shown.iter().all(agrees) && !self.hidden.iter().any(|word| word.agrees(row))
    }
}

impl FromIterator<Word> for Filter {
    fn from_iter<I: IntoIterator<Item = Word>>(words: I) -> Self {
        let mut filter = Self::default();
        for word in words {
            let list = if word.hides { &mut filter.hidden } else { &mut filter.shown };
            list.push(word.column);
        }
        filter
    }
}

impl Word {
    /// Parses a word.
    ///
    /// # Errors
    /// If the word is empty.
    pub(crate) fn parse(word: &str) -> Result<Self, &'static str> {
        let shown = word.strip_prefix('-');
        match shown.unwrap_or(word) {
            "" => Err("give a word, such as openDiff, request, agent or -ping"),
            name => Ok(Self { hides: shown.is_some(), column: Column::parse(name) }),
        }
    }
}

impl Column {
    fn parse(word: &str) -> Self {
        let word = word.to_lowercase();
        let kind = || Kind::ALL.into_iter().find(|kind| kind.word() == word);
        match word.as_str() {
            "agent" => Self::From(Side::Agent),
            "editor" => Self::From(Side::Editor),
            _ => match (kind(), word.parse()) {
                (Some(kind), _) => Self::Kind(kind),
                (None, Ok(conn)) => Self::Conn(conn),
                (None, Err(_)) => Self::Name(word),
            },
        }
    }

    fn agrees(&self, row: &Row) -> bool {
        match self {
            Self::From(side) => row.from == Some(*side),
            // An error is an answer too.
            Self::Kind(Kind::Answer) => matches!(row.kind, Kind::Answer | Kind::Error),
            Self::Kind(kind) => row.kind == *kind,
            Self::Conn(conn) => row.conn == *conn,
            Self::Name(part) => [Some(&row.method), row.tool.as_ref()]
                .into_iter()
                .flatten()
                .any(|name| name.to_lowercase().contains(part)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::transcript::{Line, What};
    use ide_mcp::Time;

    #[test]
    fn words_of_one_column_are_alternatives() {
        let row = |conn, from, kind, method: &str, tool: Option<&str>| {
            let line = Line { at: Time::ZERO, conn, what: What::Text(from, String::new()), by_tap: false };
            Row::new(&line, kind).of(method, tool.map(Into::into))
        };
        let rows = [
            row(1, Side::Agent, Kind::Request, "tools/call", Some("openDiff")),
            row(1, Side::Editor, Kind::Answer, "tools/call", Some("openDiff")),
            row(2, Side::Agent, Kind::Request, "tools/list", None),
            row(2, Side::Editor, Kind::Notification, "selection_changed", None),
            row(2, Side::Editor, Kind::Ping, "", None),
            row(3, Side::Agent, Kind::Error, "roots/list", None),
        ];
        let cases: &[(&[&str], &[usize])] = &[
            (&[], &[0, 1, 2, 3, 4, 5]),
            (&["answer"], &[1, 5]),
            (&["error"], &[5]),
            (&["-answer"], &[0, 2, 3, 4]),
            (&["openDiff"], &[0, 1]),
            (&["OPENDIFF"], &[0, 1]),
            (&["diff", "selection"], &[0, 1, 3]),
            (&["tools/"], &[0, 1, 2]),
            (&["agent"], &[0, 2, 5]),
            (&["agent", "editor"], &[0, 1, 2, 3, 4, 5]),
            (&["agent", "diff"], &[0]),
            (&["request", "ping"], &[0, 2, 4]),
            (&["2"], &[2, 3, 4]),
            (&["2", "editor", "-ping"], &[3]),
            (&["-ping"], &[0, 1, 2, 3, 5]),
            (&["-diff", "-2"], &[5]),
            (&["diff", "-answer"], &[0]),
            (&["nosuch"], &[]),
        ];
        for (words, expected) in cases {
            let filter: Filter = words.iter().map(|word| Word::parse(word).unwrap()).collect();
            assert_eq!(filter == Filter::default(), words.is_empty());
            let shown: Vec<usize> = (0..rows.len()).filter(|index| filter.shows(&rows[*index])).collect();
            assert_eq!(shown, *expected, "{words:?}");
        }
        for word in ["", "-"] {
            assert!(Word::parse(word).unwrap_err().contains("give a word"));
        }
    }
}
