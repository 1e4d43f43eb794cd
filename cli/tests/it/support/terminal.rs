//! A pseudoterminal for a program. The test is the user at it, who can read or not.

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::process::{Child, Command, Stdio};

/// Opens a pseudoterminal. Returns the side of the user and the side of the program.
pub fn terminal() -> (File, File) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    // The flag keeps the terminal from processes that other tests start at this moment. On macOS it
    // can be set only after opening.
    #[cfg(target_os = "linux")]
    let flags = flags | OpenptFlags::CLOEXEC;
    let person = openpt(flags).unwrap();
    fcntl_setfd(&person, FdFlags::CLOEXEC).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let program = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    tcsetwinsize(&person, Winsize { ws_row: 60, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    (person.into(), program)
}

/// Starts a program at this terminal.
pub fn at(terminal: &File, command: &mut Command) -> Child {
    let side = || Stdio::from(terminal.try_clone().unwrap());
    command.env("TERM", "xterm").env("COLORTERM", "truecolor");
    command.stdin(side()).stdout(side()).stderr(Stdio::piped()).spawn().unwrap()
}
