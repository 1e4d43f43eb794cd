//! The acts of an agent, for scripts.

use alloc::{format, string::String, vec::Vec};

use arbitrary::Arbitrary;

use crate::ide::tool::{CloseAllDiffTabs, CloseTab, GetDiagnostics, OpenDiff, OpenFile, ToolArguments};
use crate::{
    ide::Client,
    mcp::Timeout,
    rpc::{NotSent, RequestId},
};

/// An act of an agent on its own initiative. The session refuses an act that its state does not
/// permit, and then nothing happens.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentAct {
    /// A request for the tools.
    ListTools,
    /// A proposal of a text in one of a few tabs.
    OpenDiff {
        /// The number of the tab.
        tab: u8,
        /// The number of lines of the text.
        lines: u8,
    },
    /// A request to close a tab.
    CloseTab(u8),
    /// A request to close all diffs.
    CloseAllDiffTabs,
    /// A request for diagnostics.
    GetDiagnostics,
    /// A request to show a file.
    OpenFile,
    /// A ping.
    Ping,
    /// A request with a method that no editor implements.
    AskUnknown,
    /// A notification with a method that no editor implements.
    NotifyUnknown,
    /// The cancellation of one of the requests that the agent made.
    Cancel(u8),
    /// The end of the connection.
    Close,
}

impl AgentAct {
    /// Does the act on `client`. A new request is added to `asked`; a request to cancel is chosen
    /// from `asked`.
    pub fn on(&self, client: &mut Client, asked: &mut Vec<RequestId>) {
        let tab = |number: &u8| -> String { format!("tab {}", number & 3) };
        let request = match self {
            Self::ListTools => client.list_tools().map(|asked| asked.id()),
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
                // The session decides whether it permits the notification.
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
    client.call_tool(arguments).map(|pending| pending.id())
}
