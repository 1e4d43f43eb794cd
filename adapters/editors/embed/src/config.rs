//! The configuration of an editor.

use crate::error::ConfigError;
use crate::input::{Input, JsonObject, List, Members, Object as _, Wrong, read_members, words};
use crate::table::{Row, inputs};
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::tool::{Tool, ToolSet};
use ide_mcp::ide::{Dialect, Filter, ServerConfig};
use ide_mcp::mcp::{Context, PromptArgument, PromptSpec, ResourceSpec};
use serde_json::value::RawValue;

/// The version of the protocol. New members, commands and events do not change it.
pub const PROTOCOL: u64 = 1;

/// The configuration.
pub const CONFIG: Row = Config::ROW;

/// The objects in the lists of the configuration and of commands.
pub const PARTS: &[Row] = &[OwnTool::ROW, Prompt::ROW, Argument::ROW, Resource::ROW];

inputs! {
    /// Describes your editor. This is the first line.
    "configuration" => Config {
        /// The version of this protocol: 1, which is also the default. If the versions differ, the error says
        /// which side to update.
        protocol: Option<u64>,
        /// The name of the editor, which agents show to a person.
        name: String,
        /// The version of the editor.
        version: Option<String>,
        /// The open folders, as absolute paths. An agent finds the editor if it runs in one of them. If the
        /// list is empty, only agents with the `environment` of the event `listening` find the editor.
        folders: Vec<String>,
        /// The tools that the editor offers, by name, such as `openDiff` and `getDiagnostics`.
        tools: Option<ToolNames>,
        /// Tools of your own.
        own: List<OwnTool>,
        /// The prompts that the editor offers (see the command `context`).
        prompts: List<Prompt>,
        /// The resources that the editor offers.
        resources: List<Resource>,
        /// Instructions for the model.
        instructions: Option<String>,
        /// The dialect. Default `vscode`, which the real client understands.
        dialect: Option<DialectName>,
        /// If true, each agent must wait for the command `allow`. Default false.
        consent: Option<bool>,
        /// Which files to hide from agents. Default `secrets`: files such as `.env` and private keys. `none`
        /// hides no file.
        filter: Option<FilterName>,
        /// The process id of the editor, for the lock file. Leave it out if the editor runs in another
        /// container; the lock file then has the process id of the sidecar.
        pid: Option<u32>,
        /// The port. Default: any free one.
        port: Option<u16>,
        /// The token, at least 16 characters of visible ASCII. Default: a random one.
        token: Option<Token>,
        /// The directory of the lock file. Default: that of the real client.
        lock_dir: Option<String>,
        /// The lock file of an earlier run, which the event `listening` named. Its port and token are used
        /// again, so that agents come back by themselves. If the file is gone, the editor starts as without
        /// `resume`.
        resume: Option<String>,
    }

    /// A tool of your own.
    "own tool" => OwnTool {
        /// The name.
        name: String,
        /// A description for the model.
        description: Option<String>,
        /// The JSON Schema of the arguments. Default: any object.
        schema: Option<JsonObject>,
        /// If true, models that connect by `mcp-config` get the tool too. Default false.
        models: Option<bool>,
    }

    /// A prompt, which the person can choose in the agent.
    "prompt" => Prompt {
        /// The name. The person types `/ide:NAME`.
        name: String,
        /// A description for the person.
        description: Option<String>,
        /// The arguments, in the order in which the agent asks for them.
        arguments: List<Argument>,
    }

    /// An argument of a prompt.
    "argument" => Argument {
        /// The name.
        name: String,
        /// A description for the person.
        description: Option<String>,
        /// If true, the person must give a value. Default false.
        required: Option<bool>,
    }

    /// A resource, which a person or the model can read.
    "resource" => Resource {
        /// The URI.
        uri: String,
        /// The name that an agent shows. Default: the URI.
        name: Option<String>,
        /// A description.
        description: Option<String>,
        /// The MIME type.
        mimeType: Option<String>,
    }
}

words! {
    DialectName: "`vscode`, `jetbrains`, `snake_case` or `obsidian`" {
        "vscode" => VsCode,
        "jetbrains" => JetBrains,
        "snake_case" => SnakeCase,
        "obsidian" => Obsidian,
    }
    FilterName: "`secrets` or `none`" {
        "secrets" => Secrets,
        "none" => None,
    }
}

