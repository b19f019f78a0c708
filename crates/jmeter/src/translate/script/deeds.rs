//! What the calls do that stand in a script as statements: they set variables and properties, write to the log, wait, end
//! something, or say what a sample came to.

use squall_plan::model::StopScope;

use super::outcome::{Does, Effect};
use super::value::{Kind, Script};
use super::{Parser, Place, Token, said};
use crate::translate::texts::{self, quoted};

type Result<T> = std::result::Result<T, String>;

impl Parser<'_> {
    fn does(&mut self, conditions: &[String], does: Does) {
        let condition = conditions.join(" && ");
        self.state.effects.push(Effect { condition, does });
    }

    /// What a call does, behind its name.
    pub(super) fn called(
        &mut self,
        owner: &str,
        method: &str,
        is_open: bool,
        conditions: &[String],
    ) -> Result<()> {
        let of_sample = matches!(owner, "prev" | "SampleResult");
        if is_log(owner, method) {
            let arguments = match is_open {
                true => self.arguments()?,
                false => vec![self.expression()?],
            };
            return self.log(method, &arguments, conditions);
        }
        match (owner, method) {
            ("vars", "put" | "remove") => {
                let (name, value) = self.name_and_value(method == "put")?;
                let value = self.text_to_put(value)?;
                let value = self.kept(value, conditions);
                self.state.variables.insert(name, value);
            }
            ("props", "put" | "setProperty") | ("JMeterUtils", "setProperty") => {
                let (name, value) = self.name_and_value(true)?;
                let value = self.text_to_put(value)?;
                let value = self.kept(value, conditions);
                self.state.properties.insert(name, value);
            }
            ("ctx", "setTestLogicalAction") | ("prev" | "SampleResult", "setTestLogicalAction") => {
                let scope = self.logical_action()?;
                self.does(conditions, Does::Stop(scope));
            }
            ("Thread", "sleep") => {
                let [time] =
                    self.arguments()?.try_into().map_err(|_| "`Thread.sleep`".to_owned())?;
                self.does(conditions, Does::Wait(format!("int({})", time.number())));
            }
            ("StandardJMeterEngine", "stopThread") => {
                self.passed_by()?;
                self.does(conditions, Does::Stop(StopScope::User));
            }
            ("AssertionResult", _) if self.place == Place::Assertion => self.assert(method)?,
            _ if of_sample && self.place != Place::Before => self.change(method, conditions)?,
            _ => {
                let shown =
                    if owner.is_empty() { method.to_owned() } else { format!("{owner}.{method}") };
                return Err(format!("`{shown}`"));
            }
        }
        Ok(())
    }

    /// Arguments that are passed by, up to their `)`.
    fn passed_by(&mut self) -> Result<()> {
        let mut open = 1;
        while open > 0 {
            match self.take() {
                Token::Sign("(") => open += 1,
                Token::Sign(")") => open -= 1,
                Token::End => return Err(said(&Token::End)),
                _ => {}
            }
        }
        Ok(())
    }

    /// A name that is written there, and a value.
    fn name_and_value(&mut self, has_value: bool) -> Result<(String, Script)> {
        let Token::Text(pieces, _) = self.take() else {
            return Err("a name that the script makes".to_owned());
        };
        let name = texts::literal(&pieces).ok_or("a name that the run makes")?.to_owned();
        let value = match has_value {
            true => {
                self.expect(",")?;
                self.expression()?
            }
            false => Script::new(Kind::Null, "null"),
        };
        self.expect(")")?;
        Ok((name, value))
    }

    /// A value as the text that a variable holds.
    fn text_to_put(&self, value: Script) -> Result<Script> {
        match value.kind {
            Kind::Text | Kind::MaybeText | Kind::Null => Ok(value),
            Kind::Json | Kind::Any => {
                Ok(Script::new(Kind::Text, format!("string({})", value.source)))
            }
            // Java refuses it.
            _ => Err("a value other than a text".to_owned()),
        }
    }

    fn log(&mut self, level: &str, arguments: &[Script], conditions: &[String]) -> Result<()> {
        if matches!(level, "debug" | "trace") {
            return Ok(());
        }
        let shown = |value: &Script| match value.kind {
            Kind::Text => value.source.clone(),
            Kind::Date | Kind::Random | Kind::Slurper => quoted("an object"),
            _ => format!("({} == null ? \"null\" : string({}))", value.source, value.source),
        };
        let Some((first, rest)) = arguments.split_first() else { return Ok(()) };
        let mut text = shown(first);
        // Each `{}` is the next of them.
        for value in rest {
            let Some((before, behind)) = text.split_once("{}") else { break };
            text = format!("{before}\" + {} + \"{behind}", shown(value));
        }
        self.does(conditions, Does::Log(text));
        Ok(())
    }

    /// `START_NEXT_ITERATION_OF_CURRENT_LOOP` and the like, behind the names around it.
    fn logical_action(&mut self) -> Result<StopScope> {
        let mut last = String::new();
        loop {
            match self.take() {
                Token::Name(name) => last = name,
                Token::Sign(".") => {}
                Token::Sign(")") => break,
                other => return Err(said(&other)),
            }
        }
        Ok(match last.as_str() {
            "START_NEXT_ITERATION_OF_THREAD" => StopScope::Iteration,
            "START_NEXT_ITERATION_OF_CURRENT_LOOP" => StopScope::Pass,
            "BREAK_CURRENT_LOOP" => StopScope::Loop,
            _ => return Err(format!("`{last}`")),
        })
    }

    fn assert(&mut self, method: &str) -> Result<()> {
        let arguments = self.arguments()?;
        match (method, arguments.as_slice()) {
            ("setFailure" | "setError", [is]) => {
                self.state.failed = is.truth(self.language)?.source;
                Ok(())
            }
            ("setFailureMessage", [_]) => Ok(()),
            _ => Err(format!("`AssertionResult.{method}`")),
        }
    }

    /// What a script makes of a sample.
    fn change(&mut self, method: &str, conditions: &[String]) -> Result<()> {
        let arguments = self.arguments()?;
        let is_own = self.place == Place::Sampler;
        let unknown = || Err(format!("the method `{method}` of the sample"));
        match (method, arguments.as_slice()) {
            ("setSuccessful", [is]) => self.state.ok = is.truth(self.language)?.source,
            ("setResponseOK" | "setResponseCodeOK", []) => self.state.ok = "true".to_owned(),
            ("setIgnore", []) => self.state.is_ignored = true,
            ("setResponseCode", [code]) if is_own => self.state.code = Some(code.clone()),
            ("setResponseData", [data] | [data, _]) if is_own && data.is_text() => {
                self.state.data = Some(data.clone());
            }
            ("setSampleLabel", [label]) if is_own && label.is_text() => {
                self.state.label = Some(label.clone());
            }
            ("setResponseMessage", [message]) if is_own => {
                self.state.message = Some(message.clone());
            }
            // What only those see who look at the sample.
            ("setResponseMessage", [_]) => {}
            ("setSamplerData" | "setSentBytes" | "setDataType" | "setContentType", [_])
                if is_own => {}
            ("setDataEncoding", [name]) if name.source.eq_ignore_ascii_case("\"UTF-8\"") => {}
            ("setStopThread" | "setStopTest" | "setStopTestNow", [is]) => {
                let scope = match method {
                    "setStopThread" => StopScope::User,
                    "setStopTest" => StopScope::Run,
                    _ => StopScope::RunNow,
                };
                match is.source.as_str() {
                    "true" => self.does(conditions, Does::Stop(scope)),
                    "false" => {}
                    _ => return unknown(),
                }
            }
            _ => return unknown(),
        }
        Ok(())
    }
}

/// Whether a call writes something for people.
pub(super) fn is_log(owner: &str, method: &str) -> bool {
    match owner {
        "log" => matches!(method, "info" | "warn" | "error" | "debug" | "trace"),
        "" | "System.out" | "OUT" => matches!(method, "print" | "println"),
        _ => false,
    }
}
