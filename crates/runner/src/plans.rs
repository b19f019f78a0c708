//! Reads plans, compiles them, and makes what their connections need.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use squall_analysis::Threshold;
use squall_base::AllowList;
use squall_engine::{CompileOptions, Judged, Program, Section, Subjects};
use squall_front::{ImportError, PlanText, Values};
use squall_plan::diagnostic::{Diagnostic, Sources};
use squall_plan::model::{self, AddressSelect, Load, Plan, SampleForm};
use squall_plan::span::{Span, Spanned};
use squall_plan::yaml::{self, Loaded, PlanErrors};
use squall_report::{NO_PARQUET, WRITES_PARQUET};
use squall_wire::{
    ClientCert, Destination, Dns, HostCert, Io, Settings, Shared, Substitute, TlsSettings,
    TlsVersion,
};

use crate::error::Error;
use crate::known_metrics::KnownMetrics;
use crate::{host_monitor, proc, source_addresses, tls_files};

/// Reads a plan from its file, in YAML or as JMeter saves it: which of them its content says.
///
/// # Errors
/// It is no plan, or no good one, with the places.
pub fn load(path: &Path, values: &Values) -> Result<Loaded, Error> {
    import(&PlanText::read(path).map_err(Error::input)?, values)
}

/// Makes a plan of a text, as [`load`] does of a file's.
///
/// # Errors
/// It is no plan, or no good one, with the places.
pub fn import(plan: &PlanText, values: &Values) -> Result<Loaded, Error> {
    Ok(squall_front::import(plan, values).plan?)
}

impl From<ImportError> for Error {
    fn from(error: ImportError) -> Error {
        match error {
            ImportError::Plan(failure) => told(&failure),
            ImportError::Refused(why) => Error::input(why),
        }
    }
}

/// What is said of a plan that could not be read as a whole.
fn told(failure: &PlanErrors) -> Error {
    let warnings = failure.warnings.iter().take(MOST_SHOWN);
    let warnings: String = warnings.map(|warning| failure.sources.render(warning)).collect();
    Error::plan(warnings + &render(&all_errors(failure), &failure.sources))
}

/// What is wrong with a plan that could not be read as a whole, and with what could be read of it.
fn all_errors(failure: &PlanErrors) -> Vec<Diagnostic> {
    let mut found = failure.diagnostics.clone();
    // What flags would say is not known here, and not what is wrong with the file.
    let target = failure.plan.target.is_none().then(|| "http://127.0.0.1".to_owned());
    let options = CompileOptions { allow_exec: true, target, ..CompileOptions::default() };
    let Sections { programs, errors, subjects } = sections(&failure.plan, &SECTIONS, &options);
    let recorded = recorded(&failure.plan, subjects.as_deref());
    let (thresholds, mut more) = thresholds(&failure.plan, None, &recorded);
    more.extend(errors);
    // Of what could not be read the names are not known.
    let subjects = subjects.filter(|_| failure.is_whole);
    more.extend(subjects.iter().flat_map(|own| misjudged(own, &judged(&thresholds))));
    let programs = programs.iter().map(Arc::as_ref);
    more.extend(tls_files::problems(&failure.plan, programs, failure.is_whole));
    more.extend(unwritable_samples(&failure.plan));
    // What follows from an error stands where that error stands, or nowhere.
    let same = |a: Span, b: Span| (a.file, a.line, a.column) == (b.file, b.line, b.column);
    more.retain(|more| more.span.line > 0 && !found.iter().any(|own| same(own.span, more.span)));
    found.extend(more);
    yaml::sort(&mut found);
    found
}

/// Makes a plan of a text; `name` stands for it in messages, and paths in it are relative to the current folder.
///
/// # Errors
/// It is no plan, or no good one, with the places.
pub fn load_str(name: &str, text: &str) -> Result<Loaded, Error> {
    let (name, text) = (name.to_owned(), text.to_owned());
    import(&PlanText { name, text, folder: PathBuf::new() }, &Values::default())
}

/// The sections of a plan, in the order in which they run.
pub(crate) const SECTIONS: [Section; 3] = [Section::Setup, Section::Load, Section::Teardown];

