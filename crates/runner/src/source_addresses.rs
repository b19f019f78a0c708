//! The source addresses of a plan: how many there are, and whether they are this machine's.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;

use squall_engine::Program;
use squall_plan::diagnostic::Diagnostic;
use squall_plan::model::{Plan, Step, StepKind};
use squall_plan::span::Span;
use squall_plan::template::Template;
use squall_wire::Shared;

/// How many there are toward a host, at least 1; `None`: only users know those of their requests.
pub fn count(plan: &Plan) -> Option<u64> {
    let mut own = Vec::new();
    let scenarios = || plan.scenarios.iter();
    own.extend(plan.defaults.http.source_address.as_ref());
    own.extend(scenarios().filter_map(|scenario| scenario.defaults.http.source_address.as_ref()));
    scenarios().flat_map(|scenario| &scenario.steps).for_each(|step| of_requests(step, &mut own));
    let own: Vec<&str> = own.into_iter().map(Template::literal).collect::<Option<_>>()?;
    // Where all requests have their own, none has one of these.
    let of_plan = plan.connections.source_addresses.iter();
    let of_plan = of_plan.filter(|_| plan.defaults.http.source_address.is_none());
    let all = of_plan.map(|address| address.value.as_str()).chain(own);
    let all: BTreeSet<IpAddr> = all.filter_map(|text| text.parse().ok()).collect();
    // A host has one family.
    let (v4, v6): (Vec<&IpAddr>, Vec<&IpAddr>) = all.iter().partition(|own| own.is_ipv4());
    Some(v4.len().max(v6.len()).max(1) as u64)
}

/// Those that all connections take in turn; none where requests have some of their own, so that nobody knows how many each
/// of these has.
pub fn of_all<'s>(program: &Program, shared: &'s Shared) -> &'s [IpAddr] {
    if program.has_source_addresses() { &[] } else { shared.source_addresses() }
}

fn of_requests<'p>(step: &'p Step, found: &mut Vec<&'p Template>) {
    if let StepKind::Request(request) = &step.kind {
        found.extend(&request.http.source_address);
    }
    step.inner().for_each(|step| of_requests(step, found));
}

/// Those that are not this machine's, each with its place, as far as they are known before the run.
pub fn foreign(plan: &Plan, programs: &[Arc<Program>]) -> Vec<Diagnostic> {
    let of_plan = plan.connections.source_addresses.iter();
    let of_plan = of_plan.filter_map(|own| Some((own.value.parse().ok()?, own.span)));
    let of_requests = programs.iter().flat_map(|program| program.source_addresses()).copied();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (address, span) in of_plan.chain(of_requests) {
        if seen.insert(address) && !is_own(address) {
            found.push(not_own(address, span));
        }
    }
    found
}

fn not_own(address: IpAddr, span: Span) -> Diagnostic {
    let message = format!("{address} is not an address of this machine");
    let bits = if address.is_ipv4() { 24 } else { 64 };
    let help = format!(
        "`ip address` shows those that it has, and `ip address add {address}/{bits} dev eth0` gives one to an interface"
    );
    Diagnostic::error(span, message).with_help(&help)
}

/// Whether connections can be made from an address.
fn is_own(address: IpAddr) -> bool {
    match TcpListener::bind((address, 0)) {
        Ok(_) => true,
        Err(error) => error.kind() != ErrorKind::AddrNotAvailable,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn plan(connections: &str, defaults: &str, request: &str) -> Plan {
        let text = format!(
            "target: http://a\nconnections: {{{connections}}}\ndefaults: {{{defaults}}}\nvars: {{from: 127.0.0.9}}\n\
             scenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{{repeat: 2, steps: [{{get: /{request}}}]}}]}}}}"
        );
        let options = squall_plan::vars::LoadOptions::default();
        let loaded = squall_plan::yaml::load_str("p", &text, Path::new(""), &options);
        loaded.expect("a good plan").plan
    }

    #[test]
    fn addresses_are_counted_once_and_by_family() {
        for (connections, defaults, request, expected) in [
            ("", "", "", Some(1)),
            ("source_addresses: [127.0.0.2, 127.0.0.3, '::1']", "", "", Some(2)),
            (
                "source_addresses: [127.0.0.2, 127.0.0.3]",
                "source_address: 127.0.0.5",
                ", source_address: 127.0.0.4",
                Some(2),
            ),
            ("", "source_address: '${from}'", "", None),
        ] {
            assert_eq!(count(&plan(connections, defaults, request)), expected, "{connections}");
        }
    }

    #[test]
    fn an_address_of_another_machine_is_told_with_its_place() {
        // TEST-NET-3, RFC 5737
        let plan = plan("source_addresses: [127.0.0.2, 203.0.113.9]", "", "");
        let found = foreign(&plan, &[]);
        let [one] = &found[..] else { panic!("{found:?}") };
        assert_eq!(one.message, "203.0.113.9 is not an address of this machine");
        let help = one.help.as_deref().unwrap_or_default();
        assert!(one.span.line == 2 && help.contains("203.0.113.9/24"), "{one:?}");
    }
}
