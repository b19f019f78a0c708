//! Elements with scripts: what these come to, as steps before and after a sample, as checks, and as samples.

use std::collections::BTreeMap;

use squall_plan::model::{Check, Extract, Extractor, Json, Request, StepKind, Thinking, Write};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;

use super::links::LEADS_TO;
use super::made::{Made, SENT};
use super::script::{self, Does, Effect, Kind, Language, Place, Script, ScriptOutcome, renamed};
use super::texts::{TextPiece, expression, literal, quoted};
use super::told::untold;
use super::{Translator, step};
use crate::functions;
use crate::scope::Scope;
use crate::text::{Call, Part, Text};
use crate::tree::{Element, ElementId};

/// The properties that have the script of an element, by its class: text, file, what it is given, and what is passed by.
fn properties_of(class: &str) -> Option<[&'static str; 4]> {
    Some(match class {
        "JSR223Sampler" | "JSR223PreProcessor" | "JSR223PostProcessor" | "JSR223Assertion" => {
            ["script", "filename", "parameters", "cacheKey"]
        }
        "BSFSampler" => ["script", "filename", "parameters", "cacheKey"],
        "BeanShellPreProcessor" | "BeanShellPostProcessor" => {
            ["script", "filename", "parameters", "resetInterpreter"]
        }
        "BeanShellSampler" => [
            "BeanShellSampler.query",
            "BeanShellSampler.filename",
            "BeanShellSampler.parameters",
            "BeanShellSampler.resetInterpreter",
        ],
        "BeanShellAssertion" => [
            "BeanShellAssertion.query",
            "BeanShellAssertion.filename",
            "BeanShellAssertion.parameters",
            "BeanShellAssertion.resetInterpreter",
        ],
        _ => return None,
    })
}

/// The script of an element that has one.
pub(super) fn script_of(element: &Element) -> Option<&str> {
    let [script, ..] = properties_of(&element.class)?;
    element.properties.text(script)
}

/// The names in quotes that calls of a method begin with: `owner.method("name"`.
pub(super) fn names_in<'s>(
    script: &'s str,
    owner: &str,
    method: &str,
) -> impl Iterator<Item = &'s str> + use<'s> {
    let call = format!("{owner}.{method}");
    let places: Vec<usize> =
        script.match_indices(&call).map(|(at, call)| at + call.len()).collect();
    places.into_iter().filter_map(move |at| {
        let inner = script[at..].trim_start().strip_prefix('(')?.trim_start();
        let quote = inner.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (name, _) = inner[1..].split_once(quote)?;
        (!name.contains("${")).then_some(name)
    })
}

/// What a response is to a script, with the hidden variable that keeps it for steps after the request.
const FACTS: [(&str, &str, Extractor); 5] = [
    ("status", "reply_0", Extractor::Status),
    ("body", "reply_1", Extractor::Body),
    ("reason", "reply_2", Extractor::Reason),
    ("head", "reply_3", Extractor::Head),
    ("duration", "reply_4", Extractor::Duration),
];

/// A script that was read, and what the functions in its text do before it runs.
pub(super) struct Scripted {
    before: Vec<StepKind>,
    pub(super) outcome: ScriptOutcome,
}

