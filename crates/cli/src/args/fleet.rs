//! Fleets: how the server is reached through which nodes and controller talk, which nodes a run has, and the commands on
//! nodes.

// Doc comments are the help, as it is printed.
#![allow(rustdoc::broken_intra_doc_links)]

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use super::nodes::{Nodes, name, nodes};
use super::options::Output;
use super::values::{allowed_host, at_least_one, lease, length, nats_url, spool_size, weight};

/// The heading of these options in the help.
const HEADING: &str = "Fleet";

/// The server of a fleet, and who one is there.
#[derive(Debug, Args, Clone, Default)]
#[command(next_help_heading = HEADING)]
pub struct Server {
    /// The NATS server of the fleet, such as nats://10.0.0.5:4222, or tls://...; several of a cluster with commas [env: SQUALL_NATS].
    #[arg(long, value_name = "URL", value_delimiter = ',', value_parser = nats_url)]
    pub nats: Vec<String>,
    /// User at the server [env: SQUALL_NATS_USER]; the password comes from a file, or from SQUALL_NATS_PASSWORD.
    #[arg(long, hide_short_help = true, value_name = "USER")]
    pub nats_user: Option<String>,
    /// File with the user's password.
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub nats_password_file: Option<PathBuf>,
    /// File with a token of the server; or the token in SQUALL_NATS_TOKEN.
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub nats_token_file: Option<PathBuf>,
    /// File with the seed of an nkey.
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub nats_nkey: Option<PathBuf>,
    /// File of credentials, as `nsc` writes it.
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub nats_creds: Option<PathBuf>,
    /// PEM file of the authorities that may have signed the server's certificate, instead of the system's.
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub nats_ca: Option<PathBuf>,
    /// PEM file of the certificate that is shown to the server.
    #[arg(long, hide_short_help = true, value_name = "FILE", requires = "nats_key")]
    pub nats_cert: Option<PathBuf>,
    /// PEM file of its private key.
    #[arg(long, hide_short_help = true, value_name = "FILE", requires = "nats_cert")]
    pub nats_key: Option<PathBuf>,
}

/// What becomes of the load of a node that is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnLoss {
    /// Other nodes take it over.
    Redistribute,
    /// It is not driven any more.
    Continue,
    /// The run ends.
    Abort,
}

/// The nodes of a run.
#[derive(Debug, Args, Clone, Default)]
#[command(next_help_heading = HEADING)]
pub struct Fleet {
    /// Run on a fleet: N nodes, eu=12,us=8 of these zones, or local:N processes on this machine, to try it.
    #[arg(long, value_name = "N|local:N|ZONE=N", value_parser = nodes)]
    pub nodes: Option<Nodes>,
    #[command(flatten)]
    pub server: Server,
    /// Go on with the run that a controller which has died left in the folder of runs, if there is one.
    #[arg(long, hide_short_help = true, requires = "nodes")]
    pub resume: bool,
    /// How long to wait until all nodes are ready [default: 5m].
    #[arg(long, hide_short_help = true, value_name = "TIME", value_parser = length)]
    pub wait: Option<Duration>,
    /// What becomes of the load of a node that is lost [default: redistribute].
    #[arg(long, hide_short_help = true, value_enum, value_name = "WHAT")]
    pub on_loss: Option<OnLoss>,
    /// How long a node may be cut off from the server before it stops, and its load is given away [default: 15s].
    #[arg(long, hide_short_help = true, value_name = "TIME", value_parser = lease)]
    pub lease: Option<Duration>,
}

/// The nodes of a run alone, for a command line that is another program's but for these.
#[derive(Debug, Parser)]
#[command(name = "squall jmeter")]
struct FleetAlone {
    #[command(flatten)]
    fleet: Fleet,
}

/// Names of the options about the nodes of a run that have a value.
pub fn fleet_options() -> Vec<String> {
    let command = FleetAlone::command();
    let with_value = command.get_arguments().filter(|own| own.get_action().takes_values());
    with_value.filter_map(|own| own.get_long().map(str::to_owned)).collect()
}

/// Reads options about the nodes of a run, each with its value in the same word.
///
/// # Errors
/// One of them is wrong.
pub fn fleet(words: &[String]) -> Result<Fleet, clap::Error> {
    let line = std::iter::once("squall jmeter").chain(words.iter().map(String::as_str));
    FleetAlone::try_parse_from(line).map(|alone| alone.fleet)
}

