//! Which tools an editor offers, and how a call becomes a [`ToolRequest`].

use super::tool::{
    CLOSE_ALL_DIFF_TABS, CloseTab, GetDiagnostics, OpenDiff, OpenFile, OtherTool, ToolRequest,
};
use crate::mcp::{Patience, ToolSpec, Tools};
use crate::rpc::{ErrorObject, code};
use alloc::{borrow::Cow, boxed::Box, format, sync::Arc, vec::Vec};
use core::time::Duration;
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::value::RawValue;

/// A tool that an application can handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tool {
    /// `openDiff`. With it `close_tab` and `closeAllDiffTabs` are listed, without which older clients do not use it.
    OpenDiff,
    /// `getDiagnostics`. The model is told what it answers, so offer it only if there is something true to say.
    GetDiagnostics,
    /// `openFile`.
    OpenFile,
}

/// The tools of an editor: those it handles, and its own.
///
/// `close_tab` and `closeAllDiffTabs` are always handled, listed or not, since the client calls them unasked
/// (measured). A call of `openDiff` that nobody handles is refused with -32601 and never gets a verdict.
///
/// ```
/// use ide_mcp::ide::{Tool, ToolSet};
/// let tools = ToolSet::new()
///     .handle(Tool::OpenDiff)
///     .own("countLines", "Counts the lines of a file", r#"{"type":"object"}"#);
/// assert!(tools.names().eq(["openDiff", "close_tab", "closeAllDiffTabs", "countLines"]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ToolSet {
    specs: Vec<ToolSpec>,
    handled: Vec<Tool>,
}

impl ToolSet {
    /// No tools.
    #[must_use]
    pub const fn new() -> Self {
        Self { specs: Vec::new(), handled: Vec::new() }
    }

    /// Offers this tool.
    #[must_use]
    pub fn handle(mut self, tool: Tool) -> Self {
        if !self.handled.contains(&tool) {
            self.handled.push(tool);
            match tool {
                Tool::OpenDiff => self.specs.extend([&OPEN_DIFF, &CLOSE_TAB, &CLOSE_ALL].map(Listing::spec)),
                Tool::GetDiagnostics => self.specs.push(GET_DIAGNOSTICS.spec()),
                Tool::OpenFile => self.specs.push(OPEN_FILE.spec()),
            }
        }
        self
    }

    /// Offers a tool of the application's own, whose calls come as [`ToolRequest::Other`]. `schema` is the JSON
    /// Schema of its arguments.
    ///
    /// The model of the real client sees only `getDiagnostics` and `executeCode` (measured); other clients see all.
    #[must_use]
    pub fn own(
        mut self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        schema: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.specs.push(ToolSpec::new(name, description, schema));
        self
    }

    /// The names of the listed tools, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.specs.iter().map(|spec| spec.name.as_ref())
    }

    fn lists(&self, name: &str) -> bool {
        self.names().any(|listed| listed == name)
    }
}

/// What the sessions of one editor share.
#[derive(Clone, Debug)]
pub(crate) struct SharedTools(pub(crate) Arc<ToolSet>);

impl Tools for SharedTools {
    type Call = ToolRequest;

    fn specs(&self) -> &[ToolSpec] {
        &self.0.specs
    }

    fn check(&self, name: &str) -> Result<(), ErrorObject> {
        if self.0.lists(name) || name == CloseTab::NAME || name == CLOSE_ALL_DIFF_TABS {
            return Ok(());
        }
        // A client that asks for a diff goes on without one (measured); a verdict would be a lie.
        let code = if name == OpenDiff::NAME { code::METHOD_NOT_FOUND } else { code::INVALID_PARAMS };
        Err(ErrorObject::new(code, format!("tool {name} not found")))
    }

    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, arguments: D) -> Result<ToolRequest, D::Error> {
        match name {
            OpenDiff::NAME => OpenDiff::deserialize(arguments).map(ToolRequest::OpenDiff),
            CloseTab::NAME => CloseTab::deserialize(arguments).map(ToolRequest::CloseTab),
            CLOSE_ALL_DIFF_TABS => IgnoredAny::deserialize(arguments).map(|_| ToolRequest::CloseAllDiffTabs),
            GetDiagnostics::NAME if self.0.handled.contains(&Tool::GetDiagnostics) => {
                GetDiagnostics::deserialize(arguments).map(ToolRequest::GetDiagnostics)
            }
            OpenFile::NAME if self.0.handled.contains(&Tool::OpenFile) => {
                OpenFile::deserialize(arguments).map(ToolRequest::OpenFile)
            }
            name => {
                let arguments = Box::<RawValue>::deserialize(arguments)?;
                Ok(ToolRequest::Other(OtherTool::new(name, arguments)))
            }
        }
    }

    fn patience(&self, call: &ToolRequest) -> Patience {
        match call {
            ToolRequest::OpenDiff(_) => Patience::Unlimited,
            ToolRequest::GetDiagnostics(_) => {
                Patience::After { span: DIAGNOSTICS, result: Some(NO_DIAGNOSTICS) }
            }
            ToolRequest::CloseTab(_)
            | ToolRequest::CloseAllDiffTabs
            | ToolRequest::OpenFile(_)
            | ToolRequest::Other(_) => Patience::Default,
        }
    }
}

