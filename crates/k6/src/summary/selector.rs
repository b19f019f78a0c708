//! Which values of a metric are meant: `http_req_duration{name:items,status:200}`. Pure.

/// A metric, and the tags that its values have to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector<'t> {
    /// The metric's name.
    pub name: &'t str,
    /// Tags with their values, in the order of the text.
    pub tags: Vec<(&'t str, &'t str)>,
    /// The tags as they were written, with their braces; empty: all values are meant.
    pub braces: &'t str,
}

impl Selector<'_> {
    /// Reads the name of a metric with tags, if it has any. A tag's value may have colons and spaces in it; quotes around it do
    /// not count.
    pub fn of(text: &str) -> Selector<'_> {
        let Some(at) = text.find('{').filter(|_| text.ends_with('}')) else {
            return Selector { name: text, tags: Vec::new(), braces: "" };
        };
        let (name, braces) = text.split_at(at);
        let inner = braces.trim_start_matches('{').trim_end_matches('}');
        let tags = inner.split(',').filter_map(|tag| {
            let (key, value) = tag.split_once(':')?;
            Some((bare(key), bare(value)))
        });
        Selector { name: name.trim_end(), tags: tags.collect(), braces }
    }
}

/// A word without the spaces and quotes around it.
fn bare(word: &str) -> &str {
    word.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_tags_in_braces() {
        for (text, name, tags) in [
            ("http_reqs", "http_reqs", vec![]),
            ("http_reqs{}", "http_reqs", vec![]),
            ("checks{group:::a::b}", "checks", vec![("group", "::a::b")]),
            (
                "http_req_duration{name:http://a/b, status: '200'}",
                "http_req_duration",
                vec![("name", "http://a/b"), ("status", "200")],
            ),
            ("odd{name", "odd{name", vec![]),
        ] {
            let own = Selector::of(text);
            assert_eq!((own.name, own.tags), (name, tags), "{text}");
        }
        assert_eq!(Selector::of("a{ b:c }").braces, "{ b:c }");
    }
}
