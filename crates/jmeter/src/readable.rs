//! A translated plan as somebody would write it who wants to maintain it: without JMeter's messages, with checks in the
//! form in which people write them, and with what all requests share said once. Requests, and what is judged of them, stay the same.

use squall_plan::expr::Expr;
use squall_plan::model::{Check, Plan, Step, StepKind, Think, Thinking};
use squall_plan::span::Span;
use squall_plan::template::Template;

/// The names that JMeter gives assertions, which say nothing.
const DEFAULT_NAMES: [&str; 11] = [
    "Response Assertion",
    "Duration Assertion",
    "Size Assertion",
    "JSON Assertion",
    "JSON JMESPath Assertion",
    "XPath Assertion",
    "XPath2 Assertion",
    "XML Assertion",
    "MD5Hex Assertion",
    "BeanShell Assertion",
    "JSR223 Assertion",
];

/// Makes a plan one that people can maintain.
pub fn simplify(plan: &mut Plan) {
    let sections = [&mut plan.setup, &mut plan.teardown];
    let lists = plan.scenarios.iter_mut().map(|scenario| &mut scenario.steps);
    lists.chain(sections).flatten().for_each(|step| each_step(step, &mut simplify_step));
    plan.hoist();
}

/// Looks at a step and all within it.
fn each_step(step: &mut Step, look: &mut dyn FnMut(&mut StepKind)) {
    look(&mut step.kind);
    step.inner_mut().for_each(|inner| each_step(inner, look));
}

fn simplify_step(step: &mut StepKind) {
    match step {
        StepKind::Request(request) => checks(&mut request.check),
        StepKind::Exec(exec) => checks(&mut exec.check),
        StepKind::Tcp(tcp) => checks(&mut tcp.check),
        StepKind::Look(look) => checks(&mut look.check),
        StepKind::Think(think) => wait(think),
        _ => {}
    }
}

/// Checks without JMeter's messages, in the form in which people write them.
fn checks(checks: &mut Vec<Check>) {
    for check in checks.iter_mut() {
        check.message = None;
        check.name = check.name.take().filter(|name| !DEFAULT_NAMES.contains(&name.as_str()));
        if let Some(expr) = of_status(check.expr.source()).and_then(|source| parsed(&source)) {
            check.expr = expr;
        }
    }
    // What asks for a status below 400 says so by itself.
    let asks = |check: &Check| {
        let source = check.expr.source();
        let codes = source
            .strip_prefix("status == ")
            .or_else(|| source.strip_prefix("status in [").and_then(|rest| rest.strip_suffix(']')));
        let is_low = |code: &str| code.parse::<u32>().is_ok_and(|code| code < 400);
        !check.warn
            && check.of.is_none()
            && codes.is_some_and(|codes| codes.split(", ").all(is_low))
    };
    let asked: Vec<(bool, bool)> =
        checks.iter().filter(|own| asks(own)).map(|own| (own.resources, own.redirects)).collect();
    checks.retain(|own| {
        own.expr.source() != "status < 400" || !asked.contains(&(own.resources, own.redirects))
    });
}

/// A test of the status as a text, as one of the number: `string(status) == "302"`, and patterns that only that matches.
fn of_status(source: &str) -> Option<String> {
    let alternatives: Vec<&str> = source.split(" || ").collect();
    let codes: Option<Vec<&str>> = alternatives.into_iter().map(code).collect();
    let codes: Vec<&str> = codes?.into_iter().flat_map(|codes| codes.split('|')).collect();
    Some(match codes.as_slice() {
        [one] => format!("status == {one}"),
        several => format!("status in [{}]", several.join(", ")),
    })
}

/// The status codes that a test asks for, with `|` between them. They have three digits, so that what holds such a number is it.
fn code(test: &str) -> Option<&str> {
    let rest = test.strip_prefix("string(status)")?;
    let (begin, end) = [
        (" == \"", "\""),
        (".contains(\"", "\")"),
        (".matches(\"", "\")"),
        (".matches(\"\\\\A(?:", ")\\\\z\")"),
    ]
    .into_iter()
    .find(|(begin, end)| {
        rest.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end)).is_some_and(is_codes)
    })?;
    let codes = rest.strip_prefix(begin)?.strip_suffix(end)?;
    // Only a pattern has alternatives.
    (!codes.contains('|') || begin.starts_with(".matches")).then_some(codes)
}

