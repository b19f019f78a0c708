//! What a person looks at: the tab, the order of the rows, a filter, what is being typed. Plain data.

/// A page of the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tab {
    /// Scenarios, load, latency, errors.
    #[default]
    Overview,
    Requests,
    /// Errors by name and kind.
    Errors,
    Checks,
    /// squall itself and its host.
    Generator,
    /// Warnings, what the plan logs, what happened.
    Log,
    Metrics,
    /// What monitors sample of the target.
    Target,
    /// The nodes of a fleet.
    Nodes,
}

impl Tab {
    /// All, in their order.
    pub const ALL: [Tab; 9] = [
        Tab::Overview,
        Tab::Requests,
        Tab::Errors,
        Tab::Checks,
        Tab::Generator,
        Tab::Log,
        Tab::Metrics,
        Tab::Target,
        Tab::Nodes,
    ];

    pub fn label(self) -> &'static str {
        match self {
            Tab::Overview => "Overview",
            Tab::Requests => "Requests",
            Tab::Errors => "Errors",
            Tab::Checks => "Checks",
            Tab::Generator => "Generator",
            Tab::Log => "Log",
            Tab::Metrics => "Metrics",
            Tab::Target => "Target",
            Tab::Nodes => "Nodes",
        }
    }

    /// Those that there are: a run without monitors knows nothing of the target, and one of one process has no nodes.
    pub fn of(has_target: bool, has_nodes: bool) -> Vec<Tab> {
        let is_there = |tab: &Tab| match tab {
            Tab::Target => has_target,
            Tab::Nodes => has_nodes,
            _ => true,
        };
        Tab::ALL.into_iter().filter(is_there).collect()
    }

    /// The next tab of these, or the one before, around the end.
    pub fn step(self, tabs: &[Tab], is_back: bool) -> Tab {
        let by = if is_back { tabs.len() - 1 } else { 1 };
        let at = tabs.iter().position(|tab| *tab == self).unwrap_or(0);
        tabs[(at + by) % tabs.len()]
    }
}

/// By what the rows of requests are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    #[default]
    Plan,
    Name,
    Count,
    /// How many were errors.
    Errors,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
}

impl Sort {
    /// All, in the order in which a key goes through them.
    pub const ALL: [Sort; 6] =
        [Sort::Plan, Sort::Name, Sort::Count, Sort::Errors, Sort::P95, Sort::P99];
}

/// What keys do now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Mode {
    /// What the help says.
    #[default]
    Keys,
    Filter,
    /// Write another level of the chosen load.
    Level(String),
    /// Answer whether the run is to be stopped, in order or (if it is being stopped) at once.
    Stop,
    Help,
}

/// What a person looks at.
#[derive(Debug, Default)]
pub struct Browse {
    pub tab: Tab,
    /// Rows above the first one that is shown.
    pub scroll: usize,
    /// The order of requests.
    pub sort: Sort,
    /// Whether that is turned around.
    pub reversed: bool,
    /// What names of requests, errors and checks must contain, whatever the case.
    pub filter: String,
    /// Whether charts show the last minute, and not the whole load.
    pub last_minute: bool,
    /// Which load keys change.
    pub load: usize,
    /// What keys do now.
    pub mode: Mode,
    /// What came of the last command, and when, in s after the run began.
    pub notice: Option<(f64, String)>,
}

impl Browse {
    /// Whether the filter lets a name pass.
    pub fn passes(&self, name: &str) -> bool {
        self.filter.is_empty() || name.to_lowercase().contains(&self.filter.to_lowercase())
    }
}
