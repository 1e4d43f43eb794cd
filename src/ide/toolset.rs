//! Which tools an editor offers, and how a call becomes a [`ToolRequest`].

use super::{Dialect, OtherTool, Tool, ToolRequest};
use crate::mcp::{Timeout, ToolSpec, Tools};
use crate::rpc::ErrorObject;
use alloc::{borrow::Cow, boxed::Box, format, sync::Arc, vec::Vec};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The tools of an editor: those it handles, and its own; and the dialect in which it speaks of them.
///
/// `close_tab`, `closeAllDiffTabs` and `set_permission_mode` are always handled, listed or not: the real client calls
/// `closeAllDiffTabs` where nothing is listed (measured), and is said to call the two others so. A call of `openDiff`
/// that nobody handles is refused with -32601 and never gets a verdict.
///
/// ```
/// use ide_mcp::ide::{Tool, ToolSet};
/// let tools = ToolSet::new()
///     .handle(Tool::OpenDiff)
///     .custom("countLines", "Counts the lines of a file", r#"{"type":"object"}"#);
/// assert!(tools.names().eq(["openDiff", "close_tab", "closeAllDiffTabs", "countLines"]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ToolSet {
    dialect: Dialect,
    specs: Vec<ToolSpec>,
    handled: Vec<Tool>,
    own: Vec<Cow<'static, str>>,
}

impl ToolSet {
    /// No tools, in the dialect of VS Code, which is what the real client understands.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_dialect(Dialect::VsCode)
    }

    /// No tools, in this dialect.
    #[must_use]
    pub const fn with_dialect(dialect: Dialect) -> Self {
        Self { dialect, specs: Vec::new(), handled: Vec::new(), own: Vec::new() }
    }

    /// Offers this tool.
    #[must_use]
    pub fn handle(mut self, tool: Tool) -> Self {
        for tool in core::iter::once(&tool).chain(tool.declaration().listed_with) {
            let name = tool.name(self.dialect);
            if !self.lists(name) {
                self.specs.push(tool.spec(self.dialect));
            }
        }
        self.handle_unlisted(tool)
    }

    /// Handles this tool without listing it: for clients that call it all the same, without their model seeing it.
    #[must_use]
    pub fn handle_unlisted(mut self, tool: Tool) -> Self {
        if !self.handles(tool) {
            self.handled.push(tool);
        }
        self
    }

    /// Offers a tool of the application's own, whose calls come as [`ToolRequest::Other`]. `schema` is the JSON
    /// Schema of its arguments. It may have the name of a tool of the protocol, except those that
    /// the machine handles and `openDiff`: these are listed as you say, and handled as ever. What was listed under its
    /// name before is not listed any more.
    ///
    /// The model of the real client sees only `getDiagnostics` and `executeCode` (measured); other clients see all.
    #[must_use]
    pub fn custom(
        mut self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        schema: impl Into<Cow<'static, str>>,
    ) -> Self {
        let name = name.into();
        let spec = ToolSpec::new(name.clone(), description, schema);
        // A client is to find each name once.
        match self.specs.iter_mut().find(|listed| listed.name == name) {
            Some(listed) => *listed = spec,
            None => self.specs.push(spec),
        }
        self.own.push(name);
        self
    }

    /// The names of the listed tools, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.specs.iter().map(|spec| spec.name.as_ref())
    }

    /// In which dialect the editor speaks.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(crate) fn handles(&self, tool: Tool) -> bool {
        self.handled.contains(&tool)
    }

    fn lists(&self, name: &str) -> bool {
        self.names().any(|listed| listed == name)
    }

    /// What a call of this name is; `None` for nothing that is handled.
    fn called(&self, name: &str) -> Option<Called> {
        let is_own = self.own.iter().any(|own| own == name);
        match Tool::from_name(name) {
            Some(tool) if tool.declaration().is_built_in || (is_own && tool == Tool::OpenDiff) => {
                Some(Called::Known(tool))
            }
            _ if is_own => Some(Called::Own),
            Some(tool) if self.handles(tool) => Some(Called::Known(tool)),
            Some(_) | None => None,
        }
    }
}

