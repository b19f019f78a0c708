//! `squall fleet manifest`: ready files for what starts nodes, and for the server between them.

use std::fs::File;
use std::io::Read as _;

use squall_base::hex::hex;
use squall_fleet::transport::configuration::{User, configuration};

use crate::args::{FleetManifest, ManifestKind};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;

const KUBERNETES: &str = include_str!("kubernetes.yaml");
const SLURM: &str = include_str!("slurm.sbatch");
/// The server's image. Its version is one that the fleet is tested with.
const NATS_IMAGE: &str = "docker.io/library/nats:2.12-alpine";

/// Prints a file.
pub fn command(args: &FleetManifest) -> CommandResult {
    let text = match args.kind {
        ManifestKind::Kubernetes => kubernetes(args, &token()?)?,
        ManifestKind::Slurm => slurm(args)?,
        ManifestKind::Nats => nats(args)?,
    };
    out::print(&text);
    Ok(Exit::Ok)
}

/// Puts values in the places of a template.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(template.to_owned(), |text, (name, value)| {
        text.replace(&format!("{{{{{name}}}}}"), value)
    })
}

fn kubernetes(args: &FleetManifest, token: &str) -> Result<String, CommandError> {
    let image = image(&args.image)?;
    let allowed: Vec<String> = hosts(args)?
        .iter()
        .map(|host| format!("            - {:?}", format!("--allow-hosts={host}")))
        .collect();
    let (job, zone) = match &args.zone {
        Some(zone) => (
            format!("squall-nodes-{}", zone.to_ascii_lowercase().replace('_', "-")),
            format!("            - {{name: SQUALL_ZONE, value: {zone:?}}}"),
        ),
        None => (
            "squall-nodes".to_owned(),
            "            # Nodes of several zones: one Job for each, with its SQUALL_ZONE.".to_owned(),
        ),
    };
    let values = [
        ("token", token),
        ("image", image),
        ("nats_image", NATS_IMAGE),
        ("job", &job),
        ("nodes", &args.nodes.to_string()),
        ("wanted", &wanted(args)),
        ("zone", &zone),
        ("allowed", &allowed.join("\n")),
    ];
    Ok(filled(KUBERNETES, &values))
}

fn slurm(args: &FleetManifest) -> Result<String, CommandError> {
    let zone = args.zone.iter().map(|zone| format!("--zone {zone}"));
    let hosts = hosts(args)?.iter().map(|host| format!("--allow-hosts '{host}'"));
    let allowed: Vec<String> = zone.chain(hosts).collect();
    let values = [
        ("nats", args.nats.as_str()),
        ("nodes", &args.nodes.to_string()),
        ("wanted", &wanted(args)),
        ("allowed", &allowed.join(" ")),
    ];
    Ok(filled(SLURM, &values))
}

/// The server's configuration, with a user for the controller and for each node, whose name is the node's.
fn nats(args: &FleetManifest) -> Result<String, CommandError> {
    let of = args.zone.as_deref().unwrap_or("node");
    let user = |number| Ok(User { name: format!("{of}-{number}"), password: token()? });
    let nodes = (0..args.nodes).map(user).collect::<Result<Vec<_>, CommandError>>()?;
    Ok(configuration("0.0.0.0:4222", "/var/lib/nats/squall", None, &token()?, &nodes))
}

/// What `--nodes` of a run says.
fn wanted(args: &FleetManifest) -> String {
    match &args.zone {
        Some(zone) => format!("{zone}={}", args.nodes),
        None => args.nodes.to_string(),
    }
}

/// The hosts, none of which can be anything else in a file.
fn hosts(args: &FleetManifest) -> Result<&[String], CommandError> {
    let is_good = |host: &&String| {
        !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-._*/:[]".contains(c))
    };
    match args.allow_hosts.iter().find(|host| !is_good(host)) {
        Some(bad) => Err(CommandError::bad_input(format!(
            "--allow-hosts {bad}: expected a name, *.example.com, an address, a network such as 10.0.0.0/8, or *"
        ))),
        None => Ok(&args.allow_hosts),
    }
}

fn image(text: &str) -> Result<&str, CommandError> {
    let is_good =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '/' | ':' | '@');
    match text.is_empty() || !text.chars().all(is_good) {
        true => {
            let text = format!("--image {text}: expected the name of an image, such as registry.example.com/squall:1.0");
            Err(CommandError::bad_input(text))
        }
        false => Ok(text),
    }
}

/// A token that nobody guesses. It begins with a letter: what looks like a number would be one to the server.
fn token() -> Result<String, CommandError> {
    let mut bytes = [0; 24];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| CommandError::incomplete(format!("/dev/urandom: {error}")))?;
    Ok(format!("t{}", hex(&bytes)))
}