/// A node of a fleet.
#[derive(Debug, Args)]
pub struct Node {
    #[command(flatten)]
    pub server: Server,
    /// Name of the node, unique in the fleet [default: from JOB_COMPLETION_INDEX or SLURM_PROCID, or the host and a number].
    #[arg(long, value_name = "NAME", env = "SQUALL_NODE", value_parser = name)]
    pub name: Option<String>,
    /// Where it is, such as eu.
    #[arg(long, value_name = "ZONE", env = "SQUALL_ZONE", value_parser = name)]
    pub zone: Option<String>,
    /// Its part of its zone's load, beside the other nodes' weights.
    #[arg(long, value_name = "W", env = "SQUALL_WEIGHT", default_value = "1", value_parser = weight)]
    pub weight: f64,
    /// End after one run.
    #[arg(long)]
    pub once: bool,
    /// End if no run has come for this long.
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub wait_for_run: Option<Duration>,
    /// End when the standard input does: what starts it holds that open, and the node ends with it. Once a line has come there,
    /// 30 s without another one are the end too.
    #[arg(long, hide_short_help = true)]
    pub ends_with_input: bool,
    /// With --ends-with-input: end at once, as the server ends as well.
    #[arg(long, hide = true, requires = "ends_with_input")]
    pub ends_at_once: bool,
    /// Hosts that it sends requests to: names, *.example.com, addresses, networks (10.0.0.0/8), or '*'; may be given more than once. Without it the node takes no run.
    #[arg(long, value_name = "HOST", env = "SQUALL_ALLOW_HOSTS", value_delimiter = ',', value_parser = allowed_host)]
    pub allow_hosts: Vec<String>,
    /// Allow plans to run programs here.
    #[arg(long)]
    pub allow_exec: bool,
    /// Allow plans to read files of this machine that are in DIR.
    #[arg(long, value_name = "DIR")]
    pub allow_files: Option<PathBuf>,
    /// Most virtual users that it takes.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub max_users: Option<u64>,
    /// Folder in which it keeps what it measured until the controller has it [default: a folder of its own below the temporary one].
    #[arg(long, value_name = "DIR", env = "SQUALL_SPOOL")]
    pub spool: Option<PathBuf>,
    /// Most bytes there.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = spool_size)]
    pub spool_size: u64,
}

/// What is asked of a fleet.
#[derive(Debug, Args)]
pub struct FleetCommands {
    #[command(subcommand)]
    pub command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// List the nodes and the runs: version, cores, zone, clock, CPU, share.
    Status {
        #[command(flatten)]
        server: Server,
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the log lines of all nodes of a run.
    Logs {
        /// The run, as `squall fleet status` calls it [default: the one that goes on].
        run: Option<String>,
        #[command(flatten)]
        server: Server,
    },
    /// Stop a run on all its nodes, in order.
    Stop {
        /// The run, as `squall fleet status` calls it [default: the one that goes on].
        run: Option<String>,
        #[command(flatten)]
        server: Server,
    },
    /// Go on with a run whose controller has died, into the same folder.
    Resume {
        /// The run's folder. The result goes to a new one beside it.
        folder: PathBuf,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        server: Server,
    },
    /// Start a node on each host of a list, by ssh, and end them with Ctrl-C.
    Up(FleetUp),
    /// Print a ready file for what starts nodes, or for the server.
    Manifest(FleetManifest),
}

/// Nodes that are started by ssh.
#[derive(Debug, Args)]
pub struct FleetUp {
    /// File of hosts: on each line a host, as ssh takes it, and if wanted name=NAME, zone=ZONE, weight=W; # begins a comment.
    #[arg(long, value_name = "FILE")]
    pub ssh: PathBuf,
    #[command(flatten)]
    pub server: Server,
    /// Hosts that the nodes send requests to, as `squall node --allow-hosts` takes them; may be given more than once.
    #[arg(long, value_name = "HOST", value_delimiter = ',', value_parser = allowed_host, required = true)]
    pub allow_hosts: Vec<String>,
    /// Allow plans to run programs on the hosts.
    #[arg(long)]
    pub allow_exec: bool,
    /// End after one run.
    #[arg(long)]
    pub once: bool,
    /// squall on the hosts.
    #[arg(long, value_name = "PATH", default_value = "squall")]
    pub squall: String,
}

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ManifestKind {
    /// Kubernetes: the server, the nodes as an Indexed Job, and the controller.
    Kubernetes,
    /// Slurm: a batch script that starts the nodes.
    Slurm,
    /// The configuration of a nats-server, in which a node may do only what is its own.
    Nats,
}

/// A ready file.
#[derive(Debug, Args)]
pub struct FleetManifest {
    /// For what.
    #[arg(value_enum)]
    pub kind: ManifestKind,
    /// Number of nodes, or eu=12,us=8 of these zones.
    #[arg(long, value_name = "N|ZONE=N", default_value = "4", value_parser = nodes)]
    pub nodes: Nodes,
    /// Image with squall (Kubernetes).
    #[arg(long, value_name = "IMAGE", default_value = concat!("registry.example.com/squall:", env!("CARGO_PKG_VERSION")))]
    pub image: String,
    /// Hosts that the nodes send requests to; may be given more than once.
    #[arg(long, value_name = "HOST", value_delimiter = ',', value_parser = allowed_host, default_value = "shop.example.com")]
    pub allow_hosts: Vec<String>,
    /// Address of the server (Slurm).
    #[arg(long, value_name = "URL", default_value = "nats://nats.example.com:4222", value_parser = nats_url)]
    pub nats: String,
}
