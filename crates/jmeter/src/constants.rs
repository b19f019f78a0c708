//! What is known before the run: user-defined variables, properties, and the texts that follow from them alone.
//! Numbers of threads, times and hosts are mostly such texts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use squall_plan::secrets::sounds_secret;

use crate::functions;
use crate::machine::Machine;
use crate::properties::elements;
use crate::text::{Call, Part, Text};
use crate::translate::TranslationContext;
use crate::tree::{Element, Tree};

/// Variables and properties as they are when the run begins: what thread groups read. A text that is read later may
/// find a variable changed, by an extractor or a data file of the same name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Constants {
    /// JMeter's properties: those of `-J`, `-G`, and of files.
    properties: BTreeMap<String, String>,
    /// User-defined variables that each thread begins with; `None` is one that a function gives its value at the start
    /// of the run.
    variables: BTreeMap<String, Option<String>>,
    /// What scripts may ask for that say where files are.
    machine: Machine,
    folder: PathBuf,
    /// Variables of each element that functions give a value, with their texts.
    made: Vec<Vec<(String, String)>>,
}

/// Variables and properties that JMeter sets itself when it starts, each with what it is at the start of the run here.
pub(crate) const OF_START: [(&str, &str); 4] = [
    ("START.MS", "${__time}"),
    ("START.YMD", "${__time(yyyyMMdd)}"),
    ("START.HMS", "${__time(HHmmss)}"),
    ("TESTSTART.MS", "${__time}"),
];

/// Whether a name is one of these.
pub(crate) fn is_of_start(name: &str) -> bool {
    OF_START.iter().any(|(own, _)| *own == name)
}

/// What a variable is that nobody has defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unset {
    /// Text, with its `${}`: no thread runs yet that could give it a value.
    AsWritten,
    /// Something that is known later.
    NotKnown,
}

