//! Makes one slice a second of what all nodes recorded in it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

use squall_metrics::{
    CheckCounts, Counters, Level, Load, MAX_METRICS, MAX_NAMES_LIMIT, MetricId, MetricKey,
    MetricStats, NameId, OTHER, RequestStats, RowKey, RowKind, ScenarioLoad, SelfMetrics, Slice,
    Source,
};

use super::accounts::Accounts;
use super::facts::{Fact, facts};
use super::message::{ITERATION, Record};

/// Most nodes that have facts of their own. Those that come after them have theirs together, as those of `other`.
pub const MAX_NODES_WITH_FACTS: usize = 100;

/// Most zones that have facts of their own; the nodes of further ones are in the zone `other`. Eight facts of each node, and
/// in each zone eight of its other nodes and three of its own, are below [`MAX_METRICS`], whatever nodes come; and eight of
/// those that have no zone.
pub const MAX_ZONES_WITH_FACTS: usize = 16;
const _: () =
    assert!(8 * (MAX_NODES_WITH_FACTS + 1) + (8 + 3) * (MAX_ZONES_WITH_FACTS + 1) <= MAX_METRICS);

/// Most seconds whose facts wait to be taken; the earliest are forgotten, as nobody may want any.
const MAX_SECONDS_WITH_FACTS: usize = 64;

/// Merges records of many nodes into one slice a second, under one numbering of names. Everything adds up exactly, in any
/// order; of gauges of a moment (users, requests in flight) the sum of the nodes' largest is an upper bound, as it is of
/// several workers. What monitors of a node sample is not in it: that becomes [`facts`].
///
/// Rows have the numbers that they were given, in the order of the plan; others get theirs when a second is taken in which
/// they are new, in the order of their keys. So it does not depend on the order of records, or on how many nodes there are.
#[derive(Debug)]
pub struct Merger {
    keys: Vec<RowKey>,
    places: HashMap<RowKey, usize>,
    /// The places of the rows of the last record.
    last_rows: Vec<usize>,
    /// The number of each key, once it has one.
    numbers: Vec<Option<NameId>>,
    next_number: u32,
    /// The key of each scenario's iterations.
    iterations: HashMap<String, usize>,
    most_names: usize,
    metrics: BTreeMap<MetricKey, Option<MetricId>>,
    next_metric: u32,
    /// What was announced to whom.
    announced: HashMap<Source, Announced>,
    open: BTreeMap<u32, Open>,
    accounts: Accounts,
    /// Nodes that have facts of their own, each with its zone, and zones.
    with_facts: HashSet<(String, String)>,
    zones_with_facts: HashSet<String>,
    facts: BTreeMap<u32, BTreeMap<MetricKey, MetricStats>>,
    fact_numbers: HashMap<Source, BTreeMap<MetricKey, MetricId>>,
}

#[derive(Debug, Default)]
struct Announced {
    names: HashSet<NameId>,
    metrics: HashSet<MetricId>,
}

/// What has come of a second.
#[derive(Debug, Default)]
struct Open {
    /// By the place of their keys.
    rows: Vec<Option<Box<RequestStats>>>,
    checks: BTreeMap<usize, CheckCounts>,
    metrics: BTreeMap<MetricKey, MetricStats>,
    counters: Counters,
    in_flight: Level,
    scenarios: BTreeMap<usize, ScenarioLoad>,
    self_metrics: SelfMetrics,
}

impl Default for Merger {
    fn default() -> Merger {
        Merger::new()
    }
}

impl Merger {
    /// One that knows no rows yet.
    pub fn new() -> Merger {
        Merger::with_rows([], MAX_NAMES_LIMIT)
    }

    /// One that knows the rows of a plan before it runs, in their order, and how many rows are counted separately.
    pub fn with_rows(rows: impl IntoIterator<Item = RowKey>, most_names: usize) -> Merger {
        let mut merger = Merger {
            keys: Vec::new(),
            places: HashMap::new(),
            last_rows: Vec::new(),
            numbers: Vec::new(),
            next_number: 0,
            iterations: HashMap::new(),
            most_names: MAX_NAMES_LIMIT,
            metrics: BTreeMap::new(),
            next_metric: 0,
            announced: HashMap::new(),
            open: BTreeMap::new(),
            accounts: Accounts::default(),
            with_facts: HashSet::new(),
            zones_with_facts: HashSet::new(),
            facts: BTreeMap::new(),
            fact_numbers: HashMap::new(),
        };
        for key in rows {
            let place = merger.place(&key);
            merger.number(place);
        }
        merger.most_names = most_names.clamp(merger.keys.len(), MAX_NAMES_LIMIT);
        merger
    }

