//! The rows of the table: one for the configuration, for each command, and for each event.

/// A row of the table: the configuration, a command, or an event.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Row {
    /// The value of the member `cmd` or `event`; for a part of another row, the name of the part.
    pub name: &'static str,
    /// The number of an event, for languages that switch on numbers; it never changes. 0 for every other row.
    pub number: u32,
    /// The description, as lines of Markdown.
    pub doc: &'static [&'static str],
    /// The other members.
    pub members: &'static [Member],
}

/// A member of a [`Row`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Member {
    /// The name.
    pub name: &'static str,
    /// What the value is, such as "a string".
    pub kind: &'static str,
    /// True if the object always has the member.
    pub is_required: bool,
    /// The description, as lines of Markdown.
    pub doc: &'static [&'static str],
}

/// Defines a struct for each object that the editor writes: its members, how to read them, and the row.
macro_rules! inputs {
    ($($(#[doc = $doc:literal])* $name:literal => $object:ident {
        $($(#[doc = $of_member:literal])* $member:ident: $kind:ty,)*
    })*) => {$(
        #[allow(non_snake_case, reason = "a member has its name in JSON")]
        #[derive(Debug)]
        pub(crate) struct $object {
            $(pub(crate) $member: $kind,)*
        }

        impl $crate::input::Object for $object {
            const ROW: $crate::table::Row = $crate::table::Row {
                name: $name,
                number: 0,
                doc: &[$($doc),*],
                members: &[$($crate::table::Member {
                    name: stringify!($member),
                    kind: <$kind as $crate::input::Input>::KIND,
                    is_required: <$kind as $crate::input::Input>::IS_REQUIRED,
                    doc: &[$($of_member),*],
                }),*],
            };
            const NAME: &'static str = $name;
            const MEMBERS: &'static [&'static str] = &[$(stringify!($member)),*];

            fn take(
                #[allow(unused_variables, reason = "an object can have no member")]
                members: &mut $crate::input::Members<'_>,
            ) -> Result<Self, $crate::input::Fault> {
                Ok(Self { $($member: members.take(stringify!($member))?),* })
            }
        }
    )*};
}

/// Defines [`Command`](crate::command::Command), with a variant for each command, and the objects of the
/// commands.
macro_rules! commands {
    ($($(#[doc = $doc:literal])* $name:literal => $command:ident {
        $($(#[doc = $of_member:literal])* $member:ident: $kind:ty,)*
    })*) => {
        $crate::table::inputs! {$(
            $(#[doc = $doc])* $name => $command { $($(#[doc = $of_member])* $member: $kind,)* }
        )*}

        /// A command of the editor.
        #[derive(Debug)]
        pub(crate) enum Command {
            $($command($command),)*
        }

        /// The commands, in the order of the page.
        pub const COMMANDS: &[$crate::table::Row] =
            &[$(<$command as $crate::input::Object>::ROW),*];

        impl Command {
            /// The names in [`COMMANDS`].
            const NAMES: &'static [&'static str] = &[$($name),*];

            /// Takes the members of the command with this name; `None` for an unknown name.
            fn take(
                name: &str,
                members: &mut $crate::input::Members<'_>,
            ) -> Option<Result<Self, $crate::input::Fault>> {
                match name {
                    $($name => Some($crate::input::read_members(members).map(Self::$command)),)*
                    _ => None,
                }
            }
        }
    };
}

/// Defines [`Event`](crate::Event), with a variant for each event. Never reuse a number for a new event: the
/// C header has the numbers too.
macro_rules! events {
    ($($(#[doc = $doc:literal])* $number:literal $name:literal => $event:ident {
        $($(#[doc = $of_member:literal])* $member:ident: $kind:ty,)*
    })*) => {
        /// What happened, for the editor. It serializes as the JSON object of its row in [`EVENTS`].
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum Event {$(
            $(#[doc = $doc])*
            $event {
                $($(#[doc = $of_member])* $member: $kind,)*
            },
        )*}

        /// The events, in the order of the page.
        pub const EVENTS: &[$crate::Row] = &[$($crate::Row {
            name: $name,
            number: $number,
            doc: &[$($doc),*],
            members: &[$($crate::Member {
                name: stringify!($member),
                kind: <$kind as $crate::output::Output>::KIND,
                is_required: <$kind as $crate::output::Output>::IS_ALWAYS,
                doc: &[$($of_member),*],
            }),*],
        }),*];

        impl Event {
            /// Returns the value of the member `event`.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$event { .. } => $name,)*
                }
            }

            /// Returns the number of the row.
            #[must_use]
            pub const fn number(&self) -> u32 {
                match self {
                    $(Self::$event { .. } => $number,)*
                }
            }

            /// Returns the value of another member, without computing the rest.
            fn value(&self, name: &str) -> Option<$crate::Value<'_>> {
                match self {
                    $(Self::$event { $($member),* } => match name {
                        $(stringify!($member) => $crate::output::Output::value($member),)*
                        _ => None,
                    },)*
                }
            }

            /// Calls `take` with each other member that the event has, in the order of the table.
            fn each_member<'a>(&'a self, mut take: impl FnMut(&'static str, $crate::Value<'a>)) {
                match self {
                    $(Self::$event { $($member),* } => {
                        $(if let Some(value) = $crate::output::Output::value($member) {
                            take(stringify!($member), value);
                        })*
                        // An event may have no member.
                        let _ = &mut take;
                    })*
                }
            }
        }
    };
}

pub(crate) use {commands, events, inputs};