/// The programs of a plan's sections.
#[derive(Debug)]
pub(crate) struct Programs {
    /// In the order in which they were asked for.
    pub all: Vec<Arc<Program>>,
    /// Which of them is that of the load.
    load: usize,
    /// What may not mean what was meant, with its places.
    pub warnings: Vec<String>,
}

impl Programs {
    /// That of the load.
    pub(crate) fn load(&self) -> &Arc<Program> {
        &self.all[self.load]
    }
}

/// Compiles sections of a plan, its load among them, whose thresholds may ask for these metrics of monitors. What was found
/// when it was read is told with what is found now.
///
/// # Errors
/// It is no good plan, with the places.
pub(crate) fn compile_all(
    loaded: &Loaded,
    wanted: &[Section],
    options: &CompileOptions,
    monitored: &KnownMetrics,
) -> Result<Programs, Error> {
    let sources = &loaded.sources;
    let render = |warning: &Diagnostic| sources.render(warning);
    let mut warnings: Vec<String> = loaded.warnings.iter().map(render).collect();
    let load = wanted.iter().position(|section| *section == Section::Load).unwrap_or(0);
    match compile_sections(loaded, wanted, options, monitored) {
        Ok((all, advice)) => {
            warnings.extend(advice.iter().take(MOST_SHOWN).map(render));
            Ok(Programs { all, load, warnings })
        }
        Err(error) => Err(Error { text: warnings.concat() + &error.text, ..error }),
    }
}

/// The programs of these sections, and what may not mean what was meant.
fn compile_sections(
    Loaded { plan, sources, .. }: &Loaded,
    wanted: &[Section],
    options: &CompileOptions,
    monitored: &KnownMetrics,
) -> Result<(Vec<Arc<Program>>, Vec<Diagnostic>), Error> {
    let Sections { programs, errors: more, subjects } = sections(plan, wanted, options);
    let recorded = recorded(plan, subjects.as_deref());
    let (thresholds, mut errors) = thresholds(plan, Some(monitored), &recorded);
    errors.extend(more);
    let judged = judged(&thresholds);
    errors.extend(subjects.iter().flat_map(|own| misjudged(own, &judged)));
    errors.extend(tls_files::problems(plan, programs.iter().map(Arc::as_ref), true));
    errors.extend(unwritable_samples(plan));
    if !errors.is_empty() {
        yaml::sort(&mut errors);
        return Err(Error::plan(render(&errors, sources)));
    }
    let all: Vec<&Program> = programs.iter().map(Arc::as_ref).collect();
    let advice = squall_engine::advise(plan, &all, &judged);
    Ok((programs, advice))
}

/// The files of samples in a form that this build cannot write.
fn unwritable_samples(plan: &Plan) -> impl Iterator<Item = Diagnostic> {
    let files = plan.samples.iter().filter(|_| !WRITES_PARQUET);
    let files = files.filter(|own| own.form == SampleForm::Parquet);
    files.map(|own| Diagnostic::error(own.file.span, NO_PARQUET))
}

/// What the sections of a plan have come to.
#[derive(Default)]
struct Sections {
    programs: Vec<Arc<Program>>,
    /// What is wrong with any of them.
    errors: Vec<Diagnostic>,
    /// What thresholds can be about; `None`: that is not known, as something has an error.
    subjects: Option<Vec<Subjects>>,
}

/// Compiles sections of a plan.
fn sections(plan: &Plan, wanted: &[Section], options: &CompileOptions) -> Sections {
    let mut sections = Sections { subjects: Some(Vec::new()), ..Sections::default() };
    for &section in wanted {
        let options = options_of(plan, section, options);
        let subjects = match squall_engine::compile_or_refuse(plan, &options) {
            Ok(program) => {
                let subjects = program.subjects();
                sections.programs.push(Arc::new(program));
                Some(subjects)
            }
            Err(refused) => {
                sections.errors.extend(refused.errors);
                refused.subjects.map(|own| *own)
            }
        };
        match (&mut sections.subjects, subjects) {
            (Some(all), Some(subjects)) => all.push(subjects),
            (all, _) => *all = None,
        }
    }
    sections
}

