//! What an editor offers, and how a call is decoded into a [`ToolRequest`].

use super::{OtherTool, Tool, ToolRequest};
use crate::ide::Dialect;
use crate::mcp::{ResourceSpec, Served, Timeout, ToolSpec, Tools, context::put};
use crate::rpc::{ErrorObject, read_object};
use alloc::{borrow::Cow, boxed::Box, format, sync::Arc, vec::Vec};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _, IgnoredAny},
};
use serde_json::value::RawValue;

/// What your editor offers: tools of the protocol that you handle, and tools of your own. Each session lists them in
/// its dialect.
///
/// [`Server`](crate::ide::Server) always handles `close_tab`, `closeAllDiffTabs` and `set_permission_mode`, listed or
/// not: the real client calls `closeAllDiffTabs` even if no tool is listed (measured), and is said to do so with the
/// other two. If you do not handle `openDiff`, its calls are refused with -32601.
///
/// ```
/// use ide_mcp::ide::tool::{Tool, ToolSet};
/// use ide_mcp::ide::Dialect;
/// let tools = ToolSet::new()
///     .handle(Tool::OpenDiff)
///     .custom("countLines", "Counts the lines of a file", r#"{"type":"object"}"#);
/// assert!(tools.names(Dialect::VsCode).eq(["openDiff", "close_tab", "closeAllDiffTabs", "countLines"]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ToolSet {
    /// The entries of `tools/list`, once in each [spelling].
    specs: [Vec<ToolSpec>; 2],
    handled: Vec<Tool>,
    own: Vec<OwnTool>,
    /// What the application decided: the name of a tool, and whether models get it.
    model_marks: Vec<(Cow<'static, str>, bool)>,
    /// True for a set of [tools for models](Self::for_models), which lacks the tools that the server answers itself.
    is_for_models: bool,
}

/// A tool of the application's own.
#[derive(Clone, Debug)]
struct OwnTool {
    name: Cow<'static, str>,
    /// The tool of the protocol that has this name in any spelling.
    replaced: Option<Tool>,
    /// Decodes the arguments into the type that the tool was offered with.
    decode: Option<Decode>,
}

type Decode =
    for<'de> fn(&str, &mut dyn erased_serde::Deserializer<'de>) -> Result<OtherTool, erased_serde::Error>;

/// One dialect for each of the two spellings of names, such as `openFile` and `open_file`.
const SPELLINGS: [Dialect; 2] = [Dialect::VsCode, Dialect::SnakeCase];

/// Returns the index of the spelling of a dialect. The entries of `tools/list` depend on nothing else in the dialect.
fn spelling(dialect: Dialect) -> usize {
    usize::from(dialect.rules().snake_case)
}

impl<const N: usize> From<[Tool; N]> for ToolSet {
    /// Offers these tools, as [`handle`](ToolSet::handle) does.
    fn from(tools: [Tool; N]) -> Self {
        tools.into_iter().fold(Self::new(), Self::handle)
    }
}

