//! A call that waits for its answer, typed by its tool.

use super::{Answer, Tool};
use crate::ide::Dialect;
use crate::rpc::CallId;
use core::fmt;
use core::marker::PhantomData;
use serde::Serialize;

/// The arguments of a tool. Their type decides what answers a call.
///
/// Implemented by the type of every tool of the protocol, and by [`OtherTool`](crate::ide::OtherTool); no other type can.
pub trait ToolArguments: Serialize + sealed::Sealed {
    /// The answer of the tool.
    type Answer: Answer;

    /// Returns which tool is called; `None` for one of the application's own.
    #[doc(hidden)]
    fn tool(&self) -> Option<Tool>;

    /// Returns the name of the tool on the wire in a dialect.
    #[doc(hidden)]
    fn name_in(&self, dialect: Dialect) -> &str;
}

/// A call of the tool `T` that waits for its answer.
///
/// [`Host::answer`](crate::ide::Host::answer) consumes the call and takes the answer of that tool and no other. What
/// else can be done with an open call is done by its [id](Call::id), with [`Host::call`](crate::ide::Host::call).
///
/// A call that is dropped is answered at its deadline. `openDiff` and `executeCode` have none: the first ends when the client
/// closes its tab, and both end when the client cancels them or the connection ends.
///
/// ```compile_fail,E0308
/// # use ide_mcp::ide::{Call, Host, OpenDiff, OpenEditors};
/// fn wrong_answer(host: &mut Host, call: Call<OpenDiff>) {
///     let _ = host.answer(call, &OpenEditors::default());
/// }
/// ```
///
/// ```compile_fail,E0382
/// # use ide_mcp::ide::{Call, CloseTab, Host, TabClosed};
/// fn answered_twice(host: &mut Host, call: Call<CloseTab>) {
///     let _ = host.answer(call, &TabClosed::new(true));
///     let _ = host.answer(call, &TabClosed::new(true));
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

    /// Returns the name of the call.
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

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&self.id).finish()
    }
}

pub(super) mod sealed {
    #[allow(unnameable_types, reason = "that it cannot be named is what seals `ToolArguments`")]
    pub trait Sealed {}
}