/// What thresholds are about.
fn judged(thresholds: &[(Threshold, Span)]) -> Vec<Judged<'_>> {
    thresholds.iter().map(|(own, span)| judged_at(own, *span)).collect()
}

/// What a threshold at a place is about.
pub fn judged_at(threshold: &Threshold, span: Span) -> Judged<'_> {
    Judged {
        selector: threshold.selector(),
        phase: threshold.phase(),
        is_corrected: threshold.of_latency().is_some_and(|(_, is_corrected)| is_corrected),
        is_of_metric: threshold.is_of_metric(),
        span,
    }
}

/// What is wrong with what thresholds are about.
fn misjudged(subjects: &[Subjects], judged: &[Judged<'_>]) -> Vec<Diagnostic> {
    squall_engine::misjudged(&subjects.iter().collect::<Vec<_>>(), judged)
}

/// The plan's thresholds with their places, and what is wrong with the others. Those about metrics of monitors, of which the
/// host is one, are left out: they are about nothing that the plan has. `known`: which of those there are, if that is known;
/// `own_metrics`: the names of those that the plan records.
fn thresholds(
    plan: &Plan,
    known: Option<&KnownMetrics>,
    own_metrics: &HashSet<&str>,
) -> (Vec<(Threshold, Span)>, Vec<Diagnostic>) {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let monitored =
        host_monitor::NAMES.into_iter().chain(known.into_iter().flat_map(KnownMetrics::names));
    let monitored: HashSet<&str> = monitored.filter(|name| !own_metrics.contains(name)).collect();
    let metrics = own_metrics | &monitored;
    for own in &plan.thresholds {
        let text = &own.text;
        match Threshold::parse(&text.value) {
            Ok(threshold) => {
                if threshold.monitored().is_some() {
                    let wrong = known.and_then(|known| known.refused(plan, &threshold));
                    bad.extend(wrong.map(|(message, help)| {
                        Diagnostic::error(text.span, message).with_help(&help)
                    }));
                    continue;
                }
                let metric = threshold.selector().metric().filter(|_| threshold.is_of_metric());
                let is_monitored = metric.is_some_and(|name| monitored.contains(name));
                match refused(&threshold, &metrics).or_else(|| too_early(own, &threshold)) {
                    None if is_monitored => {}
                    None => good.push((threshold, text.span)),
                    Some((message, help)) => {
                        bad.push(Diagnostic::error(text.span, message).with_help(help));
                    }
                }
            }
            Err(error) => bad.push(
                Diagnostic::error(text.span, error.message)
                    .with_help(error.help.as_deref().unwrap_or_default()),
            ),
        }
    }
    (good, bad)
}

/// Whether a threshold is about a metric of the host, in a plan with these metrics.
pub fn is_of_host(threshold: &Threshold, metrics: &HashSet<&str>) -> bool {
    let named = threshold.selector().metric().filter(|_| threshold.is_of_metric());
    named.is_some_and(|name| host_monitor::NAMES.contains(&name) && !metrics.contains(name))
}

/// Tags of metrics that are wanted, by the names of the metrics.
pub type MetricTags = BTreeMap<String, BTreeSet<String>>;

/// The tags by which a plan's thresholds tell a metric's values apart, by its name. Scripts keep no others of what is recorded
/// for them.
pub fn metric_tags(plan: &Plan) -> MetricTags {
    let mut wanted = MetricTags::new();
    add_tags(&mut wanted, plan.thresholds.iter().map(|own| own.text.value.as_str()));
    wanted
}

/// Adds the tags by which thresholds tell a metric's values apart.
pub(crate) fn add_tags<'t>(wanted: &mut MetricTags, thresholds: impl Iterator<Item = &'t str>) {
    for threshold in thresholds.filter_map(|text| Threshold::parse(text).ok()) {
        let selector = threshold.selector();
        if let Some(name) = selector.metric().filter(|_| !selector.tags.is_empty()) {
            let tags = selector.tags.iter().map(|(tag, _)| tag.clone());
            wanted.entry(name.to_owned()).or_default().extend(tags);
        }
    }
}

