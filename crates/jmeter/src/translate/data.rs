//! What gives variables new values with each iteration: CSV data, counters, random variables, user parameters.
//! Data sources of the plan go on by themselves where they stand directly in a thread group, and by a step where a
//! controller's iterations are meant, or several elements go through one file together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use squall_plan::model::{Advance, AtEnd, Csv, DataFormat, DataSource, Json, Share, StepKind};
use squall_plan::span::{Span, Spanned};

use super::Translator;
use super::texts::{TextPiece, expression};
use crate::constants::Constants;
use crate::elements::Role;
use crate::properties::PropertyValue;
use crate::scope::{self, Scope};
use crate::tree::{ElementId, Tree};

/// Encodings that Java and the WHATWG Encoding Standard call by the same name, and in which what is ASCII stays so.
const CHARSETS: [&str; 18] = [
    "gb2312",
    "gbk",
    "gb18030",
    "big5",
    "shift_jis",
    "euc-jp",
    "euc-kr",
    "iso-8859-1",
    "iso-8859-2",
    "iso-8859-5",
    "iso-8859-7",
    "iso-8859-9",
    "iso-8859-15",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "koi8-r",
    "koi8-u",
];

/// Between fields where a row is one: the unit separator, which no text has.
pub(super) const NO_DELIMITER: u8 = 0x1f;

/// The data of a plan.
#[derive(Debug, Default)]
pub(super) struct Data {
    pub(super) sources: Vec<DataSource>,
    /// The source of each element that has one.
    of: BTreeMap<ElementId, usize>,
    /// The elements that each thread group or controller begins an iteration with; those of `None` stand under the
    /// test plan, and begin those of each thread group.
    starts: BTreeMap<Option<ElementId>, Vec<ElementId>>,
}

/// The variables of each CSV element, in the order of its columns; or why they are not known.
pub(super) type Columns = BTreeMap<ElementId, Result<Vec<String>, String>>;

/// The variables of all CSV elements that take part.
pub(super) fn columns(tree: &Tree, constants: &Constants, folder: &Path) -> Columns {
    let sets = |(id, class): (ElementId, &str)| class == "CSVDataSet" && tree.takes_part(id);
    let all = tree.iter().map(|(id, element)| (id, element.class.as_str()));
    all.filter(|found| sets(*found))
        .map(|(id, _)| (id, columns_of(tree, id, constants, folder)))
        .collect()
}

fn columns_of(
    tree: &Tree,
    id: ElementId,
    constants: &Constants,
    folder: &Path,
) -> Result<Vec<String>, String> {
    let text = |name| tree.element(id).properties.text(name).unwrap_or_default();
    let known = |name| {
        let value = constants.of_source(text(name));
        value.ok_or_else(|| format!("`{}` as {name}", text(name)))
    };
    let names = known("variableNames")?;
    let split =
        |names: &str, by: char| names.split(by).map(|name| name.trim().to_owned()).collect();
    if !names.is_empty() {
        return Ok(split(&names, ','));
    }
    let name = known("filename")?;
    let file = file_of(&name, folder);
    if !file.exists() {
        // The file of a plan's data has to be there, which is looked at for all of them when the plan is compiled.
        return Ok(Vec::new());
    }
    let line = squall_plan::files::first_line(&file)
        .map_err(|error| format!("names in the first line of `{name}`: {error}"))?;
    let delimiter = delimiter(&known("delimiter")?)?;
    if line.contains('"') {
        return Err("quotes in the first line, which has the names".to_owned());
    }
    Ok(split(line.trim_start_matches('\u{feff}'), char::from(delimiter)))
}

/// A file of the plan's.
pub(super) fn file_of(name: &str, folder: &Path) -> PathBuf {
    // A name that begins at the root stays as it is.
    folder.join(name.trim())
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [] => Ok(b','),
        br"\t" => Ok(b'\t'),
        [byte @ 0..=127] if !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ => Err(format!("`{text}` as delimiter")),
    }
}