impl Translator<'_> {
    /// The script of an element, read; what of it is not known is an obstacle.
    pub(super) fn scripted(&self, id: ElementId, place: Place) -> Option<Scripted> {
        let class = self.class(id);
        let [script, file, parameters, passed] = properties_of(class)?;
        let reader = self.read(id);
        let language = match class.starts_with("JSR223") || class == "BSFSampler" {
            false => Ok(Language::BeanShell),
            true => match reader.source("scriptLanguage").to_ascii_lowercase().as_str() {
                "" | "groovy" => Ok(Language::Groovy),
                "beanshell" | "bsh" | "java" => Ok(Language::BeanShell),
                "javascript" | "ecmascript" | "js" | "nashorn" | "rhino" => {
                    Ok(Language::JavaScript)
                }
                "jexl" | "jexl2" | "jexl3" => Ok(Language::Jexl),
                other => Err(format!("the language `{other}`")),
            },
        };
        reader.given(file, "a script in a file");
        reader.given(parameters, "parameters of its script");
        let is_compiled_once = passed == "cacheKey"
            && class != "BSFSampler"
            && matches!(language, Ok(Language::Groovy | Language::Jexl))
            && reader.source(passed) != "false";
        reader.pass(&[passed]);
        let source = reader.source(script).to_owned();
        reader.finish();
        let (read, settings) = self.with_settings(|| {
            language.and_then(|language| self.read_script(id, &source, language, place))
        });
        let (mut scripted, values) = read.map_err(|what| self.obstacle(id, what)).ok()?;
        scripted.before.splice(0..0, settings);
        if is_compiled_once && values.iter().any(|value| scripted.outcome.uses(value)) {
            self.obstacle(id, "a variable in a script that is compiled once");
        }
        Some(scripted)
    }

    /// A script, and the values that the run puts into it.
    fn read_script(
        &self,
        id: ElementId,
        source: &str,
        language: Language,
        place: Place,
    ) -> Result<(Scripted, Vec<String>), String> {
        let text =
            Text::parse(source, &functions::is_function).unwrap_or_else(|_| Text::literal(source));
        let (mut pieces, mut before, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for part in &text.parts {
            let piece = match part {
                Part::Literal(text) => TextPiece::Text(text.clone()),
                Part::Variable(name) => self.variable(name)?,
                Part::Call(call) => match self.deed(id, call)? {
                    Some(deed) => {
                        before.push(deed);
                        continue;
                    }
                    None => self.call(call)?,
                },
            };
            values.extend(match &piece {
                TextPiece::Expr(value) => Some(value.clone()),
                TextPiece::Text(_) => None,
            });
            pieces.push(piece);
        }
        let outcome = script::run(&pieces, language, place, self)?;
        Ok((Scripted { before, outcome }, values))
    }

    /// What a call does that is made for what it does, and gives nothing that a script would see.
    ///
    /// # Errors
    /// What of it has no equal.
    fn deed(&self, id: ElementId, call: &Call) -> Result<Option<StepKind>, String> {
        if !matches!(call.name.as_str(), "__setProperty" | "__StringToFile") {
            return Ok(None);
        }
        let parameters = call.parameters.iter().map(|own| self.parameter(own));
        let parameters = parameters.collect::<Result<Vec<_>, _>>()?;
        let unknown = || format!("the function `{}`, as it is used there", call.name);
        self.done_by(id, &call.name, &parameters).ok_or_else(unknown).map(Some)
    }

    /// What a function does that is called for that alone; `None` if it has no equal.
    pub(super) fn done_by(
        &self,
        id: ElementId,
        function: &str,
        parameters: &[Vec<TextPiece>],
    ) -> Option<StepKind> {
        let [first, second, rest @ ..] = parameters else { return None };
        let rest: Option<Vec<&str>> = rest.iter().map(|rest| literal(rest)).collect();
        let rest: Vec<String> =
            rest?.into_iter().map(|text| text.trim().to_ascii_lowercase()).collect();
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        match (function, rest.as_slice()) {
            // Only for `true` there is more to it.
            ("__setProperty", [] | [_]) if rest.first() != Some(&"true") => {
                self.set_shared(id, literal(first)?.trim(), &expression(second))
            }
            ("__StringToFile", [] | [_] | [_, "" | "utf-8"]) => {
                // A `\n` is the end of a line.
                let text = second.iter().cloned().map(|piece| match piece {
                    TextPiece::Text(text) => TextPiece::Text(text.replace("\\n", "\n")),
                    value => value,
                });
                let append = rest.first().is_none_or(|flag| matches!(*flag, "" | "true"));
                let text = self.template_of(id, &text.collect::<Vec<_>>());
                let file = Template::text(literal(first)?.trim());
                Some(StepKind::Write(Box::new(Write { file, text, append })))
            }
            _ => None,
        }
    }

    /// What the scripts do that come before a sample.
    pub(super) fn script_before(&self, id: ElementId) -> Vec<StepKind> {
        let Some(scripted) = self.scripted(id, Place::Before) else { return Vec::new() };
        self.script_steps(id, &scripted, &|_| None)
    }

    /// What the scripts do that come after a sample, and what they say of it. What they look at is kept by the request.
    pub(super) fn scripts_after(&self, held: &Scope, request: &mut Request) -> Vec<StepKind> {
        let mut steps = Vec::new();
        let both = [(&held.post_processors, Place::After), (&held.assertions, Place::Assertion)];
        for (elements, place) in both {
            for (index, id) in elements.iter().enumerate() {
                if properties_of(self.class(*id)).is_none() {
                    continue;
                }
                let Some(scripted) = self.scripted(*id, place) else { continue };
                let earlier = self.earlier(*id, &elements[index + 1..], &scripted, request);
                self.judge_by(*id, &scripted.outcome, request);
                let used: Vec<&(&str, &str, Extractor)> =
                    FACTS.iter().filter(|(fact, ..)| scripted.outcome.acts_on(fact)).collect();
                let other = |name: &str| {
                    let fact = FACTS.iter().find(|(fact, ..)| *fact == name);
                    let kept = fact.map(|(_, variable, _)| (*variable).to_owned());
                    kept.or_else(|| earlier.get(name).cloned())
                };
                let done = self.script_steps(*id, &scripted, &other);
                for (_, variable, from) in &used {
                    self.keep(variable, from, request);
                }
                let known = used.iter().map(|(_, variable, _)| format!("{variable} != null"));
                let known: Vec<String> = known.collect();
                match known.join(" && ") {
                    always if always.is_empty() => steps.extend(done),
                    // Where there was no response nothing is done.
                    known => steps.extend(self.only_if(
                        *id,
                        &known,
                        done.into_iter().map(step).collect(),
                    )),
                }
            }
        }
        steps
    }

    /// Extractors go first here: what a script sees of a variable that a later one sets is kept before them, under a
    /// name of its own. Those names, by the variables.
    fn earlier(
        &self,
        id: ElementId,
        later: &[ElementId],
        scripted: &Scripted,
        request: &mut Request,
    ) -> BTreeMap<String, String> {
        let outcome = &scripted.outcome;
        let names = later.iter().flat_map(|id| super::names::set_by(self.tree.element(*id)));
        let mut kept = BTreeMap::new();
        for name in names {
            let groups = self.names.groups_of(&name).map(|(_, group)| self.names.variable(group));
            let beside = groups.chain([self.names.matches(&name)]).flatten();
            let is_beside = { beside }.any(|variable| outcome.acts_on(variable));
            let Some(variable) = self.names.variable(&name) else { continue };
            let is_set = outcome.variables.iter().any(|(own, _)| *own == name);
            if is_set || is_beside || outcome.judges_by(variable) {
                self.obstacle(id, format!("`{name}`, which an extractor after it sets"));
            } else if outcome.acts_on(variable) {
                let value = self.held("value", id, kept.len());
                request.extract.insert(0, self.as_it_is(id, variable, &value));
                kept.insert(variable.to_owned(), value);
            }
        }
        kept
    }

    /// An extract that keeps what a variable holds by then.
    fn as_it_is(&self, id: ElementId, variable: &str, kept: &str) -> Extract {
        Extract {
            variable: Spanned::new(kept.to_owned(), Span::default()),
            from: super::search::everything(),
            of: Some(self.template_of(id, &[TextPiece::Expr(variable.to_owned())])),
            ..Extract::default()
        }
    }

    /// Keeps a fact about the response for the steps after the request.
    pub(super) fn keep(&self, variable: &str, from: &Extractor, request: &mut Request) {
        self.hold(variable);
        if request.extract.iter().all(|own| own.variable.value != variable) {
            request.extract.push(Extract {
                variable: Spanned::new(variable.to_owned(), Span::default()),
                from: from.clone(),
                ..Extract::default()
            });
        }
    }

    /// What makes hidden variables that keep facts about a response those of the next one.
    pub(super) fn before_facts(request: &Request) -> Option<StepKind> {
        let own = request.extract.iter().map(|extract| extract.variable.value.as_str());
        let is_fact = |name: &&str| FACTS.iter().any(|(_, variable, _)| variable == name);
        let facts = own.filter(|name| is_fact(name) || *name == LEADS_TO);
        let null = |name: &str| (Spanned::new(name.to_owned(), Span::default()), Json::Null);
        let values: Vec<_> = facts.map(null).collect();
        (!values.is_empty()).then_some(StepKind::Set(values))
    }

    /// The checks that follow from what a script says of a sample.
    fn judge_by(&self, id: ElementId, outcome: &ScriptOutcome, request: &mut Request) {
        if outcome.is_ignored {
            request.counted = Some(false);
        }
        let failed = outcome.failed.as_ref().map(|failed| format!("!({failed})"));
        for source in [failed, outcome.ok.clone()].into_iter().flatten() {
            let is_kept = |at| {
                super::script::renamed(&source, &|name| {
                    (name == format!("kept_{at}")).then(String::new)
                }) != source
            };
            if (0..outcome.kept.len()).any(is_kept) {
                self.obstacle(
                    id,
                    "a value that is not the same each time, of which it makes the result",
                );
            }
            let name = Some(self.tree.element(id).name.clone()).filter(|name| !name.is_empty());
            self.check(id, &source, Check { name, ..untold() }, request);
        }
        if outcome.ok.is_some() {
            request.http.status_errors = Some(false);
        }
    }

    /// What a script does, as steps, with other names for some in its expressions.
    pub(super) fn script_steps(
        &self,
        id: ElementId,
        scripted: &Scripted,
        other: &dyn Fn(&str) -> Option<String>,
    ) -> Vec<StepKind> {
        let Scripted { before, outcome } = scripted;
        let kept = |at: usize| self.kept_by(id, at);
        let other = |name: &str| match name.strip_prefix("kept_").map(str::parse) {
            Some(Ok(at)) => Some(kept(at)),
            _ => other(name),
        };
        let own = |source: &str| renamed(source, &other);
        let mut steps = before.clone();
        for (at, source) in outcome.kept.iter().enumerate() {
            self.hold(&kept(at));
            steps.push(self.set(id, &kept(at), &own(source)));
        }
        let (stops, others): (Vec<&Effect>, Vec<&Effect>) =
            outcome.effects.iter().partition(|effect| matches!(effect.does, Does::Stop(_)));
        steps.extend(others.into_iter().flat_map(|effect| self.effect(id, effect, &own)));
        let values = outcome.variables.iter().filter_map(|(name, value)| {
            let variable = self.names.variable(name)?;
            let value = Script { source: own(&value.source), ..value.clone() };
            Some((variable.to_owned(), or_unset(name, &value)))
        });
        let values = values.collect();
        steps.extend(self.set_at_once(id, values, outcome.kept.len()));
        for (name, value) in &outcome.properties {
            steps.extend(self.set_shared(id, name, &own(&value.source)));
        }
        steps.extend(stops.into_iter().flat_map(|effect| self.effect(id, effect, &own)));
        steps
    }

    /// Gives a property its value.
    fn set_shared(&self, id: ElementId, name: &str, source: &str) -> Option<StepKind> {
        Some(self.set(id, self.names.property(name)?, source))
    }

    /// The hidden variable of a value that a script keeps, by its place.
    fn kept_by(&self, id: ElementId, at: usize) -> String {
        self.names.hidden_of("script", id, at)
    }

    /// Gives variables their values, none of which sees another's new one; `behind`: how many values the script keeps
    /// besides.
    fn set_at_once(
        &self,
        id: ElementId,
        values: Vec<(String, String)>,
        behind: usize,
    ) -> Vec<StepKind> {
        let changed = values.iter().filter(|(variable, source)| variable != source);
        let changed: Vec<&(String, String)> = changed.collect();
        let sees = |source: &str, variable: &str| {
            renamed(source, &|name| (name == variable).then(String::new)) != source
        };
        let mut steps = Vec::new();
        let mut last = Vec::new();
        for (index, (variable, source)) in changed.iter().enumerate() {
            let is_seen = changed[index + 1..].iter().any(|(_, later)| sees(later, variable));
            if is_seen {
                let kept = self.held("script", id, behind + index);
                steps.push(self.set(id, &kept, source));
                last.push(self.set(id, variable, &kept));
            } else {
                steps.push(self.set(id, variable, source));
            }
        }
        steps.extend(last);
        steps
    }

    /// Something that a script does, on its condition.
    fn effect(
        &self,
        id: ElementId,
        effect: &Effect,
        own: &dyn Fn(&str) -> String,
    ) -> Vec<StepKind> {
        let kind = match &effect.does {
            Does::Log(text) => StepKind::Log(self.template_of(id, &[TextPiece::Expr(own(text))])),
            Does::Wait(time) => {
                let time = [TextPiece::Expr(own(time)), TextPiece::Text("ms".to_owned())];
                StepKind::Think(Thinking::OfUser(self.template_of(id, &time)))
            }
            Does::Stop(scope) => StepKind::Stop(match scope {
                squall_plan::model::StopScope::Pass | squall_plan::model::StopScope::Loop => {
                    self.end_of(id, *scope)
                }
                other => *other,
            }),
        };
        match effect.condition.as_str() {
            "" => vec![kind],
            condition => self.only_if(id, &own(condition), vec![step(kind)]),
        }
    }

    /// A sampler that is a script.
    pub(super) fn script_sample(&self, id: ElementId, held: &Scope) -> Vec<StepKind> {
        let Some(mut scripted) = self.scripted(id, Place::Sampler) else { return Vec::new() };
        // A name is made of what its functions give, and before the script does anything.
        let mut before = match scripted.outcome.label {
            Some(_) => std::mem::take(&mut scripted.before),
            None => Vec::new(),
        };
        let steps = self.script_steps(id, &scripted, &|_| None);
        let outcome = &scripted.outcome;
        let is_kept = |name: &str| name.starts_with("kept_").then(String::new);
        let names_itself = |label: &Script| renamed(&label.source, &is_kept) != label.source;
        if outcome.label.as_ref().is_some_and(names_itself) {
            self.obstacle(id, "a name that is not the same each time");
        }
        if outcome.is_ignored {
            // What would look at it does not.
            before.extend(steps);
            return before;
        }
        let kept = |source: &str| {
            let other =
                |name: &str| Some(self.kept_by(id, name.strip_prefix("kept_")?.parse().ok()?));
            renamed(source, &other)
        };
        let text = match &outcome.data {
            None | Some(Script { kind: Kind::Null, .. }) => quoted(""),
            Some(data) => kept(&data.text()),
        };
        let said = |own: &Option<Script>| {
            own.as_ref().map(|own| match super::condition::known(&own.source) {
                Some(text) if own.kind != Kind::Null => vec![TextPiece::Text(text)],
                _ => vec![TextPiece::Expr(kept(&own.text()))],
            })
        };
        let mut made = Made::of(vec![TextPiece::Expr(text)]);
        (made.name, made.steps) = (said(&outcome.label), steps);
        made.code = said(&outcome.code).unwrap_or(made.code);
        made.message = said(&outcome.message).unwrap_or(made.message);
        made.ok = outcome.ok.as_deref().map_or(made.ok, kept);
        // It is the text of the script.
        made.unknown = SENT.to_vec();
        before.extend(self.made(id, made, held));
        before
    }
}

/// A value as what a variable holds: its own name where it has none.
fn or_unset(name: &str, value: &Script) -> String {
    let unset = quoted(&format!("${{{name}}}"));
    match value.kind {
        Kind::Null => unset,
        Kind::MaybeText => format!("({} == null ? {unset} : {})", value.source, value.source),
        _ => value.source.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::names_in;

    #[test]
    fn names_are_found_that_calls_begin_with() {
        let script = "vars.put( \"a\", x); vars.put('b', vars.get(\"c\")); vars.put(d, \"e\"); vars.put(\"${f}\", 1)";
        assert_eq!(names_in(script, "vars", "put").collect::<Vec<_>>(), ["a", "b"]);
    }
}
