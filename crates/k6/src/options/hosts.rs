//! Hosts and networks that options name. Pure.

use std::net::IpAddr;

use squall_base::AllowList;

use super::value::{At, OptionError};

/// Where a `*` may stand.
const WILDCARD: &str = "a `*` stands for all before a dot, at the beginning: `*.example.com`";

/// Hosts with the addresses that take the place of DNS.
pub(super) fn hosts(all: &At<'_>) -> Result<Vec<(String, String)>, OptionError> {
    let one = |(host, at): (String, At<'_>)| match host.strip_prefix("*.").unwrap_or(&host) {
        rest if rest.contains('*') => Err(at.refused(WILDCARD)),
        _ => Ok((host, at.text()?.to_owned())),
    };
    all.map()?.into_iter().map(one).collect()
}

/// Patterns of hosts.
pub(super) fn patterns(all: &At<'_>) -> Result<Vec<String>, OptionError> {
    let one = |at: At<'_>| {
        let text = at.text()?;
        match AllowList::read(&[text]) {
            Err(_) if text.contains('*') => Err(at.refused(WILDCARD)),
            Err(why) => Err(at.refused(why)),
            Ok(_) => Ok(text.to_owned()),
        }
    };
    all.list()?.into_iter().map(one).collect()
}

/// Networks such as `10.0.0.0/8`, and addresses.
pub(super) fn networks(all: &At<'_>) -> Result<Vec<String>, OptionError> {
    let one = |at: At<'_>| {
        let text = at.text()?;
        let is_address = text.split('/').next().is_some_and(|own| own.parse::<IpAddr>().is_ok());
        match is_address && AllowList::read(&[text]).is_ok() {
            true => Ok(text.to_owned()),
            false => Err(at.expected("a network such as 10.0.0.0/8")),
        }
    };
    all.list()?.into_iter().map(one).collect()
}
