//! Thread groups as scenarios: who starts when, how often, and what an error does.

use std::time::Duration;

use squall_plan::model::{
    Closed, ConnectionReuse, Connections, Load, OnError, Scenario, Session, Step, StepKind,
};
use squall_plan::span::{Span, Spanned};

use super::Translator;
use super::reader::Reader;
use crate::tree::ElementId;

/// What is gathered while the steps of a group are translated.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// The cookie managers that hold for one of its requests.
    pub cookie_managers: Vec<ElementId>,
    /// The cache managers that hold for one of them.
    pub cache_managers: Vec<ElementId>,
}

impl Translator<'_> {
    /// A thread group; `before` are the scenarios of those before it.
    pub(super) fn group(
        &self,
        id: ElementId,
        before: &[Scenario],
        connections: &mut Connections,
    ) -> Scenario {
        let reader = self.read(id);
        // JMeter itself does not look at these times any more; threads that are made late are the same threads.
        reader.pass(&[
            "ThreadGroup.start_time",
            "ThreadGroup.end_time",
            "ThreadGroup.delayedStart",
        ]);
        let (load, start_after) = self.load(id, &reader);
        let same_user = reader.flag("ThreadGroup.same_user_on_next_iteration", true);
        let on_error = self.on_error(id, &reader);
        reader.finish();
        let reuse =
            if same_user { ConnectionReuse::PerUser } else { ConnectionReuse::PerIteration };
        if before.is_empty() {
            connections.reuse = reuse;
        } else if connections.reuse != reuse {
            self.obstacle(
                id,
                "another \"same user on each iteration\" than the first thread group's",
            );
        }
        let mut gathered = Gathered::default();
        let mut steps = self.steps(id, &mut gathered);
        let mut cookies = self.given_cookies(&gathered);
        if self.clears_cookies(id, &gathered, same_user) {
            cookies.insert(0, Step { kind: StepKind::ClearCookies, span: Span::default() });
        } else if !cookies.is_empty() {
            let kind = StepKind::OncePerUser(std::mem::take(&mut cookies));
            cookies.push(Step { kind, span: Span::default() });
        }
        steps.splice(0..0, cookies);
        if self.clears_cache(id, &gathered, same_user) {
            steps.insert(0, Step { kind: StepKind::ClearCache, span: Span::default() });
        }
        Scenario {
            name: Spanned::new(unique(&self.tree.element(id).name, before), Span::default()),
            steps: if load.users == Some(0) { Vec::new() } else { steps },
            load: Some(Spanned::new(Load::Closed(load), Span::default())),
            start_after,
            on_error,
            // JMeter's threads keep their variables; what becomes of cookies their manager says.
            session: Some(Session::PerUser),
            ..Scenario::default()
        }
    }

    /// How many, how often and how long; and when it starts.
    fn load(&self, id: ElementId, reader: &Reader<'_>) -> (Closed, Duration) {
        let natural = |name, without| {
            let number = reader.number(name, without).unwrap_or_default();
            u64::try_from(number).unwrap_or_else(|_| {
                self.obstacle(id, format!("{number} as {name}"));
                0
            })
        };
        let mut load = Closed {
            users: Some(natural("ThreadGroup.num_threads", 0)),
            ramp: Duration::from_secs(natural("ThreadGroup.ramp_time", 0)),
            ..Closed::default()
        };
        if let Some(control) = reader.inner("ThreadGroup.main_controller") {
            let loops = control.number("LoopController.loops", 0).unwrap_or_default();
            let is_endless = control.flag("LoopController.continue_forever", true);
            load.iterations = u64::try_from(loops).ok().filter(|_| !is_endless);
            control.finish();
        } else {
            self.obstacle(id, "a group without its loop");
        }
        let (duration, delay) =
            (natural("ThreadGroup.duration", 0), natural("ThreadGroup.delay", 0));
        let mut start_after = Duration::ZERO;
        if reader.flag("ThreadGroup.scheduler", false) {
            if duration == 0 {
                self.obstacle(id, "a duration of 0, with which JMeter does not start it");
            }
            load.duration = Some(Duration::from_secs(duration));
            start_after = Duration::from_secs(delay);
        } else if load.iterations.is_none() {
            self.obstacle(id, "loops without end: give the group a duration");
        }
        if load.iterations == Some(0) {
            load.users = Some(0);
        }
        (load, start_after)
    }

    fn on_error(&self, id: ElementId, reader: &Reader<'_>) -> Option<OnError> {
        let text = reader.constant("ThreadGroup.on_sample_error")?;
        Some(match text.as_str() {
            "" | "continue" => OnError::Continue,
            "startnextloop" => OnError::NextIteration,
            "stopthread" => OnError::StopUser,
            "stoptest" => OnError::StopRun,
            other => {
                self.obstacle(id, format!("`{other}` as what an error does"));
                OnError::Continue
            }
        })
    }

    /// Whether the cookies of a group's threads are forgotten with each iteration.
    fn clears_cookies(&self, group: ElementId, gathered: &Gathered, same_user: bool) -> bool {
        let mut managers = gathered.cookie_managers.clone();
        managers.sort();
        managers.dedup();
        let [manager] = managers.as_slice() else {
            if !managers.is_empty() {
                self.obstacle(group, "several cookie managers, each with cookies of its own");
            }
            return false;
        };
        let reader = self.read(*manager);
        let clears = reader.flag("CookieManager.clearEachIteration", false);
        let by_group = reader.flag("CookieManager.controlledByThreadGroup", false);
        reader.pass(&["CookieManager.cookies"]);
        let policy = reader.constant("CookieManager.policy").unwrap_or_default();
        if !matches!(
            policy.as_str(),
            "" | "standard" | "standard-strict" | "default" | "compatibility"
        ) {
            self.obstacle(*manager, format!("the cookie policy `{policy}`"));
        }
        let handler = reader.source("CookieManager.implementation");
        if !matches!(handler.rsplit('.').next(), Some("" | "HC4CookieHandler")) {
            self.obstacle(*manager, format!("the cookie handler `{handler}`"));
        }
        reader.finish();
        if by_group { !same_user } else { clears }
    }
}

/// A scenario's name that no other has.
fn unique(name: &str, before: &[Scenario]) -> String {
    let is_taken = |name: &str| before.iter().any(|other| other.name.value == name);
    let name = if name.is_empty() { "Thread Group" } else { name };
    if !is_taken(name) {
        return name.to_owned();
    }
    let mut number = 2;
    while is_taken(&format!("{name} ({number})")) {
        number += 1;
    }
    format!("{name} ({number})")
}
