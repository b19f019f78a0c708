//! The path of groups around a row, as one text. Pure.

/// What stands between two groups.
const BETWEEN: &str = " / ";

/// The groups around a row, the outermost first, with ` / ` between them. A `/` of a group's own that could be taken for
/// that becomes `\/`, and its `\` are doubled, so that different paths stay different.
pub fn group_path(groups: &[String]) -> String {
    groups.iter().map(|group| escaped(group)).collect::<Vec<_>>().join(BETWEEN)
}

/// The same with a name behind it, as a person reads it: the name stays as it is, as many have a `/`.
pub(crate) fn path(groups: &[String], name: &str) -> String {
    match groups.is_empty() {
        true => name.to_owned(),
        false => format!("{}{BETWEEN}{name}", group_path(groups)),
    }
}

fn escaped(group: &str) -> String {
    if !group.contains(['/', '\\']) {
        return group.to_owned();
    }
    let mut out = String::with_capacity(group.len() + 2);
    let mut before = ' ';
    let mut rest = group.chars().peekable();
    while let Some(c) = rest.next() {
        let is_alone = before == ' ' && rest.peek().is_none_or(|next| *next == ' ');
        if c == '\\' || (c == '/' && is_alone) {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(groups: &[&str]) -> String {
        group_path(&groups.iter().map(|group| (*group).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn different_groups_have_different_paths() {
        assert_eq!(of(&["g", "h"]), "g / h");
        assert_eq!(of(&["g / h"]), "g \\/ h");
        assert_eq!(of(&["g/h", "GET /a"]), "g/h / GET /a");
        let all: [&[&str]; 10] = [
            &["g", "h"],
            &["g / h"],
            &["g \\/ h"],
            &["g /", "h"],
            &["g", "/ h"],
            &["g", "/", "h"],
            &["g / / h"],
            &["g \\", "h"],
            &["g \\ / h"],
            &["/g", "h/"],
        ];
        let paths: std::collections::HashSet<String> = all.iter().map(|own| of(own)).collect();
        assert_eq!(paths.len(), all.len(), "{paths:?}");
    }

    #[test]
    fn a_name_stays_as_it_is() {
        assert_eq!(path(&["g / h".to_owned()], "GET / of x"), "g \\/ h / GET / of x");
        assert_eq!(path(&[], "GET / of x"), "GET / of x");
    }
}
