//! The handle that C holds, in safe Rust.

use crate::caught::caught;
use crate::editor::AnyEditor;
use crate::lent::{Key, Lent, Text, Texts};
use crate::member;
use crate::refusal::{Code, Refusal};
use ide_mcp::Time;
use ide_mcp_embed::{Editor, Event, TypedCommand};
use std::ffi::c_int;
use std::mem;

/// `struct idemcp` of the header.
#[derive(Debug)]
pub(crate) struct Handle {
    editor: AnyEditor,
    event: Option<Event>,
    texts: Texts,
    /// The message of the latest refusal.
    error: Text,
    /// If set, every function refuses with this code from now on.
    end: Option<Code>,
    /// True if the events of the current turn are being read.
    is_in_turn: bool,
    /// True if a turn is due at once.
    is_due: bool,
    commands: u64,
}

// C may pass a handle to another thread.
const _: () = {
    const fn is_send<T: Send>() {}
    is_send::<Handle>();
};

impl Handle {
    pub(crate) fn new(editor: AnyEditor) -> Self {
        Self {
            editor,
            event: None,
            texts: Texts::default(),
            error: Text::new(""),
            end: None,
            is_in_turn: false,
            is_due: true,
            commands: 0,
        }
    }

    /// Runs `act` on a handle from C, and keeps the message if it fails. After a panic every function
    /// refuses.
    pub(crate) fn enter<T>(
        handle: Option<&mut Self>,
        act: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Code> {
        let handle = handle.ok_or(Code::Misuse)?;
        if let Some(end) = handle.end {
            return Err(end);
        }
        let refusal = match caught(|| act(handle)) {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(refusal)) => refusal,
            Err(message) => {
                handle.end = Some(Code::Panic);
                Refusal::new(Code::Panic, message)
            }
        };
        handle.error = Text::new(&refusal.message);
        Err(refusal.code)
    }

    /// Runs a command, as [`enter`](Self::enter) does.
    pub(crate) fn execute(
        handle: Option<&mut Self>,
        command: impl FnOnce() -> Result<TypedCommand, Refusal>,
    ) -> Result<c_int, Code> {
        Self::enter(handle, |handle| {
            handle.is_due = true;
            handle.editor.execute(command()?).map(|()| 0)
        })
    }

    /// Answers a call, as [`execute`](Self::execute) does. A result that is not JSON fails the call, like any
    /// other result that cannot be used.
    pub(crate) fn respond<'t>(
        handle: Option<&mut Self>,
        call: u64,
        result: impl FnOnce() -> Result<Option<&'t str>, Refusal>,
    ) -> Result<c_int, Code> {
        Self::enter(handle, |handle| {
            handle.is_due = true;
            let refusal = match result().and_then(|result| Ok(TypedCommand::respond(call, result)?)) {
                Ok(command) => return handle.editor.execute(command).map(|()| 0),
                Err(refusal) => refusal,
            };
            // If the call has already ended, this does nothing.
            let _ = handle.editor.execute(TypedCommand::fail(call, refusal.message.clone()));
            Err(refusal)
        })
    }

    /// Passes input to an editor without sockets, as [`enter`](Self::enter) does. The next turn handles it.
    pub(crate) fn input<T>(
        handle: Option<&mut Self>,
        act: impl FnOnce(&mut Editor, Time) -> Result<T, Refusal>,
    ) -> Result<T, Code> {
        Self::enter(handle, |handle| {
            handle.is_due = true;
            let (editor, clock) = handle.editor.bytes()?;
            act(editor, clock.now())
        })
    }

    /// Returns the kind of the next event, or 0 at the end of the turn.
    pub(crate) fn next(&mut self) -> Result<c_int, Refusal> {
        self.texts.clear();
        self.event = self.editor.next_event();
        if self.event.is_none() && !mem::take(&mut self.is_in_turn) && !self.editor.is_over() {
            self.is_due = false;
            self.event = self.editor.turn().inspect_err(|refusal| self.end = Some(refusal.code))?;
            self.is_in_turn = self.event.is_some();
        }
        let number = self.event.as_ref().map_or(0, Event::number);
        Ok(c_int::try_from(number).unwrap_or(c_int::MAX))
    }

    pub(crate) fn text(&mut self, name: &str) -> Lent {
        if let Some(lent) = self.texts.find(|key| matches!(key, Key::Member(member) if member == name)) {
            return lent;
        }
        let text = self.event.as_ref().and_then(|event| member::text(event, name));
        text.map_or(Lent::NONE, |text| self.texts.lend(Key::Member(name.into()), &text))
    }

    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.event.as_ref().and_then(|event| member::number(event, name))
    }

    pub(crate) fn json(&mut self) -> Lent {
        let Some(event) = &self.event else { return Lent::NONE };
        let lent = self.texts.find(|key| matches!(key, Key::Event));
        lent.unwrap_or_else(|| self.texts.lend(Key::Event, &event.to_json()))
    }

    /// Runs a command in JSON, and returns its number.
    pub(crate) fn command(&mut self, json: &str) -> Result<i64, Refusal> {
        #[cfg(feature = "planted-panic")]
        assert!(json != "panic", "planted");
        self.is_due = true;
        let number = self.commands.saturating_add(1);
        self.editor.command(number, json)?;
        self.commands = number;
        Ok(i64::try_from(number).unwrap_or(i64::MAX))
    }

    /// Returns the next connection with the bytes to write, or without bytes if its socket must be closed; 0
    /// at the end of the pass.
    pub(crate) fn next_output(&mut self) -> Result<(u64, Lent), Refusal> {
        let output = self.editor.next_output();
        // An event may have come before the output.
        self.is_due |= self.editor.has_event();
        output
    }

    /// Reports how many bytes of a connection's last output its socket took.
    pub(crate) fn written(&mut self, conn: u64, n: usize) -> Result<(), Refusal> {
        let reported = self.editor.written(conn, n);
        self.is_due |= self.editor.has_event();
        reported
    }

    /// Returns the editor without sockets.
    pub(crate) fn bytes(&mut self) -> Result<&mut Editor, Refusal> {
        Ok(self.editor.bytes()?.0)
    }

    pub(crate) fn fd(&self) -> Result<c_int, Refusal> {
        self.editor.fd()
    }

    /// Returns how many milliseconds there are until the next turn; -1 for no limit.
    pub(crate) fn timeout(&mut self) -> i64 {
        if self.is_due {
            return 0;
        }
        self.editor.timeout().map_or(-1, |timeout| {
            // Round up, because a turn that comes too early would find nothing to do.
            i64::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
        })
    }

    pub(crate) fn lock_file(&mut self) -> Result<Lent, Refusal> {
        let text = self.bytes()?.lock_file();
        Ok(self.texts.lend(Key::LockFile, &text))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.end.is_some() || self.editor.is_over()
    }

    pub(crate) fn error(&self) -> Lent {
        self.error.lend()
    }
}
