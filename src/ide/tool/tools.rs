//! The macro behind the list of tools: the types that have one variant per tool.

/// Defines [`Tool`](super::Tool) and [`ToolRequest`](super::ToolRequest) with a variant for each listed tool, and
/// exports what the file of the tool declares. A test refuses a tool that is declared and not listed.
macro_rules! tools {
    ($($file:ident::$tool:ident),* $(,)?) => {
        $(pub use $file::*;)*

        /// A tool of the protocol, by its name.
        ///
        /// The real client calls `openDiff`, `close_tab`, `closeAllDiffTabs` and `getDiagnostics`, and its model sees
        /// `getDiagnostics` and `executeCode` (measured); some versions are said to call `openFile` and
        /// `set_permission_mode`. The others are for other clients.
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

            pub(crate) const fn declaration(self) -> &'static Declaration {
                match self {
                    $(Self::$tool => &<$tool as ToolDef>::DECLARATION,)*
                }
            }

            pub(crate) fn result_when_late(self, dialect: $crate::ide::Dialect) -> Option<&'static str> {
                match self {
                    $(Self::$tool => <$tool as ToolDef>::result_when_late(dialect),)*
                }
            }
        }

        /// One call of a tool: the tool and its arguments.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum ToolRequest {
            $(
                #[doc = concat!("Calls the tool of [`", stringify!($tool), "`].")]
                $tool($tool),
            )*
            /// Calls a tool of the application's own.
            Other(OtherTool),
        }

        impl ToolRequest {
            /// Returns which tool is called; `None` for one of the application's own.
            #[must_use]
            pub const fn tool(&self) -> Option<Tool> {
                match self {
                    $(Self::$tool(_) => Some(Tool::$tool),)*
                    Self::Other(_) => None,
                }
            }

            /// Reads the arguments of a tool, an object.
            ///
            /// # Errors
            ///
            /// If they do not fit: which one is missing, contradicts another or is of the wrong type.
            pub fn read<'de, D: serde::Deserializer<'de>>(tool: Tool, arguments: D) -> Result<Self, D::Error> {
                match tool {
                    $(Tool::$tool => <$tool as serde::Deserialize>::deserialize(arguments).map(Self::$tool),)*
                }
            }

            pub(crate) fn timeout(&self) -> $crate::mcp::Timeout {
                match self {
                    $(Self::$tool(arguments) => arguments.timeout(),)*
                    Self::Other(_) => $crate::mcp::Timeout::Default,
                }
            }
        }

        impl serde::Serialize for ToolRequest {
            /// Writes the arguments as the real client does.
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$tool(arguments) => arguments.serialize(serializer),)*
                    Self::Other(other) => other.arguments.serialize(serializer),
                }
            }
        }

        $(
            impl From<$tool> for ToolRequest {
                fn from(arguments: $tool) -> Self {
                    Self::$tool(arguments)
                }
            }
        )*

        #[cfg(test)]
        mod listed {
            use super::*;

            #[test]
            fn no_answer_is_read_from_a_failure() {
                $(assert!(<$tool as ToolDef>::Answer::read(&$crate::mcp::ToolResult::error("failed")).is_none());)*
            }
        }
    };
}

pub(super) use tools;
