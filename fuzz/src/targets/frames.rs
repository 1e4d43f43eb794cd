//! Any bytes after an opening handshake, in either role.

use super::outcome_of_any_cut;
use crate::support::laws::Subject as _;
use crate::support::sockets::{WsClient, WsServer};
use ide_mcp::ws::frame::Header;

/// Feeds bytes to an open connection. The first byte selects the role and the application; the rest is input from the
/// peer.
pub fn frames(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let (is_server, app) = (choice & 1 == 0, u64::from(choice >> 1 & 3));
    // A header is accepted only in its shortest form, so encoding it restores the bytes.
    if let Ok(Some((header, size))) = Header::parse(bytes, is_server) {
        assert_eq!(header.encode().bytes(), &bytes[..size], "{header:?}");
    }
    let output = if is_server {
        outcome_of_any_cut(&WsServer, &[&WsServer.opening(), bytes], app).output
    } else {
        outcome_of_any_cut(&WsClient, &[&WsClient.opening(), bytes], app).output
    };
    // The application of the server may have refused the connection.
    if !output.starts_with(b"HTTP/1.1 403") {
        well_formed(&output, !is_server);
    }
}

/// Checks that the output is the head of the opening handshake and then complete, valid frames, with a close frame only
/// at the end.
fn well_formed(output: &[u8], masked: bool) {
    let head = output.windows(4).position(|end| end == b"\r\n\r\n").map_or(output.len(), |at| at + 4);
    let (mut rest, mut closed) = (&output[head..], false);
    while !rest.is_empty() {
        assert!(!closed, "a frame after the close frame: {}", rest.escape_ascii());
        let (header, size) = Header::parse(rest, masked).unwrap().expect("a whole header");
        closed = header.opcode == ide_mcp::ws::frame::Opcode::Close;
        rest = &rest[size + usize::try_from(header.len).unwrap()..];
    }
}
