//! What scripts of a JMeter plan may ask of the machine that runs it.

use std::collections::BTreeMap;
use std::net::ToSocketAddrs as _;
use std::path::PathBuf;

use squall_jmeter::Machine;

/// This machine; `given` are system properties that were given. `is_named`: whether its name and address are asked for, which
/// takes a look at them.
pub(crate) fn this(given: &BTreeMap<String, String>, is_named: bool) -> Machine {
    let folder = |path: PathBuf| path.display().to_string();
    let known = [
        ("user.dir", std::env::current_dir().ok().map(folder)),
        ("user.home", std::env::home_dir().map(folder)),
        ("user.name", std::env::var("USER").ok()),
        ("java.io.tmpdir", Some(folder(std::env::temp_dir()))),
        ("file.separator", Some("/".to_owned())),
        ("line.separator", Some("\n".to_owned())),
    ];
    let known = known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let given = given.iter().map(|(name, value)| (name.clone(), value.clone()));
    let (name, address) = if is_named { own_name() } else { (None, None) };
    Machine {
        properties: known.chain(given).collect(),
        environment: environment().collect(),
        name,
        address,
    }
}

/// The environment, without what is no text: nobody asks for that.
pub fn environment() -> impl Iterator<Item = (String, String)> {
    let all = std::env::vars_os();
    all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// The machine's name and the address that it has, as far as they are known.
fn own_name() -> (Option<String>, Option<String>) {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let found = name.as_deref().and_then(|name| (name, 0).to_socket_addrs().ok());
    let found: Vec<_> = found.into_iter().flatten().map(|address| address.ip()).collect();
    // As Java has it, one of version 4 goes first.
    let address = found.iter().find(|ip| ip.is_ipv4()).or(found.first());
    (name, address.map(ToString::to_string))
}
