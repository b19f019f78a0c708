//! Plans of JMeter: read, translated to plans of squall, or refused with all of them that has no equal.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::ToSocketAddrs as _;
use std::path::{Path, PathBuf};

use squall_jmeter::{
    Inventory, Machine, Supported, Translation, TranslationContext, Tree, inventory,
    parse_properties, simplify, translate, translate_supported,
};
use squall_plan::model::Plan;
use squall_plan::vars::LoadOptions;
use squall_plan::yaml::{self, Loaded};

use crate::args::{Convert, Variables};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::out;

/// What is printed of reasons in one go: a large plan has thousands of elements.
const MOST_SHOWN: usize = 50;

/// Whether a file is a JMeter plan, by its name.
pub fn is_plan(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jmx"))
}

/// A plan, translated.
pub struct Translated<'p> {
    path: &'p Path,
    /// Its elements, and what becomes of each.
    found: Inventory,
    /// What was left out because it is not supported, and its user wants to do without.
    left_out: Vec<String>,
    /// What keeps it from being run.
    refused: Vec<String>,
    /// The plan that they become.
    plan: Plan,
    /// Whether no thread group has anything to do.
    is_idle: bool,
}

/// What a plan is read with.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Properties of JMeter.
    pub properties: BTreeMap<String, String>,
    /// System properties of Java.
    pub system: BTreeMap<String, String>,
    /// Whether what is not supported is left out.
    pub skips_unsupported: bool,
}

impl Given {
    /// What was typed.
    fn typed(texts: &[String], files: &[PathBuf], skips: bool) -> Result<Given, CommandError> {
        let mut properties = BTreeMap::new();
        for file in files {
            properties.extend(properties_of(file)?);
        }
        for text in texts {
            let Some((name, value)) = text.split_once('=') else {
                // What is no name may be a secret.
                return Err(CommandError::bad_input("-J: expected NAME=VALUE"));
            };
            properties.insert(name.to_owned(), value.to_owned());
        }
        Ok(Given { properties, skips_unsupported: skips, ..Given::default() })
    }
}

/// The properties in a file.
pub fn properties_of(file: &Path) -> Result<Vec<(String, String)>, CommandError> {
    let text = squall_plan::files::text(file);
    let text = text.map_err(|why| CommandError::bad_input(format!("{}: {why}", file.display())))?;
    Ok(parse_properties(&text))
}

/// Reads a plan and translates it.
pub fn read<'p>(path: &'p Path, variables: &Variables) -> Result<Translated<'p>, CommandError> {
    if !variables.set.is_empty() || !variables.env_file.is_empty() {
        let text = "--set and --env-file are for plans of squall; properties of JMeter are given as -JNAME=VALUE";
        return Err(CommandError::bad_input(text));
    }
    let Variables { property, properties, skip_unsupported, .. } = variables;
    translated(path, Given::typed(property, properties, *skip_unsupported)?)
}

impl Translated<'_> {
    /// The plan to be run, if it is whole, or as far as it is supported if the rest may be left out; which is said.
    pub fn load(&self) -> Result<Loaded, CommandError> {
        if !self.refused.is_empty() {
            return Err(self.refusal());
        }
        if !self.left_out.is_empty() {
            let what = "left out, because it is not supported";
            out::message(&listed(&format!("squall: {what}:\n"), &self.left_out));
        }
        if self.is_idle {
            let path = self.path.display();
            out::message(&format!("squall: {path}: no thread group has anything to do\n"));
        }
        // What runs is what `squall convert --exact` writes, to the letter.
        let name = format!("{} (converted)", self.path.display());
        Ok(squall_runner::load_str(&name, &yaml::print(&self.plan, false))?)
    }

    /// Its tree, an element a line, with what becomes of each.
    pub fn tree(&self) -> String {
        squall_base::escape_lines(&self.found.to_string()).into_owned()
    }

    /// What keeps it from running as JMeter would run it.
    fn refusal(&self) -> CommandError {
        let path = self.path.display();
        let head = format!("{path}: not all of this plan can be run as JMeter runs it:\n");
        CommandError::bad_input(listed(&head, &self.refused).trim_end())
    }
}

