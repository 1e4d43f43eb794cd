//! A server on a WebSocket of this machine.

use crate::options::Options;
use crate::report::Report;
use getrandom::SysRng;
use ide_mcp::Time;
use ide_mcp::ide::{Client, ClientConfig, ClientEvent};
use ide_mcp::rpc::SessionId;
use ide_mcp_blocking::Conn;
use std::error::Error;

pub(crate) fn run(port: u16, options: &Options) -> Result<(), Box<dyn Error>> {
    let session = options.session();
    let mut config = ClientConfig::new(session.info.clone(), port, None);
    config.mcp = session;
    let client = Client::new(config, SysRng, SessionId::new(1), Time::ZERO)?;
    let mut conn = Conn::connect(("127.0.0.1", port), client)?;
    let mut report = Report::default();
    let (mut complete, mut failed) = (false, None);
    while let Some(event) = conn.next_event() {
        match event {
            ClientEvent::Ready(server) => {
                report.ready(&server)?;
                for request in &options.requests {
                    let params = request.params.as_deref();
                    report.asked(conn.machine_mut().request(&request.method, params, options.timeout)?);
                }
            }
            ClientEvent::Failed(failure) => failed = Some(failure.to_string()),
            ClientEvent::Outcome { request, outcome } => report.outcome(request, &outcome)?,
            ClientEvent::Notification { method, params } => {
                report.notification(&method, params.as_deref())?
            }
            ClientEvent::Closed(why) if !complete => {
                return Err(failed.unwrap_or_else(|| why.to_string()).into());
            }
            _ => {}
        }
        if !complete && conn.machine().is_ready() && report.is_complete() {
            complete = true;
            conn.machine_mut().close();
        }
    }
    Ok(())
}
