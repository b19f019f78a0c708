//! `squall target`: the built-in target in the foreground.

use squall_target::{Options, Server, TlsCertificate, TlsOptions};

use crate::args::Target;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{out, signals};

/// Runs the built-in target until it is interrupted.
pub fn command(args: &Target) -> CommandResult {
    if args.routes {
        out::print(&squall_target::describe_routes());
        return Ok(Exit::Ok);
    }
    let certificate = match (&args.cert, &args.key) {
        (Some(cert), Some(key)) => {
            Some(TlsCertificate::Pem { cert: cert.clone(), key: key.clone() })
        }
        _ if args.tls => {
            let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
            Some(TlsCertificate::SelfSigned { names })
        }
        _ => None,
    };
    let tls =
        certificate.map(|certificate| TlsOptions { certificate, client_ca: None, http2: true });
    let options =
        Options { listen: args.listen.clone(), tls, threads: args.threads, seed: args.seed };
    let server = Server::start(options).map_err(CommandError::incomplete)?;
    for address in server.addresses() {
        out::print(&format!("listening on {address}\n"));
    }
    signals::ends().map_err(CommandError::incomplete)?.forever().next();
    let stats = server.stats();
    server.stop();
    out::print(&format!("{} requests on {} connections\n", stats.requests, stats.accepted));
    Ok(Exit::Ok)
}
