//! How the server of a fleet is reached: flags, and for what is secret or the same for all commands, the environment.

use std::path::Path;

use squall_fleet::transport::connect::read_secret;
use squall_fleet::transport::{Auth, Client, Connect};

use crate::args::Server;
use crate::exit::CommandError;

/// Variables of the environment: the server, and who one is there.
const URL: &str = "SQUALL_NATS";
const USER: &str = "SQUALL_NATS_USER";
const PASSWORD: &str = "SQUALL_NATS_PASSWORD";
const TOKEN: &str = "SQUALL_NATS_TOKEN";
/// All variables that say something of a node.
pub const VARIABLES: [&str; 11] = [
    URL,
    USER,
    PASSWORD,
    TOKEN,
    "SQUALL_NODE",
    "SQUALL_ZONE",
    "SQUALL_WEIGHT",
    "SQUALL_ALLOW_HOSTS",
    "SQUALL_SPOOL",
    "JOB_COMPLETION_INDEX",
    "SLURM_PROCID",
];

/// Most bytes of a file with a password or a token.
const MAX_SECRET: usize = 4_096;

/// How the server is reached by a process of this name.
pub fn connect(server: &Server, name: &str) -> Result<Connect, CommandError> {
    let urls = urls(server)?;
    if urls.is_empty() {
        return Err(missing());
    }
    let ca = server.nats_ca.clone();
    let certificate = server.nats_cert.clone().zip(server.nats_key.clone());
    Ok(Connect { auth: auth(server)?, ca, certificate, ..Connect::to(&urls.join(","), name) })
}

/// Looks whether the server is there and will do, before anything else is begun.
pub fn look(connect: &Connect) -> Result<(), CommandError> {
    Client::open(connect.clone()).map(drop).map_err(CommandError::incomplete)
}

/// Who one is at the server. What was typed is preferred to what the environment has.
fn auth(server: &Server) -> Result<Auth, CommandError> {
    let typed = [
        ("--nats-user", server.nats_user.is_some()),
        ("--nats-token-file", server.nats_token_file.is_some()),
        ("--nats-nkey", server.nats_nkey.is_some()),
        ("--nats-creds", server.nats_creds.is_some()),
    ];
    let typed: Vec<&str> = typed.iter().filter(|(_, is)| *is).map(|(flag, _)| *flag).collect();
    if typed.len() > 1 {
        let text = format!("{}: one of them is enough to say who you are", typed.join(" and "));
        return Err(CommandError::bad_input(text));
    }
    if let Some(file) = &server.nats_creds {
        return Ok(Auth::Credentials(file.clone()));
    }
    if let Some(file) = &server.nats_nkey {
        let seed = read_secret(file, "nkey").map_err(CommandError::bad_input)?;
        return Ok(Auth::Nkey(seed));
    }
    if server.nats_token_file.is_some() {
        return Ok(token(server)?.map_or(Auth::None, Auth::Token));
    }
    match user(server) {
        Some(user) => {
            let password = password(server)?.ok_or_else(|| {
                let text = format!("the password of --nats-user {user} is missing: give --nats-password-file FILE, or {PASSWORD}");
                CommandError::bad_input(text)
            })?;
            Ok(Auth::User { user, password })
        }
        None if server.nats_password_file.is_some() => {
            Err(CommandError::bad_input("--nats-password-file goes with --nats-user"))
        }
        None => Ok(token(server)?.map_or(Auth::None, Auth::Token)),
    }
}

/// The addresses of the server: those that were typed, or else those of the environment.
pub fn urls(server: &Server) -> Result<Vec<String>, CommandError> {
    if !server.nats.is_empty() {
        return Ok(server.nats.clone());
    }
    let Some(given) = variable(URL) else { return Ok(Vec::new()) };
    let each = given.split(',').map(crate::args::nats_url).collect::<Result<_, _>>();
    // What is wrong may hold a password.
    each.map_err(|why| CommandError::bad_input(format!("{URL}: {why}")))
}

/// A variable of the environment that says something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The user at the server.
pub fn user(server: &Server) -> Option<String> {
    server.nats_user.clone().or_else(|| variable(USER))
}

/// The user's password.
fn password(server: &Server) -> Result<Option<String>, CommandError> {
    match &server.nats_password_file {
        Some(file) => secret(file, "--nats-password-file").map(Some),
        None => Ok(variable(PASSWORD)),
    }
}

/// The token.
fn token(server: &Server) -> Result<Option<String>, CommandError> {
    match &server.nats_token_file {
        Some(file) => secret(file, "--nats-token-file").map(Some),
        None => Ok(variable(TOKEN)),
    }
}

/// What is in a file of a secret, without the end of its line.
fn secret(path: &Path, flag: &str) -> Result<String, CommandError> {
    let bad = |why: &str| CommandError::bad_input(format!("{flag} {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| bad(&error.to_string()))?;
    let text = text.trim_end_matches(['\n', '\r']);
    match text {
        "" => Err(bad("it is empty")),
        text if text.len() > MAX_SECRET => Err(bad("it is too long for a password or a token")),
        text if text.contains('\n') => Err(bad("expected one line")),
        text => Ok(text.to_owned()),
    }
}

/// What a process elsewhere is told by its environment, since everybody may read its arguments.
pub fn environment(server: &Server) -> Result<Vec<(&'static str, String)>, CommandError> {
    let urls = urls(server)?;
    if urls.is_empty() {
        return Err(missing());
    }
    let url = Some(urls.join(","));
    let all = [(URL, url), (USER, user(server)), (PASSWORD, password(server)?), (TOKEN, token(server)?)];
    Ok(all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}

/// The flags about files, whose names are the same on the machines to which they are passed on.
pub fn files(server: &Server) -> Vec<String> {
    let all = [
        ("--nats-nkey", &server.nats_nkey),
        ("--nats-creds", &server.nats_creds),
        ("--nats-ca", &server.nats_ca),
        ("--nats-cert", &server.nats_cert),
        ("--nats-key", &server.nats_key),
    ];
    let given = all.into_iter().filter_map(|(flag, path)| Some((flag, path.as_ref()?)));
    given.flat_map(|(flag, path)| [flag.to_owned(), path.display().to_string()]).collect()
}

/// No server was named.
pub fn missing() -> CommandError {
    let text = format!(
        "no server: name the fleet's NATS server with --nats URL, such as --nats nats://10.0.0.5:4222, or with {URL} \
         (to start one: `squall fleet manifest nats`; to try a fleet here, without one: `squall run PLAN --nodes local:4`)"
    );
    CommandError::bad_input(text)
}
