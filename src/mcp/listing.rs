//! Lists that come in pages. The client requests one page after the other, and the application gets one list, as if it
//! had come in a single page.
//!
//! A server may send a cursor twice, or pages without end. So lists are limited in pages and bytes, and a cursor is
//! followed only once.

use alloc::{borrow::Cow, borrow::ToOwned, boxed::Box, format, string::String, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::{PeerFault, Timeout};
use crate::rpc::{Json, RequestId, each_member, is_object, name_of, text_of};

/// Which list of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum List {
    /// The tools: `tools/list`.
    Tools,
    /// The resources: `resources/list`.
    Resources,
    /// The templates of resources: `resources/templates/list`.
    ResourceTemplates,
    /// The prompts: `prompts/list`.
    Prompts,
}

impl List {
    /// Returns the method that requests the list.
    pub(super) const fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::ResourceTemplates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// Returns the name of the member of the result that contains the items.
    const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    /// Reads the items of a result. Returns `None` if `raw` has no array of items, or if an item is not a `T`.
    #[cfg(feature = "ide")]
    pub(crate) fn read<T: serde::de::DeserializeOwned>(self, raw: &RawValue) -> Option<Vec<T>> {
        let mut items = None;
        each_member(raw, |name, value| {
            if items.is_none() && name_of(name).as_deref() == Some(self.member()) {
                items = Some(value.get());
            }
        })?;
        crate::rpc::from_json(items?).ok()
    }
}

/// Reads a string of an item. A value of another kind counts as absent, which is the empty string.
pub(super) fn text_or_empty<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Cow<'static, str>, D::Error> {
    // Owned, because a value that is read from a stream or a `serde_json::Value` cannot be borrowed.
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    Ok(text_of(&raw).map_or(Cow::Borrowed(""), |text| Cow::Owned(text.into_owned())))
}

/// Reads an object of an item as it is written. A value of another kind counts as absent, which is the empty string.
pub(super) fn object_or_empty<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Cow<'static, str>, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    Ok(if is_object(&raw) { Cow::Owned(raw.get().to_owned()) } else { Cow::Borrowed("") })
}

/// How many pages and bytes a list may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageLimits {
    pub(super) pages: usize,
    pub(super) bytes: usize,
}

/// A list whose pages are being requested.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) list: List,
    pub(super) timeout: Timeout,
    /// The first request, which is the application's handle for the list. `None` while this first request is the one
    /// that waits for its answer.
    pub(super) handle: Option<RequestId>,
    /// The greatest progress reported so far. The peer may start counting again with each page, but for the application
    /// the list is one request, whose progress must grow.
    pub(super) reached: f64,
    /// The items so far, with commas between them.
    items: String,
    /// The cursors that were followed, as they are written.
    followed: Vec<Json>,
}

/// The result of adding a page.
#[derive(Debug)]
pub(super) enum Turn {
    /// There is more: [`cursor`](Listing::cursor) leads to the next page.
    Next(Listing),
    /// The whole list: this page was the last one.
    Whole(Json),
    /// The list so far: the cursor of this page cannot be followed, for this reason.
    Cut(Json, PeerFault),
    /// The page cannot be read, or the list does not end within the limits.
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

    /// Returns the cursor that the next request must carry: `None` for the first page.
    pub(super) fn cursor(&self) -> Option<&RawValue> {
        self.followed.last().map(|cursor| &**cursor)
    }

    /// Adds a page.
    pub(super) fn add(mut self, page: Json, limits: PageLimits) -> Turn {
        let (mut items, mut next) = (None, None);
        let all = each_member(&page, |name, value| match name_of(name).as_deref() {
            // If a name is present twice, the last one counts, as in JavaScript.
            Some("nextCursor") => next = Some(value),
            Some(name) if name == self.list.member() => items = Some(value.get()),
            Some(_) | None => {}
        });
        let items =
            items.filter(|_| all.is_some()).and_then(|items| items.strip_prefix('[')?.strip_suffix(']'));
        let Some(items) = items.map(str::trim) else { return Turn::Fault(PeerFault::UnreadableList) };
        let next = next.filter(|cursor| cursor.get() != "null");
        if next.is_none() && self.followed.is_empty() {
            return Turn::Whole(page);
        }
        // The cursors count too, because they are kept in order to recognize a repeated one.
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
        let is_known = |cursor: &RawValue| self.followed.iter().any(|known| known.get() == cursor.get());
        match next {
            None => self.whole(Turn::Whole),
            // Return the items that we have instead of failing because of the cursor. The real client ends such a list
            // after some 20 pages.
            Some(cursor) if !cursor.get().starts_with('"') || is_known(cursor) => {
                self.whole(|list| Turn::Cut(list, PeerFault::BrokenCursor))
            }
            Some(_) if self.followed.len().saturating_add(1) >= limits.pages => {
                Turn::Fault(PeerFault::EndlessList)
            }
            Some(cursor) => {
                self.followed.push(cursor.into());
                Turn::Next(self)
            }
        }
    }

