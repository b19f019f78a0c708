//! A load profile: a load bound to the scenarios that share it. It says whose turn user or arrival
//! number i is, and when. Pure, like `squall-load` below it.

use std::time::Duration;

use squall_load::{Arrivals, Curve, MAX_TIME, Mix, Pattern, Rate, Share, Users};
use squall_plan::model::{self, Closed, Load, Open, Stage};

pub(crate) type Nanos = u64;

/// A load and who shares it.
#[derive(Debug, Clone)]
pub(crate) struct LoadProfile {
    pub members: Vec<Member>,
    /// When it starts, on the run's clock.
    pub start: Nanos,
    pub shape: Shape,
    mix: Mix,
    /// The loads that have to be done before it starts; `start` then counts from there.
    pub after: Vec<u16>,
    /// Whether users that are one too many finish their iteration.
    pub whole_iterations: bool,
    /// How long they may take for that after its end; `None`: as long as all that is in flight at the end.
    pub graceful: Option<Nanos>,
    constant_from: Option<Nanos>,
}

/// A scenario's part of a load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub scenario: usize,
    pub weight: f64,
}

/// How many and when.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Closed(ClosedShape),
    Open(OpenShape),
}

/// A number of virtual users that wait for their responses.
#[derive(Debug, Clone)]
pub(crate) struct ClosedShape {
    pub users: Users,
    /// From the start of an iteration to that of the next one.
    pub pacing: Option<Nanos>,
    /// Iterations of each user.
    pub iterations: Option<u64>,
    /// Iterations of all users together.
    pub total_iterations: Option<u64>,
    /// How long users that it takes away before its end may take to finish their iteration; `None`: as long as they need.
    pub graceful_ramp_down: Option<Nanos>,
    /// Whether all users end with the first that has done its iterations.
    pub together: bool,
    /// When it ends after its start; `None`: when its iterations are done.
    pub end: Option<Nanos>,
}

/// Arrivals that do not wait.
#[derive(Debug, Clone)]
pub(crate) struct OpenShape {
    pub rate: Rate,
    pub pattern: model::Arrivals,
    /// Most users at a time.
    pub max_users: u64,
    pub total_iterations: Option<u64>,
    /// When it ends after its start; `None`: when its arrivals are done.
    pub end: Option<Nanos>,
}

impl LoadProfile {
    /// Binds a load to scenarios; a shape that makes no sense gives an error text.
    pub(crate) fn new(
        load: &Load,
        members: Vec<Member>,
        start_after: Duration,
    ) -> Result<Self, String> {
        let shape = Shape::new(load)?;
        let weights: Vec<f64> = members.iter().map(|member| member.weight).collect();
        let mix = Mix::new(&weights).map_err(|error| error.to_string())?;
        let constant_from = match load {
            Load::Closed(closed) => {
                constant_from(closed.start_time(), &closed.stages, closed.duration)
            }
            Load::Open(open) => constant_from(open.ramp, &open.stages, open.duration),
        };
        let (after, start) = (Vec::new(), nanos(start_after));
        Ok(LoadProfile {
            members,
            start,
            shape,
            mix,
            after,
            whole_iterations: false,
            graceful: None,
            constant_from,
        })
    }

    /// One user, one iteration.
    pub(crate) fn once(scenario: usize) -> Self {
        let closed = Closed { users: Some(1), iterations: Some(1), ..Closed::default() };
        // One user at once is a shape that makes sense.
        Self::new(&Load::Closed(closed), vec![Member { scenario, weight: 1.0 }], Duration::ZERO)
            .expect("one user is a valid load")
    }

    /// The scenario of user or arrival number `i`.
    pub(crate) fn scenario_of(&self, i: u64) -> usize {
        self.members[self.mix.member(i)].scenario
    }

    /// The place of a scenario among those that share the load.
    pub(crate) fn member_of(&self, scenario: usize) -> usize {
        self.members.iter().position(|member| member.scenario == scenario).unwrap_or(0)
    }

    /// When the load ends, on the run's clock; `None`: when its iterations are done, or it is not known when it starts.
    pub(crate) fn end(&self) -> Option<Nanos> {
        if !self.after.is_empty() {
            return None;
        }
        self.shape.end().map(|end| self.start.saturating_add(end).min(MAX_TIME))
    }

    /// From when on, on the run's clock, the load stays as it is; `None`: it changes to its end, or it is not known when it
    /// starts.
    pub(crate) fn constant_from(&self) -> Option<Nanos> {
        if !self.after.is_empty() {
            return None;
        }
        self.constant_from.map(|from| self.start.saturating_add(from).min(MAX_TIME))
    }

