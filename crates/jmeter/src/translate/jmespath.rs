//! JMESPath as JSONPath: paths of names, places and `[*]`, which is what most are.

/// A path of JMESPath as one of JSONPath.
///
/// # Errors
/// What of it is more than such a path.
pub(super) fn json_path(path: &str) -> Result<String, String> {
    let mut out = String::from("$");
    let mut rest = path.trim();
    let unknown = || format!("the JMESPath `{path}`");
    if rest.is_empty() {
        return Err(unknown());
    }
    let mut is_first = true;
    while !rest.is_empty() {
        let has_point = rest.starts_with('.');
        rest = rest.strip_prefix('.').unwrap_or(rest);
        if let Some(inner) = rest.strip_prefix('[').filter(|_| !has_point) {
            let (index, behind) = inner.split_once(']').ok_or_else(unknown)?;
            if index != "*" && index.parse::<i64>().is_err() {
                return Err(unknown());
            }
            out.push_str(&format!("[{index}]"));
            rest = behind;
        } else if is_first || has_point {
            let (name, behind) = name(rest).ok_or_else(unknown)?;
            out.push_str(&format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'")));
            rest = behind;
        } else {
            return Err(unknown());
        }
        is_first = false;
    }
    Ok(out)
}

/// The name that a text begins with, in quotes or not, and what follows.
fn name(text: &str) -> Option<(String, &str)> {
    if let Some(inner) = text.strip_prefix('"') {
        let (name, behind) = inner.split_once('"')?;
        return (!name.contains('\\')).then(|| (name.to_owned(), behind));
    }
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (name, behind) = text.split_at(text.find(|c| !is_letter(c)).unwrap_or(text.len()));
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins.then(|| (name.to_owned(), behind))
}

#[cfg(test)]
mod tests {
    use super::json_path;

    #[test]
    fn paths_of_names_and_places_are_those_of_json_path() {
        for (path, expected) in [
            ("id", Some("$['id']")),
            ("a.\"b-c\"[0].d", Some("$['a']['b-c'][0]['d']")),
            ("phoneNumbers[*].number", Some("$['phoneNumbers'][*]['number']")),
            ("[-1].x", Some("$[-1]['x']")),
            ("\"it's\"", Some("$['it\\'s']")),
            ("a[?b=='c']", None),
            ("length(a)", None),
            ("a | b", None),
            ("a[].b", None),
            ("a.", None),
            ("", None),
        ] {
            assert_eq!(json_path(path).ok().as_deref(), expected, "{path}");
        }
    }
}
