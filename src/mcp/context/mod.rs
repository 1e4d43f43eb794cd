//! What a server offers besides its tools: prompts and resources (MCP 2025-11-25, server features).

mod prompt;
mod resource;

pub use prompt::{GetPrompt, PromptArgument, PromptMessage, PromptResult, PromptRole, PromptSpec};
pub use resource::{
    ReadResource, ResourceBody, ResourceContents, ResourceResult, ResourceSpec, ResourceTemplate,
};

use alloc::{format, vec::Vec};

use crate::rpc::ErrorObject;

/// The prompts and resources that you offer.
///
/// The real client offers a prompt to its user as a command, and a resource as a completion to its user and to its
/// model (measured, see docs/protocol.md).
///
/// Declare everything when the session begins: prompts with [`prompt`](Context::prompt) or
/// [`prompts`](Context::prompts), resources with [`resource`](Context::resource), [`resources`](Context::resources) or
/// [`template`](Context::template). If you declare something later in the same session, the client does not learn of
/// it.
///
/// ```
/// use ide_mcp::mcp::{Context, PromptArgument, PromptSpec, ResourceSpec};
/// let review = PromptSpec::new("review", "Reviews the open file")
///     .argument(PromptArgument::optional("focus", "What to look at"));
/// let context = Context::new()
///     .prompt(review)
///     .resource(ResourceSpec::new("notes://today", "today").description("The notes of today"));
/// assert!(context.listed_prompts().is_some() && context.listed_resources().is_some());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The prompts; `None` if prompts are not declared.
    prompts: Option<Vec<PromptSpec>>,
    /// The resources and the templates; `None` if resources are not declared.
    resources: Option<(Vec<ResourceSpec>, Vec<ResourceTemplate>)>,
}

impl Context {
    /// Creates a context that declares neither prompts nor resources.
    #[must_use]
    pub const fn new() -> Self {
        Self { prompts: None, resources: None }
    }

    /// Declares prompts, and adds these. Pass an empty list if they come later, with
    /// [`Server::set_context`](super::Server::set_context).
    #[must_use]
    pub fn prompts(mut self, specs: impl IntoIterator<Item = PromptSpec>) -> Self {
        let prompts = self.prompts.get_or_insert_default();
        specs.into_iter().for_each(|spec| put(prompts, spec, |spec| &spec.name));
        self
    }

    /// Adds a prompt. It replaces an earlier one with the same name.
    #[must_use]
    pub fn prompt(self, spec: PromptSpec) -> Self {
        self.prompts([spec])
    }

    /// Declares resources, and adds these. Pass an empty list if they come later, with
    /// [`Server::set_context`](super::Server::set_context).
    #[must_use]
    pub fn resources(mut self, specs: impl IntoIterator<Item = ResourceSpec>) -> Self {
        let (resources, _) = self.resources.get_or_insert_default();
        specs.into_iter().for_each(|spec| put(resources, spec, |spec| &spec.uri));
        self
    }

    /// Adds a resource. It replaces an earlier one with the same URI.
    #[must_use]
    pub fn resource(self, spec: ResourceSpec) -> Self {
        self.resources([spec])
    }

    /// Adds a template of resources. Then you get the request for every URI that is not in the list of resources, and
    /// you decide whether the resource exists.
    #[must_use]
    pub fn template(mut self, template: ResourceTemplate) -> Self {
        self.resources.get_or_insert_default().1.push(template);
        self
    }

    /// Returns the context without the prompts or resources that `declared` does not declare.
    pub(super) fn declared_by(mut self, declared: &Self) -> Self {
        self.prompts = self.prompts.filter(|_| declared.prompts.is_some());
        self.resources = self.resources.filter(|_| declared.resources.is_some());
        self
    }

    /// Returns true if prompts are declared.
    pub(crate) const fn declares_prompts(&self) -> bool {
        self.prompts.is_some()
    }

    /// Returns true if resources are declared.
    pub(crate) const fn declares_resources(&self) -> bool {
        self.resources.is_some()
    }

    /// Returns the listed prompts, in order; `None` if prompts are not declared.
    #[must_use]
    pub fn listed_prompts(&self) -> Option<&[PromptSpec]> {
        self.prompts.as_deref()
    }

    /// Returns the listed resources, in order; `None` if resources are not declared.
    #[must_use]
    pub fn listed_resources(&self) -> Option<&[ResourceSpec]> {
        self.resources.as_ref().map(|(resources, _)| resources.as_slice())
    }

    /// Returns the listed templates, in order.
    #[must_use]
    pub fn listed_templates(&self) -> &[ResourceTemplate] {
        self.resources.as_ref().map(|(_, templates)| templates.as_slice()).unwrap_or_default()
    }

    /// Checks that a prompt is listed and has its required arguments.
    pub(super) fn check_prompt(&self, request: &GetPrompt) -> Result<(), ErrorObject> {
        let name = &request.name;
        let Some(spec) = self.listed_prompts().unwrap_or_default().iter().find(|spec| spec.name == *name)
        else {
            return Err(ErrorObject::invalid_params(format!("prompt {name} not found")));
        };
        let is_missing = |argument: &&PromptArgument| {
            argument.required && !request.arguments.contains_key(argument.name.as_ref())
        };
        match spec.arguments.iter().find(is_missing) {
            Some(PromptArgument { name: missing, .. }) => {
                let text = format!("prompt {name} requires the argument {missing}");
                Err(ErrorObject::invalid_params(text))
            }
            None => Ok(()),
        }
    }

