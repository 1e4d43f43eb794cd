//! A panic while the screen is shown.

#[allow(
    dead_code,
    unreachable_pub,
    clippy::disallowed_methods,
    reason = "the tests of the commands use the rest of it"
)]
#[path = "../../../../tests/it/support/tmux.rs"]
mod tmux;

#[allow(dead_code, unreachable_pub, reason = "the tests of the commands use the rest of it")]
#[path = "../../../../tests/it/support/skip.rs"]
mod skip;

use skip::{FOREIGN, skip};

use crate::editor::screen::terminal::Terminal;
use crate::editor::screen::view::frame::Frame;
use crate::editor::screen::view::palette::{ColorDepth, Ink};
use ratatui::layout::Rect;

#[test]
fn panic_restores_the_terminal() {
    if tmux::is_missing() {
        return;
    }
    let root = std::env::temp_dir().join(format!("ide-mcp-panic-{}", std::process::id()));
    std::fs::create_dir_all(&root).unwrap();
    let tmux = tmux::Tmux::new(&root, &root, &[("RUST_BACKTRACE", "0")]);
    let test = std::env::current_exe().unwrap();
    tmux.line("stty -a > before; clear");
    let arguments =
        "--ignored --exact editor::screen::tests::panic::panics_on_the_screen --nocapture --test-threads 1";
    tmux.line(&format!("{} {arguments}; echo \"status $?\"", crate::support::quoted(test.to_str().unwrap())));
    let screen = tmux.wait("status 101");
    assert!(screen.contains("this is what went wrong"), "the message is on the screen that stays:\n{screen}");
    assert!(!screen.contains("drawn before"), "{screen}");
    assert_eq!(tmux.format("#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{wrap_flag}"), "0 1 0 1");
    tmux.line("stty -a > after; echo compare''d");
    tmux.wait("compared");
    let [before, after] = ["before", "after"].map(|file| std::fs::read_to_string(root.join(file)).unwrap());
    assert!(before == after && !before.is_empty(), "{before}\n{after}\n{}", tmux.screen());
    drop(tmux);
    std::fs::remove_dir_all(&root).unwrap();
}

/// The other half of the test above, in a process of its own.
#[test]
#[ignore = "it needs a terminal of its own, which the test above gives it"]
fn panics_on_the_screen() {
    let mut terminal = Terminal::take(|| {}).unwrap();
    let mut frame = Frame::new((80, 24), ColorDepth::True);
    frame.write(Rect { x: 0, y: 0, width: 80, height: 1 }, "drawn before", Ink::Text);
    terminal.show(frame).unwrap();
    panic!("this is what went wrong");
}
