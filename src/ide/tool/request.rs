//! The arguments of a tool call with the names of a dialect, and calls of the application's own tools.

use super::ToolArguments;
use super::tools::sealed;
use crate::ide::Dialect;
use crate::ide::tool::Tool;
use crate::mcp::ToolResult;
use crate::rpc::{ErrorObject, from_json};
use alloc::{boxed::Box, format, string::String};
use core::any::Any;
use core::fmt;
use serde::{Deserializer, Serialize, Serializer, de::DeserializeOwned, ser::Error};
use serde_json::{Map, Value, value::RawValue};

/// A call of a tool of your own; on the side of the agent, a call of any tool by its name.
///
/// ```
/// use ide_mcp::ide::tool::OtherTool;
///
/// #[derive(serde::Deserialize)]
/// struct Reveal {
///     path: String,
/// }
///
/// // In an editor it comes as `ToolCall::Other(call, other)`.
/// let other = OtherTool::new("reveal", serde_json::from_str(r#"{"path":"/w/a.rs"}"#)?);
/// let reveal: Reveal = other.into_arguments().expect("the arguments fit");
/// assert_eq!(reveal.path, "/w/a.rs");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[non_exhaustive]
pub struct OtherTool {
    /// The name of the tool.
    pub name: Box<str>,
    arguments: OtherArguments,
}

enum OtherArguments {
    Raw(Box<RawValue>),
    /// A value of the type that the tool was [offered](crate::ide::tool::ToolSet::custom_typed) with.
    Typed(Box<dyn Any + Send + Sync>),
}

/// Arguments that were decoded as a [type](crate::ide::tool::ToolSet::custom_typed) equal nothing, because only you
/// know the type.
impl PartialEq for OtherTool {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |(raw, other): (&RawValue, &RawValue)| raw.get() == other.get();
        self.name == other.name && self.raw().zip(other.raw()).is_some_and(is_same)
    }
}

impl OtherTool {
    /// Creates a call of the tool with this name. The arguments must be a JSON object.
    #[must_use]
    pub fn new(name: impl Into<Box<str>>, arguments: Box<RawValue>) -> Self {
        Self { name: name.into(), arguments: OtherArguments::Raw(arguments) }
    }

    /// Decodes the arguments of a tool that was offered with this type.
    pub(crate) fn decode<'de, T, D>(name: &str, arguments: D) -> Result<Self, D::Error>
    where
        T: DeserializeOwned + Send + Sync + 'static,
        D: Deserializer<'de>,
    {
        let arguments = OtherArguments::Typed(Box::new(T::deserialize(arguments)?));
        Ok(Self { name: name.into(), arguments })
    }

    /// Returns the arguments as they were written: a JSON object, nested at most as deep as the limit allows. Returns
    /// `None` if you offered the tool with a [type](crate::ide::tool::ToolSet::custom_typed).
    #[must_use]
    pub const fn raw(&self) -> Option<&RawValue> {
        match &self.arguments {
            OtherArguments::Raw(raw) => Some(raw),
            OtherArguments::Typed(_) => None,
        }
    }

    /// Returns the arguments as a `T`. They are decoded here, unless you offered the tool with this
    /// [type](crate::ide::tool::ToolSet::custom_typed): then they already are.
    ///
    /// # Errors
    ///
    /// -32602 if the arguments do not fit the type, and -32603 if you offered the tool with another type.
    /// [Fail](crate::ide::OpenCall::fail) the call with this error.
    pub fn into_arguments<T: DeserializeOwned + 'static>(self) -> Result<T, ErrorObject> {
        match self.arguments {
            OtherArguments::Raw(raw) => {
                from_json(raw.get()).map_err(|error| ErrorObject::invalid_params(format!("{error}")))
            }
            OtherArguments::Typed(value) => {
                let value: Result<Box<T>, _> = value.downcast();
                let wrong = |_| {
                    let message = "the tool was offered with another type for its arguments";
                    ErrorObject::from(message)
                };
                value.map(|value| *value).map_err(wrong)
            }
        }
    }
}

impl sealed::Sealed for OtherTool {}

impl ToolArguments for OtherTool {
    type Answer = ToolResult<'static>;

    #[doc(hidden)]
    fn tool(&self) -> Option<Tool> {
        None
    }

    #[doc(hidden)]
    fn name_in(&self, _: Dialect) -> &str {
        &self.name
    }
}

impl Serialize for OtherTool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw().ok_or_else(|| S::Error::custom("the arguments were decoded"))?.serialize(serializer)
    }
}

impl fmt::Debug for OtherTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments = self.raw().map_or("<decoded>", RawValue::get);
        f.debug_struct("OtherTool").field("name", &self.name).field("arguments", &arguments).finish()
    }
}

/// The arguments of a call, to be written in a dialect.
pub(crate) struct Arguments<'a, T> {
    pub(crate) arguments: &'a T,
    pub(crate) dialect: Dialect,
}

impl<T: ToolArguments> Serialize for Arguments<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.dialect.rules().snake_case || self.arguments.tool().is_none() {
            return self.arguments.serialize(serializer);
        }
        let Value::Object(members) = serde_json::to_value(self.arguments).map_err(S::Error::custom)? else {
            return Err(S::Error::custom("the arguments are not an object"));
        };
        members
            .into_iter()
            .map(|(name, value)| (snake_case(&name), value))
            .collect::<Map<_, _>>()
            .serialize(serializer)
    }
}

/// Returns `file_path` for `filePath`.
pub(super) fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len().saturating_add(2));
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
