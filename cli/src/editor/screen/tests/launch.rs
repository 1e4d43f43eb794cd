//! The line that starts the command of the command line in another terminal.

use super::Desk;
use crate::editor::launch::Launch;
use crate::support::Shell;
use ide_mcp::ide::discovery::launch_env::launch_env;

/// Checks that the rows on the screen are one line of each shell.
#[test]
fn line_is_whole_at_each_width() {
    let command = ["claude", "--resume", "two words"].map(str::to_owned);
    let hosts = "localhost,127.0.0.1,::1";
    let shells = [
        (
            Shell::Posix,
            format!(
                "env CLAUDE_CODE_SSE_PORT=41111 ENABLE_IDE_INTEGRATION=true no_proxy={hosts} NO_PROXY={hosts} \
                 claude --resume 'two words'"
            ),
        ),
        (
            Shell::PowerShell,
            format!(
                "$env:CLAUDE_CODE_SSE_PORT = '41111'; $env:ENABLE_IDE_INTEGRATION = 'true'; \
                 $env:no_proxy = '{hosts}'; $env:NO_PROXY = '{hosts}'; claude --resume 'two words'"
            ),
        ),
        (
            Shell::Cmd,
            format!(
                "set \"CLAUDE_CODE_SSE_PORT=41111\" & set \"ENABLE_IDE_INTEGRATION=true\" & \
                 set \"no_proxy={hosts}\" & set \"NO_PROXY={hosts}\" & claude --resume \"two words\""
            ),
        ),
    ];
    for (shell, expected) in shells {
        let first = expected.split(' ').next().unwrap();
        // A narrow screen shows only the list of files, so the line is on the page of F4.
        for (width, keys) in [(80, ["", "\x1bOS"]), (120, ["", "\x1bOS"]), (60, ["\x1bOS", ""])] {
            let mut desk = Desk::new(&[]);
            desk.app.model.shell = shell;
            desk.app.launch(Launch::new(&command, launch_env(Some(41111), []), None, false));
            desk.turn();
            desk.app.resize((width, 60));
            for key in keys {
                desk.keys(key);
                let screen = desk.screen();
                let rows = screen.lines().map(|row| row.rsplit('│').next().unwrap_or(row).trim());
                let line: Vec<&str> = rows.skip_while(|row| !row.starts_with(first)).collect();
                let goes_on = [' ', shell.continuation()].iter().collect::<String>();
                let end = line.iter().position(|row| !row.ends_with(&goes_on)).unwrap();
                let line = line[..=end].join(" ").replace(&format!("{goes_on} "), " ");
                assert_eq!(line, expected, "{width} {key:?}\n{screen}");
            }
        }
    }
}
