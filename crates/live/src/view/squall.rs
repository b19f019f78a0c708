//! squall itself and its host: how far the numbers can be trusted, and what they rest on. Pure.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use squall_analysis::{Validity, worst};
use squall_base::units::{bytes, count, percent, time};

use super::lists::{Line, show};
use super::paint::Paint;
use crate::browse::Browse;
use crate::state::{LiveState, Mood};

/// Draws the tab; how far it can be scrolled.
pub fn draw(paint: &mut Paint<'_>, area: Rect, state: &LiveState, browse: &Browse) -> usize {
    let theme = paint.theme;
    let mut lines = Vec::new();
    let validity = worst(&state.reasons);
    let mood = |validity: Validity| match validity {
        Validity::Valid => Mood::Good,
        Validity::Questionable => Mood::Doubtful,
        Validity::Invalid => Mood::Bad,
    };
    lines.push(Line::of(
        format!("The numbers so far are {}.", validity.label()),
        theme.mood(mood(validity)),
    ));
    for reason in &state.reasons {
        let own = reason.validity();
        let word = if own == Validity::Valid { "note" } else { own.label() };
        lines.push(Line::of(format!("{word}: {}", reason.observed), theme.mood(mood(own))));
        lines.push(Line::of(format!("effect: {}", reason.effect_text()), Style::new()).within());
        lines.push(Line::of(reason.advice.clone(), theme.dim()).within());
    }
    lines.push(Line::of(String::new(), Style::new()));
    lines.extend(
        numbers(state)
            .into_iter()
            .map(|(name, value)| Line::of(format!("{name:<22}{value}"), Style::new())),
    );
    show(paint, area, &lines, browse)
}

/// What the numbers rest on.
fn numbers(state: &LiveState) -> Vec<(&'static str, String)> {
    let last = state.history.last().copied().unwrap_or_default();
    let (host, counters) = (&state.host, &state.counters);
    let of = |used: u64, limit: u64| match limit {
        0 => count(used),
        _ => format!("{} of {}", count(used), count(limit)),
    };
    vec![
        ("busiest worker", format!("{} of a CPU", percent(last.busiest_worker))),
        ("all workers", format!("{} of a CPU", percent(state.cpu_s))),
        ("waited for a CPU", format!("{} in the last second", time(last.starved_us as f64))),
        ("send delay p99", time(last.send_delay_p99_us as f64)),
        ("receive delay p99", time(last.receive_delay_p99_us as f64)),
        ("longest loop", time(last.loop_iteration_max_us as f64)),
        ("memory", bytes(host.rss_bytes)),
        ("open files", of(host.open_files, host.open_files_limit)),
        ("local ports", of(host.ports_used, host.ports_limit)),
        ("TIME_WAIT", count(host.time_wait)),
        ("connections opened", count(counters.connections_opened)),
        ("retried (stale)", count(counters.stale_retries)),
        ("arrivals dropped", of(counters.arrivals_dropped, counters.arrivals_due)),
        ("received, sent", format!("{}/s, {}/s", bytes(last.bytes_in), bytes(last.bytes_out))),
    ]
}