    /// Adds what a node recorded in a second, and says what describes the node in it. Each must come once.
    pub fn add(&mut self, node: &str, zone: &str, second: u32, record: &Record) -> Vec<Fact> {
        let mut open = self.open.remove(&second).unwrap_or_default();
        for (row, key) in record.rows() {
            let place = self.place_of_row(row, key);
            record.rows.merge_into(row, open.row(place));
        }
        for (id, counts) in record.rest.checks() {
            let Some(key) = record.key(id) else { continue };
            open.checks.entry(self.place(key)).or_default().merge(&counts);
        }
        for (id, load) in &record.rest.load.scenarios {
            let Some(key) = record.key(*id) else { continue };
            let place = self.iteration(&key.place.scenario);
            open.scenarios.entry(place).or_default().add_worker(load);
        }
        open.in_flight.add_worker(record.rest.load.in_flight);
        open.counters.merge(&record.rest.counters);
        open.self_metrics.merge(&record.rest.self_metrics);
        self.add_metrics(&mut open, record);
        self.open.insert(second, open);
        for (worker, account) in &record.accounts {
            self.accounts.add(second, (node, *worker), account);
        }
        self.add_facts((node, zone), second, record)
    }

    fn add_metrics(&mut self, open: &mut Open, record: &Record) {
        let keys: HashMap<MetricId, &MetricKey> =
            record.rest.metric_keys.iter().map(|(id, key)| (*id, key)).collect();
        for (id, stats) in record.rest.metrics() {
            let Some(key) = keys.get(&id).filter(|key| !key.is_of_monitor()) else { continue };
            let key = match self.metrics.contains_key(*key) || self.metrics.len() < MAX_METRICS {
                true => (*key).clone(),
                false => MetricKey::new(key.kind, "", OTHER, Vec::new()),
            };
            self.metrics.entry(key.clone()).or_insert(None);
            open.metrics.entry(key).or_default().merge(stats);
        }
    }

    fn add_facts(&mut self, (node, zone): (&str, &str), second: u32, record: &Record) -> Vec<Fact> {
        let zone = match zone {
            "" => Some(String::new()),
            _ => among(&mut self.zones_with_facts, zone.to_owned(), MAX_ZONES_WITH_FACTS),
        };
        let zone = zone.as_deref().unwrap_or(OTHER);
        let of = (node.to_owned(), zone.to_owned());
        let own = among(&mut self.with_facts, of, MAX_NODES_WITH_FACTS);
        let node = own.as_ref().map_or(OTHER, |(node, _)| node);
        let told = facts(node, zone, second, record);
        let own = self.facts.entry(second).or_default();
        for (key, stats) in &told {
            match own.get_mut(&**key) {
                Some(sum) => sum.merge(stats),
                None => _ = own.insert((**key).clone(), stats.clone()),
            }
        }
        if self.facts.len() > MAX_SECONDS_WITH_FACTS {
            self.facts.pop_first();
        }
        told
    }