/// How a section of a plan is compiled.
fn options_of(plan: &Plan, section: Section, options: &CompileOptions) -> CompileOptions {
    let mut metric_tags = options.metric_tags.clone();
    for (name, tags) in self::metric_tags(plan) {
        metric_tags.entry(name).or_default().extend(tags);
    }
    CompileOptions { section, metric_tags, ..options.clone() }
}

/// The names of the metrics that a plan records: those of its steps, and those of scripts as far as these could be read.
pub(crate) fn recorded<'n>(plan: &'n Plan, subjects: Option<&'n [Subjects]>) -> HashSet<&'n str> {
    let of_scripts = subjects.into_iter().flatten().flat_map(Subjects::metric_names);
    metrics(plan).into_iter().chain(of_scripts).collect()
}

/// The names of the metrics that a plan's own steps record.
pub fn metrics(plan: &Plan) -> HashSet<&str> {
    plan.metrics().iter().map(|metric| metric.name.value.as_str()).collect()
}

/// What is wrong with a threshold of a plan with these metrics: a limit without a unit where there are only times.
pub fn refused(threshold: &Threshold, metrics: &HashSet<&str>) -> Option<(String, &'static str)> {
    if threshold.monitored().is_some() {
        return None;
    }
    let named = threshold.selector().metric();
    if threshold.window().is_some() && named.is_some_and(|name| metrics.contains(name)) {
        let text = format!("`{}`: what the plan records is judged as a whole", threshold.text());
        return Some((text, "leave `over` out, or judge requests, groups or iterations"));
    }
    let metric = threshold.selector().metric().filter(|_| threshold.is_of_metric())?;
    if metrics.contains(metric) {
        return None;
    }
    let text = format!("`{}`: the plan records no metric `{metric}`", threshold.text());
    Some((
        text,
        "for a request write its limit with a unit, as in p99(login) < 300ms or rate(login) > 10/s",
    ))
}

/// What is wrong with a threshold that aborts the run: it is violated until the run has got somewhere.
fn too_early(own: &model::Threshold, threshold: &Threshold) -> Option<(String, &'static str)> {
    (own.abort_on_fail && threshold.takes_time()).then(|| {
        let text = format!("`{}` would abort every run: its count begins at 0", threshold.text());
        (text, "only limits that hold from the beginning can abort a run: < or <= for counts")
    })
}

/// How many different origins the programs talk to.
pub fn hosts(programs: &[Arc<Program>]) -> usize {
    let mut origins: Vec<String> = programs
        .iter()
        .flat_map(|program| program.origins())
        .map(|origin| origin.to_string())
        .collect();
    origins.sort_unstable();
    origins.dedup();
    origins.len()
}

/// What connections need, made of a plan: addresses are looked up, certificates read.
pub fn network(
    plan: &Plan,
    sources: &Sources,
    programs: &[Arc<Program>],
    (io, allowed): (Io, Option<Arc<AllowList>>),
) -> Result<Arc<Shared>, Error> {
    let connections = &plan.connections;
    let mut errors = Vec::new();
    let ports = proc::ports();
    let mut settings =
        Settings { unix: connections.unix.clone(), io, ports, allowed, ..Settings::default() };
    for (host, list) in &connections.resolve {
        let expected = "expected an IP address, or the name of another host";
        let list = all_of(list, &mut errors, expected, substitute);
        settings.resolve.insert(resolved(host), list);
    }
    let in_order = connections.dns.select == AddressSelect::First;
    settings.dns = Dns { ttl: connections.dns.ttl, in_order };
    let expected = "expected an IP address";
    settings.source_addresses =
        all_of(&connections.source_addresses, &mut errors, expected, |text| text.parse().ok());
    errors.extend(source_addresses::foreign(plan, programs));
    settings.blocked_hosts = patterns(&connections.block_hosts, &mut errors);
    settings.blocked_addresses = patterns(&connections.block_addresses, &mut errors);
    settings.tls = TlsSettings {
        key_store: programs.iter().find_map(|program| program.key_store().cloned()),
        ..tls_settings(&connections.tls, &mut errors)
    };
    if !errors.is_empty() {
        return Err(Error::plan(render(&errors, sources)));
    }
    let mut seen: HashSet<&Destination> = HashSet::new();
    let all = programs.iter().flat_map(|program| program.destinations());
    let to: Vec<Destination> = all.filter(|one| seen.insert(one)).cloned().collect();
    settings.http = programs.first().map(|program| program.http()).unwrap_or_default();
    let names_certificates = programs.iter().any(|program| program.names_certificates());
    let shared = Shared::new(settings, &to).map_err(Error::input)?;
    let certificates: Vec<&str> = shared.certificates().take(5).collect();
    if !names_certificates && !shared.has_certificate() && !certificates.is_empty() {
        let known = certificates.join(", ");
        let why = "there are client certificates, and no request says which one it takes";
        let help = "add `client_cert: NAME` to requests or `defaults`";
        return Err(Error::input(format!("{why} ({known}): {help}")));
    }
    Ok(shared)
}

