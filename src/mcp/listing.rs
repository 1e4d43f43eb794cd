//! Lists that come in pages: the next one is asked for until there is none, and the whole is handed over as if it had
//! been one.
//!
//! A server that gives the same cursor again, or pages without end, would be asked for ever. So what is gathered is
//! limited in pages and bytes, and no cursor is followed twice.

use alloc::{borrow::ToOwned, boxed::Box, format, string::String, vec::Vec};

use serde::Serialize;
use serde_json::value::RawValue;

use super::{PeerFault, Timeout};
use crate::rpc::{RequestId, each_member, text_of};

/// A list of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum List {
    /// `tools/list`
    Tools,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    ResourceTemplates,
    /// `prompts/list`
    Prompts,
}

impl List {
    /// The method that asks for it.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::ResourceTemplates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// The member of the result that has the items.
    const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }
}

/// How much of a list is gathered.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageLimits {
    pub(super) pages: usize,
    pub(super) bytes: usize,
}

/// A list on its way.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) list: List,
    pub(super) timeout: Timeout,
    /// The first request, by which the application knows it; `None` while that is the one that waits.
    pub(super) handle: Option<RequestId>,
    /// The greatest progress that was reported of the list. Each page counts anew; the application sees one request.
    pub(super) reached: f64,
    /// The items so far, with commas between them.
    items: String,
    /// The cursors that were followed, as they are written.
    followed: Vec<Box<RawValue>>,
}

/// What a page leads to.
#[derive(Debug)]
pub(super) enum Turn {
    /// The next page, behind the last cursor.
    Next(Listing),
    /// That was the last one; this is the whole.
    Whole(Box<RawValue>),
    /// The page cannot be read, or the list has no end within the limits.
    Fault(PeerFault),
}

impl Listing {
    pub(super) const fn new(list: List, timeout: Timeout) -> Self {
        Self {
            list,
            timeout,
            handle: None,
            reached: f64::NEG_INFINITY,
            items: String::new(),
            followed: Vec::new(),
        }
    }

    /// What the next request must carry: nothing for the first page.
    pub(super) fn cursor(&self) -> Option<&RawValue> {
        self.followed.last().map(|cursor| &**cursor)
    }

    /// Adds a page.
    pub(super) fn add(mut self, page: Box<RawValue>, limits: PageLimits) -> Turn {
        let (mut items, mut next) = (None, None);
        let all = each_member(&page, |name, value| match text_of(name).as_deref() {
            Some("nextCursor") if next.is_none() => next = Some(value),
            Some(name) if name == self.list.member() && items.is_none() => items = Some(value.get()),
            Some(_) | None => {}
        });
        let items =
            items.filter(|_| all.is_some()).and_then(|items| items.strip_prefix('[')?.strip_suffix(']'));
        let Some(items) = items.map(str::trim) else { return Turn::Fault(PeerFault::UnreadableList) };
        let next = next.filter(|cursor| cursor.get() != "null");
        if next.is_none() && self.followed.is_empty() {
            return Turn::Whole(page);
        }
        // The cursors are kept as well, to see that one comes again.
        let cursors =
            self.followed.iter().map(|cursor| &**cursor).chain(next).map(|cursor| cursor.get().len());
        let held = cursors.fold(self.items.len().saturating_add(items.len()), usize::saturating_add);
        if held > limits.bytes {
            return Turn::Fault(PeerFault::EndlessList);
        }
        if !items.is_empty() {
            if !self.items.is_empty() {
                self.items.push(',');
            }
            self.items.push_str(items);
        }
        match next {
            None => self.whole(),
            Some(cursor) if !cursor.get().starts_with('"') => Turn::Fault(PeerFault::UnreadableList),
            Some(cursor) => {
                let again = self.followed.iter().any(|known| known.get() == cursor.get());
                if again || self.followed.len().saturating_add(1) >= limits.pages {
                    return Turn::Fault(PeerFault::EndlessList);
                }
                self.followed.push(cursor.to_owned());
                Turn::Next(self)
            }
        }
    }

    fn whole(self) -> Turn {
        let text = format!("{{\"{}\":[{}]}}", self.list.member(), self.items);
        RawValue::from_string(text).map_or(Turn::Fault(PeerFault::UnreadableList), Turn::Whole)
    }
}

