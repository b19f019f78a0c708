//! Where hosts are: the DNS Cache Managers that hold for requests, as settings of the plan's connections.

use std::collections::BTreeMap;
use std::time::Duration;

use squall_plan::model::{AddressSelect, Connections};
use squall_plan::span::Spanned;

use super::Translator;
use super::reader::Reader;
use super::transfer::Client;
use crate::properties::elements;
use crate::scope::Scope;
use crate::tree::ElementId;

/// How long Java itself holds what it has looked up, whatever a manager forgets.
const OF_JAVA: Duration = Duration::from_secs(30);

/// The addresses of hosts.
type Hosts = BTreeMap<String, Vec<Spanned<String>>>;

impl Translator<'_> {
    /// Notes who looks up the host of a request: the outermost manager, with the client of Apache alone.
    pub(super) fn note_look_up(&self, held: &Scope, client: Client) {
        let managers = held.configs.iter().filter(|id| self.class(**id) == "DNSCacheManager");
        let manager = managers.last().copied().filter(|_| client == Client::Apache);
        self.look_ups.borrow_mut().insert(manager);
    }

    /// Says where hosts are, and how long that holds.
    pub(super) fn look_up(&self, connections: &mut Connections) {
        let managers = self.look_ups.borrow().clone();
        let mut tables = managers.iter().map(|manager| match manager {
            Some(id) => self.hosts(*id, connections),
            None => Hosts::new(),
        });
        let Some(first) = tables.next() else { return };
        let differs: Vec<bool> = tables.map(|table| table != first).collect();
        if differs.contains(&true) {
            let all = managers.iter().flatten();
            let why = "hosts of its own that do not hold for all requests of the plan";
            all.for_each(|id| self.obstacle(*id, why));
        }
        // JMeter goes to the next one only where it cannot connect.
        if first.values().any(|addresses| addresses.len() > 1) {
            connections.dns.select = AddressSelect::First;
        }
        connections.resolve = first;
    }

    /// The hosts of a manager.
    fn hosts(&self, manager: ElementId, connections: &mut Connections) -> Hosts {
        let reader = self.read(manager);
        if reader.flag("DNSCacheManager.clearEachIteration", false) {
            connections.dns.ttl = Some(OF_JAVA);
        }
        let servers = reader.list("DNSCacheManager.servers");
        if reader.flag("DNSCacheManager.isCustomResolver", false) && !servers.is_empty() {
            self.obstacle(manager, "name servers of its own");
        }
        let mut hosts = Hosts::new();
        for properties in elements(reader.list("DNSCacheManager.hosts")) {
            let reader = Reader::new(self, manager, properties);
            let (name, addresses) =
                (reader.constant("StaticHost.Name"), reader.constant("StaticHost.Address"));
            reader.finish();
            let (Some(name), Some(addresses)) = (name, addresses) else { continue };
            let addresses: Vec<_> = addresses
                .split(',')
                .map(|address| Spanned::new(address.trim().to_owned(), self.place(manager)))
                .collect();
            if addresses.iter().any(|address| address.value.is_empty()) {
                self.obstacle(manager, format!("`{name}` without an address"));
            }
            // The first of several with one name counts.
            hosts.entry(name).or_insert(addresses);
        }
        reader.finish();
        hosts
    }
}