    /// What it asks for of a scenario: users, or arrivals a second. Scenarios that share it have parts by weight. Times are on
    /// the run's clock, or since its first user if nobody knows when it starts.
    pub(crate) fn curve(&self, scenario: usize) -> Curve {
        let weight_of = |members: &[Member]| members.iter().map(|own| own.weight).sum::<f64>();
        let own = self.members.iter().filter(|own| own.scenario == scenario).copied();
        let part = weight_of(&own.collect::<Vec<_>>()) / weight_of(&self.members);
        let (start, end) = match self.after.is_empty() {
            true => (self.start, self.end()),
            false => (0, self.shape.end()),
        };
        match &self.shape {
            Shape::Closed(shape) => Curve::of_load(shape.users.points(), part, start, end),
            Shape::Open(shape) => Curve::of_load(shape.rate.points(), part, start, end),
        }
    }

    /// Whether latency is also counted from when a request was due.
    pub(crate) fn has_schedule(&self) -> bool {
        match &self.shape {
            Shape::Closed(shape) => shape.pacing.is_some(),
            Shape::Open(_) => true,
        }
    }

    /// How long users that it takes away before its end may take to finish their iteration, if they do; `None`: as long as
    /// they need.
    pub(crate) fn graceful_ramp_down(&self) -> Option<Nanos> {
        match &self.shape {
            Shape::Closed(shape) if self.whole_iterations => shape.graceful_ramp_down,
            _ => None,
        }
    }

    /// Most users at a time, over all workers.
    pub(crate) fn most_users(&self) -> u64 {
        match &self.shape {
            Shape::Closed(shape) => shape.users.most(),
            Shape::Open(shape) => shape.max_users,
        }
    }
}

impl Shape {
    /// # Errors
    /// The load makes no sense, in a sentence.
    pub(crate) fn new(load: &Load) -> Result<Shape, String> {
        Ok(match load {
            Load::Closed(closed) => Shape::Closed(ClosedShape::new(closed)?),
            Load::Open(open) => Shape::Open(OpenShape::new(open)?),
        })
    }

    /// When it ends after its start; `None`: when its iterations are done.
    pub(crate) fn end(&self) -> Option<Nanos> {
        match self {
            Shape::Closed(shape) => shape.end,
            Shape::Open(shape) => shape.end,
        }
    }
}

impl ClosedShape {
    /// # Errors
    /// The numbers of users make no sense, in a sentence.
    pub(crate) fn new(closed: &Closed) -> Result<ClosedShape, String> {
        let stages: Vec<(f64, Nanos)> = closed.stages.iter().map(stage).collect();
        let users = if stages.is_empty() {
            Users::ramp(closed.users.unwrap_or(1), nanos(closed.start_time()))
        } else {
            Users::stages(closed.users.unwrap_or(0), &stages)
        };
        Ok(ClosedShape {
            users: users.map_err(|error| error.to_string())?,
            pacing: closed.pacing.map(nanos),
            iterations: closed.iterations,
            total_iterations: closed.total_iterations,
            graceful_ramp_down: closed.graceful_ramp_down.map(nanos),
            together: closed.end == model::End::Together,
            end: closed.duration.map(nanos).or(length(&stages)),
        })
    }
}

impl OpenShape {
    /// # Errors
    /// The rates make no sense, in a sentence.
    pub(crate) fn new(open: &Open) -> Result<OpenShape, String> {
        let stages: Vec<(f64, Nanos)> = open.stages.iter().map(stage).collect();
        let rate = if stages.is_empty() {
            Rate::ramp(open.rate.unwrap_or(0.0), nanos(open.ramp))
        } else {
            Rate::stages(open.rate.unwrap_or(0.0), &stages)
        };
        Ok(OpenShape {
            rate: rate.map_err(|error| error.to_string())?,
            pattern: open.arrivals,
            max_users: open.max_users,
            total_iterations: open.total_iterations,
            end: open.duration.map(nanos).or(length(&stages)),
        })
    }

    /// The arrivals of a share.
    pub(crate) fn arrivals(&self, share: &Share, seed: u64) -> Arrivals {
        let pattern = match self.pattern {
            model::Arrivals::Even => Pattern::Even,
            model::Arrivals::Poisson => Pattern::Poisson { seed },
        };
        Arrivals::new(self.rate.clone(), pattern, share)
    }
}

/// How long stages are together; `None`: there are none.
fn length(stages: &[(f64, Nanos)]) -> Option<Nanos> {
    (!stages.is_empty()).then(|| stages.iter().map(|(_, over)| over).sum())
}

/// From when on, after its start, a load stays as it is.
fn constant_from(ramp: Duration, stages: &[Stage], length: Option<Duration>) -> Option<Nanos> {
    let [before @ .., last] = stages else { return Some(nanos(ramp)) };
    let start: Nanos = before.iter().map(|stage| nanos(stage.over)).sum();
    let end = start + nanos(last.over); // no overflow: the profile has taken these stages
    match before.last() {
        Some(previous) if previous.level == last.level => Some(start),
        _ if length.is_some_and(|length| nanos(length) > end) => Some(end),
        _ => None,
    }
}

fn stage(stage: &Stage) -> (f64, Nanos) {
    (stage.level, nanos(stage.over))
}

/// A duration in nanoseconds, at most 500 years: longer than any run, and a clock's time can be added
/// to it.
pub(crate) fn nanos(duration: Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).map_or(MAX_TIME, |nanos| nanos.min(MAX_TIME))
}
