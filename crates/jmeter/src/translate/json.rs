//! Extractors and assertions by JSON paths: those of JMeter, and those of the plug-in that was there before them.

use squall_plan::model::{Check, Extractor, Json, Match, Request, StepKind};

use super::Translator;
use super::extractor::{Taken, Wanted, spanned};
use super::json_path::{JsonPath, json_path};
use super::looks::Looks;
use super::texts::{TextPiece, expression, merged, quoted};
use super::told::{Told, known};
use super::verdicts::{self, Expected};
use crate::tree::ElementId;

/// The extractor of the plug-in.
pub(super) const JSON_PATH_EXTRACTOR: &str =
    "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor";
/// The assertion of the plug-in.
pub(super) const JSON_PATH_ASSERTION: &str =
    "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion";

/// A value, and one of a list, in expressions.
const WHOLE: &str = "each_4";
const ONE: &str = "each_5";

impl Translator<'_> {
    pub(super) fn by_json_paths(&self, id: ElementId, request: &Request) -> Option<Taken> {
        let reader = self.read(id);
        let names: Vec<&str> = split(reader.source("JSONPostProcessor.referenceNames"));
        let paths = reader.constant("JSONPostProcessor.jsonPathExprs").unwrap_or_default();
        let paths: Vec<&str> = split(&paths);
        let defaults: Vec<&str> = split(reader.source("JSONPostProcessor.defaultValues"));
        let numbers = reader.constant("JSONPostProcessor.match_numbers").unwrap_or_default();
        let numbers: Vec<&str> = split(&numbers).into_iter().map(str::trim).collect();
        // It makes another variable of all matches, where it is used.
        reader.pass(&["JSONPostProcessor.compute_concat"]);
        let is_blank = numbers == [""];
        let is_one = numbers.iter().all(|number| matches!(*number, "0" | "1"));
        let looks = &self.looks(&reader, request, if is_one || is_blank { 1 } else { -1 });
        reader.finish();
        if names.len() != paths.len()
            || names.len() != defaults.len()
            || !is_blank && names.len() != numbers.len()
        {
            self.obstacle(id, "lists of different lengths");
            return None;
        }
        let mut all = Taken::default();
        for (index, ((name, path), default)) in names.iter().zip(&paths).zip(&defaults).enumerate()
        {
            let number = if is_blank { "0" } else { numbers[index] };
            let Ok(which) = number.parse::<i64>() else {
                self.obstacle(id, format!("the match number `{number}`"));
                continue;
            };
            let path = match json_path(path.trim()) {
                Ok(path) => path,
                Err(what) => {
                    self.obstacle(id, what);
                    continue;
                }
            };
            let name = name.trim();
            if path.function.is_some() {
                // JMeter asks for a list, which JsonPath then refuses to make.
                all.after.extend(self.only_default(id, name, default));
                continue;
            }
            let path = Extractor::Json(spanned(path.path));
            let wanted = Wanted { name, which, default: Some(default), default_first: false };
            let Some(taken) = self.take(looks, &wanted, path.clone()) else { continue };
            all.extracts.extend(taken.extracts);
            all.after.extend(taken.after);
            if let Some(found) = self.names.matches(name).filter(|_| which < 0) {
                // The default is that of each match that is null.
                let default = expression(&self.pieces(id, default));
                let given = format!("{found}.map({ONE}, {ONE} == null ? {default} : {ONE})");
                all.after.push(self.set(id, found, &given));
            }
            // How many there are is known of one match, too.
            if let Some(found) = self.names.matches(name).filter(|_| which >= 0) {
                let none = Json::List(Vec::new());
                all.extracts.push(self.one(looks, found, Match::All, path, none));
                let counted = format!("{found}.map(one, null)");
                all.after.push(self.set(id, found, &counted));
            }
        }
        Some(all)
    }

    /// The default, whatever the response is.
    fn only_default(&self, id: ElementId, name: &str, default: &str) -> Option<StepKind> {
        let variable = self.names.variable(name)?;
        Some(self.set(id, variable, &expression(&self.pieces(id, default))))
    }

    /// What the plug-in's extractor sets: a variable with all that was found, and, of a list, one for each element.
    pub(super) fn by_plugin_path(&self, id: ElementId) -> Option<Taken> {
        let reader = self.read(id);
        let name = reader.source("VAR");
        let path = reader.constant("JSONPATH")?;
        let default = reader.source("DEFAULT");
        let format = reader.source("INPUT_FORMAT");
        let source = reader.source("VARIABLE");
        let of = match reader.source("SUBJECT") {
            "VAR" => Some(self.text_of_variable(id, source)?),
            _ => None,
        };
        reader.finish();
        if !matches!(format, "" | "JSON") {
            self.obstacle(id, format!("the format {format}"));
        }
        let looks = Looks { element: id, redirects: false, resources: false, of };
        let path = json_path(path.trim()).map_err(|what| self.obstacle(id, what)).ok()?;
        let Some(variable) = self.names.variable(name).filter(|_| !name.contains("${")) else {
            self.obstacle(id, format!("`{name}` as the name of a variable"));
            return None;
        };
        let found = self.held("value", id, 0);
        let from = Extractor::Json(spanned(path.path.clone()));
        let mut taken = Taken::default();
        let none = Json::List(Vec::new());
        taken.extracts.push(self.one(&looks, &found, Match::All, from, none));
        // What JsonPath gives back, in a list; nothing if it finds nothing.
        let result = self.result(id, &path, &found, None)?;
        taken.after.push(self.set(id, &found, &result));
        let default = expression(&self.pieces(id, default));
        let is_nothing = format!("{found} == [] || {found}[0] == []");
        if let Some(matches) = self.names.matches(name) {
            let is_list = format!("list({found}[0]) == {found}[0]");
            let value = format!("{is_nothing} ? [] : ({is_list} ? {found}[0] : {matches})");
            taken.after.push(self.set(id, matches, &value));
        }
        let text = text_of(&format!("{found}[0]"));
        let value = format!("{is_nothing} ? {default} : {text}");
        taken.after.push(self.set(id, variable, &value));
        Some(taken)
    }

    /// What JsonPath makes of all that a path leads to: a list of one value, or of none if it fails. `inner`: all that is
    /// in what it leads to.
    fn result(
        &self,
        id: ElementId,
        path: &JsonPath,
        all: &str,
        inner: Option<&str>,
    ) -> Option<String> {
        match (path.function.as_deref(), inner) {
            (None, _) if path.is_definite => Some(all.to_owned()),
            (None, _) => Some(format!("[{all}]")),
            (Some("length" | "size"), Some(inner)) if path.is_definite => {
                Some(format!("{all}.map({ONE}, size({inner}))"))
            }
            (Some(function), _) => {
                self.obstacle(id, format!("the function `{function}` of a JSONPath"));
                None
            }
        }
    }

    /// A value at a JSON path, or an element of the list that is there.
    pub(super) fn json_path(
        &self,
        id: ElementId,
        request: &Request,
        looks: &mut Check,
    ) -> Vec<Told> {
        let reader = self.read(id);
        *looks = self.asserts_of_one(&reader, request);
        let source = reader.constant("JSON_PATH").unwrap_or_default();
        let expected = self.expected(id, &reader);
        let compares = reader.flag("JSONVALIDATION", false);
        let expects_null = reader.flag("EXPECT_NULL", false);
        let is_negated = reader.flag("INVERT", false);
        reader.finish();
        if source.trim().is_empty() && !is_negated {
            // JMeter says that it has none, whatever the response is.
            return vec![("false".to_owned(), None)];
        }
        let Ok(path) = json_path(source.trim()).map_err(|what| self.obstacle(id, what)) else {
            return Vec::new();
        };
        let all = format!("json_all({})", quoted(&path.path));
        let inner = format!("json_all({})", quoted(&format!("{}[*]", path.path)));
        let Some(result) = self.result(id, &path, &all, Some(&inner)) else { return Vec::new() };
        let test = if compares {
            let is_null = |value: &str| match expects_null {
                true => format!("{value} == null || "),
                false => String::new(),
            };
            let test = |value: &str| {
                let test = self.is_as_expected(id, &text_of(value), &expected)?;
                Some(format!("{}{test}", is_null(value)))
            };
            // Of a list that is found any element may be the one.
            test(ONE).zip(test(WHOLE)).map(|(one, whole)| {
                format!("{result}.exists({WHOLE}, list({WHOLE}).exists({ONE}, {one}) || {whole})")
            })
        } else if self.class(id) == JSON_PATH_ASSERTION && !path.is_definite {
            // That there are none is no failure to the plug-in.
            Some("is_json()".to_owned())
        } else {
            Some(format!("{all} != []"))
        };
        let test = test.map(|test| if is_negated { verdicts::unless(&test) } else { test });
        let wanted = match (compares, expects_null) {
            (false, _) => Wish::Exists,
            (true, true) => Wish::Null,
            (true, false) => Wish::Is(&expected),
        };
        let words = match is_negated {
            true => wanted.not_refused(&source),
            false => wanted.not_met(&source, &path, &result),
        };
        test.into_iter().map(|test| (test, self.words_of("body", &words))).collect()
    }
}

