//! What the tests of whole runs share: a target, and a program that loads it.

use std::path::Path;
use std::sync::Arc;

use squall_engine::{CompileOptions, Program, compile};
use squall_target::{Options, Server};
use squall_wire::{Io, Settings, Shared};

/// A target on a port of its own.
pub fn target() -> Server {
    let listen = vec!["127.0.0.1:0".to_owned()];
    Server::start(Options { listen, tls: None, threads: 1, seed: None }).expect("a target")
}

/// The program of a plan with one scenario.
pub fn program(server: &Server, scenario: &str) -> Arc<Program> {
    let plan = format!("target: {}\nscenarios: {{a: {{{scenario}}}}}\n", server.url());
    let options = squall_plan::vars::LoadOptions::default();
    let loaded = squall_plan::yaml::load_str("plan", &plan, Path::new(""), &options);
    let plan = loaded.expect("a good plan").plan;
    Arc::new(compile(&plan, &CompileOptions::default()).expect("a good plan"))
}

/// What its connections need.
pub fn shared(program: &Program, io: Io) -> Arc<Shared> {
    Shared::new(Settings { io, ..Settings::default() }, program.destinations()).expect("a network")
}
