//! How a tool is declared, and what follows from the declaration: its names, its entry in `tools/list`, and the JSON
//! Schema (draft-07) of its arguments.

use super::arguments::{Argument, Described};
use super::request::snake_case;
use super::{Tool, ToolArguments};
use crate::ide::Dialect;
use crate::mcp::{ResourceSpec, Timeout, ToolResult, ToolSpec};
use alloc::{borrow::Cow, format, string::String};

/// A tool of the protocol, declared by the type of its arguments. These strings must not need JSON escaping; they go
/// into the schema verbatim.
pub(crate) trait ToolDef: ToolArguments + Described {
    /// The name, as VS Code spells it.
    const NAME: &'static str;
    /// What the tool does, for the model that chooses it.
    const DESCRIPTION: &'static str;
    /// The name in a dialect with snake case.
    const SNAKE_NAME: &'static str = Self::NAME;
    /// Other names that clients use for it.
    const OTHER_NAMES: &'static [&'static str] = &[];
    /// Tools that are always listed with this one.
    const LISTED_WITH: &'static [Tool] = &[];
    /// True if [`Server`](crate::ide::Server) answers the calls itself, even if the application does not handle the
    /// tool.
    const IS_BUILT_IN: bool = false;
    /// The URI of the resource that a client may read instead of calling, if there is one. Such a tool needs no
    /// arguments and changes nothing.
    const RESOURCE: Option<&'static str> = None;
    /// True if a call changes nothing: no file, no setting, and nothing that the person sees. Models get such a tool
    /// [by default](crate::ide::tool::ToolSet::offer_to_models).
    const IS_READ_ONLY: bool = false;
    /// How long a call waits.
    const TIMEOUT: Timeout = Timeout::Default;
    /// The code of the error if the editor does not handle the tool; `None` for the code of the dialect.
    const REFUSAL: Option<i64> = None;

    /// The constants above as one value. No tool overrides it.
    const DECLARATION: Declaration = Declaration {
        name: Self::NAME,
        snake_name: Self::SNAKE_NAME,
        other_names: Self::OTHER_NAMES,
        description: Self::DESCRIPTION,
        arguments: Self::ARGUMENTS,
        listed_with: Self::LISTED_WITH,
        is_built_in: Self::IS_BUILT_IN,
        resource: Self::RESOURCE,
        is_read_only: Self::IS_READ_ONLY,
        refusal: Self::REFUSAL,
    };

    /// Returns how long this call waits.
    fn timeout(&self) -> Timeout {
        Self::TIMEOUT
    }

    /// Returns the file that the call is about, as the agent wrote it; `None` for a tool without one.
    fn file(&self) -> Option<&str> {
        None
    }

    /// Reads an answer that the application gives in a shape that no dialect has. `call_file` is the file of the call.
    /// Returns `None` for a tool without such shapes.
    fn read_given(result: &ToolResult<'_>, call_file: Option<&str>) -> Option<Self::Answer> {
        let _ = (result, call_file);
        None
    }
}

/// The constants of a tool, from its [`ToolDef`].
pub(crate) struct Declaration {
    pub(crate) name: &'static str,
    pub(crate) snake_name: &'static str,
    pub(crate) other_names: &'static [&'static str],
    pub(crate) description: &'static str,
    pub(crate) arguments: &'static [Argument],
    pub(crate) listed_with: &'static [Tool],
    pub(crate) is_built_in: bool,
    pub(crate) resource: Option<&'static str>,
    pub(crate) is_read_only: bool,
    pub(crate) refusal: Option<i64>,
}

