//! The line that starts the command of the command line in another terminal.

use super::Desk;
use crate::editor::launch::Launch;
use ide_mcp::ide::discovery::launch_env::launch_env;

/// Checks that the rows on the screen are one line of a shell.
#[test]
fn line_is_whole_in_each_width() {
    let command = ["claude", "--resume", "two words"].map(str::to_owned);
    // A narrow screen shows the list of files alone, so the line is on the page of F4.
    for (width, keys) in [(80, ["", "\x1bOS"]), (120, ["", "\x1bOS"]), (40, ["\x1bOS", ""])] {
        let mut desk = Desk::new(&[]);
        desk.app.launch(Launch::new(&command, launch_env(Some(41111), []), None, false));
        desk.turn();
        desk.app.resize((width, 60));
        for key in keys {
            desk.keys(key);
            let screen = desk.screen();
            let rows = screen.lines().map(|row| row.rsplit('│').next().unwrap_or(row).trim());
            let line: Vec<&str> = rows.skip_while(|row| !row.starts_with("env ")).collect();
            let end = line.iter().position(|row| !row.ends_with('\\')).unwrap();
            let line = line[..=end].join(" ").replace(" \\ ", " ");
            let expected = "env CLAUDE_CODE_SSE_PORT=41111 ENABLE_IDE_INTEGRATION=true \
                no_proxy=localhost,127.0.0.1,::1 NO_PROXY=localhost,127.0.0.1,::1 claude --resume 'two words'";
            assert_eq!(line, expected, "{width} {key:?}\n{screen}");
        }
    }
}