impl Translator<'_> {
    /// Sets the data of the plan: its sources, and what each iteration begins with.
    pub(super) fn find_data(&mut self) {
        let mut data = Data::default();
        // The source of each file, by who shares it, with the elements that go through it.
        let mut files: BTreeMap<(PathBuf, String), Vec<ElementId>> = BTreeMap::new();
        let tree = self.tree;
        for (id, element) in tree.iter().filter(|(id, _)| tree.takes_part(*id)) {
            match element.class.as_str() {
                "CSVDataSet" => {
                    let Some((source, mode)) = self.csv(id) else { continue };
                    let of_file = files.entry((source.file.value.clone(), mode)).or_default();
                    match of_file.first().and_then(|first| data.of.get(first)).copied() {
                        Some(same) => {
                            if !merge(&mut data.sources[same], &source) {
                                let what = "another form than an element before it for one file";
                                self.obstacle(id, what);
                            }
                            data.of.insert(id, same);
                        }
                        None => {
                            let stem = source.file.value.file_stem().unwrap_or_default();
                            let name = self.names.reserve(&stem.to_string_lossy());
                            data.add(id, name, source);
                        }
                    }
                    of_file.push(id);
                }
                "CounterConfig" if self.begins_anew(id) => {}
                "CounterConfig" => {
                    let Some(source) = self.counter(id) else { continue };
                    let name = self.names.reserve("counter");
                    data.add(id, name, source);
                }
                "RandomVariableConfig" => {}
                "UserParameters" if self.is_per_iteration(id) => {}
                _ => continue,
            }
            data.starts.entry(scope::iterates_with(self.tree, id)).or_default().push(id);
        }
        let by_step = |id| !self.follows_groups(id) || self.meets_another(id, &data);
        let by_step = data.of.iter().filter(|(id, _)| by_step(**id)).map(|(_, source)| *source);
        for source in by_step.collect::<Vec<usize>>() {
            data.sources[source].advance = Advance::Step;
        }
        self.data = data;
    }

    /// Whether an element stands directly in a thread group or in the test plan.
    fn follows_groups(&self, id: ElementId) -> bool {
        let around = scope::iterates_with(self.tree, id);
        around.is_none_or(|around| self.role(around) == Some(Role::ThreadGroup))
    }

    /// Whether a thread group has two elements that go through the source of one of them.
    fn meets_another(&self, id: ElementId, data: &Data) -> bool {
        let group = |id| self.tree.around(id).find(|id| self.role(*id) == Some(Role::ThreadGroup));
        let own = group(id);
        let same =
            data.of.iter().filter(|(other, source)| **other != id && **source == data.of[&id]);
        let mut same = same.map(|(other, _)| group(*other));
        same.any(|other| other == own || other.is_none() || own.is_none())
    }

    /// What an iteration of a group or controller begins with. As in JMeter, the last element is the first one to give
    /// its values: where several set one variable, the first of the group has the last word, and those of the plan the
    /// first.
    pub(super) fn iteration_start(&self, around: ElementId) -> Vec<StepKind> {
        let of = |place: Option<ElementId>| self.data.starts.get(&place).into_iter().flatten();
        let is_group = self.role(around) == Some(Role::ThreadGroup);
        let of_plan = of(None).filter(|_| is_group);
        let all: Vec<&ElementId> = of(Some(around)).chain(of_plan).collect();
        all.into_iter().rev().flat_map(|id| self.new_values(*id)).collect()
    }

    /// What happens before each sampler, beside waits.
    pub(super) fn before_sampler(&self, held: &Scope) -> Vec<StepKind> {
        let steps = held.pre_processors.iter().map(|id| match self.class(*id) {
            "UserParameters" if self.is_per_iteration(*id) => Vec::new(),
            "UserParameters" => self.new_values(*id),
            "URLRewritingModifier" => self.session(*id),
            "JSR223PreProcessor" | "BeanShellPreProcessor" => self.script_before(*id),
            _ => Vec::new(),
        });
        steps.flatten().collect()
    }

    /// The steps that give an element's variables new values.
    fn new_values(&self, id: ElementId) -> Vec<StepKind> {
        let source = self.data.of.get(&id).map(|source| &self.data.sources[*source]);
        let mut steps = Vec::new();
        if let Some(source) = source.filter(|source| source.advance == Advance::Step) {
            steps.push(StepKind::NextRow(source.name.clone()));
        }
        if source.is_none() && self.class(id) == "CounterConfig" {
            return self.counter_anew(id);
        }
        let values = match (self.class(id), source) {
            ("CSVDataSet", Some(source)) => self.row_values(id, source),
            ("CounterConfig", Some(source)) => self.counter_value(id, source),
            ("RandomVariableConfig", _) => self.random_value(id),
            ("UserParameters", _) => self.user_values(id),
            _ => Vec::new(),
        };
        if !values.is_empty() {
            steps.push(StepKind::Set(values));
        }
        steps
    }

    /// A variable with its new value; none if the name is empty, as JMeter then does nothing that anybody sees.
    pub(super) fn value(
        &self,
        id: ElementId,
        name: &str,
        pieces: &[TextPiece],
    ) -> Option<(Spanned<String>, Json)> {
        let variable = self.names.variable(name)?;
        let value = Json::Text(self.template_of(id, pieces));
        Some((Spanned::new(variable.to_owned(), Span::default()), value))
    }

    fn csv(&self, id: ElementId) -> Option<(DataSource, String)> {
        let reader = self.read(id);
        let file = reader.constant("filename");
        let charset = reader.constant("fileEncoding").unwrap_or_default();
        let charset = match charset.to_ascii_lowercase().as_str() {
            "" | "utf-8" | "utf8" | "us-ascii" => None,
            known if CHARSETS.contains(&known) => Some(known.to_owned()),
            _ => {
                self.obstacle(id, format!("the encoding `{charset}`"));
                None
            }
        };
        let by = reader.constant("delimiter").map(|text| {
            let columns = self.columns.get(&id).and_then(|columns| columns.as_ref().ok());
            let is_one = columns.is_some_and(|columns| columns.len() == 1);
            delimiter(&text).or_else(|what| match file.as_deref().filter(|_| is_one) {
                Some(file) if self.is_without(file, &text) => Ok(NO_DELIMITER),
                _ => Err(what),
            })
        });
        let mode = reader.constant("shareMode").unwrap_or_default();
        let names_given = reader.constant("variableNames").is_some_and(|names| !names.is_empty());
        let skips = reader.flag("ignoreFirstLine", false);
        let quotes = reader.flag("quotedData", false);
        let (recycles, stops) = (reader.flag("recycle", true), reader.flag("stopThread", false));
        reader.finish();
        let columns = match self.columns.get(&id)? {
            Ok(columns) => columns,
            Err(what) => {
                self.obstacle(id, what.clone());
                return None;
            }
        };
        let delimiter = by?.map_err(|what| self.obstacle(id, what)).ok()?;
        let file = file?;
        let (share, mode) = match mode.as_str() {
            "" | "shareMode.all" | "All threads" => (Share::All, "all".to_owned()),
            "shareMode.group" | "Current thread group" => (Share::Scenario, "group".to_owned()),
            "shareMode.thread" | "Current thread" => (Share::User, "thread".to_owned()),
            named => (Share::All, format!("named {named}")),
        };
        let format = DataFormat::Csv(Csv {
            delimiter,
            columns: Some(self.column_names(columns)),
            skip_header: skips || !names_given,
            quotes,
            ragged: true,
            charset,
        });
        let source = DataSource {
            file: Spanned::new(file_of(&file, &self.folder), self.place(id)),
            format,
            share,
            at_end: match (recycles, stops) {
                (true, _) => AtEnd::Cycle,
                (false, true) => AtEnd::Stop,
                (false, false) => AtEnd::Eof,
            },
            ..DataSource::default()
        };
        Some((source, mode))
    }

    /// Whether a file has neither a text in it nor the character that stands for no delimiter.
    fn is_without(&self, file: &str, text: &str) -> bool {
        let file = file_of(file, &self.folder);
        let has = |lines: &str| lines.contains(text) || lines.contains(char::from(NO_DELIMITER));
        !file.exists() || squall_plan::files::text(&file).is_ok_and(|lines| !has(&lines))
    }

    /// What the columns of a file are called here: as their variables, if each has its own.
    fn column_names(&self, columns: &[String]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            let name =
                self.names.variable(column).filter(|name| !names.iter().any(|own| own == name));
            names.push(name.map_or_else(|| format!("column_{}", index + 1), str::to_owned));
        }
        names
    }

    fn row_values(&self, id: ElementId, source: &DataSource) -> Vec<(Spanned<String>, Json)> {
        let (Some(Ok(columns)), DataFormat::Csv(Csv { columns: Some(names), .. })) =
            (self.columns.get(&id), &source.format)
        else {
            return Vec::new();
        };
        let values = columns.iter().zip(names).enumerate().filter_map(|(index, (name, column))| {
            let cell = format!("{}.{column}", source.name.value);
            // A row that has no such field leaves the variable as it is.
            let value = match self.names.variable(name) {
                Some(variable) if index > 0 => format!("has({cell}) ? {cell} : {variable}"),
                _ => cell,
            };
            self.value(id, name, &[TextPiece::Expr(value)])
        });
        values.collect()
    }

    fn is_per_iteration(&self, id: ElementId) -> bool {
        self.tree.element(id).properties.flag("UserParameters.per_iteration", false)
    }

    /// The variables of user parameters: those of one user, or of several, which threads take in turn.
    fn user_values(&self, id: ElementId) -> Vec<(Spanned<String>, Json)> {
        let reader = self.read(id);
        let texts = |list: &PropertyValue| match list {
            PropertyValue::List(items) => items
                .iter()
                .filter_map(|item| match &item.value {
                    PropertyValue::Text(text) => Some(text.clone()),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        let names = texts(&PropertyValue::List(reader.list("UserParameters.names").to_vec()));
        let users = reader.list("UserParameters.thread_values").iter();
        let users: Vec<Vec<String>> = users.map(|user| texts(&user.value)).collect();
        reader.pass(&["UserParameters.per_iteration"]);
        reader.finish();
        let least = users.iter().map(Vec::len).min().unwrap_or(0);
        if users.iter().any(|user| user.len() != least) {
            self.obstacle(id, "users with different numbers of values");
        }
        let values = names.iter().take(least).enumerate().filter_map(|(index, name)| {
            if let [only] = users.as_slice() {
                return self.value(id, name, &self.pieces(id, &only[index]));
            }
            let each: Vec<String> =
                users.iter().map(|user| expression(&self.pieces(id, &user[index]))).collect();
            let chosen = format!("[{}][user % {}]", each.join(", "), each.len());
            self.value(id, name, &[TextPiece::Expr(chosen)])
        });
        values.collect()
    }
}

impl Data {
    fn add(&mut self, id: ElementId, name: String, source: DataSource) {
        self.of.insert(id, self.sources.len());
        self.sources.push(DataSource { name: Spanned::new(name, Span::default()), ..source });
    }
}

/// Whether two elements mean the same source: the first one then has as many columns as either, without names of its
/// own where these differ.
fn merge(one: &mut DataSource, other: &DataSource) -> bool {
    let is_alike = (one.share, one.at_end) == (other.share, other.at_end);
    let (DataFormat::Csv(own), DataFormat::Csv(others)) = (&mut one.format, &other.format) else {
        return false;
    };
    let columns = own.columns.take();
    let is_same = is_alike && *own == Csv { columns: None, ..others.clone() };
    own.columns = match (columns, &others.columns) {
        (Some(own), Some(others)) if own.len() != others.len() => {
            let most = own.len().max(others.len());
            Some((1..=most).map(|number| format!("column_{number}")).collect())
        }
        (own, _) => own,
    };
    is_same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_one_byte() {
        assert_eq!(
            [delimiter(""), delimiter("\\t"), delimiter("&")],
            [Ok(b','), Ok(b'\t'), Ok(b'&')]
        );
        assert!(delimiter("\\n").is_err() && delimiter("é").is_err() && delimiter("||").is_err());
    }
}
