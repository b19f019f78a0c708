//! Looking up names before a run: all at a time, and not for longer than a user would wait.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::settings::{SetupError, Substitute};

/// How long names may take to look up before a run. A resolver tries each of its servers for 5 s, twice
/// (resolv.conf(5)): one that has not answered in this time is broken.
const LIMIT: Duration = Duration::from_secs(10);

/// Addresses of names and ports, in the order given; `None`: the name has none.
///
/// # Errors
/// A lookup has not come to an end. Its thread is left to itself: the system has no way to end it.
pub(crate) fn lookup_all(
    names: Vec<(String, u16)>,
) -> Result<Vec<Option<Vec<SocketAddr>>>, SetupError> {
    let lookup = |(host, port): (String, u16)| (host.as_str(), port).to_socket_addrs().map(unique);
    lookup_within(LIMIT, names, lookup)
}

/// The addresses of what takes the place of hosts. Of another host that has none there are none.
///
/// # Errors
/// As those of [`lookup_all`].
pub(crate) fn substitutes(
    given: &HashMap<String, Vec<Substitute>>,
) -> Result<HashMap<String, Vec<SocketAddr>>, SetupError> {
    let mut names: Vec<(String, u16)> = Vec::new();
    for substitute in given.values().flatten() {
        if let Substitute::Host(host, port) = substitute {
            names.push((host.clone(), *port));
        }
    }
    names.sort_unstable();
    names.dedup();
    let found = lookup_all(names.clone())?;
    let found: HashMap<_, _> = names.into_iter().zip(found).collect();
    let addresses = |substitute: &Substitute| match substitute {
        Substitute::Address(address) => vec![*address],
        Substitute::Host(host, port) => {
            found.get(&(host.clone(), *port)).cloned().flatten().unwrap_or_default()
        }
    };
    let of_host = |(host, list): (&String, &Vec<Substitute>)| {
        (host.clone(), list.iter().flat_map(addresses).collect())
    };
    Ok(given.iter().map(of_host).collect())
}

fn lookup_within(
    limit: Duration,
    names: Vec<(String, u16)>,
    lookup: impl Fn((String, u16)) -> io::Result<Vec<SocketAddr>> + Clone + Send + 'static,
) -> Result<Vec<Option<Vec<SocketAddr>>>, SetupError> {
    let started: Vec<_> = names
        .into_iter()
        .map(|name| {
            let (tell, told) = mpsc::channel();
            let (host, lookup) = (name.0.clone(), lookup.clone());
            let spawned = std::thread::Builder::new().name("lookup".to_owned()).spawn(move || {
                // Nobody listens once the time is over.
                let _ = tell.send(lookup(name).ok());
            });
            (host, spawned.map(|_| told))
        })
        .collect();
    let end = Instant::now() + limit;
    let wait = |(host, told): (String, io::Result<mpsc::Receiver<_>>)| {
        let told = told.map_err(|error| SetupError(format!("cannot look up {host}: {error}")))?;
        told.recv_timeout(end.saturating_duration_since(Instant::now())).map_err(|_| {
            let seconds = limit.as_secs_f64();
            SetupError(format!(
                "cannot look up {host}: no name server has answered within {seconds} s; see /etc/resolv.conf, or give the name's address with `resolve`"
            ))
        })
    };
    started.into_iter().map(wait).collect()
}

/// Addresses, each once, in the order given.
pub(crate) fn unique(addresses: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    let mut seen = Vec::new();
    for address in addresses {
        if !seen.contains(&address) {
            seen.push(address);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lookup_without_end_is_an_error_that_names_the_host() {
        let (_never, hangs) = mpsc::channel::<()>();
        let hangs = std::sync::Arc::new(std::sync::Mutex::new(hangs));
        let lookup = move |(host, port): (String, u16)| {
            if host == "hangs.example" {
                let _ = hangs.lock().map(|hangs| hangs.recv());
            }
            match host.as_str() {
                "none.example" => Err(io::ErrorKind::NotFound.into()),
                _ => Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]),
            }
        };
        let names = |hosts: &[&str]| hosts.iter().map(|host| ((*host).to_owned(), 80)).collect();
        let found = lookup_within(LIMIT, names(&["one.example", "none.example"]), lookup.clone());
        let address = SocketAddr::from(([127, 0, 0, 1], 80));
        assert_eq!(found, Ok(vec![Some(vec![address]), None]));
        // The one that hangs comes first: on a busy machine the other may not be known within that time either.
        let limit = Duration::from_millis(20);
        let error = lookup_within(limit, names(&["hangs.example", "one.example"]), lookup);
        let error = error.expect_err("it hangs").to_string();
        assert!(error.starts_with("cannot look up hangs.example: no name server"), "{error}");
    }

    #[test]
    fn another_host_may_take_the_place_of_one() {
        let address = SocketAddr::from(([192, 0, 2, 1], 0));
        let of = |list: Vec<Substitute>| HashMap::from([("shop.test".to_owned(), list)]);
        let given = of(vec![
            Substitute::Address(address),
            Substitute::Host("localhost".to_owned(), 8080),
            Substitute::Host("none.invalid".to_owned(), 0),
        ]);
        let found = substitutes(&given).expect("at once");
        let found = &found["shop.test"];
        assert_eq!(found[0], address);
        assert!(found.len() > 1, "{found:?}");
        assert!(found[1..].iter().all(|own| own.ip().is_loopback() && own.port() == 8080));
    }

    #[test]
    fn the_system_knows_this_machine() {
        let found = lookup_all(vec![("localhost".to_owned(), 80)]).expect("at once");
        assert!(found[0].as_ref().is_some_and(|addresses| addresses[0].ip().is_loopback()));
    }
}
