//! Times of steps: limits, and waits. What is known before the run is a number by then; the rest is made from the
//! user's variables when it is needed, and may turn out to be no time.

use std::time::Duration;

use squall_base::units::parse_duration;
use squall_plan::expr::{EvalError, Scope};
use squall_plan::model::{Think, Timeouts, UserTime};
use squall_plan::template::BoundTemplate;

use super::compiler::Compiler;
use super::limits::{Limits, TimeOp, TimeoutsOp};
use crate::profile::nanos;

/// Limits of time where the plan gives none.
const DEFAULT_POOL: Duration = Duration::from_secs(60);
const DEFAULT_CONNECT: Duration = Duration::from_secs(10);
const DEFAULT_TOTAL: Duration = Duration::from_secs(60);

impl TimeOp {
    /// The time.
    ///
    /// # Errors
    /// An expression cannot be evaluated, or its value is no time.
    pub(crate) fn value(&self, scope: &dyn Scope) -> Result<Duration, EvalError> {
        match self {
            TimeOp::Known(time) => Ok(*time),
            TimeOp::OfUser(template) => {
                let text = text(template, scope)?;
                parse_duration(&text)
                    .map_err(|error| EvalError::new(format!("timeout: {}", error.0)))
            }
        }
    }
}

impl TimeoutsOp {
    /// A request's limits with these in their place, if no user decides one of them.
    pub(super) fn known(&self, limits: Limits) -> Option<Limits> {
        let known = |time: &TimeOp| match time {
            TimeOp::Known(time) => Some(nanos(*time)),
            TimeOp::OfUser(_) => None,
        };
        Some(Limits {
            pool: known(&self.pool)?,
            connect: known(&self.connect)?,
            first_byte: known(&self.first_byte)?,
            total: known(&self.total)?,
            all: known(&self.all)?,
            ..limits
        })
    }

    /// A request's limits with these in their place.
    ///
    /// # Errors
    /// As [`TimeOp::value`].
    pub(crate) fn of(&self, limits: Limits, scope: &dyn Scope) -> Result<Limits, EvalError> {
        Ok(Limits {
            pool: nanos(self.pool.value(scope)?),
            connect: nanos(self.connect.value(scope)?),
            first_byte: nanos(self.first_byte.value(scope)?),
            total: nanos(self.total.value(scope)?),
            all: nanos(self.all.value(scope)?),
            ..limits
        })
    }
}

/// A wait that is made from the user's variables: a time, or a range of times.
///
/// # Errors
/// An expression cannot be evaluated, or its value is neither.
pub(crate) fn think(template: &BoundTemplate, scope: &dyn Scope) -> Result<Think, EvalError> {
    let text = text(template, scope)?;
    Think::parse(&text).map_err(|(message, _)| EvalError::new(format!("think: {message}")))
}

fn text(template: &BoundTemplate, scope: &dyn Scope) -> Result<String, EvalError> {
    let mut text = Vec::new();
    template.render(scope, &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

impl Compiler<'_> {
    /// A limit of time; `None` after an error was noted.
    pub(super) fn time(&mut self, time: Option<&UserTime>, default: Duration) -> Option<TimeOp> {
        let template = match time {
            None => return Some(TimeOp::Known(default)),
            Some(UserTime::Known(time)) => return Some(TimeOp::Known(*time)),
            Some(UserTime::OfUser(template)) => template,
        };
        let bound = self.template(template)?;
        let Some(text) = bound.constant() else { return Some(TimeOp::OfUser(bound)) };
        match parse_duration(&text) {
            Ok(time) => Some(TimeOp::Known(time)),
            Err(error) => {
                self.error(template.span(), error.0, "");
                None
            }
        }
    }

    /// The limits of time of a request; `None` after an error was noted.
    pub(super) fn timeouts(&mut self, own: &Timeouts) -> Option<TimeoutsOp> {
        Some(TimeoutsOp {
            pool: self.time(own.pool.as_ref(), DEFAULT_POOL)?,
            connect: self.time(own.connect.as_ref(), DEFAULT_CONNECT)?,
            first_byte: self.time(own.first_byte.as_ref(), Duration::MAX)?,
            total: self.time(own.total.as_ref(), DEFAULT_TOTAL)?,
            all: self.time(own.all.as_ref(), Duration::MAX)?,
        })
    }
}
