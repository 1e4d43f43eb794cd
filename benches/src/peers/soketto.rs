//! soketto, for its handshake.

use super::{now, pipe::Pipe};
use soketto::handshake::Server;
use soketto::handshake::server::Response;

pub fn handshake(request: &'static [u8]) -> impl FnMut(usize) {
    move |times| {
        for _ in 0..times {
            let mut server = Server::new(Pipe::new(request, usize::MAX));
            server.add_protocol("mcp");
            let key = now(server.receive_request()).expect("the request is good").key();
            let answer = Response::Accept { key, protocol: Some("mcp") };
            now(server.send_response(&answer)).expect("the pipe takes everything");
        }
    }
}