    fn whole(self, turn: impl FnOnce(Json) -> Turn) -> Turn {
        let text = format!("{{\"{}\":[{}]}}", self.list.member(), self.items);
        RawValue::from_string(text).map_or(Turn::Fault(PeerFault::UnreadableList), |list| turn(list.into()))
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
    use crate::mcp::{PromptSpec, ResourceSpec, ResourceTemplate, ToolSpec};
    use alloc::string::ToString;

    const LIMITS: PageLimits = PageLimits { pages: 4, bytes: 20 };

    /// Returns the result of a list with these pages.
    fn gather(pages: &[&str]) -> String {
        let mut listing = Listing::new(List::Prompts, Timeout::Default);
        let mut pages = pages.iter();
        loop {
            let page = RawValue::from_string((*pages.next().unwrap()).to_string()).unwrap().into();
            listing = match listing.add(page, LIMITS) {
                Turn::Next(next) => next,
                Turn::Whole(whole) => return whole.get().to_string(),
                Turn::Cut(list, fault) => return format!("{fault:?} {}", list.get()),
                Turn::Fault(fault) => return format!("{fault:?}"),
            };
        }
    }

    #[test]
    fn pages_become_one_list() {
        const CASES: &[(&str, &[&str], &str)] = &[
            ("one, as it is", &[r#"{"prompts": [1], "_meta":{}}"#], r#"{"prompts": [1], "_meta":{}}"#),
            (
                "a cursor of null ends the list",
                &[r#"{"prompts":[],"nextCursor":null}"#],
                r#"{"prompts":[],"nextCursor":null}"#,
            ),
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
                &[r#"{"prompts":[1],"nextCursor":"a"}"#, r#"{"prompts":[2],"nextCursor":"a"}"#],
                r#"BrokenCursor {"prompts":[1,2]}"#,
            ),
            (
                "the empty cursor again",
                &[r#"{"prompts":[1],"nextCursor":""}"#, r#"{"prompts":[],"nextCursor":""}"#],
                r#"BrokenCursor {"prompts":[1]}"#,
            ),
            (
                "the same cursor on the last page of the limit",
                &[
                    r#"{"prompts":[1],"nextCursor":"a"}"#,
                    r#"{"prompts":[2],"nextCursor":"b"}"#,
                    r#"{"prompts":[3],"nextCursor":"c"}"#,
                    r#"{"prompts":[4],"nextCursor":"a"}"#,
                ],
                r#"BrokenCursor {"prompts":[1,2,3,4]}"#,
            ),
            (
                "two members with the same name",
                &[r#"{"prompts":7,"nextCursor":"a","prompts":[1],"nextCursor":null}"#],
                r#"{"prompts":7,"nextCursor":"a","prompts":[1],"nextCursor":null}"#,
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
            (
                "a cursor one byte longer than the limit",
                &[r#"{"prompts":[],"nextCursor":"1234567890123456789"}"#],
                "EndlessList",
            ),
            ("a name with an escape", &[r#"{"pr\u006fmpts":[1]}"#], r#"{"pr\u006fmpts":[1]}"#),
            ("not an object", &["[]"], "UnreadableList"),
            ("null", &["null"], "UnreadableList"),
            ("no items", &[r#"{"tools":[]}"#], "UnreadableList"),
            ("items that are not an array", &[r#"{"prompts":{}}"#], "UnreadableList"),
            (
                "a cursor that is a number",
                &[r#"{"prompts":[1],"nextCursor":1}"#],
                r#"BrokenCursor {"prompts":[1]}"#,
            ),
        ];
        for (name, pages, want) in CASES {
            assert_eq!(gather(pages), *want, "{name}");
        }
    }

    /// Items can also be read from owned values: an application may keep a list as a `serde_json::Value`.
    #[test]
    fn items_are_read_from_owned_values() {
        fn read<T: serde::de::DeserializeOwned + PartialEq + core::fmt::Debug>(text: &str) {
            let borrowed: T = serde_json::from_str(text).unwrap();
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::from_value::<T>(value).unwrap(), borrowed, "{text}");
        }
        read::<ToolSpec>(r#"{"name":"a","title":1,"description":"\u0064","inputSchema":{"type":"object"}}"#);
        read::<PromptSpec>(r#"{"name":"a","description":"d","arguments":[{"name":"b","required":true}]}"#);
        read::<ResourceSpec>(r#"{"uri":"a:b","name":"c","mimeType":"text/plain"}"#);
        read::<ResourceTemplate>(r#"{"uriTemplate":"a:{b}","name":"c","description":"d"}"#);
    }

    /// Members other than the items and the cursor are read, but not kept.
    #[test]
    fn page_memory_is_bounded_by_its_items() {
        let others = "\"x\":0,".repeat(1_000_000);
        let text = format!(r#"{{{others}"prompts":[1],"nextCursor":"a"}}"#);
        let page = RawValue::from_string(text).unwrap().into();
        let listing = Listing::new(List::Prompts, Timeout::Default);
        let measured = allocation_counter::measure(|| {
            assert!(matches!(listing.add(page, LIMITS), Turn::Next(_)));
        });
        assert!(measured.bytes_max < 1024, "{} bytes", measured.bytes_max);
    }
}