fn is_codes(text: &str) -> bool {
    let is_code = |code: &str| {
        code.len() == 3 && code.bytes().all(|c| c.is_ascii_digit()) && !code.starts_with('0')
    };
    text.split('|').all(is_code)
}

/// A wait between two equal numbers is one of that length, and whole numbers are so without being told.
fn wait(think: &mut Thinking) {
    let Thinking::OfUser(template) = think else { return };
    let Some(inner) =
        template.source().strip_prefix("${").and_then(|rest| rest.strip_suffix("}ms"))
    else {
        return;
    };
    let Some((from, to)) = random(inner) else { return };
    if from == to {
        *think = Thinking::Known(Think::Fixed(std::time::Duration::from_millis(from)));
    } else if let Ok(short) =
        Template::parse(&format!("${{random({from}, {to})}}ms"), Span::default())
    {
        *template = short;
    }
}

/// The bounds of a random whole number, with or without `int(string(...))` around it.
fn random(source: &str) -> Option<(u64, u64)> {
    let inner = source.strip_prefix("int(string(").and_then(|rest| rest.strip_suffix("))"));
    let bounds = inner.unwrap_or(source).strip_prefix("random(")?.strip_suffix(')')?;
    let (from, to) = bounds.split_once(", ")?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

fn parsed(source: &str) -> Option<Expr> {
    Expr::parse(source, Span::default()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_as_numbers() {
        for (source, expected) in [
            ("string(status) == \"302\"", Some("status == 302")),
            ("string(status).contains(\"200\")", Some("status == 200")),
            ("string(status).matches(\"200|302\")", Some("status in [200, 302]")),
            (
                "string(status) == \"200\" || string(status) == \"404\"",
                Some("status in [200, 404]"),
            ),
            ("string(status).matches(\"\\\\A(?:20.)\\\\z\")", None),
            ("string(status).contains(\"20\")", None),
            ("string(status) == \"200|302\"", None),
            ("!(string(status) == \"200\")", None),
            ("body.contains(\"200\")", None),
        ] {
            assert_eq!(of_status(source).as_deref(), expected, "{source}");
        }
    }

    #[test]
    fn checks_lose_what_only_jmeter_says() {
        let check = |source: &str, name: &str| Check {
            expr: parsed(source).expect("an expression"),
            name: Some(name.to_owned()),
            message: Some(Template::text("Test failed: code expected to equal /302/")),
            ..Check::default()
        };
        let mut all = vec![
            check("status < 400", ""),
            check("string(status) == \"302\"", "Response Assertion"),
            check("body.contains(\"a\")", "has an a"),
        ];
        checks(&mut all);
        let shown: Vec<_> =
            all.iter().map(|own| (own.expr.source(), own.name.as_deref())).collect();
        assert_eq!(shown, [("status == 302", None), ("body.contains(\"a\")", Some("has an a"))]);
        assert!(all.iter().all(|own| own.message.is_none()));
        let mut all = vec![check("status < 400", ""), check("string(status) == \"500\"", "")];
        checks(&mut all);
        assert_eq!(all.len(), 2, "what asks for a failure does not say that it is none");
    }

    #[test]
    fn waits_are_times() {
        let of = |source: &str| {
            let mut think =
                Thinking::OfUser(Template::parse(source, Span::default()).expect("a text"));
            wait(&mut think);
            think
        };
        let fixed = Thinking::Known(Think::Fixed(std::time::Duration::from_millis(500)));
        assert_eq!(of("${int(string(random(500, 500)))}ms"), fixed);
        let Thinking::OfUser(short) = of("${int(string(random(500, 900)))}ms") else {
            panic!("a range")
        };
        assert_eq!(short.source(), "${random(500, 900)}ms");
        assert!(
            matches!(of("${int(x)}ms"), Thinking::OfUser(own) if own.source() == "${int(x)}ms")
        );
    }
}
