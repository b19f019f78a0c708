//! Samples: a row for each request, in a file of the form that its name says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use std::sync::Arc;

use squall_engine::{Answer, Exchange, Hop, SeenGroup, Which};
use squall_metrics::ErrorKind;
use squall_plan::model::{SampleFile, SampleForm, WhichSamples};
use squall_report::{
    GroupPart, GroupSample, LoadedPage, PlanAnswer, RequestSample, Run, SampleFormat, SamplePart,
    SampleWriter,
};

use super::{
    Event, EventKind, LatestLoad, Second, SeenExchange, Sink, Start, Wanted, WantedExchanges,
};
use crate::handle::Phase;
use crate::mask;

/// Writes a row for each request, with its secrets masked.
#[derive(Debug)]
pub struct Samples {
    path: PathBuf,
    format: SampleFormat,
    /// Once it was created, until it is whole.
    out: Option<SampleWriter<BufWriter<File>>>,
    /// When the run began, and each of its phases, in seconds since 1970.
    run_unix_s: f64,
    phases_unix_s: BTreeMap<Phase, f64>,
    /// Users that were active in the last whole second.
    users: LatestLoad,
    /// The plan's scenarios, by name.
    scenarios: BTreeMap<String, Scenario>,
    /// Whether the file has the parts of samples, where its form has any.
    with_parts: bool,
    /// Whether it goes on with what is in the file.
    goes_on: bool,
    /// Which samples are written, and of which scenarios; empty: of all.
    only: WhichSamples,
    of_scenarios: BTreeSet<String>,
    /// Parts of groups that are one sample and are not over, by phase and the number of the group.
    open: BTreeMap<(Phase, u64), Vec<Seen>>,
}

/// What a scenario is called in the file.
#[derive(Debug)]
struct Scenario {
    title: String,
    /// Its number, from 1.
    number: u64,
}

/// What came to its end, and the users that were active then: of its scenario, and of all.
#[derive(Debug)]
struct Seen {
    phase: Phase,
    users: (u64, u64),
    what: What,
}

#[derive(Debug)]
enum What {
    Exchange(Arc<Exchange>),
    /// A page, how long it took with what it loaded, in ns, and that, in order.
    Page(Arc<Exchange>, u64, Vec<Seen>),
    /// A group, with its parts if it is one sample.
    Group(Arc<SeenGroup>, Option<Vec<Seen>>),
}

impl Samples {
    /// A form of JTL, to a file in which stays what is there already. Without parts a sample is written without what is
    /// in it.
    pub fn added_to(path: impl Into<PathBuf>, format: SampleFormat, with_parts: bool) -> Samples {
        Samples { with_parts, goes_on: true, ..Samples::new(path, format) }
    }

    /// To this file, which is overwritten. The forms of JTL have groups, and the parts of samples behind these or in
    /// them.
    pub fn new(path: impl Into<PathBuf>, format: SampleFormat) -> Samples {
        Samples {
            path: path.into(),
            format,
            out: None,
            run_unix_s: 0.0,
            phases_unix_s: BTreeMap::new(),
            users: LatestLoad::default(),
            scenarios: BTreeMap::new(),
            with_parts: true,
            goes_on: false,
            only: WhichSamples::All,
            of_scenarios: BTreeSet::new(),
            open: BTreeMap::new(),
        }
    }

    /// A file that a plan asks for.
    pub fn of_plan(file: &SampleFile) -> Samples {
        let format = match file.form {
            SampleForm::Csv => SampleFormat::Csv,
            SampleForm::Jtl => SampleFormat::Jtl,
            SampleForm::JtlXml => SampleFormat::JtlXml,
            SampleForm::Parquet => SampleFormat::Parquet,
        };
        Samples {
            goes_on: file.append,
            only: file.only,
            of_scenarios: file.scenarios.iter().map(|name| name.value.clone()).collect(),
            ..Samples::new(&file.file.value, format)
        }
    }

