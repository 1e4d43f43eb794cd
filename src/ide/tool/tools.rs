//! The types of a call, and the macro that makes types with one variant for each tool in the list.

use super::{Answer, Tool};
use crate::ide::Dialect;
use crate::rpc::CallId;
use core::fmt;
use core::marker::PhantomData;
use serde::Serialize;

/// The arguments of a tool. Their type determines the type of the answer.
///
/// The arguments of every tool of the protocol implement this, and so does [`OtherTool`](crate::ide::tool::OtherTool).
/// No other type can.
pub trait ToolArguments: Serialize + sealed::Sealed {
    /// The answer of the tool.
    type Answer: Answer;

    /// Returns the tool that is called; `None` for a tool of the application's own.
    #[doc(hidden)]
    fn tool(&self) -> Option<Tool>;

    /// Returns the name of the tool on the wire in a dialect.
    #[doc(hidden)]
    fn name_in(&self, dialect: Dialect) -> &str;
}

/// A call of the tool `T` that waits for your answer.
///
/// Pass it to [`Server::answer`](crate::ide::Server::answer), which takes only the answer of the tool `T`. For
/// everything else that you can do with an open call, pass its [id](Call::id) to
/// [`Server::call`](crate::ide::Server::call).
///
/// If you drop it, [`Server`](crate::ide::Server) answers the call at its deadline. `openDiff` and `executeCode` have
/// no deadline: they end when the client cancels them or the connection ends, and an `openDiff` also when the client
/// closes its tab.
///
/// ```compile_fail,E0277
/// # use ide_mcp::ide::tool::{Call, OpenDiff, OpenEditors};
/// # use ide_mcp::ide::Server;
/// fn wrong_answer(server: &mut Server, call: Call<OpenDiff>) {
///     let _ = server.answer(call, &OpenEditors::default());
/// }
/// ```
///
/// ```compile_fail,E0382
/// # use ide_mcp::ide::tool::{Call, CloseTab, TabClosed};
/// # use ide_mcp::ide::Server;
/// fn answered_twice(server: &mut Server, call: Call<CloseTab>) {
///     let _ = server.answer(call, &TabClosed { found: true });
///     let _ = server.answer(call, &TabClosed { found: true });
/// }
/// ```
#[must_use = "the agent waits for the answer"]
pub struct Call<T> {
    pub(crate) id: CallId,
    tool: PhantomData<fn() -> T>,
}

impl<T> Call<T> {
    pub(crate) const fn new(id: CallId) -> Self {
        Self { id, tool: PhantomData }
    }

    /// Returns the id of the call.
    #[must_use]
    pub const fn id(&self) -> CallId {
        self.id
    }
}

impl<T> From<Call<T>> for CallId {
    fn from(call: Call<T>) -> Self {
        call.id
    }
}

impl<T> PartialEq for Call<T> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<T> Eq for Call<T> {}

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&self.id).finish()
    }
}

pub(super) mod sealed {
    #[allow(unnameable_types, reason = "that it cannot be named is what seals `ToolArguments`")]
    pub trait Sealed {}
}

/// Defines [`Tool`](super::Tool), `ToolRequest` and [`ToolCall`](super::ToolCall) with a variant for each tool in the
/// list, and exports the items of its file. A test fails for a tool that is declared and not listed.
macro_rules! tools {
    ($($file:ident::$tool:ident -> $answer:ident),* $(,)?) => {
        $(pub use $file::*;)*

        /// The name of a tool of the protocol.
        ///
        /// The real client calls `openDiff`, `close_tab`, `closeAllDiffTabs` and `getDiagnostics`, and shows
        /// `getDiagnostics` and `executeCode` to its model (measured). Some versions are said to call `openFile` and
        /// `set_permission_mode`. The other tools are for other clients.
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

            /// Reads an answer of this tool in any dialect, or in another shape that the tool reads. `call_file` is the
            /// file of the call. Returns the answer to send, in `dialect` and without the files that `hides` hides; the
            /// inner `None` if the result can be sent as it is: it names no such file, it is in a dialect, and
            /// `translates` is false. Returns the outer `None` for a result that isn't an answer of this tool, or
            /// contains anything else.
            pub(crate) fn shown(
                self,
                result: &$crate::mcp::ToolResult<'_>,
                call_file: Option<&str>,
                (dialect, limits): ($crate::ide::Dialect, &$crate::ide::ContentLimits),
                hides: &dyn Fn(&str) -> bool,
                translates: bool,
            ) -> Option<Option<$crate::mcp::ToolResult<'static>>> {
                match self {
                    $(Self::$tool => {
                        let exact = || read_exactly::<$answer>(result).map(|answer| (answer, translates));
                        let given =
                            || <$tool as ToolDef>::read_given(result, call_file).map(|answer| (answer, true));
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
            /// Returns which tool is called; `None` for a tool of the application's own.
            pub(crate) const fn tool(&self) -> Option<Tool> {
                match self {
                    $(Self::$tool(_) => Some(Tool::$tool),)*
                    Self::Other(_) => None,
                }
            }

            /// Reads the arguments of a tool from an object. The error names the argument that is missing, the
            /// spellings that contradict each other, or the expected type.
            pub(crate) fn read<'de, D: serde::Deserializer<'de>>(
                tool: Tool,
                arguments: D,
            ) -> Result<Self, D::Error> {
                Ok(match tool {
                    $(Tool::$tool => Self::$tool(arguments::Described::read(arguments)?),)*
                })
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
            /// A call of a tool of your own.
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

            /// Returns which tool is called; `None` for a tool of your own.
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

            /// Returns the file that the call is about, a path or a URI as the agent wrote it; `None` if the arguments
            /// name none. For a diff, it is the file that the agent will write.
            #[must_use]
            pub fn file(&self) -> Option<&str> {
                match self {
                    $(Self::$tool(_, arguments) => arguments.file(),)*
                    Self::Other(..) => None,
                }
            }
        }

        impl serde::Serialize for ToolCall {
            /// Writes the arguments as the real client does. Fails for arguments that were decoded as a type of the
            /// application.
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
            impl tools::sealed::Sealed for $tool {}

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
