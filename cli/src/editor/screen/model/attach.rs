//! How an agent attaches to this editor.

use crate::editor::neighbors::Neighbor;
use crate::support::Shell;

/// The name and the port of this editor, and the other editors that an agent must choose among.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attach {
    pub(crate) name: String,
    pub(crate) port: u16,
    pub(crate) neighbors: Vec<Neighbor>,
}

impl Attach {
    pub(crate) fn is_alone(&self) -> bool {
        self.neighbors.is_empty()
    }

    /// Returns the address for a line that may be cut at its end.
    pub(crate) fn address(&self) -> String {
        let among =
            if self.is_alone() { String::new() } else { format!(" · one of {} editors here", self.count()) };
        format!("port {} · {}{among}", self.port, self.name)
    }

    /// Returns the commands that attach an agent, as words, each with its effect. The option and the variable are
    /// measured (docs/protocol.md, "The lock file").
    pub(crate) fn ways(&self, shell: Shell) -> Vec<(Vec<String>, String)> {
        let own_name = !self.neighbors.iter().any(|neighbor| neighbor.name == self.name);
        let words = |command: &str| command.split(' ').map(str::to_owned).collect();
        let alone = self.is_alone().then(|| (words("claude --ide"), "from these folders".to_owned()));
        let by_name = own_name.then(|| (words("/ide"), format!("in claude; choose {}", self.name)));
        let port = self.port.to_string();
        let by_port = match shell {
            Shell::Posix => Some(words(&format!("CLAUDE_CODE_SSE_PORT={port} claude --ide"))),
            other => other.pieces(&[], &[("CLAUDE_CODE_SSE_PORT", &port)], &["claude", "--ide"]),
        };
        let by_port = by_port.map(|words| (words, "from any folder".to_owned()));
        alone.into_iter().chain(by_name).chain(by_port).collect()
    }

    /// Returns why the commands are needed, if agents do not find this editor by themselves.
    pub(crate) fn warning(&self) -> Option<String> {
        let count = self.count();
        (!self.is_alone()).then(|| format!("{count} editors here: claude --ide attaches to none of them."))
    }

    fn count(&self) -> usize {
        self.neighbors.len().saturating_add(1)
    }
}
