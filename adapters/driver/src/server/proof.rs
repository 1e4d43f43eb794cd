//! What a client must prove. A token from an earlier process is not enough by itself, since another user may
//! have captured it.

use ide_mcp::ide::Auth;
use ide_mcp_lockfile::{Owner, client_owner, new_token};
use std::io;
use std::net::SocketAddr;

/// Returns the authentication to require, with a fresh token for [`Auth::Generated`]. A token from an earlier
/// process stays only if the system reports which user owns a client's socket (`reports_owners`); elsewhere a
/// fresh one replaces it.
pub(crate) fn auth(
    configured: Auth,
    is_resumed: bool,
    reports_owners: impl FnOnce() -> bool,
) -> io::Result<Auth> {
    let kept = match configured {
        Auth::Token(token) if is_resumed => token,
        Auth::Resumed(token) => token,
        Auth::Generated => return fresh(),
        other @ (Auth::Token(_) | Auth::Disabled | _) => return Ok(other),
    };
    if reports_owners() { Ok(Auth::Resumed(kept)) } else { fresh() }
}

fn fresh() -> io::Result<Auth> {
    new_token().map(Auth::Token).map_err(io::Error::other)
}

/// Returns true if the client's socket belongs to our own user. `ends` has our address and the client's.
pub(crate) fn belongs_to_us(ends: io::Result<(SocketAddr, SocketAddr)>) -> bool {
    ends.is_ok_and(|(local, peer)| client_owner(local, peer) == Owner::Us)
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::panic,
        clippy::wildcard_enum_match_arm,
        reason = "a test states what it expects"
    )]

    use super::*;

    #[test]
    fn l14_kept_token_requires_socket_owner_lookup() {
        let kept = new_token().unwrap();
        let token = || Auth::Token(kept.clone());
        let resumed = || Auth::Resumed(kept.clone());
        let name = |auth: &Auth| match auth {
            Auth::Token(token) if *token == kept => "kept",
            Auth::Token(_) => "fresh",
            Auth::Resumed(token) if *token == kept => "kept, with a check of the owner",
            Auth::Disabled => "none",
            other => panic!("{other:?}"),
        };
        let rows = [
            ("new", token(), false, true, "kept"),
            ("new, owners not reported", token(), false, false, "kept"),
            ("resumed port", token(), true, true, "kept, with a check of the owner"),
            ("resumed port, owners not reported", token(), true, false, "fresh"),
            ("resumed token", resumed(), false, true, "kept, with a check of the owner"),
            ("resumed token, owners not reported", resumed(), false, false, "fresh"),
            ("generated", Auth::Generated, false, true, "fresh"),
            ("generated, on a resumed port", Auth::Generated, true, true, "fresh"),
            ("no token", Auth::Disabled, true, false, "none"),
        ];
        for (row, configured, is_resumed, reports_owners, expected) in rows {
            assert_eq!(name(&auth(configured, is_resumed, || reports_owners).unwrap()), expected, "{row}");
        }
    }

    #[test]
    fn socket_without_ends_is_not_ours() {
        assert!(!belongs_to_us(Err(io::ErrorKind::NotConnected.into())));
    }
}
