//! Counts what steps inherit: default headers, credentials, tags, the path of the target.

use squall_plan::model::{Auth, Defaults, HttpOptions};
use squall_plan::span::Span;
use squall_plan::template::Template;

use super::compiler::Compiler;
use super::inherited::{MAX_INHERITED, WEIGHT};

impl Compiler<'_> {
    /// Whether steps inherit more than they may: that was said, and nothing more is made of it.
    pub(super) fn inherits_too_much(&self) -> bool {
        self.inherited.left == 0
    }

    /// Counts a header that a step inherits; `None` after an error was noted.
    pub(super) fn inherit_header(&mut self, (name, value): &(Template, Template)) -> Option<()> {
        let bytes = name.source().len() + value.source().len();
        self.inherit(WEIGHT + bytes, name.span())
    }

    /// Counts texts that a step inherits; `None` after an error was noted.
    pub(super) fn inherit_texts(&mut self, texts: &[&Template]) -> Option<()> {
        let bytes = texts.iter().map(|text| text.source().len()).sum();
        let span = texts.first().map(|text| text.span()).unwrap_or_default();
        self.inherit(bytes, span)
    }

    /// The options of a request with those that it inherits, which are counted; `None` after an error was noted.
    pub(super) fn inherit_http(&mut self, own: &HttpOptions) -> Option<HttpOptions> {
        let defaults = &self.defaults.http;
        let mut texts: Vec<&Template> = Vec::new();
        match defaults.auth.as_ref().filter(|_| own.auth.is_none()) {
            Some(Auth::Basic { user, password } | Auth::Digest { user, password }) => {
                texts.extend([user, password]);
            }
            Some(Auth::Bearer(token)) => texts.push(token),
            None => {}
        }
        texts.extend(defaults.proxy.as_ref().filter(|_| own.proxy.is_none()));
        texts.extend(defaults.client_cert.as_ref().filter(|_| own.client_cert.is_none()));
        self.inherit_texts(&texts)?;
        let following = defaults.redirect_headers.as_ref();
        if let Some(following) = following.filter(|_| own.redirect_headers.is_none()) {
            let bytes = following.iter().map(|name| name.value.len()).sum();
            let span = following.first().map(|name| name.span).unwrap_or_default();
            self.inherit(bytes, span)?;
        }
        Some(own.or(defaults))
    }

    /// Counts the tags of a row; `None` after an error was noted.
    pub(super) fn inherit_tags(&mut self) -> Option<()> {
        let bytes = |(name, value): &(String, String)| WEIGHT + name.len() + value.len();
        let bytes = self.tags.iter().map(bytes).sum();
        self.inherit(bytes, self.inherited.tags)
    }

    /// Counts the plan's defaults for a scenario that has others beside them; `None` after an error was noted.
    pub(super) fn inherit_defaults(&mut self, plan: &Defaults) -> Option<()> {
        plan.headers.iter().try_for_each(|header| self.inherit_header(header))?;
        plan.tags.iter().try_for_each(|(name, value)| {
            self.inherit(WEIGHT + name.value.len() + value.source().len(), name.span)
        })
    }

    /// Notes where tags were put on, for an error.
    pub(super) fn note_tags(&mut self, span: Span) {
        self.inherited.tags = span;
    }

    /// Counts bytes that a step inherits from what stands at a place; `None` after an error was noted.
    pub(super) fn inherit(&mut self, bytes: usize, span: Span) -> Option<()> {
        if let Some(left) = self.inherited.left.checked_sub(bytes).filter(|left| *left > 0) {
            self.inherited.left = left;
            return Some(());
        }
        if self.inherited.left > 0 {
            self.inherited.left = 0;
            // What is left out has names that thresholds may be about.
            self.lacks_names = true;
            let most = MAX_INHERITED >> 20;
            let message = format!(
                "the default headers, tags and credentials of all steps come to more than {most} MiB"
            );
            let help = "each step counts with all that it has of them: have fewer in `defaults`, or fewer steps";
            self.error(span, message, help);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{CompileOptions, compile};

    /// What is wrong with a plan of these defaults and so many requests that have something of their own.
    fn errors(defaults: &str, requests: usize, own: &str) -> Vec<(String, String)> {
        let step = format!("{{get: /, name: x{own}}}, ");
        let text = format!(
            "target: http://a.test\ndefaults: {{{defaults}}}\nscenarios: {{a: {{load: {{users: 1, for: 1s}}, steps: [{}]}}}}\n",
            step.repeat(requests)
        );
        let options = squall_plan::vars::LoadOptions::default();
        let loaded = squall_plan::yaml::load_str("plan", &text, "".as_ref(), &options);
        let plan = loaded.expect("a good plan").plan;
        let errors = compile(&plan, &CompileOptions::default()).err().unwrap_or_default();
        let line =
            |span: Span| text.lines().nth(span.line as usize - 1).unwrap_or_default().to_owned();
        errors.into_iter().map(|error| (error.message, line(error.span))).collect()
    }

    #[test]
    fn headers_that_follow_redirects_count_where_they_are_inherited() {
        let name = "x".repeat(1 << 20);
        let defaults = format!("redirects: 1, redirect_headers: {name}");
        assert_eq!(errors(&defaults, 60, ""), []);
        let found = errors(&defaults, 70, "");
        let [(message, line)] = &found[..] else { panic!("{}", found.len()) };
        assert!(message.contains("come to more than 64 MiB"), "{message}");
        assert!(line.starts_with("defaults:"), "it has a place");
        assert_eq!(errors(&defaults, 70, ", redirect_headers: Accept"), []);
    }
}
