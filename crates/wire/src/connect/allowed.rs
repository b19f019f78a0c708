//! Where connections may go, whatever asks for them: what was allowed for this process, and what the plan blocks, is held
//! against each of them.

use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use squall_base::AllowList;

use crate::error::{Error, ErrorKind};
use crate::settings::Settings;

/// Whether a host may be connected to, by its name or, if that is one, its address.
///
/// # Errors
/// It may not.
pub(super) fn by_name(settings: &Settings, host: &str) -> Result<(), Error> {
    match &settings.allowed {
        Some(list) if !list.allows_host(host) => Err(refused(list, host)),
        _ => Ok(()),
    }
}

/// Which of a name's addresses may be connected to.
pub(super) struct Narrowed<'s>(Option<&'s AllowList>);

/// What may be used of a name that is about to be looked up: all, if the name itself is allowed.
///
/// # Errors
/// Nothing, whatever its addresses are: then nobody looks it up.
pub(super) fn before_lookup<'s>(settings: &'s Settings, host: &str) -> Result<Narrowed<'s>, Error> {
    match settings.allowed.as_deref() {
        None => Ok(Narrowed(None)),
        Some(list) if list.allows_host(host) => Ok(Narrowed(None)),
        Some(list) if list.has_networks() => Ok(Narrowed(Some(list))),
        Some(list) => Err(refused(list, host)),
    }
}

impl Narrowed<'_> {
    /// Those of a name's addresses that are allowed.
    ///
    /// # Errors
    /// None of them is.
    pub(super) fn of(
        &self,
        found: Rc<[SocketAddr]>,
        host: &str,
    ) -> Result<Rc<[SocketAddr]>, Error> {
        let Some(list) = self.0 else { return Ok(found) };
        if found.iter().all(|address| list.allows_address(address.ip())) {
            return Ok(found);
        }
        let allowed: Rc<[SocketAddr]> =
            found.iter().filter(|address| list.allows_address(address.ip())).copied().collect();
        if allowed.is_empty() { Err(refused(list, host)) } else { Ok(allowed) }
    }
}

/// Whether connections may be made for a host, as far as its name says.
///
/// # Errors
/// It is blocked.
pub(super) fn unless_blocked(settings: &Settings, host: &str) -> Result<(), Error> {
    let list = &settings.blocked_hosts;
    if list.is_empty() || host.parse::<IpAddr>().is_ok() || !list.allows_host(host) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::NotAllowed, format!("{host} is one of the blocked hosts")))
}

/// Those of a host's addresses that connections may be made to.
///
/// # Errors
/// All of them are blocked.
pub(super) fn without_blocked(
    settings: &Settings,
    found: Rc<[SocketAddr]>,
    host: &str,
) -> Result<Rc<[SocketAddr]>, Error> {
    let is_blocked = |own: &&SocketAddr| settings.blocked_addresses.allows_address(own.ip());
    let Some(blocked) = found.iter().find(is_blocked) else { return Ok(found) };
    let left: Rc<[SocketAddr]> = found.iter().filter(|own| !is_blocked(own)).copied().collect();
    if left.is_empty() {
        let text = format!("{host}: {} is one of the blocked addresses", blocked.ip());
        return Err(Error::new(ErrorKind::AddressBlocked, text));
    }
    Ok(left)
}

fn refused(list: &AllowList, host: &str) -> Error {
    let host = match host.parse::<IpAddr>() {
        Ok(IpAddr::V6(_)) => format!("[{host}]"),
        _ => host.to_owned(),
    };
    Error::new(ErrorKind::NotAllowed, list.explain(&host))
}
