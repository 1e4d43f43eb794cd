//! `prompts`, `prompt NAME JSON`, `resources` and `read URI`: the prompts and resources of the editor.

use super::{Verdict, print, print_blocks, print_json, print_outcome, print_texts};
use crate::agent::events::Of;
use crate::agent::session::{Failure, Session};
use crate::support::complain;
use ide_mcp::ide::kit::display_safe;
use ide_mcp::mcp::{
    GetPrompt, List, Outcome, PromptResult, ReadResource, ResourceBody, ResourceResult, Timeout,
};
use ide_mcp::rpc::{code, from_json};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub(crate) fn prompts(session: &mut Session, json: bool) -> Result<Verdict, Failure> {
    let request = list(session, List::Prompts)?;
    let result = session.result_of(request, "the list of prompts")?;
    let Prompts { prompts } = read(&result, "the list of prompts cannot be read")?;
    if prompts.is_empty() {
        complain("agent", "the editor offers no prompts");
    }
    for prompt in prompts {
        let goes_on = if json {
            print_json(&Line { event: "prompt", item: prompt })?
        } else {
            let mut words = vec![prompt.name];
            words.extend(prompt.arguments.iter().flatten().map(|argument| {
                if argument.required { argument.name.clone() } else { format!("[{}]", argument.name) }
            }));
            print_item(&words.join(" "), prompt.description)?
        };
        if !goes_on {
            break;
        }
    }
    Ok(Verdict::Good)
}

pub(crate) fn prompt(session: &mut Session, request: &GetPrompt, json: bool) -> Result<Verdict, Failure> {
    let sent = session.client().and_then(|client| client.get_prompt(request));
    let id = sent.map_err(|error| error.to_string())?.id();
    let what = format!("the prompt {:?}", request.name);
    if json {
        return print_outcome(session, id, &what, Of::Prompt(request.name.clone()));
    }
    let raw = session.result_of(id, &what)?;
    let result = PromptResult::read(&raw).ok_or("the prompt has no messages")?;
    if result.messages.is_empty() {
        complain("agent", &format!("{what} is empty"));
    }
    print_blocks(result.messages.iter().map(|message| &message.content))?;
    Ok(Verdict::Good)
}

pub(crate) fn resources(session: &mut Session, json: bool) -> Result<Verdict, Failure> {
    let request = list(session, List::Resources)?;
    let result = session.result_of(request, "the list of resources")?;
    let Resources { resources } = read(&result, "the list of resources cannot be read")?;
    let request = list(session, List::ResourceTemplates)?;
    let templates = match session.outcome_of(request, "the list of templates")? {
        // An editor without templates may not know the method.
        Outcome::Error(error) if error.code == code::METHOD_NOT_FOUND => Vec::new(),
        outcome => {
            let result = session.answer(outcome)?;
            let Templates { resource_templates } = read(&result, "the list of templates cannot be read")?;
            resource_templates
        }
    };
    if resources.is_empty() && templates.is_empty() {
        complain("agent", "the editor offers no resources");
    }
    for (event, resource) in resources
        .into_iter()
        .map(|resource| ("resource", resource))
        .chain(templates.into_iter().map(|template| ("resource_template", template)))
    {
        let goes_on = if json {
            print_json(&Line { event, item: resource })?
        } else {
            let address = resource.uri.or(resource.uri_template).unwrap_or_default();
            print_item(&address, resource.description.or(resource.name))?
        };
        if !goes_on {
            break;
        }
    }
    Ok(Verdict::Good)
}

pub(crate) fn read_uri(session: &mut Session, uri: &str, json: bool) -> Result<Verdict, Failure> {
    let request = session.client().and_then(|client| client.read_resource(&ReadResource::new(uri)));
    let request = request.map_err(|error| error.to_string())?.id();
    let what = format!("the resource {uri:?}");
    if json {
        return print_outcome(session, request, &what, Of::Resource(uri.into()));
    }
    let raw = session.result_of(request, &what)?;
    let result = ResourceResult::read(&raw).ok_or("the resource has no contents")?;
    if result.contents.is_empty() {
        complain("agent", &format!("{what} is empty"));
    }
    print_texts(result.texts())?;
    for contents in &result.contents {
        if let ResourceBody::Blob(bytes) = &contents.body {
            let uri = display_safe(&contents.uri).into_owned();
            complain("agent", &format!("{uri} is {} bytes and not text; --json prints them", bytes.len()));
        }
    }
    Ok(Verdict::Good)
}

fn list(session: &mut Session, list: List) -> Result<ide_mcp::rpc::RequestId, Failure> {
    let request = session.client().and_then(|client| client.list(list, Timeout::Default));
    request.map_err(|error| error.to_string())
}

fn read<T: DeserializeOwned>(result: &RawValue, problem: &str) -> Result<T, Failure> {
    from_json(result.get()).map_err(|error| format!("{problem}: {error}"))
}

/// Prints the name and the description of an item of a list.
fn print_item(name: &str, description: Option<String>) -> Result<bool, Failure> {
    let line = format!("{name:<24} {}", description.unwrap_or_default());
    print(display_safe(&line).trim_end())
}

#[derive(Deserialize)]
struct Prompts {
    prompts: Vec<Prompt>,
}

#[derive(Deserialize, Serialize)]
struct Prompt {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Vec<Argument>>,
}

#[derive(Deserialize, Serialize)]
struct Argument {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default)]
    required: bool,
}

#[derive(Deserialize)]
struct Resources {
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Templates {
    resource_templates: Vec<Resource>,
}

/// A resource, or a template of resources.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uri_template: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
}

#[derive(Serialize)]
struct Line<T> {
    event: &'static str,
    #[serde(flatten)]
    item: T,
}