    /// Whether the samples of a scenario are written.
    fn is_of(&self, scenario: &str) -> bool {
        self.of_scenarios.is_empty() || self.of_scenarios.contains(scenario)
    }

    /// Whether the form has groups and parts.
    fn has_groups(&self) -> bool {
        matches!(self.format, SampleFormat::Jtl | SampleFormat::JtlXml)
    }

    /// When a phase began, in µs since 1970.
    fn began_us(&self, phase: Phase) -> u64 {
        (self.phases_unix_s.get(&phase).copied().unwrap_or(self.run_unix_s) * 1e6) as u64
    }

    /// Users that are active: of a scenario, and of all. In JTL the one of the sample is among them, though the first
    /// second is not over.
    fn users_of(&self, scenario: &str) -> (u64, u64) {
        let load = self.users.load();
        let own = load.scenarios.get(scenario).map_or(0, |own| own.users);
        let own = own.max(u64::from(self.has_groups()));
        (own, load.users().max(own))
    }

    /// What a request read; in JTL also what a program printed, which has no URL.
    fn bytes_in(&self, exchange: &Exchange) -> u64 {
        let printed = exchange.last().filter(|last| self.has_groups() && last.url.is_empty());
        printed.map_or(exchange.bytes_in, |last| last.body_bytes)
    }

    /// The number of a scenario.
    fn number_of(&self, scenario: &str) -> u64 {
        self.scenarios.get(scenario).map_or(1, |known| known.number)
    }

    /// What a scenario is called in the file.
    fn title_of<'s>(&'s self, scenario: &'s str) -> &'s str {
        self.scenarios.get(scenario).map_or(scenario, |known| &known.title)
    }