/// A head with reasons below it, a line each.
fn listed(head: &str, reasons: &[String]) -> String {
    let mut text = head.to_owned();
    for reason in reasons.iter().take(MOST_SHOWN) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {reason}");
    }
    if reasons.len() > MOST_SHOWN {
        let _ = writeln!(text, "  and {} more", reasons.len() - MOST_SHOWN);
    }
    text
}

/// Writes a plan as one of squall's. What has no equal stands in comments, and is an error.
pub fn convert(args: &Convert) -> CommandResult {
    let given = Given::typed(&args.property, &args.properties, args.skip_unsupported)?;
    let read = translated(&args.plan, given)?;
    let mut text = format!("# From {}, a JMeter plan.\n", shown(&args.plan.display().to_string()));
    for reason in read.left_out.iter().chain(&read.refused) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# Left out: {}", shown(reason));
    }
    text.push_str(&match args.exact {
        true => yaml::print(&read.plan, false),
        false => maintainable(&read.plan, &folder(args)),
    });
    match &args.out {
        Some(path) => std::fs::write(path, &text)
            .map_err(|error| CommandError::incomplete(format!("{}: {error}", path.display())))?,
        None => out::print(&text),
    }
    if read.refused.is_empty() { Ok(Exit::Ok) } else { Err(read.refusal()) }
}

/// The folder that the paths of a written plan are relative to: that of its file, or else that of the JMeter plan.
fn folder(args: &Convert) -> PathBuf {
    let file = args.out.as_ref().unwrap_or(&args.plan);
    let place = std::path::absolute(file).unwrap_or_default();
    place.parent().unwrap_or(Path::new("/")).to_owned()
}

/// A plan as a person would write it, with paths relative to a folder. Nothing is written that would be read as another plan.
fn maintainable(plan: &Plan, folder: &Path) -> String {
    let load = |text: &str| yaml::load_str("plan", text, folder, &LoadOptions::default());
    // The plan as it is read, which is how it would run.
    let exact = yaml::print(plan, false);
    let Ok(Loaded { mut plan, .. }) = load(&exact) else { return exact };
    simplify(&mut plan);
    let is_same = |text: &str| load(text).is_ok_and(|read| read.plan == plan);
    let mut short = plan.clone();
    for data in &mut short.data {
        if let Ok(below) = data.file.value.strip_prefix(folder) {
            data.file.value = below.to_owned();
        }
    }
    let mut text = yaml::print(&short, false);
    if !is_same(&text) {
        text = yaml::print(&plan, false);
    }
    if !is_same(&text) {
        return exact;
    }
    // What begins with the folder is a path if it can do without.
    let prefix = format!("{}/", folder.display());
    let mut at = 0;
    while let Some(found) = text[at..].find(&prefix) {
        let (before, behind) = text.split_at(at + found);
        let shorter = format!("{before}{}", &behind[prefix.len()..]);
        at += found;
        match is_same(&shorter) {
            true => text = shorter,
            false => at += prefix.len(),
        }
    }
    text
}

/// Reads a plan and translates it.
pub fn translated(path: &Path, given: Given) -> Result<Translated<'_>, CommandError> {
    let bad = |text: String| CommandError::bad_input(format!("{}: {text}", path.display()));
    let text = squall_plan::files::text(path).map_err(bad)?;
    let tree = Tree::read(text.as_bytes()).map_err(|error| bad(error.to_string()))?;
    // What is converted may be written to another folder: files are named from the root.
    let place = std::path::absolute(path).map_err(|error| bad(error.to_string()))?;
    let folder = place.parent().unwrap_or(Path::new("/")).to_owned();
    let mut machine = machine(given.system);
    if text.contains("__machine") {
        (machine.name, machine.address) = own_name();
    }
    let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let surroundings =
        TranslationContext { properties: given.properties, machine, folder, file_name };
    let whole = translate(&tree, surroundings.clone());
    let found = inventory(&tree, &whole.obstacles, &whole.idle);
    let (translation, left_out, refused) = match given.skips_unsupported {
        true => {
            let Supported { translation, left_out, remaining } =
                translate_supported(&tree, &surroundings);
            (translation, left_out, remaining)
        }
        false => (whole, Vec::new(), found.reasons()),
    };
    let Translation { plan, is_idle, .. } = translation;
    Ok(Translated { path, found, left_out, refused, plan, is_idle })
}