/// The client waits 500 ms for the problems of a file before it edits it.
const DIAGNOSTICS: Duration = Duration::from_millis(400);
const NO_DIAGNOSTICS: &str = r#"{"content":[{"type":"text","text":"[]"}]}"#;

/// A tool as the VS Code extension lists it.
struct Listing {
    name: &'static str,
    description: &'static str,
    schema: &'static str,
}

impl Listing {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(self.name, self.description, self.schema)
    }
}

const OPEN_DIFF: Listing = Listing {
    name: OpenDiff::NAME,
    description: "Show a proposed change of a file and wait until it is accepted or rejected",
    schema: r#"{"type":"object","properties":{"old_file_path":{"type":"string","description":"Path of the file as it is"},"new_file_path":{"type":"string","description":"Path of the file as it shall be"},"new_file_contents":{"type":"string","description":"The whole proposed text"},"tab_name":{"type":"string","description":"Name of the tab"}},"required":["old_file_path","new_file_path","new_file_contents","tab_name"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}"#,
};

const CLOSE_TAB: Listing = Listing {
    name: CloseTab::NAME,
    description: "",
    schema: r#"{"type":"object","properties":{"tab_name":{"type":"string"}},"required":["tab_name"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}"#,
};

const CLOSE_ALL: Listing = Listing {
    name: CLOSE_ALL_DIFF_TABS,
    description: "Close all diffs that this client has opened",
    schema: r#"{"type":"object","properties":{},"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}"#,
};

const GET_DIAGNOSTICS: Listing = Listing {
    name: GetDiagnostics::NAME,
    description: "Get the problems that the editor knows of",
    schema: r#"{"type":"object","properties":{"uri":{"type":"string","description":"URI of the file; without it, all files"}},"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}"#,
};

const OPEN_FILE: Listing = Listing {
    name: OpenFile::NAME,
    description: "Open a file in the editor, and select a part of it if asked to",
    schema: r#"{"type":"object","properties":{"filePath":{"type":"string","description":"Path of the file"},"preview":{"type":"boolean","default":false,"description":"Whether the tab may be replaced by the next one"},"startText":{"type":"string","description":"Select from the first occurrence of this text"},"endText":{"type":"string","description":"Select to the end of the next occurrence of this text"},"selectToEndOfLine":{"type":"boolean","default":false,"description":"Extend the selection to the end of its line"},"makeFrontmost":{"type":"boolean","default":true,"description":"Whether to take the focus"}},"required":["filePath"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}"#,
};

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn shared(tools: ToolSet) -> SharedTools {
        SharedTools(Arc::new(tools))
    }

    #[test]
    fn every_schema_names_the_members_that_are_read() {
        for listing in [&OPEN_DIFF, &CLOSE_TAB, &CLOSE_ALL, &GET_DIAGNOSTICS, &OPEN_FILE] {
            let schema: Value = serde_json::from_str(listing.schema).unwrap();
            let properties = schema["properties"].as_object().unwrap();
            // One value of the right type for each property makes a call that keeps all of them.
            let arguments: serde_json::Map<_, _> = properties
                .iter()
                .map(|(name, property)| {
                    let value = if property["type"] == "boolean" { Value::Bool(true) } else { "x".into() };
                    (name.clone(), value)
                })
                .collect();
            let tools = shared(ToolSet::new().handle(Tool::GetDiagnostics).handle(Tool::OpenFile));
            let call = tools.decode(listing.name, Value::Object(arguments.clone())).unwrap();
            let written = serde_json::to_value(&call).unwrap();
            assert_eq!(written, Value::Object(arguments), "{}", listing.name);
            for required in schema["required"].as_array().into_iter().flatten() {
                assert!(properties.contains_key(required.as_str().unwrap()), "{}", listing.name);
            }
        }
    }

    #[test]
    fn what_is_not_handled_is_refused() {
        let none = shared(ToolSet::new());
        let codes = |tools: &SharedTools, name: &str| tools.check(name).map_err(|error| error.code);
        assert_eq!(codes(&none, "openDiff"), Err(-32601));
        assert_eq!(codes(&none, "getDiagnostics"), Err(-32602));
        assert_eq!(codes(&none, "executeCode"), Err(-32602));
        assert_eq!(codes(&none, "close_tab"), Ok(()));
        assert_eq!(codes(&none, "closeAllDiffTabs"), Ok(()));
        let some = shared(ToolSet::new().handle(Tool::OpenDiff).own("mine", "", "{}"));
        assert_eq!(codes(&some, "openDiff"), Ok(()));
        assert_eq!(codes(&some, "mine"), Ok(()));
    }

    #[test]
    fn an_own_tool_may_have_a_name_of_the_protocol() {
        let tools = shared(ToolSet::new().own("openFile", "", "{}"));
        let arguments: &RawValue = serde_json::from_str(r#"{"line":1}"#).unwrap();
        let call = tools.decode("openFile", arguments).unwrap();
        assert!(matches!(call, ToolRequest::Other(other) if other.arguments.get() == r#"{"line":1}"#));
    }
}
