//! Backend listeners that feed InfluxDB and Graphite, as feeds of the plan. Others are idle, and it is said why.

use std::time::Duration;

use squall_plan::feed_target::{FeedKind, FeedTarget, TAGS_TAKEN_BY_JMETER};
use squall_plan::model::{FeedLayout, JmeterGraphite, JmeterInfluxdb, JmeterSamples, PlanFeed};
use squall_plan::span::{Span, Spanned};

use super::pattern::{Subject, regex};
use super::{Obstacle, Translator};
use crate::elements::Role;
use crate::properties::Properties;
use crate::tree::ElementId;

const PACKAGE: &str = "org.apache.jmeter.visualizers.backend.";

/// The parameters of a listener, and where it stands.
struct Parameters<'t>(&'t Translator<'t>, &'t Properties, Span);

impl Parameters<'_> {
    /// The value of one, if it is there.
    ///
    /// # Errors
    /// It is not known before the run.
    fn get(&self, name: &str) -> Result<Option<String>, String> {
        let Parameters(translator, properties, _) = self;
        // Of several of a name JMeter takes the first.
        let mut own = properties.arguments("arguments");
        let own = own.find(|own| own.text("Argument.name").is_some_and(|own| own == name));
        let Some(source) = own.and_then(|own| own.text("Argument.value")) else { return Ok(None) };
        let value = translator.as_main_thread(|| translator.constant(source));
        value.map(Some).map_err(|what| format!("{what} as {name}"))
    }

    /// The same, if there is anything in it.
    fn given(&self, name: &str) -> Result<Option<String>, String> {
        Ok(self.get(name)?.filter(|value| !value.trim().is_empty()))
    }

    /// One that is true or false.
    fn flag(&self, name: &str, without: bool) -> Result<bool, String> {
        Ok(self.get(name)?.map_or(without, |value| value.eq_ignore_ascii_case("true")))
    }

    /// Tags that the plan's author has added: `TAG_name`.
    fn tags(&self) -> Result<Vec<(Spanned<String>, String)>, String> {
        let names = self.1.arguments("arguments").filter_map(|own| own.text("Argument.name"));
        let mut tags = Vec::new();
        for name in names {
            let Some(tag) = name.strip_prefix("TAG_").map(str::trim) else { continue };
            let Some(value) = self.given(name)? else { continue };
            if TAGS_TAKEN_BY_JMETER.contains(&tag) {
                return Err(format!("the tag `{tag}`, which its points have themselves"));
            }
            tags.push((self.at(tag.to_owned()), value.trim().to_owned()));
        }
        Ok(tags)
    }

    /// The percentiles: what is none is left out, as in JMeter.
    fn percentiles(&self) -> Result<Vec<Spanned<f64>>, String> {
        let text = self.get("percentiles")?.unwrap_or_default();
        let numbers = text.split(';').filter_map(|own| own.trim().parse::<f64>().ok());
        let mut percentiles: Vec<f64> = Vec::new();
        // They are named with two digits.
        let rounded = |own: f64| (own * 100.0).round();
        for own in numbers.filter(|own| *own > 0.0 && *own <= 100.0) {
            percentiles.retain(|other| rounded(*other) != rounded(own));
            percentiles.push(own);
        }
        Ok(percentiles.into_iter().map(|own| self.at(own)).collect())
    }

    /// A value that stands where the listener does.
    fn at<T>(&self, value: T) -> Spanned<T> {
        Spanned::new(value, self.2)
    }
}