impl ToolSet {
    /// Creates a set without tools.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            specs: [Vec::new(), Vec::new()],
            handled: Vec::new(),
            own: Vec::new(),
            model_marks: Vec::new(),
            is_for_models: false,
        }
    }

    /// Offers this tool.
    #[must_use]
    pub fn handle(mut self, tool: Tool) -> Self {
        for tool in core::iter::once(&tool).chain(tool.declaration().listed_with) {
            for (specs, dialect) in self.specs.iter_mut().zip(SPELLINGS) {
                if specs.iter().all(|listed| listed.name != tool.name(dialect)) {
                    specs.push(tool.spec(dialect));
                }
            }
        }
        self.handle_unlisted(tool)
    }

    /// Handles this tool without listing it, for clients that call unlisted tools. A client does not show such a tool
    /// to its model.
    #[must_use]
    pub fn handle_unlisted(mut self, tool: Tool) -> Self {
        if !self.handles(tool) {
            self.handled.push(tool);
        }
        self
    }

    /// Offers a tool of your own; its calls come as [`ToolCall::Other`](crate::ide::tool::ToolCall::Other). `schema` is
    /// the JSON Schema of its arguments. A new entry replaces an earlier one with the same name.
    ///
    /// If it has the name of a tool of the protocol in any spelling, it replaces that tool in every dialect: it is
    /// listed under the name in the dialect of the session, and you get every call with the name that you pass here.
    /// The exceptions are `openDiff` and the tools that [`Server`](crate::ide::Server) handles: they are listed with
    /// your description and schema, but called as the tool of the protocol.
    ///
    /// Of the tools of its connection, the real client shows its model only `getDiagnostics` and `executeCode`
    /// (measured), so it shows a tool of your own only if you [offer it to models](Self::offer_to_models). Other clients
    /// show all tools.
    #[must_use]
    pub fn custom(
        self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        schema: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.offer(ToolSpec::new(name, description, schema), None)
    }

    /// Offers a tool of your own, as [`custom`](Self::custom) does, whose arguments are decoded as a `T` while the
    /// message is read: [`into_arguments`](OtherTool::into_arguments) returns the `T`. If they do not fit, the call is
    /// refused with the reason, as [`Tools::decode`](crate::mcp::Tools::decode) says. The JSON of the arguments is not
    /// kept, so the call cannot be serialized.
    ///
    /// ```
    /// # use ide_mcp::ide::tool::{OtherTool, ToolSet};
    /// # use ide_mcp::rpc::ErrorObject;
    /// #[derive(serde::Deserialize)]
    /// struct CountLines {
    ///     path: String,
    /// }
    ///
    /// let schema = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;
    /// let tools = ToolSet::new().custom_typed::<CountLines>("countLines", "Counts the lines of a file", schema);
    ///
    /// fn called(tool: OtherTool) -> Result<String, ErrorObject> {
    ///     let CountLines { path } = tool.into_arguments()?;
    ///     Ok(path)
    /// }
    /// ```
    #[must_use]
    pub fn custom_typed<T: DeserializeOwned + Send + Sync + 'static>(
        self,
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        schema: impl Into<Cow<'static, str>>,
    ) -> Self {
        let decode: Decode = |name, arguments| OtherTool::decode::<T, _>(name, arguments);
        self.offer(ToolSpec::new(name, description, schema), Some(decode))
    }

    /// Offers the listed tool with this name, in the spelling of any dialect, to models: on connections at
    /// [`MODELS_TARGET`](crate::ide::MODELS_TARGET). [`withhold_from_models`](Self::withhold_from_models) does the
    /// opposite. The last decision counts, and you may add the tool to the set afterwards.
    ///
    /// By default models get the listed tools of the protocol that change nothing: `getDiagnostics`, `getOpenEditors`,
    /// `get_all_opened_file_paths`, `getWorkspaceFolders`, `getCurrentSelection`, `getLatestSelection`,
    /// `get_cursor_position` and `checkDocumentDirty`. They get neither `executeCode` nor a tool that moves the view of
    /// the person or changes a file, nor any tool of your own, because we cannot know what it does. `openDiff`,
    /// `close_tab`, `closeAllDiffTabs` and `set_permission_mode` belong to agents, and models never get them.
    ///
    /// ```
    /// use ide_mcp::ide::tool::{Tool, ToolSet};
    /// let tools = ToolSet::new()
    ///     .handle(Tool::GetDiagnostics)
    ///     .custom("countLines", "Counts the lines of a file", r#"{"type":"object"}"#)
    ///     .offer_to_models("countLines")
    ///     .withhold_from_models("getCurrentSelection");
    /// # let _ = tools;
    /// ```
    #[must_use]
    pub fn offer_to_models(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.model_marks.push((name.into(), true));
        self
    }

    /// Hides the tool with this name from models, the opposite of [`offer_to_models`](Self::offer_to_models).
    #[must_use]
    pub fn withhold_from_models(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.model_marks.push((name.into(), false));
        self
    }

    /// Returns the names of the listed tools in a dialect, in order.
    pub fn names(&self, dialect: Dialect) -> impl Iterator<Item = &str> {
        self.specs(dialect).iter().map(|spec| spec.name.as_ref())
    }

    fn offer(mut self, spec: ToolSpec, decode: Option<Decode>) -> Self {
        let replaced = Tool::from_name(&spec.name);
        for (specs, dialect) in self.specs.iter_mut().zip(SPELLINGS) {
            let mut spec = spec.clone();
            if let Some(tool) = replaced {
                spec.name = tool.name(dialect).into();
            }
            // Each name is listed once.
            put(specs, spec, |listed| &listed.name);
        }
        self.own.retain(|own| !own.is_called(&spec.name, replaced));
        self.own.push(OwnTool { name: spec.name, replaced, decode });
        self
    }

    fn specs(&self, dialect: Dialect) -> &[ToolSpec] {
        self.specs.get(spelling(dialect)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the resources that the handled tools read, listed or not, in a dialect.
    pub(crate) fn resources(&self, dialect: Dialect) -> impl Iterator<Item = ResourceSpec> {
        self.handled.iter().filter_map(move |tool| tool.resource_spec(dialect))
    }

    /// Returns the listed tools that models get.
    pub(crate) fn for_models(&self) -> Self {
        let mut offered = self.clone();
        offered.is_for_models = true;
        for specs in &mut offered.specs {
            specs.retain(|spec| self.is_offered_to_models(&spec.name));
        }
        let is_listed =
            |is_it: &dyn Fn(&str) -> bool| offered.specs.iter().flatten().any(|spec| is_it(&spec.name));
        offered.own.retain(|own| is_listed(&|name| own.is_called(name, Tool::from_name(name))));
        offered.handled.retain(|tool| is_listed(&|name| Tool::from_name(name) == Some(*tool)));
        offered
    }

    fn is_offered_to_models(&self, name: &str) -> bool {
        let tool = Tool::from_name(name);
        if tool.is_some_and(|tool| !tool.can_be_for_models()) {
            return false;
        }
        let is_this = |mark: &str| mark == name || (tool.is_some() && Tool::from_name(mark) == tool);
        let mark = self.model_marks.iter().rev().find(|(mark, _)| is_this(mark));
        let is_own = || self.own.iter().any(|own| own.is_called(name, tool));
        mark.map_or_else(
            || tool.is_some_and(|tool| tool.declaration().is_read_only) && !is_own(),
            |(_, is_offered)| *is_offered,
        )
    }

    pub(crate) fn handles(&self, tool: Tool) -> bool {
        self.handled.contains(&tool)
    }

    /// Returns true if the server answers the calls of this tool itself.
    fn has_built_in(&self, tool: Tool) -> bool {
        tool.declaration().is_built_in && !self.is_for_models
    }

    /// Returns the tool that a call with this name reaches; `None` if it is not handled.
    fn called(&self, name: &str) -> Option<Called<'_>> {
        let known = Tool::from_name(name);
        let own = self.own.iter().find(|own| own.is_called(name, known)).map(Called::Own);
        let Some(tool) = known else { return own };
        // A tool of the application's own replaces the tool of the protocol with its name, except `openDiff` and the
        // tools that the server handles itself.
        let is_handled = if own.is_some() { tool == Tool::OpenDiff } else { self.handles(tool) };
        if is_handled || self.has_built_in(tool) { Some(Called::Known(tool)) } else { own }
    }
}

