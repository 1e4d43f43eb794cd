//! The prompts and resources that the command `context` offers, and the answers to requests for them.

use ide_mcp::ide::Server;
use ide_mcp::mcp::{
    Context, GetPrompt, PromptArgument, PromptResult, PromptSpec, ReadResource, ResourceResult, ResourceSpec,
};
use ide_mcp::rpc::{CallId, ErrorObject};
use serde::Deserialize;

/// A prompt. Its text is fixed, where another editor would compose one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prompt {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    arguments: Vec<Argument>,
    /// The text for the model. `{NAME}` is replaced by the argument NAME.
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Argument {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    required: bool,
}

/// A resource, with its contents.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Resource {
    uri: String,
    /// The name that a client shows; the URI if absent.
    name: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    mime_type: String,
    text: String,
}

/// The prompts and resources that are offered now.
#[derive(Debug, Default)]
pub(crate) struct Offered {
    prompts: Vec<Prompt>,
    resources: Vec<Resource>,
}

impl Offered {
    pub(crate) const fn new(prompts: Vec<Prompt>, resources: Vec<Resource>) -> Self {
        Self { prompts, resources }
    }

    /// Returns the lists for the clients.
    pub(crate) fn to_context(&self) -> Context {
        Context::new()
            .prompts(self.prompts.iter().map(Prompt::spec))
            .resources(self.resources.iter().map(Resource::spec))
    }

    /// Answers `prompts/get`; with an error while the server is paused. The server lets through only prompts that
    /// it lists, so one is missing here only if a command has just replaced the list.
    pub(crate) fn answer_prompt(&self, server: &mut Server, call: CallId, request: &GetPrompt) {
        if server.is_paused() {
            return refuse(server, call);
        }
        // If several prompts have the same name, the last one is in the list.
        let result = self.prompts.iter().rfind(|prompt| prompt.name == request.name);
        // If this fails, the agent is gone, and nobody waits for the answer.
        let _ = match result.map(|prompt| PromptResult::text(prompt.text_for(request))) {
            Some(result) => server.call(call).respond_prompt(&result).map_err(drop),
            None => server.call(call).fail(ErrorObject::invalid_params("this prompt is gone")).map_err(drop),
        };
    }

    /// Answers `resources/read`; with an error while the server is paused. The server lets through only resources
    /// that it lists, so one is missing here only if a command has just replaced the list.
    pub(crate) fn answer_resource(&self, server: &mut Server, call: CallId, request: &ReadResource) {
        if server.is_paused() {
            return refuse(server, call);
        }
        let _ = match self.resources.iter().rfind(|resource| resource.uri == request.uri) {
            Some(Resource { uri, mime_type, text, .. }) => {
                let result = ResourceResult::text(uri, mime_type, text);
                server.call(call).respond_resource(&result).map_err(drop)
            }
            None => {
                server.call(call).fail(ErrorObject::resource_not_found("this resource is gone")).map_err(drop)
            }
        };
    }
}

/// Refuses a request during a pause. The server's filter does not know the texts that the user wrote.
fn refuse(server: &mut Server, call: CallId) {
    let _ = server.call(call).fail("the editor is paused");
}

impl Prompt {
    fn spec(&self) -> PromptSpec {
        let spec = PromptSpec::new(self.name.clone(), self.description.clone());
        self.arguments.iter().fold(spec, |spec, Argument { name, description, required }| {
            let mut argument = PromptArgument::optional(name.clone(), description.clone());
            argument.required = *required;
            spec.argument(argument)
        })
    }

    /// Returns the text with the values of the arguments. An argument that the request leaves out is empty. Braces
    /// around other words stay, even those in a value.
    fn text_for(&self, request: &GetPrompt) -> String {
        let (mut text, mut rest) = (String::new(), self.text.as_str());
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let argument = after.split_once('}').and_then(|(name, after)| {
                let is_declared = self.arguments.iter().any(|argument| argument.name == name);
                is_declared.then_some((name, after))
            });
            rest = match argument {
                Some((name, after)) => {
                    text.push_str(request.arguments.get(name).map_or("", String::as_str));
                    after
                }
                None => {
                    text.push('{');
                    after
                }
            };
        }
        text + rest
    }
}

impl Resource {
    fn spec(&self) -> ResourceSpec {
        let name = self.name.clone().unwrap_or_else(|| self.uri.clone());
        ResourceSpec::new(self.uri.clone(), name)
            .description(self.description.clone())
            .mime_type(self.mime_type.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_the_values_of_arguments() {
        let rows = [
            ("a value", "Review {focus}!", "Review a {depth}!"),
            ("an absent value", "{depth}.{focus}{depth}", ".a {depth}"),
            ("an unknown word in braces", "{} {x} {focus}", "{} {x} a {depth}"),
            ("braces that do not close", "{{focus} {focus", "{a {depth} {focus"),
            ("no argument", "Review", "Review"),
        ];
        for (name, text, want) in rows {
            let prompt: Prompt = serde_json::from_value(serde_json::json!({
                "name": "p", "text": text, "arguments": [{"name": "focus", "required": true}, {"name": "depth"}],
            }))
            .unwrap();
            let request = GetPrompt::new("p").argument("focus", "a {depth}").argument("x", "ignored");
            assert_eq!(prompt.text_for(&request), want, "{name}");
        }
    }

    #[test]
    fn lists_have_all_that_is_offered() {
        let prompts = r#"[{"name":"p","text":"old"},{"name":"q","description":"d","text":"","arguments":[{"name":"a","required":true},{"name":"b","description":"e"}]},{"name":"p","text":""}]"#;
        let resources = r#"[{"uri":"n://1","text":""},{"uri":"n://2","name":"n","description":"d","mimeType":"text/plain","text":""}]"#;
        let offered =
            Offered::new(serde_json::from_str(prompts).unwrap(), serde_json::from_str(resources).unwrap());
        let context = offered.to_context();
        let written = |list: Result<String, _>| list.unwrap();
        assert_eq!(
            written(serde_json::to_string(context.listed_prompts().unwrap_or_default())),
            r#"[{"name":"p"},{"name":"q","description":"d","arguments":[{"name":"a","required":true},{"name":"b","description":"e"}]}]"#
        );
        assert_eq!(
            written(serde_json::to_string(context.listed_resources().unwrap_or_default())),
            r#"[{"uri":"n://1","name":"n://1"},{"uri":"n://2","name":"n","description":"d","mimeType":"text/plain"}]"#
        );
        let empty = Offered::default().to_context();
        assert!(empty.listed_prompts().is_some() && empty.listed_resources().is_some());
    }
}
