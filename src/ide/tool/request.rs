//! A call of a tool as it is written: its name and its arguments, in a dialect.

use super::ToolRequest;
use crate::ide::Dialect;
use alloc::{boxed::Box, string::String};
use serde::{Serialize, Serializer, ser::Error};
use serde_json::{Map, Value, value::RawValue};

impl ToolRequest {
    /// Returns the name on the wire, as VS Code spells it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name_in(Dialect::VsCode)
    }

    /// Returns the name on the wire in a dialect.
    #[must_use]
    pub fn name_in(&self, dialect: Dialect) -> &str {
        match (self, self.tool()) {
            (Self::Other(other), _) => &other.name,
            (_, Some(tool)) => tool.name(dialect),
            (_, None) => "",
        }
    }

    /// Returns the arguments as they are written in a dialect.
    pub(crate) const fn arguments(&self, dialect: Dialect) -> Arguments<'_> {
        Arguments { request: self, dialect }
    }
}

/// A call of a tool that only the application knows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OtherTool {
    /// The name of the tool.
    pub name: Box<str>,
    /// The arguments: a JSON object, nested at most as deeply as the limit.
    pub arguments: Box<RawValue>,
}

impl OtherTool {
    /// Calls the tool with this name.
    #[must_use]
    pub fn new(name: impl Into<Box<str>>, arguments: Box<RawValue>) -> Self {
        Self { name: name.into(), arguments }
    }
}

impl From<OtherTool> for ToolRequest {
    fn from(other: OtherTool) -> Self {
        Self::Other(other)
    }
}

/// The arguments of a call in a dialect.
pub(crate) struct Arguments<'a> {
    request: &'a ToolRequest,
    dialect: Dialect,
}

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.dialect.rules().snake_case || self.request.tool().is_none() {
            return self.request.serialize(serializer);
        }
        let Value::Object(members) = serde_json::to_value(self.request).map_err(S::Error::custom)? else {
            return Err(S::Error::custom("arguments are no object"));
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
