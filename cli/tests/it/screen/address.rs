//! The address of the editor on the screen, alone and beside another editor.

use super::Desk;
use crate::support::tmux;
use std::path::Path;

/// Returns the port of a lock file.
fn port(lock: &Path) -> &str {
    lock.file_stem().unwrap().to_str().unwrap()
}

#[test]
fn editors_of_the_same_folder_have_different_names() {
    if tmux::is_missing() {
        return;
    }
    let desk = Desk::new("neighbors");
    let mut first = desk.place.start("editor", &["--headless"]);
    let first_lock = desk.place.published("the first editor", None);
    desk.start();
    let lock = desk.place.published("the second editor", Some(port(&first_lock)));
    let screen = desk.tmux.wait("one of 2 editors here");
    let address =
        format!("nobody attached · port {} · ide-mcp editor 2 · one of 2 editors here", port(&lock));
    assert!(screen.contains(&address), "{screen}");
    assert!(screen.contains("2 editors here: claude --ide attaches to none of them."), "{screen}");
    assert!(screen.contains(&format!("CLAUDE_CODE_SSE_PORT={} claude --ide", port(&lock))), "{screen}");
    desk.tmux.keys(&["F4"]);
    desk.tmux.wait(&format!("port {}", port(&first_lock)));
    desk.tmux.keys(&["F4"]);

    // A killed editor leaves its lock file, but is not a neighbor any more.
    first.kill();
    let screen = desk.tmux.until("alone", |screen| screen.contains("claude --ide  from these folders"));
    assert!(!screen.contains("editors here"), "{screen}");
    let third = desk.place.start("editor", &["--headless", "--name", "third"]);
    desk.tmux.wait("one of 2 editors here");
    drop(third);
    desk.tmux.keys(&["C-q"]);
    desk.tmux.wait("editor: ended by Ctrl+Q");
}
