//! The names of the functions that JMeter 5.6.3 ships. What each gives is said where texts are translated
//! (`translate/calls.rs`).

/// The function of a name.
pub fn find(name: &str) -> Option<&'static str> {
    FUNCTIONS.iter().find(|known| **known == name).copied()
}

/// Whether a name is a function's.
pub fn is_function(name: &str) -> bool {
    find(name).is_some()
}

/// All of them, by name. Those of plug-ins are not among them: to JMeter without the plug-in, and here, they are
/// variables that nobody sets, and stay as written.
pub const FUNCTIONS: &[&str] = &[
    "__BeanShell",
    "__CSVRead",
    "__FileToString",
    "__P",
    "__Random",
    "__RandomDate",
    "__RandomFromMultipleVars",
    "__RandomString",
    "__StringFromFile",
    "__StringToFile",
    "__TestPlanName",
    "__UUID",
    "__V",
    "__XPath",
    "__changeCase",
    "__char",
    "__counter",
    "__dateTimeConvert",
    "__digest",
    "__escapeHtml",
    "__escapeOroRegexpChars",
    "__escapeXml",
    "__eval",
    "__evalVar",
    "__groovy",
    "__intSum",
    "__isPropDefined",
    "__isVarDefined",
    "__javaScript",
    "__jexl2",
    "__jexl3",
    "__log",
    "__logn",
    "__longSum",
    "__machineIP",
    "__machineName",
    "__property",
    "__regexFunction",
    "__samplerName",
    "__setProperty",
    "__split",
    "__threadGroupName",
    "__threadNum",
    "__time",
    "__timeShift",
    "__unescape",
    "__unescapeHtml",
    "__urldecode",
    "__urlencode",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_jmeter_ships_each_once() {
        assert_eq!(FUNCTIONS.len(), 49);
        assert!(FUNCTIONS.is_sorted_by(|a, b| a < b));
        assert!(is_function("__P") && !is_function("__p") && !is_function("__base64Encode"));
    }
}
