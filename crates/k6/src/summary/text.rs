//! k6's summary as text: thresholds, the results of the whole run, and in the full text groups and scenarios. Pure.

use squall_base::escape_control;

use super::data::{Metric, ScenarioData, SummaryData, SummaryOptions};
use super::group::{Check, Group};
use super::lines::{self, shown_value};
use super::selector::Selector;
use super::statistic::of_expression;

/// How far what belongs to a heading stands to the right of it.
const STEP: usize = 2;
/// Groups of which k6 tells nothing but the groups in them (`flushSample` in `internal/output/summary/summary.go`).
const UNTOLD: [&str; 2] = ["::setup", "::teardown"];

/// How the text is made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextOptions {
    /// Whether it has all metrics, and groups and scenarios.
    pub is_full: bool,
    /// Whether what passed is green, and what failed red.
    pub has_colors: bool,
    /// What stands before each line.
    pub indent: String,
}

/// The summary as k6 prints it at the end of a run, with a line's end at its end.
pub fn text(data: &SummaryData, options: &TextOptions) -> String {
    let mut page = Page { has_colors: options.has_colors, lines: Vec::new() };
    page.thresholds(data);
    page.heading(STEP, "TOTAL RESULTS");
    page.checks(2 * STEP, &data.checks(), data.state.duration_ms / 1e3);
    page.metrics(2 * STEP, &data.metrics, (&data.options, options.is_full));
    if options.is_full {
        // Those of scenarios stand there.
        let is_here = |own: &&Group| data.scenarios.is_empty() || UNTOLD.contains(&&*own.path);
        let groups = data.root_group.groups.iter().filter(is_here);
        page.groups(STEP, groups, data.state.duration_ms / 1e3);
        data.scenarios.iter().for_each(|own| page.scenario(own, data));
    }
    let lines = page.lines.iter().map(|line| match line.is_empty() {
        true => "\n".to_owned(),
        false => format!("{}{line}\n", options.indent),
    });
    lines.collect()
}

/// Lines of a text.
#[derive(Debug)]
struct Page {
    has_colors: bool,
    lines: Vec<String>,
}

impl Page {
    fn line(&mut self, indent: usize, text: &str) {
        let text = escape_control(text);
        let text = if self.has_colors { colored(&text) } else { text.into_owned() };
        self.lines.push(format!("{:indent$}{}", "", text.trim_end()));
    }