/// What scripts of a plan may ask of this machine; `given` are system properties that were typed.
fn machine(given: BTreeMap<String, String>) -> Machine {
    let folder = |path: PathBuf| path.display().to_string();
    let known = [
        ("user.dir", std::env::current_dir().ok().map(folder)),
        ("user.home", std::env::home_dir().map(folder)),
        ("user.name", std::env::var("USER").ok()),
        ("java.io.tmpdir", Some(folder(std::env::temp_dir()))),
        ("file.separator", Some("/".to_owned())),
        ("line.separator", Some("\n".to_owned())),
    ];
    let known = known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    // What is no text is not asked for.
    let environment = std::env::vars_os();
    let environment = environment
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Machine {
        properties: known.chain(given).collect(),
        environment: environment.collect(),
        ..Machine::default()
    }
}

/// The machine's name and the address that it has, as far as they are known.
fn own_name() -> (Option<String>, Option<String>) {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let found = name.as_deref().and_then(|name| (name, 0).to_socket_addrs().ok());
    let found: Vec<_> = found.into_iter().flatten().map(|address| address.ip()).collect();
    // As Java has it, one of version 4 goes first.
    let address = found.iter().find(|ip| ip.is_ipv4()).or(found.first());
    (name, address.map(ToString::to_string))
}

/// A text on one line.
fn shown(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plans that are there to be tried: those of the repository, and of the folder that `SQUALL_JMX` names.
    fn samples() -> Vec<PathBuf> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut folders = vec![root.join("bench/peers")];
        folders.extend(std::env::var_os("SQUALL_JMX").map(PathBuf::from));
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if is_plan(&path) {
                    found.push(path);
                }
            }
        }
        found
    }

    /// What is written is the plan.
    #[test]
    fn what_is_converted_reads_back_as_the_same_plan() {
        let all = samples();
        assert!(all.len() >= 2, "{all:?}");
        for path in all {
            let given = Given { skips_unsupported: true, ..Given::default() };
            let Ok(read) = translated(&path, given) else { continue };
            let folder = path.parent().expect("a folder");
            let load = |text: &str| yaml::load_str("plan", text, folder, &LoadOptions::default());
            let exact = yaml::print(&read.plan, false);
            // What squall itself does not take is no plan.
            let Ok(Loaded { mut plan, .. }) = load(&exact) else { continue };
            let text = maintainable(&plan, folder);
            simplify(&mut plan);
            let again = load(&text).unwrap_or_else(|error| panic!("{:?}", error.diagnostics));
            assert_eq!(again.plan, plan, "{}: {text}", path.display());
        }
    }

    #[test]
    fn paths_are_relative_and_texts_that_look_like_them_stay() {
        let folder = Path::new("/plans/shop");
        let text = "name: a\ntarget: http://h\ndata: {d: {csv: /plans/shop/d.csv}, e: {csv: /plans/e.csv}}\n\
                    scenarios: {a: {load: {users: 1, for: 1s}, steps: [{post: /, body: /plans/shop/d.csv}]}}\n";
        let plan = yaml::load_str("a", text, folder, &LoadOptions::default());
        let plan = plan.unwrap_or_else(|error| panic!("{:?}", error.diagnostics)).plan;
        let text = maintainable(&plan, folder);
        for line in ["csv: d.csv", "csv: /plans/e.csv", "body: /plans/shop/d.csv"] {
            assert!(text.contains(line), "{text}");
        }
    }
}
