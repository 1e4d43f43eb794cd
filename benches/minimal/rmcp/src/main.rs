//! The same editor as benches/minimal/ide_mcp, on rmcp over tokio-tungstenite.

#[path = "../../lock_file.rs"]
mod lock_file;

use futures_util::{SinkExt as _, StreamExt as _};
use lock_file::{LockFile, new_token};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientJsonRpcMessage, ContentBlock,
    Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    ServerJsonRpcMessage, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use std::error::Error;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::{self, Message};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let token = new_token()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let _lock_file = LockFile::publish(listener.local_addr()?.port(), &token)?;
    let mut stdin = tokio::io::stdin();
    let mut enter = [0];
    loop {
        tokio::select! {
            accepted = listener.accept() => drop(tokio::spawn(serve(accepted?.0, token.clone()))),
            _ = stdin.read(&mut enter) => return Ok(()),
        }
    }
}

struct Editor;

impl ServerHandler for Editor {
    fn get_info(&self) -> ServerConfig {
        let mut config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        config.server_info = Implementation::new("minimal", "1.0");
        config
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let of_diff = schema(&["old_file_path", "new_file_path", "new_file_contents", "tab_name"]);
        Ok(ListToolsResult::with_all_items(vec![
            Tool::new("openDiff", "Shows a proposed change", of_diff),
        ]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let blocks = match request.name.as_ref() {
            "openDiff" => {
                let contents = arguments.get("new_file_contents").and_then(Value::as_str).unwrap_or_default();
                vec![ContentBlock::text("FILE_SAVED"), ContentBlock::text(contents)]
            }
            _ => return Err(ErrorData::invalid_params("there is no such tool", None)),
        };
        Ok(CallToolResult::success(blocks).into())
    }
}

fn schema(names: &[&str]) -> JsonObject {
    let properties: JsonObject =
        names.iter().map(|name| ((*name).into(), json!({ "type": "string" }))).collect();
    let mut schema = JsonObject::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    schema
}

async fn serve(stream: TcpStream, token: String) {
    #[allow(clippy::result_large_err, reason = "tungstenite asks for it")]
    let judge = |request: &Request, mut response: Response| {
        let shown = request.headers().get("x-claude-code-ide-authorization");
        if shown.is_none_or(|shown| shown.as_bytes() != token.as_bytes()) {
            let mut refusal = ErrorResponse::new(None);
            *refusal.status_mut() = tungstenite::http::StatusCode::UNAUTHORIZED;
            return Err(refusal);
        }
        response.headers_mut().insert("sec-websocket-protocol", "mcp".parse().expect("a good value"));
        Ok(response)
    };
    let Ok(socket) = tokio_tungstenite::accept_hdr_async(stream, judge).await else { return };
    let (sink, stream) = socket.split();
    let stream = Box::pin(stream.filter_map(|message| async move {
        match message {
            Ok(Message::Text(text)) => serde_json::from_str::<ClientJsonRpcMessage>(text.as_str()).ok(),
            _ => None,
        }
    }));
    let sink = Box::pin(sink.with(|message: ServerJsonRpcMessage| async move {
        let text = serde_json::to_string(&message).expect("it can be written");
        Ok::<_, tungstenite::Error>(Message::text(text))
    }));
    if let Ok(service) = Editor.serve((sink, stream)).await {
        let _ = service.waiting().await;
    }
}
