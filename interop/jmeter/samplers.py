"""Small JMeter plans with samplers that send nothing over HTTP, and with what looks at their samples."""

from plans import (asserts, by_regex, counter, debug, element, flag, for_each, group, if_, java, loop, plan, program, request, script, shown, simple,
                   switch, text)

#: What an extractor may take a part of, by what it is called here.
FIELDS = {"code": "code", "message": "message", "head": "true", "url": "URL", "sent_head": "request_headers"}


def over(sampler, *below):
    """A sampler with elements below it."""
    return sampler.removesuffix("</hashTree>") + "".join(below) + "</hashTree>"


def takes(name, field, regex="(.*)"):
    own = by_regex(name, regex, default="none")
    return own.replace(text("RegexExtractor.useHeaders", "false"), text("RegexExtractor.useHeaders", FIELDS[field]))


def takes_all():
    return "".join(takes(name, name, "(?s)^(.*)$") for name in FIELDS)


def of_request(name, kind, pattern):
    """An assertion about the data of a request."""
    return asserts(name, kind, pattern).replace("Assertion.response_data", "Assertion.request_data")


def of_variable(extractor, name):
    return extractor.replace("</RegexExtractor>", text("Sample.scope", "variable") + text("Scope.variable", name) + "</RegexExtractor>", 1)


def ignoring(assertion):
    return assertion.replace("</ResponseAssertion>", flag("Assertion.assume_success", True) + "</ResponseAssertion>", 1)


def test(name, *below, **values):
    """A Java Request that waits for nothing, with elements below it."""
    return over(java(name, "JavaTest", **{"Sleep_Time": "0", "Sleep_Mask": "0", **values}), *below)


def debugs(name, *below, **shows):
    inner = "".join(flag(f"display{what}", is_shown) for what, is_shown in shows.items())
    return over(element("DebugSampler", name, inner, attributes='guiclass="TestBeanGUI"'), *below)


SHOWN = request("show", "/show", "POST", raw=shown(*FIELDS))