enum Called {
    Known(Tool),
    Own,
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
        if self.0.called(name).is_some() {
            return Ok(());
        }
        let refusal = Tool::from_name(name).and_then(|tool| tool.declaration().refusal);
        let code = refusal.unwrap_or_else(|| self.0.dialect.rules().unknown_tool);
        Err(ErrorObject::new(code, format!("tool {name} not found")))
    }

    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, arguments: D) -> Result<ToolRequest, D::Error> {
        if let Some(Called::Known(tool)) = self.0.called(name) {
            return ToolRequest::read(tool, arguments);
        }
        let arguments = Box::<RawValue>::deserialize(arguments)?;
        Ok(ToolRequest::Other(OtherTool::new(name, arguments)))
    }

    fn timeout(&self, call: &ToolRequest) -> Timeout {
        call.timeout()
    }

    fn result_when_late(&self, call: &ToolRequest) -> Option<&'static str> {
        call.tool()?.result_when_late(self.0.dialect)
    }

    /// What ends diffs is not behind them.
    fn is_answered_at_once(&self, name: &str) -> bool {
        Tool::from_name(name).is_some_and(|tool| tool.declaration().is_built_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(tools: ToolSet) -> SharedTools {
        SharedTools(Arc::new(tools))
    }

    #[test]
    fn tools_are_called_by_the_names_of_every_dialect() {
        for dialect in Dialect::ALL {
            let tools = shared(
                ToolSet::with_dialect(dialect).handle(Tool::OpenFile).handle_unlisted(Tool::GetOpenEditors),
            );
            assert_eq!(tools.0.names().collect::<Vec<_>>(), [Tool::OpenFile.name(dialect)]);
            for name in ["openFile", "open_file"] {
                let arguments: &RawValue = serde_json::from_str(r#"{"file_path":"/a"}"#).unwrap();
                assert!(tools.check(name).is_ok(), "{name}");
                let call = tools.decode(name, arguments).unwrap();
                assert!(matches!(call, ToolRequest::OpenFile(file) if file.file_path == "/a"), "{name}");
            }
            assert!(tools.check("getOpenEditors").is_ok());
            let unknown = tools.check("getDiagnostics").unwrap_err().code;
            assert_eq!(unknown, dialect.rules().unknown_tool, "{dialect:?}");
            assert_eq!(tools.check("openDiff").unwrap_err().code, -32601, "{dialect:?}");
        }
    }

    #[test]
    fn nothing_is_listed_twice() {
        let tools = ToolSet::new().handle(Tool::CloseTab).handle(Tool::OpenDiff).handle(Tool::OpenDiff);
        assert!(tools.names().eq(["close_tab", "openDiff", "closeAllDiffTabs"]));
        let tools = ToolSet::new()
            .handle(Tool::GetDiagnostics)
            .custom("x", "1", "{}")
            .custom("x", "2", "{}")
            .custom("getDiagnostics", "ours", "{}");
        assert!(tools.names().eq(["getDiagnostics", "x"]), "{tools:?}");
        assert!(tools.specs.iter().map(|spec| &*spec.description).eq(["ours", "2"]), "the last counts");
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
        assert_eq!(codes(&none, "set_permission_mode"), Ok(()));
        let some = shared(ToolSet::new().handle(Tool::OpenDiff).custom("mine", "", "{}"));
        assert_eq!(codes(&some, "openDiff"), Ok(()));
        assert_eq!(codes(&some, "mine"), Ok(()));
    }

    #[test]
    fn an_own_tool_may_have_a_name_of_the_protocol() {
        let tools = shared(ToolSet::new().custom("openFile", "", "{}"));
        let arguments: &RawValue = serde_json::from_str(r#"{"line":1}"#).unwrap();
        let call = tools.decode("openFile", arguments).unwrap();
        assert!(matches!(call, ToolRequest::Other(other) if other.arguments.get() == r#"{"line":1}"#));
    }
}