impl Translator<'_> {
    /// Adds the feeds of the listeners directly below the plan, or below a thread group that became this scenario.
    pub(super) fn feeds(
        &self,
        around: ElementId,
        scenario: Option<&str>,
        feeds: &mut Vec<PlanFeed>,
    ) {
        for id in self.tree.enabled_children(around) {
            if self.class(id) != "BackendListener" {
                continue;
            }
            match self.feed(id, scenario) {
                Ok(feed) => feeds.push(feed),
                Err(why) => self.idle.borrow_mut().push(Obstacle { element: id, what: why }),
            }
        }
    }

    /// Notes the listeners that stand elsewhere.
    pub(super) fn idle_listeners(&self) {
        let is_there = |id: &ElementId| {
            let around = self.tree.element(*id).parent;
            around.is_some_and(|own| matches!(self.role(own), Some(Role::Plan | Role::ThreadGroup)))
        };
        let all = self.tree.iter().map(|(id, _)| id);
        let all =
            all.filter(|id| self.class(*id) == "BackendListener" && self.tree.takes_part(*id));
        for element in all.filter(|id| !is_there(id)) {
            let what = "it stands in a controller or below a sampler".to_owned();
            self.idle.borrow_mut().push(Obstacle { element, what });
        }
    }

    /// The feed of a listener.
    ///
    /// # Errors
    /// Why it has none.
    fn feed(&self, id: ElementId, scenario: Option<&str>) -> Result<PlanFeed, String> {
        let properties = &self.tree.element(id).properties;
        let class = properties.text("classname").unwrap_or_default().trim();
        let parameters = Parameters(self, properties, self.place(id));
        match class.strip_prefix(PACKAGE) {
            Some("influxdb.InfluxdbBackendListenerClient") => self.influxdb(&parameters, scenario),
            Some("graphite.GraphiteBackendListenerClient") => self.graphite(&parameters, scenario),
            _ => Err(format!("its class `{class}`")),
        }
    }

    fn influxdb(&self, own: &Parameters<'_>, scenario: Option<&str>) -> Result<PlanFeed, String> {
        sender(own, "influxdbMetricsSender", "influxdb.HttpMetricsSender")?;
        let url = own.given("influxdbUrl")?.unwrap_or_default();
        let token = own.given("influxdbToken")?;
        let names = match own.flag("summaryOnly", false)? {
            true => None,
            false => Some(regex(&own.get("samplersRegex")?.unwrap_or_default(), Subject::Line)?),
        };
        let layout = FeedLayout::JmeterInfluxdb(JmeterInfluxdb {
            samples: samples(own, names, scenario)?,
            every: self.interval("backend_influxdb.send_interval").map(|every| own.at(every)),
            application: own.given("application")?,
            measurement: own.given("measurement")?,
            title: own.get("testTitle")?,
            event_tags: own.given("eventTags")?,
        });
        let target = FeedTarget { token, ..target(FeedKind::Influxdb, url.trim())? };
        Ok(PlanFeed { target: own.at(target), layout, tags: own.tags()? })
    }

    fn graphite(&self, own: &Parameters<'_>, scenario: Option<&str>) -> Result<PlanFeed, String> {
        sender(own, "graphiteMetricsSender", "graphite.TextGraphiteMetricsSender")?;
        let host = own.given("graphiteHost")?.unwrap_or_default();
        let port = own.get("graphitePort")?.unwrap_or_default();
        // What is no number is 2003, as in JMeter.
        let port: u16 = port.parse().unwrap_or(2003);
        let list = own.get("samplersList")?.unwrap_or_default();
        let names =
            match (own.flag("summaryOnly", true)?, own.flag("useRegexpForSamplersList", false)?) {
                (true, _) => None,
                (false, true) => Some(format!("\\A(?:{})\\z", regex(&list, Subject::Line)?)),
                (false, false) => {
                    let names: Vec<String> = list.split(';').map(regex_syntax::escape).collect();
                    Some(format!("\\A(?:{})\\z", names.join("|")))
                }
            };
        let layout = FeedLayout::JmeterGraphite(JmeterGraphite {
            samples: samples(own, names, scenario)?,
            every: self.interval("backend_graphite.send_interval").map(|every| own.at(every)),
            prefix: own.get("rootMetricsPrefix")?,
        });
        let target = target(FeedKind::Graphite, &format!("{}:{port}", host.trim()))?;
        Ok(PlanFeed { target: own.at(target), layout, tags: Vec::new() })
    }

    /// The seconds that a property of JMeter gives from one point to the next.
    fn interval(&self, property: &str) -> Option<Duration> {
        let seconds = self.constants.property_value(property)?.trim().parse().ok()?;
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }
}

/// Where a feed goes.
fn target(kind: FeedKind, to: &str) -> Result<FeedTarget, String> {
    match to.contains("${") {
        true => Err(format!("where it goes, `{to}`, which is not known")),
        false => FeedTarget::new(kind, to),
    }
}

/// Looks whether points are sent as they are here.
fn sender(own: &Parameters<'_>, name: &str, known: &str) -> Result<(), String> {
    match own.given(name)? {
        Some(class) if class.trim().strip_prefix(PACKAGE) != Some(known) => {
            Err(format!("its sender `{}`", class.trim()))
        }
        _ => Ok(()),
    }
}

fn samples(
    own: &Parameters<'_>,
    names: Option<String>,
    scenario: Option<&str>,
) -> Result<JmeterSamples, String> {
    let scenarios = scenario.map(|name| own.at(name.to_owned())).into_iter().collect();
    let (names, percentiles) = (names.map(|names| own.at(names)), own.percentiles()?);
    Ok(JmeterSamples { names, percentiles, scenarios })
}