/// The parameters of a request for a later page.
#[derive(Serialize)]
pub(super) struct Cursor<'a> {
    pub(super) cursor: &'a RawValue,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    const LIMITS: PageLimits = PageLimits { pages: 4, bytes: 20 };

    /// What becomes of a list whose pages are these.
    fn gather(pages: &[&str]) -> String {
        let mut listing = Listing::new(List::Prompts, Timeout::Default);
        let mut pages = pages.iter();
        loop {
            let page = RawValue::from_string((*pages.next().unwrap()).to_string()).unwrap();
            listing = match listing.add(page, LIMITS) {
                Turn::Next(next) => next,
                Turn::Whole(whole) => return whole.get().to_string(),
                Turn::Fault(fault) => return format!("{fault:?}"),
            };
        }
    }

    #[test]
    fn pages_become_a_whole() {
        const CASES: &[(&str, &[&str], &str)] = &[
            ("one, as it is", &[r#"{"prompts": [1], "_meta":{}}"#], r#"{"prompts": [1], "_meta":{}}"#),
            ("null ends", &[r#"{"prompts":[],"nextCursor":null}"#], r#"{"prompts":[],"nextCursor":null}"#),
            (
                "three, one of them empty",
                &[
                    r#"{"prompts":[ 1, 2 ],"nextCursor":"a"}"#,
                    r#"{"prompts":[],"nextCursor":""}"#,
                    r#"{"prompts":[3]}"#,
                ],
                r#"{"prompts":[1, 2,3]}"#,
            ),
            (
                "the same cursor",
                &[r#"{"prompts":[],"nextCursor":"a"}"#, r#"{"prompts":[],"nextCursor":"a"}"#],
                "EndlessList",
            ),
            (
                "as many pages as the limit",
                &[
                    r#"{"prompts":[1],"nextCursor":"a"}"#,
                    r#"{"prompts":[2],"nextCursor":"b"}"#,
                    r#"{"prompts":[3],"nextCursor":"c"}"#,
                    r#"{"prompts":[4]}"#,
                ],
                r#"{"prompts":[1,2,3,4]}"#,
            ),
            (
                "one more",
                &[
                    r#"{"prompts":[1],"nextCursor":"a"}"#,
                    r#"{"prompts":[2],"nextCursor":"b"}"#,
                    r#"{"prompts":[3],"nextCursor":"c"}"#,
                    r#"{"prompts":[4],"nextCursor":"d"}"#,
                ],
                "EndlessList",
            ),
            (
                "more bytes than the limit",
                &[r#"{"prompts":[1234567890],"nextCursor":"a"}"#, r#"{"prompts":[12345678901]}"#],
                "EndlessList",
            ),
            (
                "a cursor as long as the limit",
                &[r#"{"prompts":[],"nextCursor":"123456789012345678"}"#, r#"{"prompts":[]}"#],
                r#"{"prompts":[]}"#,
            ),
            ("one byte longer", &[r#"{"prompts":[],"nextCursor":"1234567890123456789"}"#], "EndlessList"),
            ("a name with an escape", &[r#"{"pr\u006fmpts":[1]}"#], r#"{"pr\u006fmpts":[1]}"#),
            ("no object", &["[]"], "UnreadableList"),
            ("null", &["null"], "UnreadableList"),
            ("no items", &[r#"{"tools":[]}"#], "UnreadableList"),
            ("items that are none", &[r#"{"prompts":{}}"#], "UnreadableList"),
            ("a cursor that is a number", &[r#"{"prompts":[],"nextCursor":1}"#], "UnreadableList"),
        ];
        for (name, pages, want) in CASES {
            assert_eq!(gather(pages), *want, "{name}");
        }
    }

    /// What a page says beside its items and its cursor is looked over, not gathered.
    #[test]
    fn a_page_costs_what_it_says_and_no_more() {
        let others = "\"x\":0,".repeat(1_000_000);
        let text = format!(r#"{{{others}"prompts":[1],"nextCursor":"a"}}"#);
        let page = RawValue::from_string(text).unwrap();
        let listing = Listing::new(List::Prompts, Timeout::Default);
        let measured = allocation_counter::measure(|| {
            assert!(matches!(listing.add(page, LIMITS), Turn::Next(_)));
        });
        assert!(measured.bytes_max < 1024, "{} bytes", measured.bytes_max);
    }
}
