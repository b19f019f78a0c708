//! What ends something or waits by itself: the Flow Control Action, and what follows from a sample's result.

use std::time::Duration;

use squall_plan::model::{Json, StepKind, StopScope, Think, Thinking};
use squall_plan::span::{Span, Spanned};

use super::Translator;
use super::made::{HEADS, Made};
use super::step;
use super::texts::{TextPiece, literal};
use crate::scope::Scope;
use crate::tree::ElementId;

impl Translator<'_> {
    /// A Flow Control Action.
    pub(super) fn action(&self, id: ElementId, held: &Scope) -> Vec<StepKind> {
        const THREAD: i64 = 0;
        let reader = self.read(id);
        let (action, target, pause) = (
            reader.number("ActionProcessor.action", 0),
            reader.number("ActionProcessor.target", THREAD),
            reader.source("ActionProcessor.duration"),
        );
        reader.finish();
        let of_test = target.is_some_and(|target| target != THREAD);
        let stop = match (action, of_test) {
            (Some(1), _) => {
                let pause = self.shortened(id, pause, held);
                return self.pause(id, &pause).into_iter().collect();
            }
            (Some(0 | 2), false) => StopScope::User,
            (Some(0), true) => StopScope::Run,
            (Some(2), true) => StopScope::RunNow,
            (Some(3), _) => StopScope::Iteration,
            (Some(4), _) => self.end_of(id, StopScope::Pass),
            (Some(5), _) => self.end_of(id, StopScope::Loop),
            _ => {
                self.obstacle(id, "an action that is not known");
                return Vec::new();
            }
        };
        vec![StepKind::Stop(stop)]
    }

    /// A pause in milliseconds, which a Sample Timeout ends as it ends a request.
    fn shortened(&self, id: ElementId, pause: &str, held: &Scope) -> String {
        let Some(limit) = self.sample_timeout(held) else { return pause.to_owned() };
        match self.constant(pause).ok().and_then(|pause| pause.trim().parse::<u128>().ok()) {
            Some(known) => known.min(limit.as_millis()).to_string(),
            None => {
                self.obstacle(id, "a pause known only while the plan runs, with a Sample Timeout");
                pause.to_owned()
            }
        }
    }

    /// The time limit of the samples of a scope: the shortest that is given.
    pub(super) fn sample_timeout(&self, held: &Scope) -> Option<Duration> {
        let own = held.pre_processors.iter().filter(|id| self.class(**id) == "SampleTimeout");
        let limits = own.filter_map(|id| {
            let reader = self.read(*id);
            let limit = reader.number_or_0("InterruptTimer.timeout", 0);
            reader.finish();
            u64::try_from(limit?).ok().filter(|limit| *limit > 0).map(super::milliseconds)
        });
        limits.min()
    }

    /// The end of a pass, or of all passes, of the innermost loop; the group itself is one.
    pub(super) fn end_of(&self, id: ElementId, scope: StopScope) -> StopScope {
        for around in self.tree.around(id) {
            match self.class(around) {
                "LoopController" | "WhileController" | "ForeachController" => return scope,
                "RunTime" | "com.blazemeter.jmeter.controller.ParallelSampler" => {
                    self.obstacle(id, "the end of a loop from within another controller");
                }
                _ => {}
            }
        }
        if scope == StopScope::Pass { StopScope::Iteration } else { StopScope::User }
    }

    /// A Dummy Sampler: a span of the time that it says, with the response that it says.
    pub(super) fn dummy(&self, id: ElementId, held: &Scope) -> Vec<StepKind> {
        let reader = self.read(id);
        let time = reader.source("RESPONSE_TIME");
        if !reader.flag("WAITING", false) && !matches!(time.trim(), "" | "0") {
            self.obstacle(id, "a time that is not waited for");
        }
        let ok = reader.flag("SUCCESFULL", true).to_string();
        let code = self.pieces(id, reader.source("RESPONSE_CODE"));
        let text = self.pieces(id, reader.source("RESPONSE_DATA"));
        let message = self.pieces(id, reader.source("RESPONSE_MESSAGE"));
        let sent = self.pieces(id, reader.source("REQUEST_DATA"));
        // What only those see who look at the sample.
        reader.pass(&["LATENCY", "CONNECT", "URL", "RESULT_CLASS"]);
        reader.finish();
        let steps = self.pause(id, time).into_iter().collect();
        let unknown = HEADS.to_vec();
        self.made(id, Made { steps, code, message, sent, ok, unknown, ..Made::of(text) }, held)
    }

    fn pause(&self, id: ElementId, written: &str) -> Option<StepKind> {
        let pieces = self.pieces(id, written);
        let Some(text) = literal(&pieces) else {
            let number = format!("int({})", super::texts::expression(&pieces));
            let pieces = [TextPiece::Expr(number), TextPiece::Text("ms".to_owned())];
            return Some(StepKind::Think(Thinking::OfUser(self.template_of(id, &pieces))));
        };
        // What is no whole number is 0.
        let pause = text.trim().parse::<u32>().unwrap_or(0);
        let time = std::time::Duration::from_millis(pause.into());
        (pause > 0).then_some(StepKind::Think(Thinking::Known(Think::Fixed(time))))
    }

    /// What a sampler's Result Status Action Handlers do if it failed.
    pub(super) fn after_sample(&self, held: &Scope) -> Vec<StepKind> {
        let handlers = held.post_processors.iter().copied();
        let handlers = handlers.filter(|id| self.class(*id) == "ResultAction");
        let mut steps = Vec::new();
        for id in handlers {
            let reader = self.read(id);
            let action = reader.number("OnError.action", 0);
            reader.finish();
            let stop = match action {
                Some(0) => continue,
                Some(1) => StopScope::User,
                Some(2) => StopScope::Run,
                Some(3) => StopScope::RunNow,
                Some(4) => StopScope::Iteration,
                Some(5) => self.end_of(id, StopScope::Pass),
                Some(6) => self.end_of(id, StopScope::Loop),
                _ => {
                    self.obstacle(id, "an action that is not known");
                    continue;
                }
            };
            steps.extend(self.only_if(id, "!last_ok", vec![step(StepKind::Stop(stop))]));
        }
        steps
    }

    /// Gives a variable of squall's own the value of an expression.
    pub(super) fn set(&self, id: ElementId, variable: &str, source: &str) -> StepKind {
        let value = self.template_of(id, &[TextPiece::Expr(source.to_owned())]);
        let name = Spanned::new(variable.to_owned(), Span::default());
        StepKind::Set(vec![(name, Json::Text(value))])
    }
}
