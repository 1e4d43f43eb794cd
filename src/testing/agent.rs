//! What an agent may do, for scripts.

use alloc::{format, string::String, vec::Vec};

use arbitrary::Arbitrary;

use crate::{
    ide::{Client, CloseAllDiffTabs, CloseTab, GetDiagnostics, OpenDiff, OpenFile, ToolArguments},
    mcp::Timeout,
    rpc::{NotSent, RequestId},
};

/// Something that an agent does of its own accord. What the state of the session does not permit is refused by it, and
/// nothing happens.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentAct {
    /// Asks for the tools.
    ListTools,
    /// Proposes a text of so many lines in one of a few tabs.
    OpenDiff {
        /// Which tab.
        tab: u8,
        /// How many lines.
        lines: u8,
    },
    /// Closes a tab.
    CloseTab(u8),
    /// Closes all diffs.
    CloseAllDiffTabs,
    /// Asks for problems.
    GetDiagnostics,
    /// Shows a file.
    OpenFile,
    /// Asks whether the editor is there.
    Ping,
    /// Asks for what no editor knows.
    AskUnknown,
    /// Says what no editor knows.
    NotifyUnknown,
    /// Gives up one of the requests it made.
    Cancel(u8),
    /// Ends the connection.
    Close,
}

impl AgentAct {
    /// Does it. What was asked is added to `asked`, which is also where a request to be given up is taken from.
    pub fn on(&self, client: &mut Client, asked: &mut Vec<RequestId>) {
        let tab = |number: &u8| -> String { format!("tab {}", number & 3) };
        let request = match self {
            Self::ListTools => client.list_tools(),
            Self::OpenDiff { tab: number, lines } => {
                let text = "a line of text\n".repeat(usize::from(*lines));
                call(client, &OpenDiff::new("/w/a", text, tab(number)))
            }
            Self::CloseTab(number) => call(client, &CloseTab::new(tab(number))),
            Self::CloseAllDiffTabs => call(client, &CloseAllDiffTabs),
            Self::GetDiagnostics => call(client, &GetDiagnostics::new(None)),
            Self::OpenFile => call(client, &OpenFile::new("/w/a")),
            Self::Ping => client.request("ping", None::<&()>, Timeout::Default),
            Self::AskUnknown => client.request("x/unknown", None::<&()>, Timeout::Default),
            Self::NotifyUnknown => {
                // Whether it may is for the session to say.
                let _ = client.notify("notifications/unknown", None::<&()>);
                return;
            }
            Self::Cancel(which) => {
                let which = usize::from(*which).checked_rem(asked.len()).and_then(|at| asked.get(at));
                if let Some(request) = which {
                    client.cancel(*request, Some("never mind"));
                }
                return;
            }
            Self::Close => return client.close(),
        };
        asked.extend(request);
    }
}

fn call(client: &mut Client, arguments: &impl ToolArguments) -> Result<RequestId, NotSent> {
    client.call(arguments).map(|pending| pending.id())
}
