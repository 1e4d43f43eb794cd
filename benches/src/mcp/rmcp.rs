//! rmcp, the official SDK: its parser with its message type alone, and its server over WebSocket.

use super::ours::OpenDiff;
use futures_util::{SinkExt as _, StreamExt as _};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientJsonRpcMessage, ContentBlock,
    ServerCapabilities, ServerConfig, ServerJsonRpcMessage,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use std::hint::black_box;
use tokio::net::TcpStream;
use tungstenite::handshake::server::{Request, Response};
use tungstenite::{Error, Message};

/// Parses calls that all have this text, and does nothing else.
pub fn parse(text: String) -> impl FnMut(usize) {
    move |times| {
        for _ in 0..times {
            let message: ClientJsonRpcMessage = serde_json::from_str(&text).expect("it is a message");
            black_box(message);
        }
    }
}

struct Editor;

impl ServerHandler for Editor {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default());
        let diff: OpenDiff = serde_json::from_value(arguments)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let diff = black_box(diff);
        let blocks = vec![ContentBlock::text("DIFF_REJECTED"), ContentBlock::text(diff.tab_name)];
        Ok(CallToolResult::success(blocks).into())
    }
}

/// Serves a connection with the adapter of rmcp's own example, which drops frames that are not messages.
pub async fn serve(stream: TcpStream) {
    let accept = |_: &Request, mut response: Response| {
        response.headers_mut().insert("sec-websocket-protocol", "mcp".parse().expect("a good value"));
        Ok(response)
    };
    let Ok(socket) = tokio_tungstenite::accept_hdr_async(stream, accept).await else { return };
    let (sink, stream) = socket.split();
    let stream = Box::pin(stream.filter_map(|message| async move {
        match message {
            Ok(Message::Text(text)) => serde_json::from_str::<ClientJsonRpcMessage>(text.as_str()).ok(),
            _ => None,
        }
    }));
    let sink = Box::pin(sink.with(|message: ServerJsonRpcMessage| async move {
        let text = serde_json::to_string(&message).expect("it can be written");
        Ok::<_, Error>(Message::text(text))
    }));
    if let Ok(service) = Editor.serve((sink, stream)).await {
        // The reason why it ends does not matter.
        let _ = service.waiting().await;
    }
}