impl OwnTool {
    /// Returns true if a call with this name is a call of this tool. `known` is the tool of the protocol with the name.
    fn is_called(&self, name: &str, known: Option<Tool>) -> bool {
        self.name == name || known.is_some() && self.replaced == known
    }
}

enum Called<'a> {
    Known(Tool),
    Own(&'a OwnTool),
}

/// The tools of an editor, in the dialect of one session.
#[derive(Clone, Debug)]
pub(crate) struct SharedTools {
    pub(crate) tools: Arc<ToolSet>,
    pub(crate) dialect: Dialect,
    /// True once we know that the client asks for the problems of a file before it writes the file.
    pub(crate) announces_edits: bool,
}

/// A call as a session decodes it.
#[derive(Debug)]
pub(crate) struct ReceivedCall {
    pub(crate) request: ToolRequest,
    /// True if the client may make this call at any time, because it reads a resource, or its `_meta` marks it as a
    /// call of the model. All other calls are steps of a turn of the client.
    pub(crate) is_outside_turn: bool,
}

/// What the real client adds to the `_meta` of its model's calls, and never to its own (measured with 2.1.332).
#[derive(Deserialize)]
struct ModelMeta {
    #[serde(rename = "claudecode/toolUseId")]
    tool_use: Option<IgnoredAny>,
}

