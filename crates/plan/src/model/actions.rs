//! Steps that act on something beside the target: cookies, metrics, the run, programs.

use super::response::{Checks, Extracts};
use super::tags::{Tagged, Tags};
use super::user_time::UserTime;
use super::{Check, Extract};
use crate::expr::Expr;
use crate::keys::{At, CommandLine, Identifier, Pairs, Rule, record, words};
use crate::span::{Span, Spanned};
use crate::template::Template;

record! {
    /// A cookie that a step sets. It obeys what those of servers obey, see RFC 6265bis.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Cookie as "a cookie" {
        /// Its name, not empty.
        #[key(required)]
        pub name: Template,
        /// Its value.
        #[key(required)]
        pub value: Template,
        /// The page whose response would have set it.
        pub url: Option<Template>,
        /// The host that it is sent to, including subdomains.
        #[key(default "the target's host only")]
        pub domain: Option<Template>,
        /// The path that it is sent to, including paths below it.
        #[key(default "/")]
        pub path: Option<Template>,
        /// Whether it is sent over TLS only.
        pub secure: bool,
        /// Name of the user's jar that it is put into.
        #[key(default "the jar without a name")]
        pub cookie_jar: Option<String>,
    }
    rules(_this, keys) {
        let help = "a cookie has either `url`, or `domain` and `path`";
        keys.rule(Rule::Excludes("url", "domain", help));
        keys.rule(Rule::Excludes("url", "path", help));
    }
}

record! {
    /// A value recorded by a step.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Metric as "a metric" {
        /// The metric, as thresholds call it.
        #[key(required [At<Identifier>])]
        pub name: Spanned<String>,
        /// What becomes of its values.
        #[key(required)]
        pub kind: MetricKind,
        /// The value: a number, or for a rate also true or false.
        #[key(default "1 for a counter")]
        pub value: Expr,
        /// Values under different tags are recorded separately; with those of the groups and the scenario around it.
        #[key([Tagged])]
        pub tags: Tags,
    }
    first(this, _keys) {
        if this.value == Expr::default() {
            this.value = Expr::number(1, Span::default());
        }
    }
    rules(_this, keys) {
        keys.rule(Rule::NeededUnless { key: "value", other: "kind", word: "counter" });
    }
}

words! {
    /// What becomes of the values of a metric.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum MetricKind {
        /// They are added up.
        #[default]
        Counter = "counter",
        /// The last, the smallest and the largest are kept.
        Gauge = "gauge",
        /// The share of those that are true, or not 0, is kept.
        Rate = "rate",
        /// Their distribution is kept.
        Trend = "trend",
    }
}

words! {
    /// What `stop` ends.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StopScope {
        /// This pass of the innermost loop around.
        Pass = "pass",
        /// The innermost loop around.
        Loop = "loop",
        /// This iteration.
        Iteration = "iteration",
        /// This user.
        User = "user",
        /// The run.
        Run = "run",
        /// The run, at once: what is in flight is cut off.
        RunNow = "run_now",
    }
}

record! {
    /// A program run as a step.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Exec as "an exec step" {
        /// Program and arguments, no shell. A program with a `/` in it is relative to the folder of the plan; one without is
        /// sought on the PATH.
        #[key(required "exec" [CommandLine])]
        pub command: Vec<Template>,
        /// Name under which it is counted.
        #[key(default "the program's file name")]
        pub name: Option<Template>,
        /// Timeout.
        #[key(default "60s")]
        pub timeout: Option<UserTime>,
        /// What `status` is after a timeout, which is then not an error by itself; what was printed is discarded.
        #[key(default "an error, and nothing looks at it")]
        pub timeout_status: Option<u32>,
        /// What `reason` is; `status` is known in it.
        pub reason: Option<Template>,
        /// What `sent_body` is, as if that had been sent.
        pub sent: Option<Template>,
        /// Environment variables, in addition to squall's own.
        #[key([Pairs])]
        pub env: Vec<(Template, Template)>,
        /// Its working directory.
        #[key(default "where squall was started")]
        pub directory: Option<Template>,
        /// File that is its standard input.
        #[key(default "empty")]
        pub stdin: Option<Template>,
        /// File that its standard output is written to, overwritten each time; nothing can then be extracted from it.
        pub stdout: Option<Template>,
        /// File that its standard error is written to, overwritten each time.
        pub stderr: Option<Template>,
        /// Whether it counts; one that does not is left out of all rows and totals, whatever its outcome.
        #[key(default "true")]
        pub counted: Option<bool>,
        /// Values taken from its standard output (`status` is the exit code).
        #[key([Extracts])]
        pub extract: Vec<Extract>,
        /// Assertions; without one, an exit code other than 0 is an error.
        #[key([Checks])]
        pub check: Vec<Check>,
    }
}

record! {
    /// A text that is looked at as a response is. It sends nothing and counts nowhere but in its checks; where it fails,
    /// the groups around it do, and `on_error` holds.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Look as "a look step" {
        /// The text: to extracts and checks it is the `body`.
        #[key(required "look")]
        pub text: Template,
        /// What `status` is: a number or an expression, of a text where no number says it.
        #[key(default "200")]
        pub status: Expr,
        /// What `reason` is.
        #[key(default "OK")]
        pub reason: Option<Template>,
        /// What `sent_body` is, as if that had been sent.
        pub sent: Option<Template>,
        /// Values taken from the text, in order.
        #[key([Extracts])]
        pub extract: Vec<Extract>,
        /// Assertions, in order, after the extracts; `duration` is that of the innermost group so far, and so, at its end, of the whole of it.
        #[key([Checks])]
        pub check: Vec<Check>,
    }
    first(this, _keys) {
        if this.status == Expr::default() {
            this.status = Expr::number(200, Span::default());
        }
    }
}

record! {
    /// A text that is written to a file.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct Write as "a write step" {
        /// The file, relative to the working directory; its path is known before the run.
        #[key(required "write")]
        pub file: Template,
        /// The text.
        #[key(required)]
        pub text: Template,
        /// Whether to append to the file; otherwise it is overwritten.
        pub append: bool,
    }
}
