//! The log of the editor, and the messages in the status line.
//!
//! A message disappears at the next key of the user. One that needs no action also disappears after [`STAY`]. An error
//! or a question stays until a key, because the user may be away when it appears.

use super::Model;
use super::act::Action;
use ide_mcp::Time;
use std::time::Duration;

/// A message disappears after this time, which is enough to read a full line twice.
const STAY: Duration = Duration::from_secs(8);
/// How many entries the log holds.
const LOG: usize = 500;

#[derive(Clone, Debug)]
pub(crate) struct LogEntry {
    pub(crate) at: Time,
    /// The agent that made the request, if any.
    pub(crate) who: Option<String>,
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) tone: Tone,
    /// When the message disappears; `None` if it stays until a key.
    until: Option<Time>,
    /// True for a failed save. No other message hides it: the user would take the text for saved, and lose it.
    is_failed_save: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Plain,
    Bad,
}

impl Model {
    /// Shows a message. A bad one stays until a key.
    pub(crate) fn notify(&mut self, tone: Tone, text: impl Into<String>) {
        let until = (tone != Tone::Bad).then(|| self.now.saturating_add(STAY));
        self.show_message(Message { text: text.into(), tone, until, is_failed_save: false });
    }

    /// Shows the keys that end the editor and list all keys, after a key that means nothing here. It does not replace a
    /// question, or a message that stays until a key.
    pub(crate) fn hint(&mut self) {
        if self.prompt.is_none() && self.message.as_ref().is_none_or(|shown| shown.until.is_some()) {
            let [quit, help] = [Action::Quit, Action::Help].map(|action| self.keys.key(action, false));
            self.notify(Tone::Plain, format!("{quit} ends {}, {help} lists keys", self.own_name));
        }
    }

    /// Shows a message that stays until a key.
    pub(crate) fn hold(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.show_message(Message { text, tone: Tone::Plain, until: None, is_failed_save: false });
    }

    /// Shows that a save has failed until a key, and adds it to the log.
    pub(crate) fn save_failed(&mut self, text: String) {
        self.remember(None, text.clone());
        // The message hides the question, which could then be answered unread.
        self.confirm = None;
        self.message = Some(Message { text, tone: Tone::Bad, until: None, is_failed_save: true });
    }

    /// Shows a message, unless a failed save is shown. A question that is not shown is withdrawn.
    fn show_message(&mut self, message: Message) {
        if self.message.as_ref().is_some_and(|shown| shown.is_failed_save) {
            self.confirm = None;
        } else {
            self.message = Some(message);
        }
    }

    /// Shows a message and adds it to the log.
    pub(crate) fn report(&mut self, tone: Tone, text: String) {
        self.remember(None, text.clone());
        self.notify(tone, text);
    }

    /// Adds an event to the log, and shows it if no other message is shown.
    pub(crate) fn happened(&mut self, text: String) {
        self.activity = Some((text.clone(), self.now.saturating_add(STAY)));
        self.remember(None, text);
    }

    /// Adds a request of an agent to the log, and shows it if no other message is shown.
    pub(crate) fn record(&mut self, who: &str, text: String) {
        self.activity = Some((text.clone(), self.now.saturating_add(STAY)));
        self.remember(Some(who.to_owned()), text);
    }

    /// Removes the message at a key of the user.
    pub(crate) fn dismiss(&mut self) {
        self.message = None;
    }

    /// Removes the messages whose time is over. Returns true if there were any.
    pub(crate) fn expire(&mut self) -> bool {
        let now = self.now;
        let message = self.message.take_if(|message| message.until.is_some_and(|until| until <= now));
        let activity = self.activity.take_if(|(_, until)| *until <= now);
        message.is_some() || activity.is_some()
    }

    /// Returns when the next message disappears.
    pub(super) fn expires(&self) -> Option<Time> {
        let message = self.message.as_ref().and_then(|message| message.until);
        let activity = self.activity.as_ref().map(|(_, until)| *until);
        message.into_iter().chain(activity).min()
    }

    fn remember(&mut self, who: Option<String>, text: String) {
        while self.log.len() >= LOG {
            self.log.pop_front();
        }
        self.log.push_back(LogEntry { at: self.now, who, text });
    }
}