impl Tool {
    /// Returns the name of the tool in a dialect.
    #[must_use]
    pub const fn name(self, dialect: Dialect) -> &'static str {
        let declaration = self.declaration();
        if dialect.rules().snake_case { declaration.snake_name } else { declaration.name }
    }

    /// Returns the tool with this name in any dialect.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let is_named_otherwise = |tool: &Self| {
            let declaration = tool.declaration();
            declaration.snake_name == name || declaration.other_names.contains(&name)
        };
        // Every call is looked up here, and nearly all have the name of VS Code, so compare these first.
        let place = Self::FIRST_NAMES.iter().position(|first| *first == name);
        let tool = place.and_then(|place| Self::ALL.get(place).copied());
        tool.or_else(|| Self::ALL.into_iter().find(is_named_otherwise))
    }

    /// Returns the entry of the tool in `tools/list`.
    #[must_use]
    pub fn spec(self, dialect: Dialect) -> ToolSpec {
        let declaration = self.declaration();
        ToolSpec::new(self.name(dialect), declaration.description, schema(declaration.arguments, dialect))
    }

    /// Returns the URI of the resource that this tool reads, such as `ide://open-editors` for `getOpenEditors`; `None`
    /// if it reads none. See [`ServerConfig::tool_resources`](crate::ide::ServerConfig::tool_resources).
    #[must_use]
    pub const fn resource(self) -> Option<&'static str> {
        self.declaration().resource
    }

    /// Returns true if a connection for a model may have this tool. The others open and end the diffs of an agent, or
    /// set its mode.
    pub(crate) fn can_be_for_models(self) -> bool {
        self != Self::OpenDiff && !self.declaration().is_built_in
    }

    /// Returns the entry of the tool in `resources/list`; `None` if the tool reads no resource.
    pub(crate) fn resource_spec(self, dialect: Dialect) -> Option<ResourceSpec> {
        let uri = self.resource()?;
        let name = uri.strip_prefix("ide://").unwrap_or(uri);
        let spec = ResourceSpec::new(uri, name).description(self.declaration().description);
        Some(spec.mime_type("application/json").read_by(self.name(dialect)))
    }
}