impl Config {
    pub(crate) fn read(text: &str) -> Result<Self, ConfigError> {
        let mut members =
            Members::read(text).map_err(|error| ConfigError::new(format!("it is not an object: {error}")))?;
        let config: Self = read_members(&mut members).map_err(|fault| ConfigError::new(fault.to_string()))?;
        match config.protocol {
            None | Some(PROTOCOL) => Ok(config),
            Some(other) => {
                let older = if other > PROTOCOL {
                    concat!("ide-mcp ", env!("CARGO_PKG_VERSION"))
                } else {
                    "the plugin of the editor"
                };
                Err(ConfigError::new(format!(
                    "update {older}: `protocol` is {other}, and ide-mcp has {PROTOCOL}"
                )))
            }
        }
    }

    /// Describes the editor, without the port of its listener and its token.
    pub(crate) fn describe(&self) -> ServerConfig {
        let dialect = match self.dialect {
            None | Some(DialectName::VsCode) => Dialect::VsCode,
            Some(DialectName::JetBrains) => Dialect::JetBrains,
            Some(DialectName::SnakeCase) => Dialect::SnakeCase,
            Some(DialectName::Obsidian) => Dialect::Obsidian,
        };
        let tools = self.tools.as_ref().map(|tools| tools.0.as_slice()).unwrap_or_default();
        let mut editor = ServerConfig::new(self.name.as_str(), self.version.as_deref().unwrap_or_default())
            .folders(&self.folders)
            .for_dialect(dialect)
            .tools(tool_set(tools, &self.own))
            .context(context(&self.prompts, &self.resources));
        editor.mcp.instructions.clone_from(&self.instructions);
        editor.asks_for_consent = self.consent.unwrap_or_default();
        if self.filter != Some(FilterName::None) {
            editor.filter = Filter::secrets();
        }
        editor
    }
}

/// Returns the tools with these names, and the editor's own.
pub(crate) fn tool_set(tools: &[Tool], own: &List<OwnTool>) -> ToolSet {
    let tools = tools.iter().copied().fold(ToolSet::new(), ToolSet::handle);
    own.0.iter().fold(tools, |tools, own| {
        let schema = own.schema.as_ref().map_or(r#"{"type":"object"}"#, |JsonObject(schema)| schema.get());
        let description = own.description.clone().unwrap_or_default();
        let tools = tools.custom(own.name.clone(), description, schema.to_owned());
        if own.models == Some(true) { tools.offer_to_models(own.name.clone()) } else { tools }
    })
}

/// Returns the prompts and resources for agents. Both are declared even if they are empty, so that later
/// commands can add some.
pub(crate) fn context(prompts: &List<Prompt>, resources: &List<Resource>) -> Context {
    Context::new()
        .prompts(prompts.0.iter().map(Prompt::spec))
        .resources(resources.0.iter().map(Resource::spec))
}

impl Prompt {
    fn spec(&self) -> PromptSpec {
        let spec = PromptSpec::new(self.name.clone(), self.description.clone().unwrap_or_default());
        self.arguments.0.iter().fold(spec, |spec, argument| {
            let description = argument.description.clone().unwrap_or_default();
            let mut listed = PromptArgument::optional(argument.name.clone(), description);
            listed.required = argument.required.unwrap_or_default();
            spec.argument(listed)
        })
    }
}

impl Resource {
    fn spec(&self) -> ResourceSpec {
        let name = self.name.clone().unwrap_or_else(|| self.uri.clone());
        ResourceSpec::new(self.uri.clone(), name)
            .description(self.description.clone().unwrap_or_default())
            .mime_type(self.mimeType.clone().unwrap_or_default())
    }
}

/// Tools of the protocol.
#[derive(Debug)]
pub(crate) struct ToolNames(pub(crate) Vec<Tool>);

impl Input for ToolNames {
    const KIND: &'static str = "a list of tool names";

    fn read(raw: &RawValue) -> Result<Self, Wrong> {
        let names = <Vec<String> as Input>::read(raw)?;
        let tool = |name: &String| {
            let known = || Tool::ALL.map(|tool| tool.name(Dialect::VsCode)).join(", ");
            let unknown = || Wrong::Value(format!("has {name:?}, which is not one of the tools {}", known()));
            Tool::from_name(name).ok_or_else(unknown)
        };
        names.iter().map(tool).collect::<Result<_, _>>().map(Self)
    }
}

/// A token that is long enough to be published.
#[derive(Debug)]
pub(crate) struct Token(pub(crate) AuthToken);

impl Input for Token {
    const KIND: &'static str = "a string";

    fn read(raw: &RawValue) -> Result<Self, Wrong> {
        let text = <String as Input>::read(raw)?;
        if text.len() < AuthToken::MIN_PUBLISHED_LEN {
            let minimum = AuthToken::MIN_PUBLISHED_LEN;
            return Err(Wrong::Value(format!("has {} bytes: it needs at least {minimum}", text.len())));
        }
        AuthToken::from_text(text).map(Self).map_err(|error| Wrong::Value(format!("cannot be used: {error}")))
    }
}
