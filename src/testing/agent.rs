//! What an agent can do, for scripts.

use alloc::{format, string::String, vec::Vec};

use arbitrary::Arbitrary;

use crate::ide::tool::{CloseAllDiffTabs, CloseTab, GetDiagnostics, OpenDiff, OpenFile, ToolArguments};
use crate::{
    ide::Client,
    mcp::Timeout,
    rpc::{NotSent, RequestId},
};

/// What an agent does on its own initiative. If its session does not permit it, nothing happens.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentAct {
    /// It lists the tools.
    ListTools,
    /// It proposes a text, in one of a few tabs.
    OpenDiff {
        /// The number of the tab.
        tab: u8,
        /// How many lines the text has.
        lines: u8,
    },
    /// It closes a tab.
    CloseTab(u8),
    /// It closes all diffs.
    CloseAllDiffTabs,
    /// It asks for diagnostics.
    GetDiagnostics,
    /// It shows a file.
    OpenFile,
    /// It pings.
    Ping,
    /// It sends a request with a method that no editor implements.
    AskUnknown,
    /// It sends a notification with a method that no editor implements.
    NotifyUnknown,
    /// It cancels one of its requests.
    Cancel(u8),
    /// It ends the connection.
    Close,
}

impl AgentAct {
    /// Does this on `client`. Adds a new request to `requests`; picks the request to cancel from there.
    pub fn on(&self, client: &mut Client, requests: &mut Vec<RequestId>) {
        let tab = |number: &u8| -> String { format!("tab {}", number & 3) };
        let request = match self {
            Self::ListTools => client.list_tools().map(|requests| requests.id()),
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
                let which = usize::from(*which).checked_rem(requests.len()).and_then(|at| requests.get(at));
                if let Some(request) = which {
                    client.cancel(*request, Some("never mind"));
                }
                return;
            }
            Self::Close => return client.close(),
        };
        requests.extend(request);
    }
}

fn call(client: &mut Client, arguments: &impl ToolArguments) -> Result<RequestId, NotSent> {
    client.call_tool(arguments).map(|pending| pending.id())
}