/// Returns the JSON Schema of these arguments, with the names of a dialect.
fn schema(arguments: &[Argument], dialect: Dialect) -> Cow<'static, str> {
    let name = |argument: &Argument| match dialect.rules().snake_case {
        true => snake_case(argument.name),
        false => argument.name.into(),
    };
    let list = |texts: &mut dyn Iterator<Item = String>| {
        texts.reduce(|list, text| format!("{list},{text}")).unwrap_or_default()
    };
    let described = || arguments.iter().filter_map(|argument| Some((argument, argument.description?)));
    let properties = list(&mut described().map(|(argument, description)| {
        format!(r#""{}":{{{},"description":"{description}"}}"#, name(argument), argument.kind.schema())
    }));
    let is_short = dialect.rules().short_diff;
    let is_required = |argument: &&Argument| argument.is_required && !(is_short && argument.can_be_left_out);
    let required = described().map(|(argument, _)| argument).filter(is_required);
    let required = list(&mut required.map(|argument| format!(r#""{}""#, name(argument))));
    let required = if required.is_empty() { required } else { format!(r#""required":[{required}],"#) };
    Cow::Owned(format!(
        r#"{{"type":"object","properties":{{{properties}}},{required}"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}}"#
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::tool::ToolRequest;
    use alloc::vec::Vec;
    use serde_json::{Map, Value, json};

    /// Returns a sample value for a property of a schema.
    fn sample(property: &Value) -> Value {
        match property["type"].as_str().unwrap() {
            "string" => "x".into(),
            "boolean" => Value::Bool(!property["default"].as_bool().unwrap()),
            "integer" => 7.into(),
            "array" => json!(["x", "y"]),
            "object" => json!({"start": {"line": 1, "character": 2}, "end": {"line": 3, "character": 4}}),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn every_schema_matches_its_types() {
        for (tool, dialect) in
            Tool::ALL.into_iter().flat_map(|tool| Dialect::ALL.map(|dialect| (tool, dialect)))
        {
            let spec = tool.spec(dialect);
            assert!(!spec.description.is_empty(), "{tool:?} has no description");
            let schema: Value = serde_json::from_str(&spec.input_schema).unwrap();
            assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#", "{tool:?}");
            assert_eq!(schema["additionalProperties"], false, "{tool:?}");
            let properties = schema["properties"].as_object().unwrap();
            let full: Map<_, _> =
                properties.iter().map(|(name, property)| (name.clone(), sample(property))).collect();
            // Every argument in the schema is read, kept and written again, and nothing else is.
            let request = ToolRequest::read(tool, Value::Object(full.clone())).unwrap();
            assert_eq!(request.tool(), Some(tool));
            let written = request.written(dialect);
            assert_eq!(written, Value::Object(full.clone()), "{tool:?} {dialect:?}");
            // The required arguments are enough, and none may be missing, except in `openDiff`: there one path stands
            // for both, and for the tab. The short schema requires one path.
            let required: Vec<&str> = schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|name| name.as_str().unwrap())
                .collect();
            let least: Map<_, _> =
                required.iter().map(|name| ((*name).into(), full[*name].clone())).collect();
            assert!(ToolRequest::read(tool, Value::Object(least.clone())).is_ok(), "{tool:?}");
            for name in required {
                let mut less = least.clone();
                less.remove(name);
                let is_short = dialect.rules().short_diff;
                let forgiven = tool == Tool::OpenDiff && name != "new_file_contents" && !is_short;
                assert_eq!(ToolRequest::read(tool, Value::Object(less)).is_ok(), forgiven, "{tool:?} {name}");
            }
        }
    }

    #[test]
    fn snake_open_diff_requires_two_arguments() {
        const FOUR: &[&str] = &["old_file_path", "new_file_path", "new_file_contents", "tab_name"];
        for dialect in Dialect::ALL {
            let schema: Value = serde_json::from_str(&Tool::OpenDiff.spec(dialect).input_schema).unwrap();
            let two: &[&str] = &["old_file_path", "new_file_contents"];
            let expected = if dialect == Dialect::SnakeCase { two } else { FOUR };
            assert_eq!(schema["required"], json!(expected), "{dialect:?}");
        }
    }

    #[test]
    fn arguments_round_trip_in_every_dialect() {
        arbtest::arbtest(|u| {
            let (tool, dialect) = (*u.choose(&Tool::ALL)?, *u.choose(&Dialect::ALL)?);
            let schema: Value = serde_json::from_str(&tool.spec(dialect).input_schema).unwrap();
            let mut arguments = Map::new();
            for (name, property) in schema["properties"].as_object().unwrap() {
                let text: &str = u.arbitrary()?;
                let value = if property["type"] == "string" { text.into() } else { sample(property) };
                arguments.insert(name.clone(), value);
            }
            // Some strings are empty, and then a required argument counts as missing.
            if let Ok(request) = ToolRequest::read(tool, Value::Object(arguments)) {
                let written = request.written(dialect);
                let again = ToolRequest::read(tool, written.clone()).unwrap();
                assert_eq!(again.written(dialect), written);
                assert_eq!(alloc::format!("{again:?}"), alloc::format!("{request:?}"));
            }
            Ok(())
        });
    }

    #[test]
    fn every_name_belongs_to_one_tool() {
        let mut names = Vec::new();
        for tool in Tool::ALL {
            let Declaration { name, snake_name, other_names, .. } = tool.declaration();
            let mut spellings: Vec<_> =
                [*name, *snake_name].into_iter().chain(other_names.iter().copied()).collect();
            spellings.dedup();
            // Clients call this one the same in every dialect.
            assert!(tool == Tool::OpenDiff || !snake_name.contains(char::is_uppercase), "{snake_name}");
            for spelling in spellings {
                assert_eq!(Tool::from_name(spelling), Some(tool), "{spelling}");
                assert!(!names.contains(&spelling), "{spelling}");
                names.push(spelling);
            }
        }
        assert_eq!(Tool::from_name("OpenFile"), None);
    }
}