    /// Takes what has come of a second, as the slice of a source; `None`: nothing has. What comes later of the same second
    /// is taken as that of another source.
    pub fn take(&mut self, second: u32, source: Source) -> Option<Slice> {
        let open = self.open.remove(&second)?;
        let mut slice = Slice::new(source, second);
        let used = |at: &usize| open.rows.get(*at).is_some_and(Option::is_some);
        let mut places: Vec<usize> = (0..open.rows.len()).filter(used).collect();
        places.extend(open.checks.keys().chain(open.scenarios.keys()));
        places.sort_by(|a, b| self.order(*a).cmp(&self.order(*b)));
        places.dedup();
        let announced = self.announced.entry(source).or_default();
        for place in places {
            let id = *self.numbers[place].get_or_insert_with(|| {
                self.next_number += 1;
                NameId(self.next_number - 1)
            });
            let key = &self.keys[place];
            if announced.names.insert(id) {
                slice.announce(id, key.clone());
            }
            if let Some(stats) = open.rows.get(place).and_then(Option::as_deref) {
                slice.put_row(id, key.place.kind, stats);
            }
            if let Some(counts) = open.checks.get(&place) {
                slice.merge_check(id, counts);
            }
            if let Some(load) = open.scenarios.get(&place) {
                slice.load.scenarios.push((id, *load));
            }
        }
        for (key, stats) in &open.metrics {
            let id = *self.metrics.entry(key.clone()).or_default().get_or_insert_with(|| {
                self.next_metric += 1;
                MetricId(self.next_metric - 1)
            });
            if announced.metrics.insert(id) {
                slice.announce_metric(id, key);
            }
            slice.merge_metric(id, stats);
        }
        let scenarios = std::mem::take(&mut slice.load.scenarios);
        slice.load = Load { in_flight: open.in_flight, scenarios };
        slice.counters = open.counters;
        slice.self_metrics = open.self_metrics;
        slice.self_metrics.compact();
        slice.time_account = self.accounts.take(second);
        Some(slice)
    }

    /// Takes the facts of all nodes in a second, as the slice of a source that is a monitor; `None`: there are none.
    pub fn take_facts(&mut self, second: u32, source: Source) -> Option<Slice> {
        let own = self.facts.remove(&second)?;
        let numbers = self.fact_numbers.entry(source).or_default();
        let mut slice = Slice::new(source, second);
        for (key, stats) in &own {
            let next = MetricId(numbers.len() as u32);
            let id = *numbers.entry(key.clone()).or_insert(next);
            if id == next {
                slice.announce_metric(id, key);
            }
            slice.merge_metric(id, stats);
        }
        Some(slice)
    }

    /// The place of the key of a record's row: mostly that of the same row of the record before, as nodes have the same rows.
    fn place_of_row(&mut self, row: usize, key: &RowKey) -> usize {
        let known = self.last_rows.get(row).copied();
        if let Some(place) = known.filter(|place| self.keys[*place] == *key) {
            return place;
        }
        let place = self.place(key);
        self.last_rows.resize(self.last_rows.len().max(row + 1), place);
        self.last_rows[row] = place;
        place
    }

    /// The place of a key, or that of `other` of its kind if there are too many.
    fn place(&mut self, key: &RowKey) -> usize {
        if let Some(place) = self.places.get(key) {
            return *place;
        }
        let other = || RowKey::new(key.place.kind, "", OTHER);
        if self.keys.len() >= self.most_names && *key != other() {
            return self.place(&other());
        }
        let place = self.keys.len();
        self.keys.push(key.clone());
        self.numbers.push(None);
        self.places.insert(key.clone(), place);
        if key.place.kind == RowKind::Iteration {
            self.iterations.entry(key.place.scenario.clone()).or_insert(place);
        }
        place
    }

    /// The place of the iterations of a scenario.
    fn iteration(&mut self, scenario: &str) -> usize {
        match self.iterations.get(scenario) {
            Some(place) => *place,
            None => self.place(&RowKey::new(RowKind::Iteration, scenario, ITERATION)),
        }
    }

    fn number(&mut self, place: usize) {
        if self.numbers[place].is_none() {
            self.numbers[place] = Some(NameId(self.next_number));
            self.next_number += 1;
        }
    }

    /// Those with a number come first.
    fn order(&self, place: usize) -> (u32, &RowKey) {
        (self.numbers[place].map_or(u32::MAX, |id| id.0), &self.keys[place])
    }
}

/// One of a set that has at most so many; `None`: it has no room for it.
fn among<T: Clone + Eq + Hash>(set: &mut HashSet<T>, own: T, most: usize) -> Option<T> {
    if !set.contains(&own) {
        if set.len() >= most {
            return None;
        }
        set.insert(own.clone());
    }
    Some(own)
}

impl Open {
    fn row(&mut self, place: usize) -> &mut RequestStats {
        if self.rows.len() <= place {
            self.rows.resize_with(place + 1, || None);
        }
        self.rows[place].get_or_insert_default()
    }
}