PLANS = {
    "Java Requests say what they come to": plan(group("".join(sampler + SHOWN for sampler in [
        test("given", takes_all(), ResponseCode="201", ResponseMessage="Alright", ResultData="x"),
        test("a code that is none", takes_all(), ResponseCode="x1 ${__threadNum}", ResponseMessage="${code}"),
        test("nothing", takes_all(), ResponseCode="", ResponseMessage=""),
        test("not said", takes_all()),
        over(java("asleep", "SleepTest", SleepTime="1", SleepMask="1"), takes_all()),
        test("bad", takes_all(), Status="KO", ResponseCode="500", ResponseMessage="no"),
        test("no status", takes_all(), Status=""),
        test("any case", takes_all(), Status="oK"),
        test("a status of the run", takes_all(), Status="${__BeanShell(\"O\" + \"K\")}")]))),
    "assertions about Java Requests": plan(group("".join([
        test("code", asserts("a", 8, "201", field="code"), ResponseCode="201"),
        test("other code", asserts("a", 8, "200", field="code"), ResponseCode="201"),
        test("a code that is none", asserts("a", 2, "[a-z]", field="code"), ResponseCode="x1"),
        test("no code", asserts("a", 8, "", field="code")),
        test("not a code", asserts("a", 12, "200", field="code")),
        test("message", asserts("a", 16, "right", field="message"), ResponseMessage="Alright"),
        test("other message", asserts("a", 1, "Al", field="message"), ResponseMessage="Alright"),
        test("no message", asserts("a", 16, "", field="message")),
        test("head", asserts("a", 16, "x", field="headers")),
        test("no head", asserts("a", 20, "x", field="headers")),
        test("data", of_request("a", 16, "sent"), SamplerData="what is sent"),
        test("all data", of_request("a", 8, "sent"), SamplerData="sent"),
        test("no data", of_request("a", 20, "sent")),
        test("body", asserts("a", 8, "x"), ResultData="x", SamplerData="y"),
        test("no body", asserts("a", 8, "x")),
        test("ignored", ignoring(asserts("a", 16, "r", field="message")), Status="KO", ResponseMessage="r"),
        test("ignored in vain", ignoring(asserts("a", 16, "s", field="message")), Status="KO", ResponseMessage="r")]))),
    "labels of Java Requests known only while the plan runs": plan(group(
        counter("n", per_user=True) + counter("all")
        + test("named ${n}") + test("named", Label="L ${n} of ${all}") + test("by itself ${n}", Label="${none}${unset}")
        + script("JSR223Sampler", "vars.put('label', '')", "groovy") + test("empty ${n}", Label="${label}")
        + script("JSR223Sampler", "vars.put('label', 'full')", "groovy") + test("empty", Label="${label}"), loops=3)),
    "functions that count in conditions and choices": plan(group(
        loop(5, if_("${__counter(TRUE,c)} % 2 == 0", test("even", Label="even ${c}"), expression=False) + test("each", Label="each ${c}"))
        + loop(4, switch("${__counter(TRUE,s)}", "".join(test(str(n), Label=f"{n} ${{s}}") for n in range(4))))
        + simple(test("after", Label="${c} ${s}")), loops=2)),
    "Debug Samplers that are looked at": plan(group("".join(sampler + SHOWN for sampler in [
        over(debug("nothing shown"), takes_all()),
        debugs("none", takes_all(), asserts("a", 16, "x"), JMeterVariables=False),
        debugs("message", takes_all(), asserts("a", 8, "OK", field="message"), JMeterVariables=True),
        debugs("code", asserts("a", 8, "200", field="code"), JMeterProperties=True),
        debugs("data", of_request("a", 1, "JMeterVariables\nSystemProperties\n"), JMeterVariables=True, SystemProperties=True),
        debugs("no data", of_request("a", 16, "JMeter"), JMeterVariables=False)]))),
    "Debug Samplers behind extractors of variables": plan(group(
        script("JSR223Sampler", "vars.put('text', '--123--456--')", "groovy")
        + of_variable(by_regex("number", "\\d+", "-1", template="$0$"), "text")
        + debug("found") + for_each("number", "one", debug("D ${one}")) + request("show", "/show", "POST", raw=shown("number_1", "number_2")))),
    "programs that are looked at": plan(group("".join(sampler + SHOWN for sampler in [
        over(program("good", "true", expected=0), takes_all(), asserts("a", 8, "OK", field="message")),
        over(program("bad", "sh", "-c", "exit 3", expected=0), takes_all()),
        over(program("ignored", "sh", "-c", "exit 3", expected=0), takes_all(), ignoring(asserts("a", 16, "Actual [3]", field="message"))),
        over(program("whatever", "sh", "-c", "exit 3"), takes_all(), asserts("a", 8, "OK", field="message")),
        over(program("late", "sleep", "3", expected=0, timeout="300"), takes_all()),
        over(program("late ${__threadNum}", "sleep", "3", timeout="300"), ignoring(asserts("a", 16, "after 300 milli", field="message")),
             ignoring(asserts("b", 8, "500", field="code"))),
        over(program("in time", "sh", "-c", "echo out", timeout="60000"), takes_all(), asserts("a", 16, "out")),
        over(program("told", "printenv", "GREETING", environment={"GREETING": "hello"}, directory="/"), asserts("a", 16, "hello"),
             of_request("b", 8, "Working Directory: /\nEnvironment: {GREETING=hello}\nExecuting: printenv GREETING")),
        over(program("told of nothing", "true", directory="/"), of_request("b", 8, "Working Directory: /\nEnvironment: {}\nExecuting: true"))]))),
    "scripts that name their samples": plan(group(
        script("BeanShellSampler", 'SampleResult.setSampleLabel("S ${__counter(FALSE)}");')
        + over(script("BeanShellSampler", 'ResponseCode = "x"; ResponseMessage = "said";'), takes_all()) + SHOWN
        + over(script("JSR223Sampler", "11*11", "jexl2"), asserts("a", 8, "121"))
        + over(script("JSR223Sampler", "12*12", "groovy"), asserts("a", 8, "144")), loops=2)),
}
