//! A server configuration in which each node may do only what it must: publish what is its own, read what it needs. Printed by
//! `squall fleet manifest nats`.

use std::fmt::Write;

use crate::transport::connect::inbox_of;
use crate::transport::nats::names::{BUCKET, KEYS, OBJECTS};

/// What is around the users.
const TEMPLATE: &str = include_str!("server.conf");

/// A node as a user of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The node's name, which is its user's.
    pub name: String,
    /// Its password, or the bcrypt of it (`nats server passwd`), or the name of a variable (`$NAME`).
    pub password: String,
}

/// Certificates of the server, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// The server's certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
    /// The authority of clients' certificates: whoever has none is refused. `None`: clients need none.
    pub clients: Option<String>,
}

/// The configuration for a controller and these nodes. `store` is where the server keeps what it stores.
pub fn configuration(
    listen: &str,
    store: &str,
    tls: Option<&Tls>,
    controller: &str,
    nodes: &[User],
) -> String {
    let mut users = String::new();
    let _string = write!(users, "{}", controller_user(controller));
    for node in nodes {
        let _string = write!(users, "{}", node_user(&node.name, &node.password));
    }
    TEMPLATE
        .replace("@LISTEN@", &quoted(listen))
        .replace("@STORE@", &quoted(store))
        .replace("@TLS@\n", &tls_block(tls))
        .replace("@USERS@\n", &users)
}

fn tls_block(tls: Option<&Tls>) -> String {
    match tls {
        None => "# No TLS: for a network that nobody else is on. With certificates:\n\
                 # tls { cert_file: \"server.pem\", key_file: \"server.key\", ca_file: \"clients.pem\", verify: true }\n"
            .to_owned(),
        Some(Tls { certificate, key, clients }) => {
            let (certificate, key) = (quoted(certificate), quoted(key));
            let clients = clients.as_ref().map_or(String::new(), |ca| format!(", ca_file: {}, verify: true", quoted(ca)));
            format!("tls {{ cert_file: {certificate}, key_file: {key}{clients} }}\n")
        }
    }
}

/// The controller, as an entry of a list of users: all that is squall's, and nothing else on the server.
pub fn controller_user(password: &str) -> String {
    let publish = [
        "squall.>".to_owned(),
        "squall-object.>".to_owned(),
        format!("$KV.{BUCKET}.>"),
        "$JS.API.>".to_owned(),
        "_INBOX.>".to_owned(),
    ];
    let subscribe = ["squall.>".to_owned(), "_INBOX.controller.>".to_owned()];
    user("controller", password, &publish, &subscribe, "")
}

/// A node, as an entry of a list of users: what is its own, and what it must read.
pub fn node_user(name: &str, password: &str) -> String {
    let inbox = inbox_of(name);
    let mut publish = vec![
        // What it records, its heart, and questions after the time.
        format!("squall.*.second.{name}"),
        format!("squall.hb.{name}"),
        "squall.*.clock".to_owned(),
        // What it says of itself.
        format!("$KV.{BUCKET}.node.{name}"),
        // Whether the bucket is there, and how it is kept.
        format!("$JS.API.STREAM.INFO.{KEYS}"),
        // Chunks of objects, by digest.
        format!("$JS.API.DIRECT.GET.{OBJECTS}.squall-object.*.*"),
        // Messages of a consumer whose name is known; it is drawn by who made it.
        format!("$JS.API.CONSUMER.MSG.NEXT.{KEYS}.*"),
    ];
    for key in keys_of(name) {
        publish.push(format!("$JS.API.DIRECT.GET.{KEYS}.$KV.{BUCKET}.{key}"));
        publish.push(format!("$JS.API.CONSUMER.CREATE.{KEYS}.*.$KV.{BUCKET}.{key}"));
    }
    // Its own heart: one that comes back listens whether its name is another's by now.
    let subscribe =
        [format!("{inbox}.>"), format!("squall.hb.{name}"), "squall.*.resend".to_owned()];
    // It answers who asked it, once each.
    user(name, password, &publish, &subscribe, ", allow_responses: { max: 1, expires: \"1m\" }")
}

/// The keys that a node reads.
fn keys_of(name: &str) -> [String; 6] {
    [
        format!("node.{name}"),
        format!("call.{name}"),
        format!("run.*.share.{name}"),
        "run.*.order".to_owned(),
        "run.*.changes".to_owned(),
        "run.*.release".to_owned(),
    ]
}

fn user(
    name: &str,
    password: &str,
    publish: &[String],
    subscribe: &[String],
    more: &str,
) -> String {
    let list = |subjects: &[String]| {
        let lines: Vec<String> =
            subjects.iter().map(|subject| format!("          {}", quoted(subject))).collect();
        format!("{{ allow: [\n{}\n        ] }}", lines.join(",\n"))
    };
    let password = if password.starts_with('$') && !password.starts_with("$2") {
        password.to_owned()
    } else {
        quoted(password)
    };
    format!(
        "      {{ user: {}, password: {password}, permissions: {{\n        publish: {}\n        subscribe: {}{more}\n      }} }}\n",
        quoted(name),
        list(publish),
        list(subscribe),
    )
}

/// A string of the server's configuration.
fn quoted(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_may_do_what_is_its_own() {
        let nodes = [User { name: "eu-1".to_owned(), password: "p\"w".to_owned() }];
        let text = configuration("0.0.0.0:4222", "/var/lib/squall", None, "$CONTROLLER", &nodes);
        assert!(!text.contains('@'), "{text}");
        for own in [
            "\"squall.*.second.eu-1\"",
            "\"squall.hb.eu-1\"",
            "\"_INBOX.eu-1.>\"",
            "password: \"p\\\"w\"",
            "password: $CONTROLLER,",
            "\"$JS.API.CONSUMER.CREATE.KV_squall.*.$KV.squall.run.*.share.eu-1\"",
        ] {
            assert!(text.contains(own), "{own} in\n{text}");
        }
        let node = text.split_once("user: \"eu-1\"").unwrap().1;
        for wide in ["\"squall.>\"", "\"$JS.API.>\"", "STREAM.CREATE", "STREAM.MSG.GET", "\">\""] {
            assert!(!node.contains(wide), "{wide} in\n{node}");
        }
        let tls = Tls {
            certificate: "s.pem".to_owned(),
            key: "s.key".to_owned(),
            clients: Some("ca.pem".to_owned()),
        };
        let text = configuration(":4222", "x", Some(&tls), "$2a$11$bcrypt", &[]);
        assert!(text.contains("tls { cert_file: \"s.pem\", key_file: \"s.key\", ca_file: \"ca.pem\", verify: true }"), "{text}");
        assert!(text.contains("password: \"$2a$11$bcrypt\""), "{text}");
    }
}
