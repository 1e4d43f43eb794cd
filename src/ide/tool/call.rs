//! A call that waits for its answer, typed by its tool.

use super::{Answer, Tool};
use crate::ide::Dialect;
use crate::rpc::CallId;
use core::fmt;
use core::marker::PhantomData;
use serde::Serialize;

/// The arguments of a tool. Their type determines the type of the answer.
///
/// The arguments of every tool of the protocol implement this trait, and so does
/// [`OtherTool`](crate::ide::tool::OtherTool). No other type can implement it.
pub trait ToolArguments: Serialize + sealed::Sealed {
    /// The answer of the tool.
    type Answer: Answer;

    /// Returns the tool that is called; `None` for a tool of the application's own.
    #[doc(hidden)]
    fn tool(&self) -> Option<Tool>;

    /// Returns the name of the tool on the wire in a dialect.
    #[doc(hidden)]
    fn name_in(&self, dialect: Dialect) -> &str;
}

/// A call of the tool `T` that waits for its answer.
///
/// [`Server::answer`](crate::ide::Server::answer) consumes the call, and takes only the answer of the
/// tool `T`. All other operations on an open call use its [id](Call::id), with
/// [`Server::call`](crate::ide::Server::call).
///
/// [`Server`](crate::ide::Server) answers a dropped call at its deadline. Calls of `openDiff` and
/// `executeCode` have no deadline. A call of `openDiff` ends when the client closes its tab. Calls of
/// both tools end when the client cancels them or the connection ends.
///
/// ```compile_fail,E0277
/// # use ide_mcp::ide::tool::{Call, OpenDiff, OpenEditors};
/// # use ide_mcp::ide::Server;
/// fn wrong_answer(server: &mut Server, call: Call<OpenDiff>) {
///     let _ = server.answer(call, &OpenEditors::default());
/// }
/// ```
///
/// ```compile_fail,E0382
/// # use ide_mcp::ide::tool::{Call, CloseTab, TabClosed};
/// # use ide_mcp::ide::Server;
/// fn answered_twice(server: &mut Server, call: Call<CloseTab>) {
///     let _ = server.answer(call, &TabClosed { found: true });
///     let _ = server.answer(call, &TabClosed { found: true });
/// }
/// ```
#[must_use = "the agent waits for the answer"]
pub struct Call<T> {
    id: CallId,
    tool: PhantomData<fn() -> T>,
}

impl<T> Call<T> {
    pub(crate) const fn new(id: CallId) -> Self {
        Self { id, tool: PhantomData }
    }

    /// Returns the id of the call.
    #[must_use]
    pub const fn id(&self) -> CallId {
        self.id
    }
}

impl<T> From<Call<T>> for CallId {
    fn from(call: Call<T>) -> Self {
        call.id
    }
}

impl<T> PartialEq for Call<T> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<T> Eq for Call<T> {}

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&self.id).finish()
    }
}

pub(super) mod sealed {
    #[allow(unnameable_types, reason = "that it cannot be named is what seals `ToolArguments`")]
    pub trait Sealed {}
}