    /// An empty line, but for the first line and behind one that is empty.
    fn gap(&mut self) {
        if self.lines.last().is_some_and(|last| !last.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// A heading, with a second line empty before it where it is one of the text and not of a part.
    fn heading(&mut self, indent: usize, title: &str) {
        self.gap();
        let is_of_text = indent == STEP;
        if is_of_text && !self.lines.is_empty() {
            self.lines.push(String::new());
        }
        let sign = if is_of_text { '█' } else { '↳' };
        self.line(indent, &format!("{sign} {title}"));
        self.gap();
    }

    /// The thresholds by metric; those with tags stand below their metric.
    fn thresholds(&mut self, data: &SummaryData) {
        let with: Vec<&Metric> =
            data.metrics.iter().filter(|own| !own.thresholds.is_empty()).collect();
        if with.is_empty() {
            return;
        }
        self.heading(STEP, "THRESHOLDS");
        let mut last = None;
        for metric in with {
            let Selector { name, braces, .. } = Selector::of(&metric.name);
            if last != Some(name) {
                self.gap();
                self.line(2 * STEP, name);
                last = Some(name);
            }
            let indent = if braces.is_empty() { 2 * STEP } else { 3 * STEP };
            if !braces.is_empty() {
                self.line(indent, braces);
            }
            for own in &metric.thresholds {
                let about = of_expression(&own.expression);
                let value = shown_value(metric, about, &data.options);
                let value = value.map_or(String::new(), |value| format!(" {about}={value}"));
                let sign = if own.is_met { '✓' } else { '✗' };
                self.line(indent, &format!("{sign} '{}'{value}", own.expression));
            }
        }
    }

    /// How many checks there were in so many seconds, and each of them.
    fn checks(&mut self, indent: usize, checks: &[Check], seconds: f64) {
        if checks.is_empty() {
            return;
        }
        self.gap();
        lines::of_checks(checks, seconds).iter().for_each(|line| self.line(indent, line));
        self.gap();
        for Check { name, passes, fails, .. } in checks {
            if *fails == 0 {
                self.line(indent, &format!("✓ {name}"));
                continue;
            }
            let all = passes.saturating_add(*fails);
            let percent = (*passes as f64 / all as f64 * 100.0).floor();
            self.line(indent, &format!("✗ {name}"));
            self.line(indent + STEP, &format!("↳  {percent}% — ✓ {passes} / ✗ {fails}"));
        }
    }

    /// Metrics by section.
    fn metrics(
        &mut self,
        indent: usize,
        metrics: &[Metric],
        (options, is_full): (&SummaryOptions, bool),
    ) {
        for (title, lines) in lines::of_metrics(metrics, options, is_full) {
            self.gap();
            self.line(indent, title);
            lines.iter().for_each(|line| self.line(indent, line));
        }
    }

    /// Groups, each with its checks and the groups in it.
    fn groups<'g>(
        &mut self,
        indent: usize,
        groups: impl IntoIterator<Item = &'g Group>,
        seconds: f64,
    ) {
        for group in groups {
            let is_untold = UNTOLD.contains(&&*group.path);
            if is_untold && group.groups.is_empty() {
                continue;
            }
            self.heading(indent, &format!("GROUP: {}", group.name));
            let checks = if is_untold { &[][..] } else { &group.checks };
            self.checks(indent + STEP, checks, seconds);
            self.groups(indent + STEP, &group.groups, seconds);
        }
    }

    fn scenario(&mut self, own: &ScenarioData, data: &SummaryData) {
        self.heading(STEP, &format!("SCENARIO: {}", own.name));
        let seconds = data.state.duration_ms / 1e3;
        self.checks(2 * STEP, &own.root_group.all_checks(), seconds);
        self.metrics(2 * STEP, &own.metrics, (&data.options, true));
        self.groups(2 * STEP, &own.root_group.groups, seconds);
    }
}

/// A line with its sign in colour, if it begins with one.
fn colored(line: &str) -> String {
    for (sign, color) in [('✓', "32"), ('✗', "31")] {
        if let Some(rest) = line.strip_prefix(sign) {
            return format!("\u{1b}[{color}m{sign}\u{1b}[0m{rest}");
        }
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::golden::golden;

    #[test]
    fn the_compact_text_has_the_whole_run() {
        golden("summary/golden/compact.txt", &text(&sample::data(), &TextOptions::default()));
    }

    #[test]
    fn the_full_text_has_groups_and_scenarios() {
        let options =
            TextOptions { is_full: true, indent: " ".to_owned(), ..TextOptions::default() };
        golden("summary/golden/full.txt", &text(&sample::data(), &options));
        // What a script hands back does not say which scenario did what.
        let data = SummaryData { scenarios: Vec::new(), ..sample::data() };
        golden("summary/golden/full_of_a_script.txt", &text(&data, &options));
    }

    #[test]
    fn signs_have_colors() {
        let options = TextOptions { has_colors: true, ..TextOptions::default() };
        let shown = text(&sample::data(), &options);
        let plain =
            shown.replace("\u{1b}[32m", "").replace("\u{1b}[31m", "").replace("\u{1b}[0m", "");
        assert_eq!(plain, text(&sample::data(), &TextOptions::default()));
        assert!(
            shown.contains("\u{1b}[32m✓\u{1b}[0m") && shown.contains("\u{1b}[31m✗\u{1b}[0m"),
            "{shown}"
        );
    }

    #[test]
    fn a_script_that_came_to_nothing_has_a_heading() {
        let shown = text(&SummaryData::default(), &TextOptions::default());
        assert_eq!(shown, "  █ TOTAL RESULTS\n\n");
    }

    #[test]
    fn no_name_begins_a_line() {
        let mut data = sample::data();
        data.root_group.checks[0].name = "a\n\u{1b}[2Jb".to_owned();
        let shown = text(&data, &TextOptions::default());
        assert!(shown.contains(&format!("✓ {}\n", escape_control("a\n\u{1b}[2Jb"))), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }
}
