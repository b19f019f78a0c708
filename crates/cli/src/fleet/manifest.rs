//! `squall fleet manifest`: ready files for what starts nodes, and for the server between them.

use std::fs::File;
use std::io::Read as _;

use squall_base::hex::hex;
use squall_fleet::transport::configuration::{User, configuration, controller_user, node_user};

use crate::args::{FleetManifest, ManifestKind, Nodes};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;

const KUBERNETES: &str = include_str!("kubernetes.yaml");
/// The nodes of a zone.
const KUBERNETES_NODES: &str = include_str!("kubernetes-nodes.yaml");
const SLURM: &str = include_str!("slurm.sbatch");
/// The server's image. Its version is one that the fleet is tested with.
const NATS_IMAGE: &str = "docker.io/library/nats:2.12-alpine";
/// What nodes are called that are in no zone, as `squall node` calls them.
const NUMBERED: &str = "node";

/// Nodes of a zone: its name, empty if they are in none, and how many.
type Zone = (String, u32);

/// Prints a file.
pub fn command(args: &FleetManifest) -> CommandResult {
    let zones = match &args.nodes {
        Nodes::Zones(zones) => zones,
        Nodes::Local(_) => {
            let text = "--nodes local:N: squall starts these itself; expected a number of nodes, such as 20, or eu=12,us=8";
            return Err(CommandError::bad_input(text));
        }
    };
    let text = match args.kind {
        ManifestKind::Kubernetes => kubernetes(args, zones)?,
        ManifestKind::Slurm => slurm(args, zones)?,
        ManifestKind::Nats => nats(zones)?,
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

fn kubernetes(args: &FleetManifest, zones: &[Zone]) -> Result<String, CommandError> {
    let image = image(&args.image)?;
    let allowed: Vec<String> = hosts(args)?
        .iter()
        .map(|host| format!("            - {:?}", format!("--allow-hosts={host}")))
        .collect();
    let common = [("image", image), ("nats_image", NATS_IMAGE), ("allowed", &allowed.join("\n"))];
    let jobs: String = jobs(zones)?.iter().map(|own| filled(own, &common)).collect();
    let passwords: Vec<String> = users(zones)?
        .iter()
        .map(|User { name, password }| format!("  {name:?}: {password}"))
        .collect();
    let (password, printing) = (token()?, token()?);
    // An entry for any node: the pod of the server puts name and password there.
    let (controller, node) =
        (controller_user("__PASSWORD__"), node_user("__NODE__", "__PASSWORD__"));
    let values = [
        ("controller", password.as_str()),
        ("printing", &printing[..9]),
        ("passwords", &passwords.join("\n")),
        ("controller_user", controller.trim_end()),
        ("node_user", node.trim_end()),
        ("jobs", &jobs),
        ("wanted", &wanted(zones)),
    ];
    Ok(filled(&filled(KUBERNETES, &values), &common))
}

/// The Jobs of nodes, one for each zone.
fn jobs(zones: &[Zone]) -> Result<Vec<String>, CommandError> {
    let mut jobs: Vec<String> = Vec::new();
    let mut filled_in = Vec::new();
    for (zone, count) in zones {
        let job = match zone.as_str() {
            "" => "squall-nodes".to_owned(),
            zone => format!("squall-nodes-{}", zone.to_ascii_lowercase().replace('_', "-")),
        };
        if job.len() > 52 || job.ends_with('-') || jobs.contains(&job) {
            let text = format!(
                "zone `{zone}`: its Job would be called {job}: Kubernetes wants names of at most 52 letters that differ and end with a letter or digit"
            );
            return Err(CommandError::bad_input(text));
        }
        let variable = match zone.as_str() {
            "" => String::new(),
            zone => format!("            - {{name: SQUALL_ZONE, value: {zone:?}}}\n"),
        };
        let values = [
            ("job", job.as_str()),
            ("nodes", &count.to_string()),
            ("zone", &variable),
            ("of", named_after(zone)),
        ];
        filled_in.push(filled(KUBERNETES_NODES, &values));
        jobs.push(job);
    }
    Ok(filled_in)
}

fn slurm(args: &FleetManifest, zones: &[Zone]) -> Result<String, CommandError> {
    let [(zone, count)] = zones else {
        let text = "a job of Slurm has the nodes of one zone: print a file for each, such as --nodes eu=12";
        return Err(CommandError::bad_input(text));
    };
    let zone = (!zone.is_empty()).then(|| format!("--zone {zone}"));
    let hosts = hosts(args)?.iter().map(|host| format!("--allow-hosts '{host}'"));
    let allowed: Vec<String> = zone.into_iter().chain(hosts).collect();
    let values = [
        ("nats", args.nats.as_str()),
        ("nodes", &count.to_string()),
        ("wanted", &wanted(zones)),
        ("allowed", &allowed.join(" ")),
    ];
    Ok(filled(SLURM, &values))
}

/// The server's configuration, with a user for the controller and for each node, whose name is the node's.
fn nats(zones: &[Zone]) -> Result<String, CommandError> {
    Ok(configuration("0.0.0.0:4222", "/var/lib/nats/squall", None, &token()?, &users(zones)?))
}

/// A user for each node.
fn users(zones: &[Zone]) -> Result<Vec<User>, CommandError> {
    let names = zones.iter().flat_map(|(zone, count)| {
        (0..*count).map(|number| format!("{}-{number}", named_after(zone)))
    });
    names.map(|name| Ok(User { name, password: token()? })).collect()
}

/// What the names of a zone's nodes begin with.
fn named_after(zone: &str) -> &str {
    if zone.is_empty() { NUMBERED } else { zone }
}

/// What `--nodes` of a run says.
fn wanted(zones: &[Zone]) -> String {
    let each = zones.iter().map(|(zone, count)| match zone.as_str() {
        "" => count.to_string(),
        zone => format!("{zone}={count}"),
    });
    each.collect::<Vec<_>>().join(",")
}

/// The hosts, none of which can be anything else in a file.
fn hosts(args: &FleetManifest) -> Result<&[String], CommandError> {
    let is_good = |host: &&String| {
        !host.is_empty()
            && host.chars().all(|c| c.is_ascii_alphanumeric() || "-._*/:[]".contains(c))
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
            let text = format!(
                "--image {text}: expected the name of an image, such as registry.example.com/squall:1.0"
            );
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
