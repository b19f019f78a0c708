//! Samples: requests, programs and groups with all that is a part of them, as they come to an end.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use squall_engine::{Exchange, ExchangeCopy, ExchangeFilter, SeenGroup, StatedResponse};
use squall_metrics::ErrorKind;
use squall_report::{GroupPart, GroupSample, LoadedPage, PlanAnswer, RequestSample, SamplePart};

use super::event::{Event, EventKind, SeenExchange};
use super::interface::{Start, Wanted, WantedExchanges};
use super::latest_load::LatestLoad;
use super::second::Second;
use crate::mask;
use crate::phase::Phase;

mod open;
mod seen;
#[cfg(test)]
mod tests;

use self::open::Open;
use self::seen::{Seen, What};

/// Who is told of a sample.
pub type Told<'t> = &'t mut dyn FnMut(GroupPart<'_>) -> io::Result<()>;

/// Makes samples, their secrets masked, of what a run tells a sink.
#[derive(Debug, Default)]
pub struct Sampled {
    /// When the run began, and each of its phases, in seconds since 1970.
    run_unix_s: f64,
    phases_unix_s: BTreeMap<Phase, f64>,
    /// Users that were active in the last whole second.
    users: LatestLoad,
    /// The plan's scenarios, by name.
    scenarios: BTreeMap<String, Scenario>,
    /// Whether groups are samples too, and requests that are parts of such are told with them.
    with_groups: bool,
    /// The scenarios whose samples are told; empty: all.
    of_scenarios: BTreeSet<String>,
    /// Parts of groups that are one sample and are not over.
    open: Open,
}

/// What a scenario is called in the file.
#[derive(Debug)]
struct Scenario {
    title: String,
    /// Its number, from 1.
    number: u64,
}

impl Sampled {
    /// The samples of some scenarios, or of all, and of setup and teardown; with groups or without.
    pub fn new(with_groups: bool, of_scenarios: impl IntoIterator<Item = String>) -> Sampled {
        let of_scenarios = of_scenarios.into_iter().collect();
        Sampled { with_groups, of_scenarios, ..Sampled::default() }
    }

    /// The run begins; returns what is wanted of it.
    pub fn start(&mut self, start: &Start) -> Wanted {
        self.run_unix_s = start.meta.started_unix;
        let known = start.plan.scenarios.iter().zip(1..).map(|(own, place)| {
            let name = own.name.value.clone();
            let title = own.title.clone().unwrap_or_else(|| name.clone());
            (name, Scenario { title, number: own.number.unwrap_or(place) })
        });
        self.scenarios = known.collect();
        let exchanges = Some(WantedExchanges { which: ExchangeFilter::All, bytes: 0 });
        Wanted { exchanges, groups: self.with_groups, ..Wanted::default() }
    }

    /// Users that were active in the last whole second; `None`: there was none yet.
    pub fn users(&self) -> Option<u64> {
        self.users.has_come().then(|| self.users.load().users())
    }

    /// A second is over.
    pub fn second(&mut self, second: &Second) {
        self.users.note(second);
    }

    /// Something has happened. Who is `told` hears of the sample that has ended with it, if one has.
    ///
    /// # Errors
    /// Those of who is told.
    pub fn event(&mut self, event: &Event, told: Told<'_>) -> io::Result<()> {
        match &event.kind {
            EventKind::Exchange(SeenExchange { phase, exchange })
                if self.is_of(&exchange.scenario) =>
            {
                self.note(*phase, exchange.part_of, What::Exchange(exchange.clone()), told)
            }
            EventKind::Group { phase, group } if self.is_of(&group.scenario) => {
                self.note_group(*phase, group, told)
            }
            EventKind::PhaseBegan(phase) => {
                self.rest(told)?;
                self.phases_unix_s.insert(*phase, self.run_unix_s + event.at_s);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Tells what is left of groups that did not come to an end.
    ///
    /// # Errors
    /// Those of who is told.
    pub fn rest(&mut self, told: Told<'_>) -> io::Result<()> {
        let left = std::mem::take(&mut self.open);
        left.parts().try_for_each(|seen| told(self.part(seen)))
    }

    /// Whether the samples of a scenario are told.
    fn is_of(&self, scenario: &str) -> bool {
        self.of_scenarios.is_empty() || self.of_scenarios.contains(scenario)
    }

    /// When a phase began, in µs since 1970.
    fn began_us(&self, phase: Phase) -> u64 {
        (self.phases_unix_s.get(&phase).copied().unwrap_or(self.run_unix_s) * 1e6) as u64
    }

    /// Users that are active: of a scenario, and of all. With groups the one of the sample is among them, though the
    /// first second is not over.
    fn users_of(&self, scenario: &str) -> (u64, u64) {
        let load = self.users.load();
        let own = load.scenarios.get(scenario).map_or(0, |own| own.users);
        let own = own.max(u64::from(self.with_groups));
        (own, load.users().max(own))
    }

    /// The number of a scenario.
    fn number_of(&self, scenario: &str) -> u64 {
        self.scenarios.get(scenario).map_or(1, |known| known.number)
    }

    /// What a scenario is called in the file.
    fn title_of<'s>(&'s self, scenario: &'s str) -> &'s str {
        self.scenarios.get(scenario).map_or(scenario, |known| &known.title)
    }

    /// What a request read; with groups also what a program printed, which has no URL.
    fn bytes_in(&self, exchange: &Exchange) -> u64 {
        let printed = exchange.last().filter(|last| self.with_groups && last.url.is_empty());
        printed.map_or(exchange.bytes_in, |last| last.body_bytes)
    }

    /// The requests of a sample, if it was led from one to another, or should have been.
    fn parts(&self, exchange: &Exchange, began_us: u64) -> Vec<SamplePart> {
        let error = exchange.error.as_ref().map(|(kind, _)| *kind);
        let is_astray = error == Some(ErrorKind::BadRedirect);
        if !self.with_groups || exchange.hops.len() < 2 && !is_astray {
            return Vec::new();
        }
        let part = |hop: &ExchangeCopy| {
            let [sent, first_byte, end] = hop.times_us;
            SamplePart {
                unix_us: began_us + sent,
                first_byte_us: first_byte.saturating_sub(sent),
                latency_us: end.saturating_sub(sent),
                url: mask::url(hop, &exchange.secrets),
                status: hop.status,
                bytes_in: hop.bytes.0,
                bytes_out: hop.bytes.1,
            }
        };
        let mut parts: Vec<SamplePart> = exchange.hops.iter().map(part).collect();
        match (error, parts.last_mut()) {
            // What leads nowhere has come to nothing itself.
            (Some(ErrorKind::BadRedirect), Some(last)) => last.status = 0,
            // And where too many lead on, what would have come next has.
            (Some(ErrorKind::TooManyRedirects), Some(last)) => {
                let next = SamplePart { status: 0, ..last.clone() };
                parts.push(next);
            }
            _ => {}
        }
        parts
    }

    /// Something is over. It is told, or waits for the group that it is a part of.
    fn note(
        &mut self,
        phase: Phase,
        part_of: Option<u64>,
        what: What,
        told: Told<'_>,
    ) -> io::Result<()> {
        let users = match &what {
            What::Exchange(exchange) | What::Page(exchange, ..) => {
                self.users_of(&exchange.scenario)
            }
            What::Group(group, _) => self.users_of(&group.scenario),
        };
        self.note_seen(part_of, Seen { phase, users, what }, told)
    }

    /// The same of what was seen with its users.
    fn note_seen(&mut self, part_of: Option<u64>, seen: Seen, told: Told<'_>) -> io::Result<()> {
        let Some(group) = part_of.filter(|_| self.with_groups) else {
            return told(self.part(&seen));
        };
        self.open.add((seen.phase, group), seen);
        while let Some(parts) = self.open.take_surplus() {
            parts.iter().try_for_each(|seen| told(self.part(seen)))?;
        }
        Ok(())
    }

    /// A group is over. One that is not one sample is told at once, also within one that is: only its parts are parts
    /// of that.
    fn note_group(
        &mut self,
        phase: Phase,
        group: &Arc<SeenGroup>,
        told: Told<'_>,
    ) -> io::Result<()> {
        let number = group.one_sample;
        let parts = number.map(|number| self.open.take((phase, number)));
        if group.is_page {
            return self.note_page(phase, group, parts.unwrap_or_default(), told);
        }
        let is_sample = parts.is_some() || group.tally.samples == 0;
        let part_of = group.part_of.filter(|_| is_sample);
        self.note(phase, part_of, What::Group(group.clone(), parts), told)
    }

    /// A page is there with what it loaded, or alone if it names nothing. Of one that a full queue has dropped what it
    /// loaded is told alone.
    fn note_page(
        &mut self,
        phase: Phase,
        group: &SeenGroup,
        parts: Vec<Seen>,
        told: Told<'_>,
    ) -> io::Result<()> {
        let (mut page, mut loaded) = (None, Vec::new());
        for seen in parts {
            match seen.what {
                What::Exchange(own) if !own.is_of_page => page = Some(own),
                _ => loaded.push(seen),
            }
        }
        // What was found first was asked for first.
        loaded.sort_by_key(Seen::at_us);
        let Some(page) = page else {
            let mut loaded = loaded.into_iter();
            return loaded.try_for_each(|seen| self.note_seen(group.part_of, seen, told));
        };
        let what = match loaded.is_empty() {
            true => What::Exchange(page),
            false => What::Page(page, group.duration_ns, loaded),
        };
        self.note(phase, group.part_of, what, told)
    }

    /// As it is told.
    fn part<'s>(&'s self, seen: &'s Seen) -> GroupPart<'s> {
        match &seen.what {
            What::Exchange(exchange) => GroupPart::Request(Box::new(self.request(seen, exchange))),
            What::Page(page, duration_ns, loaded) => {
                let resources = loaded.iter().filter_map(|seen| match &seen.what {
                    What::Exchange(exchange) => Some(self.request(seen, exchange)),
                    What::Page(..) | What::Group(..) => None,
                });
                let page_of =
                    LoadedPage { duration_ns: *duration_ns, resources: resources.collect() };
                let page = self.request(seen, page);
                GroupPart::Request(Box::new(RequestSample { page: Some(page_of), ..page }))
            }
            What::Group(group, parts) => {
                let parts = parts.as_ref();
                let parts = parts.map(|parts| parts.iter().map(|part| self.part(part)).collect());
                GroupPart::Group(Box::new(GroupSample { parts, ..self.group(seen, group) }))
            }
        }
    }

    fn group<'s>(&'s self, seen: &Seen, group: &'s SeenGroup) -> GroupSample<'s> {
        let parts = if group.one_sample.is_some() { group.tally.parts } else { 0 };
        GroupSample {
            unix_us: self.began_us(seen.phase) + group.at_us,
            duration_ns: group.duration_ns,
            scenario: self.title_of(&group.scenario),
            scenario_number: self.number_of(&group.scenario),
            user: group.user,
            name: group.secrets.mask(&group.name).into(),
            failed: group.failed,
            samples: (group.tally.samples - parts, group.tally.failed),
            bytes_in: group.tally.bytes_in,
            bytes_out: group.tally.bytes_out,
            users: seen.users,
            is_left: group.is_left,
            answer: group.answer.as_ref().map(
                |StatedResponse { status, reason, failure, .. }| {
                    let [status, reason, failure] =
                        [status, reason, failure].map(|text| group.secrets.mask(text).into());
                    PlanAnswer { status, reason, failure }
                },
            ),
            parts: None,
        }
    }

    fn request<'s>(&'s self, seen: &Seen, exchange: &'s Exchange) -> RequestSample<'s> {
        let secrets = &*exchange.secrets;
        let began_us = self.began_us(seen.phase);
        let last = exchange.last();
        let error = exchange.error.as_ref();
        RequestSample {
            unix_us: began_us + exchange.at_us,
            run_phase: seen.phase.label(),
            scenario: self.title_of(&exchange.scenario),
            step: &exchange.step,
            worker: exchange.worker,
            user: exchange.user,
            iteration: exchange.iteration,
            trace_id: exchange.trace.map(|trace| trace.to_string()).unwrap_or_default(),
            name: secrets.mask(&exchange.name).into(),
            url: last.map(|hop| mask::url(hop, secrets)).unwrap_or_default(),
            redirects: exchange.hops.len().saturating_sub(1) as u64,
            status: exchange.status,
            reason: exchange.reason.as_ref().map(|reason| secrets.mask(reason).into()),
            error: error.map(|(kind, detail)| (*kind, secrets.mask(detail).into())),
            latency_ns: exchange.latency_ns,
            phases: exchange.phases,
            bytes_in: self.bytes_in(exchange),
            bytes_out: exchange.bytes_out,
            reused: last.is_some_and(|hop| hop.reused),
            users: seen.users,
            scenario_number: self.number_of(&exchange.scenario),
            parts: self.parts(exchange, began_us),
            page: None,
        }
    }
}
