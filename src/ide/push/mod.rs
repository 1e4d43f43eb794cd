//! What an editor pushes to an agent: the selection, mentions, and changes.
//!
//! Each file declares one notification: its names, and the type of its parameters, which is read tolerantly and written
//! in the shape of each dialect. There is only one list of them, below: [`EditorNotification`] and [`Push`] are made
//! from it.

mod active_editor_changed;
mod at_mentioned;
mod diagnostics_changed;
mod limits;
mod schedule;
mod selection_changed;

pub use at_mentioned::Mention;
pub use diagnostics_changed::DiagnosticsChanged;
pub use limits::ContentLimits;
pub use selection_changed::Selection;

pub(crate) use schedule::{PushSchedule, StreamPos};
pub(crate) use selection_changed::RangeOut;

use super::Dialect;
use crate::rpc::from_json;
use serde::Serialize;

/// Defines [`EditorNotification`] and [`Push`] with a variant for each notification in the list.
macro_rules! pushes {
    ($($file:ident::$notification:ident($params:ty)),* $(,)?) => {
        /// The name of something that an editor pushes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum EditorNotification {
            $(
                #[doc = concat!("The notification of [`Push::", stringify!($notification), "`].")]
                $notification,
            )*
        }

        impl EditorNotification {
            /// All notifications that an editor pushes.
            pub const ALL: [Self; [$(stringify!($notification)),*].len()] = [$(Self::$notification),*];

            /// Returns the bare name, and the name in a dialect with the prefix `notifications/`.
            const fn names(self) -> [&'static str; 2] {
                match self {
                    $(Self::$notification => $file::NAMES,)*
                }
            }
        }

        /// What an editor pushed, with its parameters. It serializes as its parameters, in the shape of VS Code.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
        pub enum Push {
            $(
                #[doc = concat!("The parameters of the notification: [`", stringify!($params), "`].")]
                $notification($params),
            )*
        }

        impl Push {
            /// Returns which notification it was, without its parameters.
            #[must_use]
            pub const fn notification(&self) -> EditorNotification {
                match self {
                    $(Self::$notification(_) => EditorNotification::$notification,)*
                }
            }

            /// Returns roughly how much memory the parameters take: the bytes of their strings, and the size of each
            /// list element.
            pub(crate) fn content_len(&self) -> usize {
                match self {
                    $(Self::$notification(params) => params.content_len(),)*
                }
            }

            /// Reads a notification by its name in any dialect. Returns `None` for another name, or parameters that
            /// cannot be read. `params` must be a JSON object.
            pub(crate) fn read(method: &str, params: &str) -> Option<Self> {
                match EditorNotification::from_name(method)? {
                    $(
                        EditorNotification::$notification => {
                            from_json(params).ok().map(Self::$notification)
                        }
                    )*
                }
            }
        }

    };
}

pushes! {
    selection_changed::SelectionChanged(Selection),
    at_mentioned::AtMentioned(Mention),
    diagnostics_changed::DiagnosticsChanged(DiagnosticsChanged),
    active_editor_changed::ActiveEditorChanged(Selection),
}

impl EditorNotification {
    /// Returns the notification that has this name in any dialect.
    #[must_use]
    pub fn from_name(method: &str) -> Option<Self> {
        let is_named =
            |notice: &Self| Dialect::ALL.iter().any(|dialect| dialect.notification(*notice) == method);
        Self::ALL.into_iter().find(is_named)
    }
}

impl Dialect {
    /// Returns the name of a notification of the editor, such as `selection_changed`, in this dialect.
    #[must_use]
    pub const fn notification(self, notification: EditorNotification) -> &'static str {
        let [bare, prefixed] = notification.names();
        if self.rules().notification_prefix { prefixed } else { bare }
    }
}

/// The parameters of a notification, in the shape of a dialect.
pub(crate) struct InDialect<'a, T>(pub(crate) &'a T, pub(crate) Dialect);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_are_known_in_every_dialect() {
        for dialect in Dialect::ALL {
            for notice in EditorNotification::ALL {
                assert_eq!(
                    EditorNotification::from_name(dialect.notification(notice)),
                    Some(notice),
                    "{dialect:?}"
                );
            }
        }
        assert_eq!(
            Dialect::SnakeCase.notification(EditorNotification::AtMentioned),
            "notifications/at_mentioned"
        );
        assert_eq!(EditorNotification::from_name("notifications/tools/list_changed"), None);
    }
}
