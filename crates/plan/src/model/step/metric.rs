//! A step that records a value of a metric of the plan's own.

use super::kind::Kind;
use crate::expr::Expr;
use crate::keys::{At, Identifier, Rule, record, words};
use crate::model::tags::{Tagged, Tags};
use crate::span::{Span, Spanned};

record! {
    /// A value recorded by a step.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Metric as "a metric" {
        /// The metric, as thresholds call it.
        #[key(required [At<Identifier>])]
        pub name: Spanned<String>,
        /// What becomes of its values.
        #[key(required)]
        pub kind: MetricKind,
        /// The value: a number, or for a rate also true or false.
        #[key(default "1 for a counter")]
        pub value: Expr,
        /// Values under different tags are recorded separately; with those of the groups and the scenario around it.
        #[key([Tagged])]
        pub tags: Tags,
    }
    first(this, _keys) {
        if this.value == Expr::default() {
            this.value = Expr::number(1, Span::default());
        }
    }
    rules(_this, keys) {
        keys.rule(Rule::NeededUnless { key: "value", other: "kind", word: "counter" });
    }
}

words! {
    /// What becomes of the values of a metric.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum MetricKind {
        /// They are added up.
        #[default]
        Counter = "counter",
        /// The last, the smallest and the largest are kept.
        Gauge = "gauge",
        /// The share of those that are true, or not 0, is kept.
        Rate = "rate",
        /// Their distribution is kept.
        Trend = "trend",
    }
}

impl<S> Kind<S> for Metric {}