fn tls_settings(tls: &model::Tls, errors: &mut Vec<Diagnostic>) -> TlsSettings {
    let path = |file: &Option<Spanned<PathBuf>>| file.as_ref().map(|file| file.value.clone());
    let (min, max) = tls.versions();
    let all = [Spanned::new("*".to_owned(), Span::default())];
    let host_cert = |own: &model::HostCert| HostCert {
        hosts: patterns(if own.hosts.is_empty() { &all } else { &own.hosts }, errors),
        cert: own.cert.clone(),
        key: own.key.clone(),
    };
    TlsSettings {
        ca: path(&tls.ca).into_iter().collect(),
        cert: path(&tls.cert),
        key: path(&tls.key),
        server_name: tls.server_name.clone(),
        insecure: tls.insecure,
        min: tls_version(min),
        max: tls_version(max),
        resume: tls.resume.unwrap_or(true),
        client_certs: tls.client_certs.iter().map(client_cert).collect(),
        host_certs: tls.host_certs.iter().map(host_cert).collect(),
        cipher_suites: tls.cipher_suites.iter().map(|own| own.value.clone()).collect(),
        key_store: None,
    }
}

fn tls_version(version: squall_plan::model::TlsVersion) -> TlsVersion {
    match version {
        squall_plan::model::TlsVersion::V12 => TlsVersion::V12,
        squall_plan::model::TlsVersion::V13 => TlsVersion::V13,
    }
}

fn client_cert(cert: &squall_plan::model::ClientCert) -> ClientCert {
    let squall_plan::model::ClientCert { name, cert, key } = cert;
    ClientCert { name: name.value.clone(), cert: cert.clone(), key: key.clone() }
}

/// Reads addresses; those that are none are noted as errors, with what was `expected`.
fn all_of<A>(
    list: &[Spanned<String>],
    errors: &mut Vec<Diagnostic>,
    expected: &str,
    parse: impl Fn(&str) -> Option<A>,
) -> Vec<A> {
    let mut addresses = Vec::new();
    for text in list {
        match parse(&text.value) {
            Some(address) => addresses.push(address),
            None => {
                let message = format!("invalid address `{}`: {expected}", text.value);
                errors.push(Diagnostic::error(text.span, message));
            }
        }
    }
    addresses
}

/// Reads patterns of hosts and networks; what cannot be is noted as an error.
fn patterns(patterns: &[Spanned<String>], errors: &mut Vec<Diagnostic>) -> AllowList {
    let texts: Vec<&str> = patterns.iter().map(|own| own.value.as_str()).collect();
    AllowList::read(&texts).unwrap_or_else(|why| {
        let span = patterns.first().map(|own| own.span).unwrap_or_default();
        errors.push(Diagnostic::error(span, why));
        AllowList::default()
    })
}

/// A host, or `host:port`, as connections ask for it.
fn resolved(text: &str) -> String {
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if is_port(port) && !host.contains(':') => (host, format!(":{port}")),
        _ => (text, String::new()),
    };
    let host = squall_engine::host_name(host).unwrap_or_else(|| host.to_ascii_lowercase());
    host + &port
}

