//! The WebSocket client: sends the opening request, checks the answer, and masks every frame it sends.

use super::connection::{Connection, Side};
use super::head::EndSearch;
use super::mask::{Masked, Masking as _};
use super::output::Phase;
use super::response::{self, ClientRequest, InvalidClientRequest, NotAccepted};
use super::stream::{Head, Stream};
use super::{Closed, Event, Limits, Sender};
use crate::Time;
use base64::{Engine as _, prelude::BASE64_STANDARD};

/// The client's side of one WebSocket connection. Its first pass writes the opening request.
///
/// If the source of its masking keys fails, the connection ends with [`Closed::Entropy`].
///
/// ```
/// use ide_mcp::ws::{Client, ClientRequest, Limits};
/// use ide_mcp::{Output, Time};
///
/// # let random = ide_mcp::testing::Random::new(1).source();
/// // `random` is `getrandom::fill` in your program.
/// let request = ClientRequest::new("127.0.0.1:41111").subprotocol("mcp");
/// let mut client = Client::new(request, random, Limits::default(), Time::ZERO)?;
/// let Output::Write { bytes, .. } = client.poll(Time::ZERO) else { panic!("no request") };
/// assert!(bytes.starts_with(b"GET / HTTP/1.1\r\n"));
/// # Ok::<(), ide_mcp::ws::InvalidClientRequest>(())
/// ```
pub type Client = Connection<Connecting>;

/// The side that opens the connection.
#[derive(Debug)]
#[allow(unnameable_types, reason = "its name is `Client`")]
pub struct Connecting(Option<Opening>);

/// The state of an opening handshake that waits for the answer.
#[derive(Debug)]
struct Opening {
    search: EndSearch,
    request: ClientRequest,
    /// How many bytes the interim answers have had so far.
    interim: usize,
    /// The key of the handshake: 16 random bytes in base64.
    key: [u8; 24],
}

impl Client {
    /// Creates a client that will open a connection with this request. `random` must fill a slice with unpredictable
    /// bytes, as `getrandom::fill` does; they become the masking keys (RFC 6455 section 5.3) and the key of the
    /// handshake.
    ///
    /// # Errors
    /// [`InvalidClientRequest`] if a part of the request is invalid, or a limit is 0.
    pub fn new<E>(
        request: ClientRequest,
        random: impl FnMut(&mut [u8]) -> Result<(), E> + Send + Sync + 'static,
        limits: Limits,
        now: Time,
    ) -> Result<Self, InvalidClientRequest> {
        request.check()?;
        if let Some(limit) = limits.first_zero() {
            return Err(InvalidClientRequest::ZeroLimit(limit));
        }
        let (mut mask, mut key) = (Masked::new(random), [0; 24]);
        let nonce = mask.nonce();
        let mut stream = Stream::new(mask, false, limits, now);
        if let Some(nonce) = nonce {
            // 16 bytes are 24 characters, so they always fit.
            let _ = BASE64_STANDARD.encode_slice(nonce, &mut key);
            request.write(text(&key), stream.output.tx.buffer());
        } else {
            stream.output.end(Closed::Entropy);
        }
        let opening = Opening { search: EndSearch::default(), request, interim: 0, key };
        Ok(Self { stream, side: Connecting(Some(opening)) })
    }

    /// Reads the answer. Once it is complete and valid, returns the index of the sub-protocol that the server chose, if
    /// any.
    fn read_answer(&mut self) -> Option<Option<usize>> {
        if self.stream.output.phase != Phase::Handshake {
            // The event `Open` has been returned by now, or will never be returned.
            self.side.0 = None;
            return None;
        }
        let opening = self.side.0.as_mut()?;
        let found = loop {
            let head = self.stream.read_head(&mut opening.search);
            let Stream { input, output } = &mut self.stream;
            let len = match head {
                Head::Awaited => return None,
                Head::Whole(len) => len,
                Head::Malformed(_) => break Err(NotAccepted::Malformed),
                Head::TooLong => break Err(NotAccepted::TooLong),
                Head::TooSlow => break Err(NotAccepted::TimedOut),
            };
            let head = input.rx.bytes().get(..len).unwrap_or_default();
            match response::check(head, text(&opening.key), &opening.request) {
                // Any number of interim answers may come first (RFC 9110 section 15.2). Together they may be as long as
                // one head.
                Err(NotAccepted::Status(100 | 102..=199, _)) => {
                    opening.interim = opening.interim.saturating_add(len);
                    if opening.interim > output.limits.head {
                        break Err(NotAccepted::TooLong);
                    }
                    input.rx.consume(len);
                    opening.search = EndSearch::default();
                }
                checked => break checked.map(|chosen| (len, chosen)),
            }
        };
        let Stream { input, output } = &mut self.stream;
        let (len, chosen) = found.map_err(|error| output.end_abruptly(Closed::NotAccepted(error))).ok()?;
        input.rx.consume(len);
        output.open();
        Some(chosen)
    }
}

fn text(key: &[u8; 24]) -> &str {
    core::str::from_utf8(key).unwrap_or_default()
}

impl Side for Connecting {
    type Mask = Masked;

    fn reads_head(&self) -> bool {
        true
    }

    fn give_up(&mut self) {
        self.0 = None;
    }

    #[inline]
    fn has_room(_: &Client) -> bool {
        true
    }

    fn head_space(client: &mut Client) -> &mut [u8] {
        client.stream.space()
    }

    fn poll_borrowed(client: &mut Client) -> Option<(Event<'_>, Sender<'_>)> {
        if client.side.0.is_some() {
            if let Some(chosen) = client.read_answer() {
                let offered = client.side.0.as_ref().map(|opening| &opening.request.subprotocols);
                let subprotocol = chosen.and_then(|index| Some(offered?.get(index)?.as_str()));
                return Some((Event::Open { subprotocol }, Masked::lend(&mut client.stream.output)));
            }
        }
        client.stream.poll_borrowed()
    }
}
