//! The parts of the editor that need no process: each has its tests at its end. Cargo runs the tests of an example only
//! instead of building the example, which the other tests need.
#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    dead_code,
    unreachable_pub,
    reason = "only the tests of the parts are of interest here"
)]

#[path = "../editor/diagnostics.rs"]
mod diagnostics;
#[path = "../editor/diffs.rs"]
mod diffs;
#[path = "../editor/folders.rs"]
mod folders;
#[path = "../editor/headless/mod.rs"]
mod headless;
#[path = "../editor/listen.rs"]
mod listen;
#[path = "../editor/options.rs"]
mod options;
#[path = "../editor/read.rs"]
mod read;
#[path = "../editor/screen/mod.rs"]
mod screen;
#[cfg(unix)]
#[path = "support/tmux.rs"]
mod tmux;
#[path = "../editor/worker.rs"]
mod worker;
#[path = "../editor/workspace.rs"]
mod workspace;

#[cfg(unix)]
#[test]
fn a_panic_leaves_the_terminal_as_it_was() {
    let root = std::env::temp_dir().join(format!("ide-mcp-panic-{}", std::process::id()));
    std::fs::create_dir_all(&root).unwrap();
    let tmux = tmux::Tmux::new(&root, &root, &[("RUST_BACKTRACE", "0")]);
    let test = std::env::current_exe().unwrap();
    tmux.line("stty -a > before; clear");
    let arguments = "--ignored --exact panics_on_the_screen --nocapture --test-threads 1";
    tmux.line(&format!("{} {arguments}; echo \"status $?\"", test.display()));
    let screen = tmux.wait("status 101");
    assert!(screen.contains("this is what went wrong"), "it is said on the screen that stays:\n{screen}");
    assert!(!screen.contains("drawn before"), "{screen}");
    assert_eq!(tmux.says("#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{wrap_flag}"), "0 1 0 1");
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
    use screen::layout::Rect;
    use screen::view::canvas::{Canvas, Ink};
    let poll = mio::Poll::new().unwrap();
    let theme = screen::theme::Theme::new(screen::theme::Colours::True);
    let mut terminal = screen::terminal::Terminal::take(poll.registry(), mio::Token(0), theme).unwrap();
    let mut canvas = Canvas::new((80, 24));
    canvas.write(Rect { x: 0, y: 0, width: 80, height: 1 }, "drawn before", Ink::Text);
    terminal.show(canvas).unwrap();
    panic!("this is what went wrong");
}