    /// Returns the listed resource with this URI; `None` if only a template can cover it.
    ///
    /// # Errors
    ///
    /// If the URI is not listed and there is no template.
    pub(super) fn find_resource(&self, uri: &str) -> Result<Option<&ResourceSpec>, ErrorObject> {
        let listed = self.listed_resources().unwrap_or_default().iter().find(|spec| spec.uri == uri);
        if listed.is_none() && self.listed_templates().is_empty() {
            return Err(resource_not_found(uri));
        }
        Ok(listed)
    }

    /// Returns true if both have equal lists of prompts.
    pub(super) fn has_prompts_of(&self, other: &Self) -> bool {
        self.listed_prompts().unwrap_or_default() == other.listed_prompts().unwrap_or_default()
    }

    /// Returns true if both have equal lists of resources and templates.
    pub(super) fn has_resources_of(&self, other: &Self) -> bool {
        self.listed_resources().unwrap_or_default() == other.listed_resources().unwrap_or_default()
            && self.listed_templates() == other.listed_templates()
    }
}

/// Returns the error for a resource that is not offered.
pub(super) fn resource_not_found(uri: &str) -> ErrorObject {
    ErrorObject::resource_not_found(format!("resource {uri} not found"))
}

/// Replaces the item with the same key, or adds the item at the end.
pub(crate) fn put<T, K: PartialEq + ?Sized>(list: &mut Vec<T>, item: T, key: impl Fn(&T) -> &K) {
    match list.iter_mut().find(|known| key(known) == key(&item)) {
        Some(known) => *known = item,
        None => list.push(item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn context_declares_prompts_and_resources_if_it_has_them() {
        let prompt = || PromptSpec::new("p", "");
        let resource = || ResourceSpec::new("r://1", "r");
        let rows = [
            ("nothing", Context::new(), (false, false)),
            ("a prompt", Context::new().prompt(prompt()), (true, false)),
            ("prompts that come later", Context::new().prompts([]), (true, false)),
            ("a resource", Context::new().resource(resource()), (false, true)),
            ("resources that come later", Context::new().resources([]), (false, true)),
            ("a template", Context::new().template(ResourceTemplate::new("r://{n}", "r")), (false, true)),
        ];
        for (name, context, declared) in rows {
            assert_eq!((context.declares_prompts(), context.declares_resources()), declared, "{name}");
        }
    }

    #[test]
    fn a_second_entry_with_the_same_key_replaces_the_first() {
        let context = Context::new()
            .prompt(PromptSpec::new("p", "old"))
            .prompt(PromptSpec::new("q", ""))
            .prompt(PromptSpec::new("p", "new"))
            .resource(ResourceSpec::new("r://1", "old"))
            .resource(ResourceSpec::new("r://1", "new"));
        let prompts: Vec<_> = context
            .listed_prompts()
            .unwrap_or_default()
            .iter()
            .map(|p| (&*p.name, &*p.description))
            .collect();
        assert_eq!(prompts, [("p", "new"), ("q", "")]);
        let resources: Vec<_> =
            context.listed_resources().unwrap_or_default().iter().map(|r| &*r.name).collect();
        assert_eq!(resources, ["new"]);
    }

    #[test]
    fn prompt_is_checked_against_its_spec() {
        let spec = PromptSpec::new("p", "")
            .argument(PromptArgument::required("a", ""))
            .argument(PromptArgument::optional("b", ""));
        let context = Context::new().prompt(spec);
        let request = |name: &str, arguments: &[&str]| GetPrompt {
            name: name.to_string(),
            arguments: arguments.iter().map(|name| (name.to_string(), "1".to_string())).collect(),
        };
        let rows = [
            ("complete", request("p", &["a"]), Ok(())),
            ("with optional and unknown arguments", request("p", &["a", "b", "c"]), Ok(())),
            ("a required argument is missing", request("p", &["b"]), Err("prompt p requires the argument a")),
            ("an unknown prompt", request("q", &["a"]), Err("prompt q not found")),
        ];
        for (name, request, want) in rows {
            let got = context.check_prompt(&request).map_err(|error| (error.code, error.message));
            assert_eq!(got, want.map_err(|text| (-32602, text.to_string())), "{name}");
        }
    }

    #[test]
    fn unlisted_resource_needs_a_template() {
        let listed = Context::new().resource(ResourceSpec::new("r://1", "r"));
        assert!(listed.find_resource("r://1").unwrap().is_some());
        assert_eq!(listed.find_resource("r://2").unwrap_err().code, -32002);
        let open = listed.template(ResourceTemplate::new("r://{n}", "r"));
        assert!(open.find_resource("r://1").unwrap().is_some());
        assert!(open.find_resource("r://2").unwrap().is_none());
    }
}
