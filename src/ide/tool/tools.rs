//! The macro that turns the list of tools into types with one variant for each tool.

/// Defines [`Tool`](super::Tool), `ToolRequest` and [`ToolCall`](super::ToolCall) with a variant
/// for each listed tool, and exports the items of its file. A test refuses a tool that is declared
/// and not listed.
macro_rules! tools {
    ($($file:ident::$tool:ident -> $answer:ident),* $(,)?) => {
        $(pub use $file::*;)*

        /// A tool of the protocol, by its name.
        ///
        /// The real client calls `openDiff`, `close_tab`, `closeAllDiffTabs` and `getDiagnostics`, and
        /// shows `getDiagnostics` and `executeCode` to its model (measured). According to reports, some
        /// versions call `openFile` and `set_permission_mode`. The other tools are for other clients.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Tool {
            $(
                #[doc = concat!("The tool of [`", stringify!($tool), "`].")]
                $tool,
            )*
        }

        impl Tool {
            /// All tools of the protocol.
            pub const ALL: [Self; [$(stringify!($tool)),*].len()] = [$(Self::$tool),*];

            /// The names as VS Code spells them, in the order of [`ALL`](Tool::ALL).
            pub(crate) const FIRST_NAMES: [&'static str; Self::ALL.len()] =
                [$(<$tool as ToolDef>::NAME),*];

            pub(crate) const fn declaration(self) -> &'static Declaration {
                match self {
                    $(Self::$tool => &<$tool as ToolDef>::DECLARATION,)*
                }
            }

            /// Reads an answer of this tool in any dialect, or in another shape that the tool reads. `asked` is the
            /// file that the call names. Returns the answer to send, in `dialect` and without the files for which
            /// `hides` returns true; the inner `None` if the result can be sent: it names no such file, it is in a
            /// dialect, and `translates` is false. Returns the outer `None` for a result that isn't an answer of this
            /// tool, or contains anything else.
            pub(crate) fn shown(
                self,
                result: &$crate::mcp::ToolResult<'_>,
                asked: Option<&str>,
                (dialect, limits): ($crate::ide::Dialect, &$crate::ide::ContentLimits),
                hides: &dyn Fn(&str) -> bool,
                translates: bool,
            ) -> Option<Option<$crate::mcp::ToolResult<'static>>> {
                match self {
                    $(Self::$tool => {
                        let exact = || read_exactly::<$answer>(result).map(|answer| (answer, translates));
                        let given =
                            || <$tool as ToolDef>::read_given(result, asked).map(|answer| (answer, true));
                        let (answer, translates) =
                            if translates { given().or_else(exact) } else { exact().or_else(given) }?;
                        let shown = answer.without_hidden(hides);
                        let answer = shown.as_ref().or(translates.then_some(&answer));
                        Some(answer.map(|answer| answer.result_within(dialect, limits).into_owned()))
                    })*
                }
            }
        }

        /// A call of a tool, with its arguments.
        #[derive(Debug)]
        pub(crate) enum ToolRequest {
            $($tool($tool),)*
            Other(OtherTool),
        }

        impl ToolRequest {
            /// Returns the tool that is called; `None` for a tool of the application's own.
            pub(crate) const fn tool(&self) -> Option<Tool> {
                match self {
                    $(Self::$tool(_) => Some(Tool::$tool),)*
                    Self::Other(_) => None,
                }
            }

            /// Reads the arguments of a tool from an object. The error names the argument that is
            /// missing, the spellings that contradict each other, or the type that was expected.
            pub(crate) fn read<'de, D: serde::Deserializer<'de>>(
                tool: Tool,
                arguments: D,
            ) -> Result<Self, D::Error> {
                match tool {
                    $(Tool::$tool => <$tool as arguments::Described>::read(arguments).map(Self::$tool),)*
                }
            }

            pub(crate) fn timeout(&self) -> $crate::mcp::Timeout {
                match self {
                    $(Self::$tool(arguments) => arguments.timeout(),)*
                    Self::Other(_) => $crate::mcp::Timeout::Default,
                }
            }
        }

        /// A tool call that waits for its answer: the [`Call`] to answer, and its arguments.
        #[derive(Debug, PartialEq)]
        #[non_exhaustive]
        #[must_use = "the agent waits for the answer"]
        pub enum ToolCall {
            $(
                #[doc = concat!("A call of the tool of [`", stringify!($tool), "`].")]
                $tool(Call<$tool>, $tool),
            )*
            /// A call of a tool of the application's own.
            Other(Call<OtherTool>, OtherTool),
        }

        impl ToolCall {
            pub(crate) fn new(id: CallId, request: ToolRequest) -> Self {
                match request {
                    $(ToolRequest::$tool(arguments) => Self::$tool(Call::new(id), arguments),)*
                    ToolRequest::Other(other) => Self::Other(Call::new(id), other),
                }
            }

            /// Returns the id of the call.
            #[must_use]
            pub const fn id(&self) -> CallId {
                match self {
                    $(Self::$tool(call, _) => call.id(),)*
                    Self::Other(call, _) => call.id(),
                }
            }

            /// Returns the tool that is called; `None` for a tool of the application's own.
            #[must_use]
            pub const fn tool(&self) -> Option<Tool> {
                match self {
                    $(Self::$tool(..) => Some(Tool::$tool),)*
                    Self::Other(..) => None,
                }
            }

            /// Returns the name of the tool, as VS Code spells it.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$tool(..) => Tool::$tool.name($crate::ide::Dialect::VsCode),)*
                    Self::Other(_, other) => &other.name,
                }
            }

            /// Returns the file that the call is about, a path or a URI as the agent wrote it; `None` if the
            /// arguments name none. A diff is about the file that the agent writes.
            #[must_use]
            pub fn file(&self) -> Option<&str> {
                match self {
                    $(Self::$tool(_, arguments) => arguments.file(),)*
                    Self::Other(..) => None,
                }
            }
        }

        impl serde::Serialize for ToolCall {
            /// Writes the arguments in the form of the real client. Returns an error for arguments
            /// that were decoded as a type of the application.
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$tool(_, arguments) => arguments.serialize(serializer),)*
                    Self::Other(_, other) => other.serialize(serializer),
                }
            }
        }

        impl From<ToolCall> for CallId {
            fn from(call: ToolCall) -> Self {
                call.id()
            }
        }

        $(
            impl call::sealed::Sealed for $tool {}

            impl ToolArguments for $tool {
                type Answer = $answer;

                #[doc(hidden)]
                fn tool(&self) -> Option<Tool> {
                    Some(Tool::$tool)
                }

                #[doc(hidden)]
                fn name_in(&self, dialect: $crate::ide::Dialect) -> &str {
                    Tool::$tool.name(dialect)
                }
            }
        )*

        #[cfg(test)]
        mod listed {
            use super::*;

            impl ToolRequest {
                /// Returns the arguments as they are written in a dialect.
                pub(crate) fn written(&self, dialect: $crate::ide::Dialect) -> serde_json::Value {
                    let written = match self {
                        $(Self::$tool(arguments) => serde_json::to_value(Arguments { arguments, dialect }),)*
                        Self::Other(arguments) => serde_json::to_value(Arguments { arguments, dialect }),
                    };
                    written.unwrap()
                }
            }

            #[test]
            fn no_answer_is_read_from_a_failure() {
                $(assert!(<$answer as Shape>::read(&$crate::mcp::ToolResult::error("failed")).is_none());)*
            }
        }
    };
}

pub(super) use tools;