impl Tools for SharedTools {
    type Call = ReceivedCall;

    fn specs(&self) -> &[ToolSpec] {
        self.tools.specs(self.dialect)
    }

    fn check(&self, name: &str) -> Result<Served, ErrorObject> {
        match self.tools.called(name) {
            // Such a call may end diffs, so it is accepted even if the calls of these diffs fill the table.
            Some(Called::Known(tool)) if self.tools.has_built_in(tool) => return Ok(Served::AtOnce),
            Some(_) => return Ok(Served::Later),
            None => {}
        }
        let refusal = Tool::from_name(name).and_then(|tool| tool.declaration().refusal);
        let code = refusal.unwrap_or_else(|| self.dialect.rules().unknown_tool);
        Err(ErrorObject::new(code, format!("tool {name} not found")))
    }

    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, arguments: D) -> Result<ReceivedCall, D::Error> {
        let request = match self.tools.called(name) {
            Some(Called::Known(tool)) => ToolRequest::read(tool, arguments)?,
            Some(Called::Own(OwnTool { name, decode: Some(decode), .. })) => {
                let mut arguments = <dyn erased_serde::Deserializer<'de>>::erase(arguments);
                ToolRequest::Other(decode(name, &mut arguments).map_err(D::Error::custom)?)
            }
            own => {
                let name = if let Some(Called::Own(own)) = own { &own.name } else { name };
                ToolRequest::Other(OtherTool::new(name, Box::<RawValue>::deserialize(arguments)?))
            }
        };
        Ok(ReceivedCall { request, is_outside_turn: false })
    }

    /// Marks a call of the model. This matters only for `getDiagnostics`.
    fn with_meta(&self, mut call: ReceivedCall, meta: &RawValue) -> ReceivedCall {
        if matches!(call.request, ToolRequest::GetDiagnostics(_)) {
            call.is_outside_turn = read_object::<ModelMeta>(meta).is_some_and(|meta| meta.tool_use.is_some());
        }
        call
    }

    /// Marks the call as the read of a resource, which the person or the model may do at any time.
    fn as_resource(&self, call: ReceivedCall) -> ReceivedCall {
        ReceivedCall { is_outside_turn: true, ..call }
    }

    fn timeout(&self, call: &ReceivedCall) -> Timeout {
        call.request.timeout()
    }

    fn result_when_late(&self, call: &ReceivedCall) -> Option<&'static str> {
        let ToolRequest::GetDiagnostics(arguments) = &call.request else { return None };
        Some(arguments.result_when_late(self.dialect, self.announces_edits && !call.is_outside_turn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(tools: ToolSet) -> SharedTools {
        SharedTools { tools: Arc::new(tools), dialect: Dialect::VsCode, announces_edits: false }
    }

    #[test]
    fn tools_accept_names_of_every_dialect() {
        for dialect in Dialect::ALL {
            let set = ToolSet::new().handle(Tool::OpenFile).handle_unlisted(Tool::GetOpenEditors);
            let tools = SharedTools { dialect, ..shared(set) };
            assert!(tools.specs().iter().map(|spec| &*spec.name).eq([Tool::OpenFile.name(dialect)]));
            for name in ["openFile", "open_file"] {
                let arguments: &RawValue = serde_json::from_str(r#"{"file_path":"/a"}"#).unwrap();
                assert!(tools.check(name).is_ok(), "{name}");
                let call = tools.decode(name, arguments).unwrap().request;
                assert!(matches!(call, ToolRequest::OpenFile(file) if file.file_path == "/a"), "{name}");
            }
            assert!(tools.check("getOpenEditors").is_ok());
            let unknown = tools.check("getDiagnostics").unwrap_err().code;
            assert_eq!(unknown, dialect.rules().unknown_tool, "{dialect:?}");
            assert_eq!(tools.check("openDiff").unwrap_err().code, -32601, "{dialect:?}");
        }
    }

    #[test]
    fn two_spellings_are_enough_for_all_dialects() {
        for (dialect, tool) in
            Dialect::ALL.into_iter().flat_map(|dialect| Tool::ALL.map(|tool| (dialect, tool)))
        {
            let tools = ToolSet::new().handle(tool);
            assert_eq!(tools.specs(dialect).first(), Some(&tool.spec(dialect)), "{dialect:?} {tool:?}");
        }
    }

    #[test]
    fn nothing_is_listed_twice() {
        let tools = ToolSet::new().handle(Tool::CloseTab).handle(Tool::OpenDiff).handle(Tool::OpenDiff);
        assert!(tools.names(Dialect::VsCode).eq(["close_tab", "openDiff", "closeAllDiffTabs"]));
        let tools = ToolSet::new()
            .handle(Tool::GetDiagnostics)
            .custom("x", "1", "{}")
            .custom("x", "2", "{}")
            .custom("getDiagnostics", "ours", "{}");
        assert!(tools.names(Dialect::VsCode).eq(["getDiagnostics", "x"]), "{tools:?}");
        assert!(
            tools.specs(Dialect::VsCode).iter().map(|spec| &*spec.description).eq(["ours", "2"]),
            "the last counts"
        );
    }

    #[test]
    fn unhandled_tool_is_refused() {
        let none = shared(ToolSet::new());
        let codes =
            |tools: &SharedTools, name: &str| tools.check(name).map(|_| ()).map_err(|error| error.code);
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
    fn custom_tool_can_have_a_protocol_name() {
        let raw = |text| serde_json::from_str::<&RawValue>(text).unwrap();
        let handled = || ToolSet::new().handle(Tool::OpenFile);
        let rows = [
            ("alone", ToolSet::new().custom("openFile", "mine", "{}"), "openFile"),
            ("the other spelling", ToolSet::new().custom("open_file", "mine", "{}"), "open_file"),
            ("after the tool", handled().custom("open_file", "mine", "{}"), "open_file"),
            (
                "before the tool",
                ToolSet::new().custom("open_file", "mine", "{}").handle(Tool::OpenFile),
                "open_file",
            ),
            (
                "both spellings",
                handled().custom("openFile", "old", "{}").custom("open_file", "mine", "{}"),
                "open_file",
            ),
        ];
        for (row, set, offered) in rows {
            for dialect in Dialect::ALL {
                let tools = SharedTools { dialect, ..shared(set.clone()) };
                let listed: Vec<_> =
                    tools.specs().iter().map(|spec| (&*spec.name, &*spec.description)).collect();
                assert_eq!(listed, [(Tool::OpenFile.name(dialect), "mine")], "{row} {dialect:?}");
                for name in ["openFile", "open_file"] {
                    assert!(tools.check(name).is_ok(), "{row} {name}");
                    let call = tools.decode(name, raw(r#"{"line":1}"#)).unwrap().request;
                    let ToolRequest::Other(other) = call else { panic!("{row} {name}: {call:?}") };
                    assert_eq!(&*other.name, offered, "{row} {name}");
                    assert_eq!(other.raw().map(RawValue::get), Some(r#"{"line":1}"#), "{row} {name}");
                }
            }
        }
    }

    #[test]
    fn custom_diff_stays_a_call_of_the_protocol() {
        for name in ["openDiff", "open_diff"] {
            let tools = shared(ToolSet::new().handle(Tool::OpenDiff).custom(name, "mine", "{}"));
            assert_eq!(tools.specs().iter().filter(|spec| spec.description == "mine").count(), 1, "{name}");
            assert!(tools.tools.names(Dialect::VsCode).eq(["openDiff", "close_tab", "closeAllDiffTabs"]));
            let arguments: &RawValue =
                serde_json::from_str(r#"{"old_file_path":"/a","new_file_contents":"x"}"#).unwrap();
            for called in ["openDiff", "open_diff"] {
                let call = tools.decode(called, arguments).unwrap().request;
                assert!(matches!(call, ToolRequest::OpenDiff(_)), "{name} {called}: {call:?}");
            }
        }
    }
}
