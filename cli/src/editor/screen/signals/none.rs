//! A system without such signals. There, crossterm reports the size of the terminal and Ctrl+C as input.

use super::Signal;
use mio::{Registry, Token};
use std::io;

#[derive(Debug)]
pub(crate) struct Signals;

pub(crate) const fn stop() -> io::Result<()> {
    Ok(())
}

impl Signals {
    pub(crate) const fn new(_registry: &Registry, _token: Token) -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) const fn take(&mut self) -> Vec<Signal> {
        Vec::new()
    }
}