    /// The requests of a sample, if it was led from one to another, or should have been.
    fn parts(&self, exchange: &Exchange, began_us: u64) -> Vec<SamplePart> {
        let error = exchange.error.as_ref().map(|(kind, _)| *kind);
        let is_astray = error == Some(ErrorKind::BadRedirect);
        if !self.has_groups() || exchange.hops.len() < 2 && !is_astray {
            return Vec::new();
        }
        let part = |hop: &Hop| {
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

    /// Something is over. It is written, or waits for the group that it is a part of.
    fn note(&mut self, phase: Phase, part_of: Option<u64>, what: What) -> io::Result<()> {
        let users = match &what {
            What::Exchange(exchange) | What::Page(exchange, ..) => {
                self.users_of(&exchange.scenario)
            }
            What::Group(group, _) => self.users_of(&group.scenario),
        };
        let seen = Seen { phase, users, what };
        match part_of.filter(|_| self.has_groups()) {
            Some(group) => self.open.entry((phase, group)).or_default().push(seen),
            None => self.write(&seen)?,
        }
        Ok(())
    }

    /// A group is over. One that is not one sample is written at once, also within one that is: only its parts are parts
    /// of that.
    fn note_group(&mut self, phase: Phase, group: &Arc<SeenGroup>) -> io::Result<()> {
        let number = group.one_sample;
        let parts = number.map(|number| self.open.remove(&(phase, number)).unwrap_or_default());
        if group.is_page {
            return self.note_page(phase, group, parts.unwrap_or_default());
        }
        let is_sample = parts.is_some() || group.tally.samples == 0;
        let part_of = group.part_of.filter(|_| is_sample);
        self.note(phase, part_of, What::Group(group.clone(), parts))
    }

    /// A page is there with what it loaded, or alone if it names nothing.
    fn note_page(&mut self, phase: Phase, group: &SeenGroup, parts: Vec<Seen>) -> io::Result<()> {
        let mut parts = parts.into_iter();
        // It was there before what it names.
        let Some(Seen { what: What::Exchange(page), .. }) = parts.next() else { return Ok(()) };
        let mut loaded: Vec<Seen> = parts.collect();
        // What was found first was asked for first.
        loaded.sort_by_key(|seen| match &seen.what {
            What::Exchange(exchange) | What::Page(exchange, ..) => exchange.at_us,
            What::Group(group, _) => group.at_us,
        });
        let what = match loaded.is_empty() {
            true => What::Exchange(page),
            false => What::Page(page, group.duration_ns, loaded),
        };
        self.note(phase, group.part_of, what)
    }

    /// Writes what is left of groups that did not come to an end.
    fn write_open(&mut self) -> io::Result<()> {
        let left = std::mem::take(&mut self.open);
        left.values().flatten().try_for_each(|seen| self.write(seen))
    }

    fn write(&mut self, seen: &Seen) -> io::Result<()> {
        let Some(mut out) = self.out.take() else { return Ok(()) };
        let part = self.part(seen);
        let written = match (part, self.only) {
            (part, WhichSamples::Errors) if !part.has_failed() => Ok(()),
            (part, WhichSamples::Successes) if part.has_failed() => Ok(()),
            (GroupPart::Request(sample), _) => out.write(&sample),
            (GroupPart::Group(group), _) => out.write_group(&group),
        };
        self.out = Some(out);
        written
    }

    /// As it is written.
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
            answer: group.answer.as_ref().map(|Answer { status, reason, failure, .. }| {
                let [status, reason, failure] =
                    [status, reason, failure].map(|text| group.secrets.mask(text).into());
                PlanAnswer { status, reason, failure }
            }),
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

/// A file that goes on where what is in it ended, without what stands at its end.
fn reopened(path: &Path, end: &str) -> io::Result<File> {
    let mut file = File::options().append(true).read(true).create(true).open(path)?;
    let length = file.metadata()?.len();
    if let Some(rest) = length.checked_sub(end.len() as u64).filter(|_| !end.is_empty()) {
        let mut last = vec![0; end.len()];
        file.seek(SeekFrom::Start(rest))?;
        file.read_exact(&mut last)?;
        if last == end.as_bytes() {
            file.set_len(rest)?;
        }
    }
    Ok(file)
}

impl Sink for Samples {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        let file = match self.goes_on {
            true => reopened(&self.path, self.format.end())?,
            false => File::create(&self.path)?,
        };
        let is_new = file.metadata()?.len() == 0;
        let file = BufWriter::with_capacity(1 << 20, file);
        let out = match is_new {
            true => SampleWriter::new(self.format, file)?,
            false => SampleWriter::going_on(self.format, file)?,
        };
        self.out = Some(if self.with_parts { out } else { out.without_parts() });
        self.run_unix_s = start.meta.started_unix;
        let known = start.plan.scenarios.iter().zip(1..).map(|(own, place)| {
            let name = own.name.value.clone();
            let title = own.title.clone().unwrap_or_else(|| name.clone());
            (name, Scenario { title, number: own.number.unwrap_or(place) })
        });
        self.scenarios = known.collect();
        let exchanges = Some(WantedExchanges { which: Which::All, bytes: 0 });
        Ok(Wanted { exchanges, groups: self.has_groups(), ..Wanted::default() })
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        self.users.note(second);
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::Exchange(SeenExchange { phase, exchange })
                if self.is_of(&exchange.scenario) =>
            {
                self.note(*phase, exchange.part_of, What::Exchange(exchange.clone()))
            }
            EventKind::Group { phase, group } if self.is_of(&group.scenario) => {
                self.note_group(*phase, group)
            }
            EventKind::PhaseBegan(phase) => {
                self.write_open()?;
                self.phases_unix_s.insert(*phase, self.run_unix_s + event.at_s);
                Ok(())
            }
            EventKind::Evaluated(_) => self.out.as_mut().map_or(Ok(()), SampleWriter::flush),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        self.write_open()?;
        self.out.take().map_or(Ok(()), SampleWriter::finish)
    }
}
