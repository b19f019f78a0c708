//! Which moments of a load are marked in its result: stages, pauses, changes, and what ended it. Pure.

use squall_report::Mark;

use super::event::EventKind;
use crate::phase::Phase;

/// Most marks of a run; those that come first.
const MAX_MARKS: usize = 500;

/// The marks of a run.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// When the load began, in seconds after the run did.
    began_s: Option<f64>,
    /// Stages at the times of the plan, all others at their own.
    marks: Vec<Mark>,
    /// From when to when the load stood still; the last pause may go on.
    pauses: Vec<(f64, f64)>,
}

impl Marks {
    /// Notes an event, `at_s` seconds after the run began.
    pub(crate) fn note(&mut self, at_s: f64, event: &EventKind) {
        if let EventKind::PhaseBegan(Phase::Load) = event {
            self.began_s = Some(at_s);
        }
        let Some(began_s) = self.began_s else { return };
        let Some((kind, scenario, text)) = described(event) else { return };
        let own_s = (at_s - began_s).max(0.0);
        let at_s = match event {
            EventKind::Stage { starts_s, .. } => *starts_s,
            _ => own_s,
        };
        match event {
            EventKind::Paused => self.pauses.push((own_s, f64::INFINITY)),
            EventKind::Resumed => self.pauses.last_mut().into_iter().for_each(|own| own.1 = own_s),
            _ => {}
        }
        if self.marks.len() < MAX_MARKS {
            let (kind, scenario) = (kind.to_owned(), scenario.to_owned());
            self.marks.push(Mark { at_s, kind, scenario, text });
        }
    }

    /// The marks of a load that took `elapsed_s` seconds, in order: stages begin later by the pauses before them,
    /// and not at all once somebody has changed their load or the load is over. Whatever else happened did so during
    /// the load: what ended it is its end at the latest, though the clocks that tell differ by how long workers took
    /// to start.
    pub(crate) fn of_load(&self, elapsed_s: f64) -> Vec<Mark> {
        let moved = |mark: &Mark| match mark.kind.as_str() {
            STAGE => Mark { at_s: after_pauses(mark.at_s, &self.pauses), ..mark.clone() },
            _ => Mark { at_s: mark.at_s.min(elapsed_s), ..mark.clone() },
        };
        let mut marks: Vec<Mark> = self.marks.iter().map(moved).collect();
        let changes: Vec<(String, f64)> = marks
            .iter()
            .filter(|own| own.kind == SCALED)
            .map(|own| (own.scenario.clone(), own.at_s))
            .collect();
        marks.retain(|own| {
            let is_replaced = own.kind == STAGE
                && changes
                    .iter()
                    .any(|(scenario, at_s)| *scenario == own.scenario && *at_s < own.at_s);
            own.at_s <= elapsed_s && !is_replaced
        });
        marks.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        marks
    }
}

const STAGE: &str = "stage";
const SCALED: &str = "scaled";

/// What an event is in a result, whose, and in words; `None`: it is no mark.
fn described(event: &EventKind) -> Option<(&'static str, &str, String)> {
    let of = |scenario: &str, text: &str| match scenario.is_empty() {
        true => text.to_owned(),
        false => format!("{scenario}: {text}"),
    };
    Some(match event {
        EventKind::Stage { scenario, stage, stages, .. } if stage > stages => {
            (STAGE, scenario, of(scenario, "the stages are over"))
        }
        EventKind::Stage { scenario, stage, .. } => {
            (STAGE, scenario, of(scenario, &format!("stage {stage}")))
        }
        EventKind::Paused => ("paused", "", "paused".to_owned()),
        EventKind::Resumed => ("resumed", "", "resumed".to_owned()),
        EventKind::Scaled { scenario, to, .. } => (SCALED, scenario, of(scenario, to)),
        EventKind::StopAsked(Phase::Load) => ("stopped", "", "stopped".to_owned()),
        EventKind::AbortAsked(Phase::Load) => ("aborted", "", "ended at once".to_owned()),
        EventKind::Notice { node, text } if !node.is_empty() => ("node", "", text.clone()),
        EventKind::Aborted(abort) => ("threshold", "", format!("ended by {}", abort.threshold)),
        _ => return None,
    })
}

/// When something comes that was to come at `at_s` and waits while the load stands still.
fn after_pauses(at_s: f64, pauses: &[(f64, f64)]) -> f64 {
    pauses.iter().fold(at_s, |at_s, (from, to)| if at_s > *from { at_s + to - from } else { at_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(stage: usize, starts_s: f64) -> EventKind {
        EventKind::Stage { scenario: "a".to_owned(), stage, stages: 3, starts_s }
    }

    fn told(marks: &Marks) -> Vec<(f64, String)> {
        marks.of_load(60.0).into_iter().map(|mark| (mark.at_s, mark.text)).collect()
    }

    #[test]
    fn pauses_move_stages_and_changes_end_them() {
        let mut marks = Marks::default();
        marks.note(1.0, &EventKind::StopAsked(Phase::Setup));
        marks.note(2.0, &EventKind::PhaseBegan(Phase::Load));
        marks.note(3.5, &stage(1, 0.0));
        marks.note(12.0, &EventKind::Paused);
        marks.note(17.0, &EventKind::Resumed);
        marks.note(22.5, &stage(2, 20.0));
        marks.note(33.0, &stage(3, 30.0));
        let wanted = [
            (0.0, "a: stage 1"),
            (10.0, "paused"),
            (15.0, "resumed"),
            (25.0, "a: stage 2"),
            (35.0, "a: stage 3"),
        ];
        assert_eq!(told(&marks), wanted.map(|(at, text)| (at, text.to_owned())));
        let (scenario, to) = ("a".to_owned(), "7 users".to_owned());
        marks.note(32.0, &EventKind::Scaled { scenario, to, level: 7.0 });
        marks.note(52.0, &EventKind::StopAsked(Phase::Load));
        let wanted = [
            (0.0, "a: stage 1"),
            (10.0, "paused"),
            (15.0, "resumed"),
            (25.0, "a: stage 2"),
            (30.0, "a: 7 users"),
            (50.0, "stopped"),
        ];
        assert_eq!(told(&marks), wanted.map(|(at, text)| (at, text.to_owned())));
    }

    /// What was not reached before the end is no mark.
    #[test]
    fn a_stage_behind_a_pause_that_never_ends() {
        let mut marks = Marks::default();
        marks.note(0.0, &EventKind::PhaseBegan(Phase::Load));
        marks.note(5.0, &EventKind::Paused);
        marks.note(9.0, &stage(4, 8.0));
        assert_eq!(told(&marks), [(5.0, "paused".to_owned())]);
    }

    /// The load's clock begins when its workers are there, a little after that of the events.
    #[test]
    fn what_ended_a_load_at_once_is_its_end() {
        let mut marks = Marks::default();
        marks.note(0.0, &EventKind::PhaseBegan(Phase::Load));
        marks.note(4.01, &EventKind::StopAsked(Phase::Load));
        marks.note(4.02, &stage(2, 4.0));
        let marks: Vec<(f64, String)> =
            marks.of_load(3.99).into_iter().map(|mark| (mark.at_s, mark.text)).collect();
        assert_eq!(marks, [(3.99, "stopped".to_owned())]);
    }
}
