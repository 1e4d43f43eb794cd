//! The parts of the tap that need no process: each has its tests at its end.
#![allow(dead_code, reason = "only the tests of the parts are of interest here")]

#[path = "../tap/head.rs"]
mod head;
#[path = "../tap/options.rs"]
mod options;
#[path = "../tap/pipe.rs"]
mod pipe;
#[path = "../tap/record.rs"]
mod record;
#[path = "../tap/redact.rs"]
mod redact;
#[path = "../tap/request_line.rs"]
mod request_line;
#[path = "../tap/secrets.rs"]
mod secrets;
