//! The HTTP statuses that refuse a request to open a WebSocket.

/// The HTTP status (RFC 9110 section 15) of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// 400: the request breaks a rule of HTTP or of RFC 6455.
    BadRequest = 400,
    /// 401: the credentials are missing or wrong.
    Unauthorized = 401,
    /// 403: the server does not accept requests of this kind.
    Forbidden = 403,
    /// 404: the server has no resource at this path.
    NotFound = 404,
    /// 408: the request was not complete in time.
    RequestTimeout = 408,
    /// 426: the server needs another version of the WebSocket protocol.
    UpgradeRequired = 426,
    /// 431: the head of the request is too large.
    HeadTooLarge = 431,
    /// 503: the server has no room at the moment.
    Unavailable = 503,
    /// 505: the server needs another version of HTTP.
    VersionNotSupported = 505,
}

impl Status {
    /// Returns the number of the status.
    #[must_use]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// Returns the number and the phrase of RFC 9110.
    pub(super) const fn line(self) -> &'static str {
        match self {
            Self::BadRequest => "400 Bad Request",
            Self::Unauthorized => "401 Unauthorized",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::RequestTimeout => "408 Request Timeout",
            Self::UpgradeRequired => "426 Upgrade Required",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::Unavailable => "503 Service Unavailable",
            Self::VersionNotSupported => "505 HTTP Version Not Supported",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn lines_begin_with_their_code() {
        for status in [
            Status::BadRequest,
            Status::Unauthorized,
            Status::Forbidden,
            Status::NotFound,
            Status::RequestTimeout,
            Status::UpgradeRequired,
            Status::HeadTooLarge,
            Status::Unavailable,
            Status::VersionNotSupported,
        ] {
            assert!(status.line().starts_with(&status.code().to_string()), "{status:?}");
        }
    }
}
