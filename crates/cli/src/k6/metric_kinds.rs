//! The kinds of metrics, which scripts and what is recorded name apart from each other. Pure.

use squall_metrics::MetricKind as Recorded;
use squall_script::MetricKind as OfScript;

/// The kind in k6's words of one that was recorded.
pub fn to_k6(kind: Recorded) -> OfScript {
    match kind {
        Recorded::Counter => OfScript::Counter,
        Recorded::Gauge => OfScript::Gauge,
        Recorded::Rate => OfScript::Rate,
        Recorded::Trend => OfScript::Trend,
    }
}

/// The kind that is recorded of one of a script.
pub fn of_k6(kind: OfScript) -> Recorded {
    match kind {
        OfScript::Counter => Recorded::Counter,
        OfScript::Gauge => Recorded::Gauge,
        OfScript::Rate => Recorded::Rate,
        OfScript::Trend => Recorded::Trend,
    }
}