impl Constants {
    /// The constants of a plan: the test plan's own variables, then those of all elements "User Defined Variables"
    /// wherever they stand, in the order of the file. A value sees what elements before it have defined; any other
    /// variable, of its own element too, stays in it as written. What a function gives at the start of the run
    /// (`__Random`) is no constant, and nothing that holds it either.
    pub fn of(tree: &Tree, given: &TranslationContext) -> Constants {
        let TranslationContext { properties, machine, folder, .. } = given.clone();
        let mut constants = Constants { properties, machine, folder, ..Constants::default() };
        let of_class = |class: &'static str| {
            tree.iter().filter(move |(id, element)| element.class == class && tree.takes_part(*id))
        };
        of_class("TestPlan").for_each(|(_, element)| constants.define(element));
        constants.define_start(tree);
        of_class("Arguments").for_each(|(_, element)| constants.define(element));
        // The last value counts.
        let mut made = std::mem::take(&mut constants.made);
        let is_made = |name: &str| constants.variables.get(name) == Some(&None);
        made.iter_mut().for_each(|element| element.retain(|(name, _)| is_made(name)));
        constants.made = made;
        constants
    }

    /// Variables that functions give a value at the start of the run, with their texts, element by element.
    pub(crate) fn made(&self) -> &[Vec<(String, String)>] {
        &self.made
    }

    /// The variables that JMeter sets when it starts, as far as something asks for them. The test plan's own variables do
    /// not see them, and go before them.
    fn define_start(&mut self, tree: &Tree) {
        let is_asked = |name: &str| {
            let mut all = tree.iter().filter(|(id, _)| tree.takes_part(*id));
            all.any(|(_, own)| own.name.contains(name) || own.properties.mention(name))
        };
        let asked = OF_START.iter().filter(|(name, _)| is_asked(name));
        let asked = asked.filter(|(name, _)| !self.variables.contains_key(*name));
        let made: Vec<(String, String)> =
            asked.map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        self.variables.extend(made.iter().map(|(name, _)| (name.clone(), None)));
        self.made.push(made);
    }

    /// The variables that an element defines.
    fn define(&mut self, element: &Element) {
        const OF_PLAN: &str = "TestPlan.user_defined_variables";
        let own = elements(element.properties.list("Arguments.arguments"));
        let (mut found, mut made) = (Vec::new(), Vec::new());
        for argument in element.properties.arguments(OF_PLAN).chain(own) {
            let Some(name) = argument.given("Argument.name") else { continue };
            let value = argument.text("Argument.value").unwrap_or_default();
            let known = self.value(value, Unset::AsWritten);
            if known.is_none() {
                made.push((name.to_owned(), value.to_owned()));
            }
            found.push((name.to_owned(), known));
        }
        self.made.push(made);
        self.variables.extend(found);
    }

    /// The value of a variable, if it is known.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name)?.as_deref()
    }

    /// The names of all user-defined variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// Properties and variables whose names say that they are secret, with their values.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = (&str, &str)> {
        let properties = self.properties.iter().map(|(name, value)| (name, Some(value)));
        let variables = self.variables.iter().map(|(name, value)| (name, value.as_ref()));
        let all = properties.chain(variables);
        let secret = all.filter(|(name, _)| sounds_secret(name));
        secret
            .filter_map(|(name, value)| Some((name.as_str(), value?.as_str())))
            .filter(|(_, value)| !value.is_empty())
    }

    /// What is known of a variable: `None` if nobody has defined it, `Some(None)` if a function gives its value at the
    /// start of the run.
    pub(crate) fn known(&self, name: &str) -> Option<Option<&str>> {
        self.variables.get(name).map(Option::as_deref)
    }

    /// The value of a property's text as it stands in a plan, if it is known: it holds nothing but literals, constants,
    /// and properties. A variable that is no constant may get a value while the plan runs.
    pub fn of_source(&self, source: &str) -> Option<String> {
        self.value(source, Unset::NotKnown)
    }

    fn value(&self, source: &str, unset: Unset) -> Option<String> {
        // Where nothing can be replaced the text stays as it was written.
        match Text::parse(source, &functions::is_function) {
            Ok(text) => self.of_text(&text, unset),
            Err(_) => Some(source.to_owned()),
        }
    }

    fn of_text(&self, text: &Text, unset: Unset) -> Option<String> {
        let of_part = |part: &Part| match part {
            Part::Literal(text) => Some(text.clone()),
            Part::Variable(name) => match (self.variables.get(name), unset) {
                (Some(value), _) => value.clone(),
                (None, Unset::AsWritten) => Some(format!("${{{name}}}")),
                (None, Unset::NotKnown) => None,
            },
            Part::Call(call) => self.of_call(call, unset),
        };
        text.parts.iter().map(of_part).collect()
    }

    fn of_call(&self, call: &Call, unset: Unset) -> Option<String> {
        let parameters = call.parameters.iter().map(|parameter| self.of_text(parameter, unset));
        let parameters: Vec<String> = parameters.collect::<Option<_>>()?;
        let parameters: Vec<&str> = parameters.iter().map(String::as_str).collect();
        self.property(&call.name, &parameters).or_else(|| self.asked(call))
    }

    /// What a script gives that asks for nothing but what is known of the machine and the plan's folder.
    pub(crate) fn asked(&self, call: &Call) -> Option<String> {
        if !matches!(call.name.as_str(), "__BeanShell" | "__groovy" | "__javaScript") {
            return None;
        }
        let parameters: Option<Vec<&str>> = call.parameters.iter().map(Text::as_literal).collect();
        let mut parameters = parameters?;
        // One that is empty names no variable.
        parameters.pop_if(|last| last.trim().is_empty());
        let value = self.machine.value(&parameters.join(","), &self.folder)?;
        // JavaScript says `null` where others say nothing.
        (call.name != "__javaScript" || !value.is_empty()).then_some(value)
    }

    /// The machine that runs the plan.
    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The folder in which the program was started, if that is known.
    pub(crate) fn started_in(&self) -> Option<&str> {
        self.machine.properties.get("user.dir").map(String::as_str)
    }

    /// Whether a property is given.
    pub(crate) fn has_property(&self, name: &str) -> bool {
        self.properties.contains_key(name)
    }

    /// Whether a property is one that JMeter sets when it starts, and nobody has given.
    pub(crate) fn is_start_alone(&self, name: &str) -> bool {
        is_of_start(name.trim()) && !self.has_property(name.trim())
    }

    /// The value of a property that is given.
    pub(crate) fn property_value(&self, name: &str) -> Option<&str> {
        self.properties.get(name.trim()).map(String::as_str)
    }

    /// What a function gives that reads a property (`__P`, `__property`), without the blanks around it, be it given or what
    /// there is without it; `None` for others, and for one that does more.
    pub(crate) fn property(&self, function: &str, parameters: &[&str]) -> Option<String> {
        let parameter = |index: usize| parameters.get(index).copied();
        // What JMeter sets itself is a variable, too.
        if parameter(0).is_some_and(|name| self.is_start_alone(name)) {
            return None;
        }
        let property = |name: &str| self.properties.get(name.trim()).cloned();
        let found = match function {
            // `__P(name,default)`: without a default it is 1.
            "__P" => {
                let without = || parameter(1).unwrap_or("1").to_owned();
                Some(property(parameter(0)?).unwrap_or_else(without))
            }
            // `__property(name,variable,default)`: without a default it is the name. One that sets a variable does
            // more than to have a value.
            "__property" if parameter(1).is_none_or(|variable| variable.trim().is_empty()) => {
                let name = parameter(0)?;
                let without = || parameter(2).unwrap_or(name).to_owned();
                Some(property(name).unwrap_or_else(without))
            }
            _ => None,
        };
        found.map(|value| value.trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"<jmeterTestPlan><hashTree>
      <TestPlan testname="plan">
        <elementProp name="TestPlan.user_defined_variables" elementType="Arguments">
          <collectionProp name="Arguments.arguments">
            <elementProp name="host" elementType="Argument"><stringProp name="Argument.name">host</stringProp>
              <stringProp name="Argument.value">${__P(host,localhost)}</stringProp></elementProp>
            <elementProp name="same" elementType="Argument"><stringProp name="Argument.name">same</stringProp>
              <stringProp name="Argument.value">${host}</stringProp></elementProp>
          </collectionProp>
        </elementProp>
      </TestPlan>
      <hashTree>
        <ThreadGroup testname="group"/>
        <hashTree>
          <Arguments testname="more"><collectionProp name="Arguments.arguments">
            <elementProp name="url" elementType="Argument"><stringProp name="Argument.name">url</stringProp>
              <stringProp name="Argument.value">http://${host}/</stringProp></elementProp>
            <elementProp name="any" elementType="Argument"><stringProp name="Argument.name">any</stringProp>
              <stringProp name="Argument.value">${__Random(1,9)}</stringProp></elementProp>
          </collectionProp></Arguments><hashTree/>
          <Arguments testname="off" enabled="false"><collectionProp name="Arguments.arguments">
            <elementProp name="host" elementType="Argument"><stringProp name="Argument.name">host</stringProp>
              <stringProp name="Argument.value">elsewhere</stringProp></elementProp>
          </collectionProp></Arguments><hashTree/>
        </hashTree>
      </hashTree>
    </hashTree></jmeterTestPlan>"#;

    fn constants(properties: &[(&str, &str)]) -> Constants {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let tree = Tree::read(PLAN.as_bytes()).expect("a plan");
        let properties = properties.iter().map(owned).collect();
        Constants::of(&tree, &TranslationContext { properties, ..TranslationContext::default() })
    }

    #[test]
    fn variables_see_those_of_elements_before_and_not_of_their_own() {
        let constants = constants(&[]);
        assert_eq!(constants.variable("host"), Some("localhost"));
        assert_eq!(constants.variable("url"), Some("http://localhost/"));
        assert_eq!(constants.variable("same"), Some("${host}"));
        assert_eq!(constants.variable("any"), None);
    }

    #[test]
    fn properties_decide_before_what_is_written() {
        let constants = constants(&[("host", "shop"), ("users", "7")]);
        assert_eq!(constants.variable("url"), Some("http://shop/"));
        let value = |source| constants.of_source(source);
        assert_eq!(value("${__P(users,5)}"), Some("7".into()));
        assert_eq!(value("${__P(${host},5)}0"), Some("50".into()));
        assert_eq!(value("${__P(none)}"), Some("1".into()));
        assert_eq!(value("${__P(none, localhost )}:"), Some("localhost:".into()));
        assert_eq!(value("${__property(none)}"), Some("none".into()));
        assert_eq!(value("${__property(none,,3)}"), Some("3".into()));
        assert_eq!(value("${__property(users,v)}"), None);
        assert_eq!(value("${__UUID}"), None);
        assert_eq!(value("${any}"), None);
        assert_eq!(value("${of_a_response}"), None);
        assert_eq!(value(r"a\,b"), Some(r"a\,b".into()));
    }
}