/// What is expected of a JSON value.
enum Wish<'e> {
    /// That there is any.
    Exists,
    /// That it is null.
    Null,
    /// That it is this.
    Is(&'e Expected),
}

impl Wish<'_> {
    /// What is said where it is as expected, and should not be.
    fn not_refused(&self, source: &str) -> Vec<TextPiece> {
        match self {
            Wish::Exists => known(format!("Failed that JSONPath not exists: {source}")),
            Wish::Null => known(format!("Failed that JSONPath {source} not matches null")),
            Wish::Is(expected) => {
                let begin = known(format!("Failed that JSONPath {source} not matches "));
                merged([begin, expected.pieces.clone()].concat())
            }
        }
    }

    /// What is said where it is not as expected. `all`: an expression of the values that the path leads to.
    fn not_met(&self, source: &str, path: &JsonPath, all: &str) -> Vec<TextPiece> {
        let none = quoted(&format!("No results for path: {}", path.path));
        let value = match path.is_definite {
            true => text_of(&format!("{all}[0]")),
            false => format!("json_encode({all})"),
        };
        let mut words = match self {
            Wish::Exists if path.is_definite => return vec![TextPiece::Expr(none)],
            Wish::Exists => {
                return known(format!(
                    "JSONPath '{source}' is indefinite and the extracted Value is an empty Array. Please use an \
                     assertion value, to be sure to get a correct result. Expected value was ''"
                ));
            }
            Wish::Null => {
                known(format!("Value in json path '{source}' expected to be null, but found '"))
            }
            Wish::Is(Expected { pieces, is_pattern }) => {
                let (how, but) = match is_pattern {
                    true => ("match regexp", "it did not match: "),
                    false => ("be", "found "),
                };
                let begin = known(format!("Value in json path '{source}' expected to {how} '"));
                merged([begin, pieces.clone(), known(format!("', but {but}'"))].concat())
            }
        };
        words.extend([TextPiece::Expr(value), TextPiece::Text("'".to_owned())]);
        if !path.is_definite {
            return words;
        }
        vec![TextPiece::Expr(format!("{all} == [] ? {none} : {}", expression(&words)))]
    }
}

/// A value as a text.
fn text_of(value: &str) -> String {
    format!("({value} == null ? \"null\" : string({value}))")
}

/// A list as JMeter 5.6.3 splits it: without what is empty at its end.
fn split(text: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = text.split(';').collect();
    while parts.len() > 1 && parts.last() == Some(&"") {
        parts.pop();
    }
    parts
}