/// What takes the place of a host: an address or a name, which may have a port.
fn substitute(text: &str) -> Option<Substitute> {
    if let Ok(address) = text.parse() {
        return Some(Substitute::Address(address));
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(Substitute::Address(SocketAddr::new(address, 0)));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().ok()?),
        None => (text, 0),
    };
    let ascii = if host.is_ascii() { None } else { squall_engine::host_name(host) };
    let host = ascii.as_deref().unwrap_or(host);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    // A name that ends with a number would be an address.
    let is_address = host.rsplit('.').next().is_some_and(|end| end.parse::<u32>().is_ok());
    let is_name = !host.is_empty() && host.chars().all(is_of_name) && !is_address;
    is_name.then(|| Substitute::Host(host.to_owned(), port))
}

/// Compiles a section of a plan.
pub fn compile(
    plan: &Plan,
    sources: &Sources,
    section: Section,
    options: &CompileOptions,
) -> Result<Arc<Program>, Error> {
    compiled(plan, section, options).map_err(|errors| Error::plan(render(&errors, sources)))
}

/// As [`compile`], but with the errors themselves.
pub fn compiled(
    plan: &Plan,
    section: Section,
    options: &CompileOptions,
) -> Result<Arc<Program>, Vec<Diagnostic>> {
    squall_engine::compile(plan, &options_of(plan, section, options)).map(Arc::new)
}

/// Most errors, and most warnings, that are shown.
const MOST_SHOWN: usize = 100;

/// Errors as texts, each with its place in the file.
pub fn render(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let shown = diagnostics.iter().take(MOST_SHOWN);
    let mut text: String = shown.map(|diagnostic| sources.render(diagnostic)).collect();
    let errors = diagnostics.len();
    let count = match errors {
        1 => "1 error".to_owned(),
        ..MOST_SHOWN => format!("{errors} errors"),
        // So many the reader notes, and no more.
        MOST_SHOWN => format!("{errors} errors or more"),
        _ => format!("{errors} errors: the first {MOST_SHOWN} are shown"),
    };
    text.push_str(&count);
    text
}

/// The first of some errors in one line, as the outcome of a run has it, with its place and without its line of the file.
pub fn in_one_line(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let rendered = diagnostics.first().map(|first| sources.render(first)).unwrap_or_default();
    let line = rendered.lines().next().unwrap_or_default();
    match diagnostics.len() {
        ..2 => line.to_owned(),
        errors => format!("{line}; and {} more", errors - 1),
    }
}

/// The seed of everything random, in the load and in the built-in target: what is
/// `asked` for, the plan's, or one that differs between runs and is reported, so that a run can be repeated.
pub fn seed(plan: &Plan, asked: Option<u64>) -> u64 {
    asked.or(plan.seed).unwrap_or_else(fresh_seed)
}

fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanos = now.map_or(0, |now| now.as_nanos() as u64);
    // 53 bits survive every JSON reader.
    (nanos ^ u64::from(std::process::id()) << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11
}

/// All loads of a plan.
pub fn loads(plan: &mut Plan) -> Vec<&mut Load> {
    plan.scenarios
        .iter_mut()
        .filter_map(|scenario| scenario.load.as_mut())
        .chain(plan.load.as_mut())
        .map(|load| &mut load.value)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_resolved_as_urls_have_them() {
        for (text, host) in [
            ("b\u{fc}cher.example", "xn--bcher-kva.example"),
            ("B\u{dc}CHER.example:8080", "xn--bcher-kva.example:8080"),
            ("Shop.Example", "shop.example"),
            ("a_b:80", "a_b:80"),
            ("127.0.0.1", "127.0.0.1"),
            ("::1", "::1"),
        ] {
            assert_eq!(resolved(text), host, "{text}");
        }
        let host = |text| substitute(text).map(|own| format!("{own:?}")).unwrap_or_default();
        assert!(host("b\u{fc}cher.example:80").contains("xn--bcher-kva.example"));
        assert_eq!(host("1.2.3"), "");
    }
}
