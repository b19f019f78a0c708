//! The module `k6/metrics`.

use std::rc::Rc;

use super::shared::{Shared, tags};
use crate::engine::{Call, Thrown, Value};
use crate::event::{Event, MetricKind, ScriptMetric};

pub(super) fn add(host: &Value<'_>, shared: &Rc<Shared>) -> Result<(), Thrown> {
    let scope = host.scope();
    let own = shared.clone();
    let metric = scope.function("metric", 3, move |call| own.metric(call));
    host.set(c"metric", metric?)?;
    let own = shared.clone();
    let add = scope.function("add", 3, move |call| {
        let (number, value) = (call.argument(0).to_number()?, call.argument(1).to_number()?);
        own.tell(Event::Metric { number: number as usize, value, tags: tags(&call.argument(2))? });
        Ok(call.scope().undefined())
    });
    host.set(c"add", add?)?;
    Ok(())
}

impl Shared {
    /// The number of a metric of this name, which each user makes anew.
    fn metric<'c>(&self, call: &Call<'c>) -> Result<Value<'c>, Thrown> {
        let kind = match call.argument(0).to_number()? {
            0.0 => MetricKind::Counter,
            1.0 => MetricKind::Gauge,
            2.0 => MetricKind::Rate,
            _ => MetricKind::Trend,
        };
        let name = call.argument(1).to_text()?;
        let is_time = call.argument(2).is_true();
        let mut metrics = self.metrics.borrow_mut();
        let number = match metrics.iter().position(|own| own.name == name) {
            Some(at) if metrics[at].kind == kind && metrics[at].is_time == is_time => at,
            Some(_) => {
                let text = format!("metric `{name}` already exists, as something else");
                return Err(Thrown::new(text));
            }
            None if self.is_open.get() => {
                return Err(Thrown::new(
                    "metrics must be made where the script begins, outside of functions",
                ));
            }
            None => {
                metrics.push(ScriptMetric { kind, name, is_time });
                metrics.len() - 1
            }
        };
        Ok(call.scope().number(number as f64))
    }
}
