//! Shows a long text at a terminal in a pager, or prints it if no pager can be started.

use crate::support::signals::ignore_interrupt;
use std::env;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

/// Shows a text in a pager if standard output is a terminal, and prints it otherwise.
///
/// # Errors
/// The error of writing to standard output.
pub(super) fn show(text: &str) -> io::Result<()> {
    let is_dumb = env::var_os("TERM").is_some_and(|name| name == "dumb");
    let own = env::var("PAGER").ok();
    // For `man` and `git` too, an empty PAGER means no pager.
    let is_wanted = own.as_ref().is_none_or(|line| !line.trim().is_empty());
    let can_page = io::stdout().is_terminal() && !is_dumb && is_wanted;
    let is_shown = can_page && pagers(own).any(|pager| page(&pager, text));
    if is_shown {
        return Ok(());
    }
    let mut out = anstream::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// Returns the command lines of the pagers as words, best first: that of the user before the common ones.
fn pagers(own: Option<String>) -> impl Iterator<Item = Vec<String>> {
    own.into_iter().chain(["less -FRX".into(), "more".into()]).filter_map(|line| shlex::split(&line))
}

/// Returns false if this pager cannot be started.
fn page(pager: &[String], text: &str) -> bool {
    let [program, arguments @ ..] = pager else { return false };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut started) = command.spawn() else { return false };
    // Ctrl+C is for the pager, which has the terminal.
    let _ = ignore_interrupt();
    if let Some(mut input) = started.stdin.take() {
        match input.write_all(text.as_bytes()) {
            // The user has read enough.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => return false,
            _ => {}
        }
    }
    started.wait().is_ok()
}
