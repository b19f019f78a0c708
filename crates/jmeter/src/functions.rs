//! The functions that JMeter 5.6.3 ships, and what each is in an expression of squall.

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    /// Its name, as `__Random`.
    pub name: &'static str,
    /// Whether it runs a script, in a language that JMeter brings along.
    pub is_script: bool,
}

/// A function of a name.
pub fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// Whether a name is a function's.
pub fn is_function(name: &str) -> bool {
    find(name).is_some()
}

const fn plain(name: &'static str) -> Function {
    Function { name, is_script: false }
}

const fn script(name: &'static str) -> Function {
    Function { name, is_script: true }
}

/// All of them, by name. Those of plug-ins are not among them: to JMeter without the plug-in, and here, they are
/// variables that nobody sets, and stay as written.
pub const FUNCTIONS: &[Function] = &[
    script("__BeanShell"),
    plain("__CSVRead"),
    plain("__FileToString"),
    plain("__P"),
    plain("__Random"),
    plain("__RandomDate"),
    plain("__RandomFromMultipleVars"),
    plain("__RandomString"),
    plain("__StringFromFile"),
    plain("__StringToFile"),
    plain("__TestPlanName"),
    plain("__UUID"),
    plain("__V"),
    plain("__XPath"),
    plain("__changeCase"),
    plain("__char"),
    plain("__counter"),
    plain("__dateTimeConvert"),
    plain("__digest"),
    plain("__escapeHtml"),
    plain("__escapeOroRegexpChars"),
    plain("__escapeXml"),
    plain("__eval"),
    plain("__evalVar"),
    script("__groovy"),
    plain("__intSum"),
    plain("__isPropDefined"),
    plain("__isVarDefined"),
    script("__javaScript"),
    script("__jexl2"),
    script("__jexl3"),
    plain("__log"),
    plain("__logn"),
    plain("__longSum"),
    plain("__machineIP"),
    plain("__machineName"),
    plain("__property"),
    plain("__regexFunction"),
    plain("__samplerName"),
    plain("__setProperty"),
    plain("__split"),
    plain("__threadGroupName"),
    plain("__threadNum"),
    plain("__time"),
    plain("__timeShift"),
    plain("__unescape"),
    plain("__unescapeHtml"),
    plain("__urldecode"),
    plain("__urlencode"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_jmeter_ships_each_once() {
        assert_eq!(FUNCTIONS.len(), 49);
        assert!(FUNCTIONS.is_sorted_by(|a, b| a.name < b.name));
        assert!(find("__groovy").is_some_and(|function| function.is_script));
        assert!(is_function("__P") && !is_function("__p") && !is_function("__base64Encode"));
    }
}
