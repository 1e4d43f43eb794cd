//! The laws of a review, against a model that shares no code with it.

mod laws;
mod states;
mod support;
