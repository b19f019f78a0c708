"""Small JMeter plans, each for some of its rules. They reach a stub at 127.0.0.1, at the port of `-Jport`."""

from xml.sax.saxutils import escape


def element(tag, name, properties="", below="", attributes=""):
    return f'<{tag} testname="{name}" {attributes}>{properties}</{tag}><hashTree>{below}</hashTree>'


def text(name, value):
    return f'<stringProp name="{name}">{escape(str(value))}</stringProp>'


def flag(name, value):
    return f'<boolProp name="{name}">{"true" if value else "false"}</boolProp>'


def argument(name, value, encode=True):
    inner = flag("HTTPArgument.always_encode", encode) + text("Argument.name", name) + text("Argument.value", value)
    inner += text("Argument.metadata", "=") + flag("HTTPArgument.use_equals", True)
    return f'<elementProp name="" elementType="HTTPArgument">{inner}</elementProp>'


def request(name, path, method="GET", arguments="", raw=None, below="", follow=False, keep=True, more=""):
    if raw is not None:
        arguments, more = argument("", raw, False), more + flag("HTTPSampler.postBodyRaw", True)
    list_of = f'<collectionProp name="Arguments.arguments">{arguments}</collectionProp>'
    inner = f'<elementProp name="HTTPsampler.Arguments" elementType="Arguments">{list_of}</elementProp>'
    inner += text("HTTPSampler.domain", "") + text("HTTPSampler.path", path) + text("HTTPSampler.method", method)
    inner += flag("HTTPSampler.follow_redirects", follow) + flag("HTTPSampler.use_keepalive", keep) + more
    return element("HTTPSamplerProxy", name, inner, below, 'guiclass="HttpTestSampleGui"')


def headers(*pairs):
    inner = "".join(
        f'<elementProp name="" elementType="Header">{text("Header.name", n)}{text("Header.value", v)}</elementProp>'
        for n, v in pairs
    )
    inner = f'<collectionProp name="HeaderManager.headers">{inner}</collectionProp>'
    return element("HeaderManager", "headers", inner, attributes='guiclass="HeaderPanel"')


def cookies(clear=False):
    inner = '<collectionProp name="CookieManager.cookies"/>' + flag("CookieManager.clearEachIteration", clear)
    return element("CookieManager", "cookies", inner, attributes='guiclass="CookiePanel"')


def variables(**pairs):
    inner = "".join(
        f'<elementProp name="{n}" elementType="Argument">{text("Argument.name", n)}{text("Argument.value", v)}'
        f'{text("Argument.metadata", "=")}</elementProp>'
        for n, v in pairs.items()
    )
    inner = f'<collectionProp name="Arguments.arguments">{inner}</collectionProp>'
    return element("Arguments", "variables", inner, attributes='guiclass="ArgumentsPanel"')


def asserts(name, kind, *patterns, field="data", more=""):
    inner = "".join(f'<stringProp name="{n}">{escape(p)}</stringProp>' for n, p in enumerate(patterns))
    inner = f'<collectionProp name="Asserion.test_strings">{inner}</collectionProp>'
    inner += text("Assertion.test_field", f"Assertion.response_{field}")
    inner += f'<intProp name="Assertion.test_type">{kind}</intProp>' + more
    return element("ResponseAssertion", name, inner, attributes='guiclass="AssertionGui"')


def by_regex(name, regex, match="1", default="", template="$1$"):
    inner = text("RegexExtractor.useHeaders", "false") + text("RegexExtractor.refname", name)
    inner += text("RegexExtractor.regex", regex) + text("RegexExtractor.template", template)
    inner += text("RegexExtractor.default", default) + text("RegexExtractor.match_number", match)
    return element("RegexExtractor", "regex", inner, attributes='guiclass="RegexExtractorGui"')


def by_boundaries(name, left, right, match="1", default=""):
    inner = text("BoundaryExtractor.refname", name) + text("BoundaryExtractor.lboundary", left)
    inner += text("BoundaryExtractor.rboundary", right) + text("BoundaryExtractor.match_number", match)
    inner += text("BoundaryExtractor.default", default) + text("BoundaryExtractor.useHeaders", "false")
    return element("BoundaryExtractor", "boundaries", inner, attributes='guiclass="BoundaryExtractorGui"')


def by_json(names, paths, matches="", defaults=""):
    inner = text("JSONPostProcessor.referenceNames", names) + text("JSONPostProcessor.jsonPathExprs", paths)
    inner += text("JSONPostProcessor.match_numbers", matches) + text("JSONPostProcessor.defaultValues", defaults)
    return element("JSONPostProcessor", "json", inner, attributes='guiclass="JSONPostProcessorGui"')


def by_css(name, selector, attribute="", match="1", default=""):
    inner = text("HtmlExtractor.refname", name) + text("HtmlExtractor.expr", selector)
    inner += text("HtmlExtractor.attribute", attribute) + text("HtmlExtractor.match_number", match)
    inner += text("HtmlExtractor.default", default) + text("HtmlExtractor.extractor_impl", "")
    return element("HtmlExtractor", "css", inner, attributes='guiclass="HtmlExtractorGui"')


def by_xpath(name, path, match="-1", default="", second=False):
    prefix = "XPathExtractor2" if second else "XPathExtractor"
    inner = text(f"{prefix}.refname", name) + text(f"{prefix}.xpathQuery", path)
    inner += text(f"{prefix}.matchNumber", match) + text(f"{prefix}.default", default)
    if second:
        return element("XPath2Extractor", "xpath", inner, attributes='guiclass="XPath2ExtractorGui"')
    inner += flag("XPathExtractor.tolerant", True) + flag("XPathExtractor.validate", False)
    return element("XPathExtractor", "xpath", inner, attributes='guiclass="XPathExtractorGui"')


def of_headers(extractor):
    return extractor.replace(text("RegexExtractor.useHeaders", "false"), text("RegexExtractor.useHeaders", "true"))


def of_all(element_text):
    """With main sample and sub-samples as its scope."""
    property_of = {"RegexExtractor": "Sample.scope", "ResponseAssertion": "Assertion.scope"}
    tag = element_text[1:].split(" ")[0]
    return element_text.replace(f"</{tag}>", text(property_of[tag], "all") + f"</{tag}>", 1)


def shown(*names):
    """Variables as they are, in a body."""
    return " ".join(f"{name}=${{{name}}}" for name in names)


def timer(delay, range_of=None):
    inner = text("ConstantTimer.delay", delay)
    if range_of is None:
        return element("ConstantTimer", "wait", inner, attributes='guiclass="ConstantTimerGui"')
    inner += text("RandomTimer.range", range_of)
    return element("UniformRandomTimer", "wait", inner, attributes='guiclass="UniformRandomTimerGui"')


def loop(times, below, name="loop"):
    inner = flag("LoopController.continue_forever", True) + text("LoopController.loops", times)
    return element("LoopController", name, inner, below, 'guiclass="LoopControlPanel"')


def transaction(name, below, parent=False):
    inner = flag("TransactionController.includeTimers", True) + flag("TransactionController.parent", parent)
    return element("TransactionController", name, inner, below, 'guiclass="TransactionControllerGui"')


def simple(below):
    return element("GenericController", "simple", "", below, 'guiclass="LogicControllerGui"')


def once(below):
    return element("OnceOnlyController", "once", "", below, 'guiclass="OnceOnlyControllerGui"')


def defaults(**more):
    inner = text("HTTPSampler.domain", "127.0.0.1") + text("HTTPSampler.port", "${__P(port)}")
    inner += "".join(text(f"HTTPSampler.{name}", value) for name, value in more.items())
    return element("ConfigTestElement", "defaults", inner, attributes='guiclass="HttpDefaultsGui"')


def controller(tag, name, below, gui="LogicControllerGui", **properties):
    inner = "".join(text(f"{tag}.{key}", value) for key, value in properties.items())
    return element(tag, name, inner, below, f'guiclass="{gui}"')


def if_(condition, below, expression=True, for_all=False):
    return controller("IfController", "if", below, "IfControllerPanel", condition=condition,
                      useExpression=str(expression).lower(), evaluateAll=str(for_all).lower())


def while_(condition, below):
    return controller("WhileController", "while", below, "WhileControllerGui", condition=condition)


def throughput(name, below, percent=None, total=1, each=True):
    inner = f'<intProp name="ThroughputController.style">{0 if percent is None else 1}</intProp>'
    inner += flag("ThroughputController.perThread", each) + f'<intProp name="ThroughputController.maxThroughput">{total}</intProp>'
    inner += f"<FloatProperty><name>ThroughputController.percentThroughput</name><value>{percent or 0}</value><savedValue>0.0</savedValue></FloatProperty>"
    return element("ThroughputController", name, inner, below, 'guiclass="ThroughputControllerGui"')


def interleave(below, style=1, tag="InterleaveControl"):
    gui = {"InterleaveControl": "InterleaveControlGui", "RandomController": "RandomControlGui"}[tag]
    return element(tag, tag, f'<intProp name="InterleaveControl.style">{style}</intProp>', below, f'guiclass="{gui}"')


def switch(value, below):
    return controller("SwitchController", "switch", below, "SwitchControllerGui", value=value)


def for_each(name, item, below, separator=True, **bounds):
    inner = text("ForeachController.inputVal", name) + text("ForeachController.returnVal", item)
    inner += flag("ForeachController.useSeparator", separator)
    inner += "".join(text(f"ForeachController.{key}", value) for key, value in bounds.items())
    return element("ForeachController", "for each", inner, below, 'guiclass="ForeachControlPanel"')


def action(number, target=0, duration="0"):
    inner = "".join(f'<intProp name="ActionProcessor.{n}">{v}</intProp>' for n, v in (("action", number), ("target", target)))
    return element("TestAction", "action", inner + text("ActionProcessor.duration", duration), attributes='guiclass="TestActionGui"')


def on_failure(number):
    return element("ResultAction", "status", f'<intProp name="OnError.action">{number}</intProp>', attributes='guiclass="ResultActionGui"')


def random_timer(kind, delay, range_of):
    inner = text("ConstantTimer.delay", delay) + text("RandomTimer.range", range_of)
    return element(f"{kind}RandomTimer", "wait", inner, attributes=f'guiclass="{kind}RandomTimerGui"')


def constant_throughput(rate, mode):
    inner = f"<doubleProp><name>throughput</name><value>{rate}</value><savedValue>0.0</savedValue></doubleProp>"
    return element("ConstantThroughputTimer", "rate", inner + f'<intProp name="calcMode">{mode}</intProp>', attributes='guiclass="TestBeanGUI"')


def critical_section(lock, below):
    return controller("CriticalSectionController", "section", below, "CriticalSectionControllerGui", lockName=lock)


def synchronizing(size, timeout=0):
    inner = f'<intProp name="groupSize">{size}</intProp><longProp name="timeoutInMs">{timeout}</longProp>'
    return element("SyncTimer", "meet", inner, attributes='guiclass="TestBeanGUI"')


def precise(samples, over, batch=1):
    """So many samples in so many seconds."""
    inner = f"<doubleProp><name>throughput</name><value>{samples}</value><savedValue>0.0</savedValue></doubleProp>"
    inner += f'<intProp name="throughputPeriod">{over}</intProp><longProp name="duration">{over}</longProp>'
    inner += f'<intProp name="batchSize">{batch}</intProp><intProp name="batchThreadDelay">0</intProp>'
    inner += '<intProp name="exactLimit">10000</intProp><longProp name="randomSeed">0</longProp>'
    return element("PreciseThroughputTimer", "exact", inner, attributes='guiclass="TestBeanGUI"')


def free_form(name, below, *rows, unit="S", most=""):
    rows = "".join(texts(str(number), [str(field) for field in row]) for number, row in enumerate(rows))
    inner = f'<collectionProp name="Schedule">{rows}</collectionProp>' + text("Unit", unit) + text("ConcurrencyLimit", most)
    inner += text("LogFilename", "") + text("Iterations", "") + text("ThreadGroup.on_sample_error", "continue")
    inner += ('<elementProp name="ThreadGroup.main_controller" '
              'elementType="com.blazemeter.jmeter.control.VirtualUserController"/>')
    tag = "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup"
    return element(tag, name, inner, below, f'guiclass="{tag}Gui"')


def module(*names):
    inner = "".join(text(str(index), name) for index, name in enumerate(("Test Plan", *names)))
    inner = f'<collectionProp name="ModuleController.node_path">{inner}</collectionProp>'
    return element("ModuleController", "module", inner, attributes='guiclass="ModuleControllerGui"')


def include(file):
    inner = text("IncludeController.includepath", file)
    return element("IncludeController", "include", inner, attributes='guiclass="IncludeControllerGui"')


def group(below, name="users", threads=1, loops=1, ramp=0, on_error="continue", more="", tag="ThreadGroup"):
    control = flag("LoopController.continue_forever", False) + text("LoopController.loops", loops)
    inner = text("ThreadGroup.on_sample_error", on_error) + text("ThreadGroup.num_threads", threads)
    inner += f'<elementProp name="ThreadGroup.main_controller" elementType="LoopController">{control}</elementProp>'
    gui = {"SetupThreadGroup": "SetupThreadGroupGui", "PostThreadGroup": "PostThreadGroupGui"}.get(tag, "ThreadGroupGui")
    return element(tag, name, inner + text("ThreadGroup.ramp_time", ramp) + more, below, f'guiclass="{gui}"')


def backend(kind, **parameters):
    """A Backend Listener of JMeter's own."""
    inner = "".join(
        f'<elementProp name="{n}" elementType="Argument">{text("Argument.name", n)}{text("Argument.value", v)}'
        f'{text("Argument.metadata", "=")}</elementProp>'
        for n, v in parameters.items()
    )
    inner = f'<collectionProp name="Arguments.arguments">{inner}</collectionProp>'
    inner = f'<elementProp name="arguments" elementType="Arguments">{inner}</elementProp>'
    inner += text("classname", f"org.apache.jmeter.visualizers.backend.{kind.lower()}.{kind}BackendListenerClient")
    return element("BackendListener", f"to {kind}", inner, attributes='guiclass="BackendListenerGui"')


INFLUXDB = backend(
    "Influxdb", influxdbMetricsSender="org.apache.jmeter.visualizers.backend.influxdb.HttpMetricsSender",
    influxdbUrl="http://127.0.0.1:${__P(influxdb)}/write?db=load", application="the shop", measurement="jmeter", summaryOnly="false",
    samplersRegex="^[^n].*", percentiles="90;95.0;99.9", testTitle='The "test"', eventTags="a,b c", TAG_env="ci")
GRAPHITE = backend(
    "Graphite", graphiteMetricsSender="org.apache.jmeter.visualizers.backend.graphite.TextGraphiteMetricsSender", graphiteHost="127.0.0.1",
    graphitePort="${__P(graphite)}", rootMetricsPrefix="load.", summaryOnly="false", samplersList=".*(page|in it|whole).*",
    useRegexpForSamplersList="true", percentiles="90;99.9")


def csv_data(file, names="", **more):
    given = dict(delimiter=",", shareMode="shareMode.all", ignoreFirstLine=False, quotedData=False, recycle=True, stopThread=False)
    given.update(more, filename=file, variableNames=names)
    inner = "".join(flag(n, v) if isinstance(v, bool) else text(n, v) for n, v in given.items())
    return element("CSVDataSet", "data", inner, attributes='guiclass="TestBeanGUI"')


def counter(name, start=1, end="", step=1, form="", per_user=False):
    inner = text("CounterConfig.start", start) + text("CounterConfig.end", end) + text("CounterConfig.incr", step)
    inner += text("CounterConfig.name", name) + text("CounterConfig.format", form) + flag("CounterConfig.per_user", per_user)
    return element("CounterConfig", "counter", inner, attributes='guiclass="CounterConfigGui"')


def random_variable(name, low, high, form=""):
    inner = text("variableName", name) + text("minimumValue", low) + text("maximumValue", high) + text("outputFormat", form)
    return element("RandomVariableConfig", "random", inner, attributes='guiclass="TestBeanGUI"')


def texts(name, values):
    inner = "".join(f'<stringProp name="{n}">{escape(v)}</stringProp>' for n, v in enumerate(values))
    return f'<collectionProp name="{name}">{inner}</collectionProp>'


def user_parameters(names, *users, per_iteration=False):
    each = "".join(texts(str(n), values) for n, values in enumerate(users))
    inner = texts("UserParameters.names", names) + f'<collectionProp name="UserParameters.thread_values">{each}</collectionProp>'
    inner += flag("UserParameters.per_iteration", per_iteration)
    return element("UserParameters", "parameters", inner, attributes='guiclass="UserParametersGui"')


def http(**options):
    return "".join(
        flag(f"HTTPSampler.{n}", v) if isinstance(v, bool) else text(f"HTTPSampler.{n}", v) for n, v in options.items()
    )


def file(path, field, kind):
    inner = text("File.path", path) + text("File.paramname", field) + text("File.mimetype", kind)
    inner = f'<elementProp name="{path}" elementType="HTTPFileArg">{inner}</elementProp>'
    inner = f'<collectionProp name="HTTPFileArgs.files">{inner}</collectionProp>'
    return f'<elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs">{inner}</elementProp>'


def cache(expires=False, clear=False):
    inner = flag("clearEachIteration", clear) + flag("useExpires", expires)
    return element("CacheManager", "cache", inner, attributes='guiclass="CacheManagerGui"')


def credentials(url, user, password):
    inner = text("Authorization.url", url) + text("Authorization.username", user) + text("Authorization.password", password)
    inner += text("Authorization.domain", "") + text("Authorization.realm", "")
    inner = f'<elementProp name="" elementType="Authorization">{inner}</elementProp>'
    inner = f'<collectionProp name="AuthManager.auth_list">{inner}</collectionProp>'
    return element("AuthManager", "credentials", inner, attributes='guiclass="AuthPanel"')


def debug(name):
    return element("DebugSampler", name, attributes='guiclass="TestBeanGUI"')


def asserts_size(name, size, operator, field):
    inner = text("Assertion.test_field", f"SizeAssertion.response_{field}") + text("SizeAssertion.size", size)
    inner += f'<intProp name="SizeAssertion.operator">{operator}</intProp>'
    return element("SizeAssertion", name, inner, attributes='guiclass="SizeAssertionGui"')


def asserts_json(name, path, expected, regex=True, invert=False):
    inner = text("JSON_PATH", path) + text("EXPECTED_VALUE", expected) + flag("JSONVALIDATION", True)
    inner += flag("EXPECT_NULL", False) + flag("INVERT", invert) + flag("ISREGEX", regex)
    return element("JSONPathAssertion", name, inner, attributes='guiclass="JSONPathAssertionGui"')


def script(tag, source, language=""):
    """A pre- or post-processor, sampler or assertion that is a script; with a language a JSR223 one."""
    own = {"BeanShellSampler": "BeanShellSampler.query", "BeanShellAssertion": "BeanShellAssertion.query"}
    inner = text(own.get(tag, "script"), source)
    if language:
        inner += text("scriptLanguage", language) + text("cacheKey", "true") + text("filename", "") + text("parameters", "")
    gui = {"BeanShellSampler": "BeanShellSamplerGui", "BeanShellAssertion": "BeanShellAssertionGui"}.get(tag, "TestBeanGUI")
    return element(tag, f"{tag} script", inner, attributes=f'guiclass="{gui}"')


def asserts_xpath(path, negated=False):
    inner = text("XPath.xpath", path) + flag("XPath.negate", negated) + flag("XPath.tolerant", False)
    inner += flag("XPath.validate", False) + flag("XPath.whitespace", False) + flag("XPath.namespace", False)
    return element("XPathAssertion", f"xpath {negated}", inner, attributes='guiclass="XPathAssertionGui"')


def by_jmespath(name, path, match="1", default=""):
    inner = text("JMESExtractor.referenceName", name) + text("JMESExtractor.jmesPathExpr", path)
    inner += text("JMESExtractor.matchNumber", match) + text("JMESExtractor.defaultValue", default)
    return element("JMESPathExtractor", "jmespath", inner, attributes='guiclass="JMESPathExtractorGui"')


def program(name, command, *arguments, expected=None, **more):
    def list_of(pairs):
        inner = "".join(f'<elementProp name="" elementType="Argument">{text("Argument.name", n)}{text("Argument.value", v)}'
                        f'{text("Argument.metadata", "=")}</elementProp>' for n, v in pairs)
        return f'<collectionProp name="Arguments.arguments">{inner}</collectionProp>'
    inner = text("SystemSampler.command", command) + flag("SystemSampler.checkReturnCode", expected is not None)
    inner += text("SystemSampler.expectedReturnCode", expected or 0)
    inner += f'<elementProp name="SystemSampler.arguments" elementType="Arguments">{list_of(("", a) for a in arguments)}</elementProp>'
    environment = list_of(more.pop("environment", {}).items())
    inner += f'<elementProp name="SystemSampler.environment" elementType="Arguments">{environment}</elementProp>'
    inner += "".join(text(f"SystemSampler.{n}", v) for n, v in more.items())
    return element("SystemSampler", name, inner, attributes='guiclass="SystemSamplerGui"')


def java(name, of, **values):
    inner = "".join(f'<elementProp name="{n}" elementType="Argument">{text("Argument.name", n)}{text("Argument.value", v)}'
                    f'{text("Argument.metadata", "=")}</elementProp>' for n, v in values.items())
    inner = f'<elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{inner}</collectionProp></elementProp>'
    inner += text("classname", f"org.apache.jmeter.protocol.java.test.{of}")
    return element("JavaSampler", name, inner, attributes='guiclass="JavaTestSamplerGui"')


def plan(*below, in_turn=False):
    tree = element("TestPlan", "plan", flag("TestPlan.serialize_threadgroups", in_turn), defaults() + "".join(below), 'guiclass="TestPlanGui"')
    begin = '<?xml version="1.0" encoding="UTF-8"?><jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>'
    return f"{begin}{tree}</hashTree></jmeterTestPlan>"


#: Files beside each plan.
FILES = {
    "users.csv": "id,name\n1,ada\n2\n3,grace,more\n",
    "quoted.csv": 'x;"a;""b"""\ny;z\n',
    "upload.txt": "text of a file\n",
    "chinese.csv": "\u4e2d,\u56fd\n".encode("gbk"),
    "alike.csv": "2,1,x\n2,1,x\n\nnever read\n",
}


def fragment(below):
    """A plan of a fragment alone, which another one includes."""
    return plan(element("TestFragmentController", "fragment", "", below, 'guiclass="TestFragmentControllerGui"'))


FILES["fragment.jmx"] = fragment(request("included", "/included/${of}") + include("inner.jmx"))
FILES["inner.jmx"] = fragment(request("inner", "/inner"))

FORM = argument("a", "x y&é~*") + argument("b", "p%20q+r", False) + argument("", "left out")
TWO = argument("a", "1") + argument("b", "x/y")

#: Name: what the plan holds to, and the plan.
PLANS = {
    "scripts before and after a sample, BeanShell (56)": plan(group(
        request("one", "/one", "POST", raw=shown("a", "b", "c"), below=script(
            "BeanShellPreProcessor",
            'String x = vars.get("none");\nif (x == null) { vars.put("a", "unset"); } else { vars.put("a", x); }\n'
            'int n = Integer.parseInt("4"); n++; vars.put("b", String.valueOf(n)); // a comment\nvars.put("c", "${__threadNum}-" + vars.get("b"));'))
        + request("two", "/json", below=script(
            "BeanShellPostProcessor",
            'vars.put("code", prev.getResponseCode());\nString body = prev.getResponseDataAsString();\n'
            'if (body.contains("q1")) vars.put("has", "yes"); else vars.put("has", "no");\nlog.info("seen " + body);'))
        + request("show", "/a", "POST", raw=shown("a", "b", "c", "code", "has")))),
    "scripts before and after a sample, Groovy (56)": plan(group(
        request("one", "/one", "POST", raw=shown("a", "b"), below=script(
            "JSR223PreProcessor", "def x = 'v'\nvars.put('a', \"${x}-1\")\nif (!vars.get('none')) {\n  vars.put('b', 'empty')\n}", "groovy"))
        + request("two", "/json", below=script(
            "JSR223PostProcessor",
            "import groovy.json.JsonSlurper\ndef json = new JsonSlurper().parseText(prev.getResponseDataAsString())\n"
            "vars.put('id', json.list[1].id.toString())\nvars.put('top', json.id)\nprops.put('shared', vars.get('top'))\nlog.info 'top: ' + vars.get('top')",
            "groovy"))
        + request("show", "/a/${__P(shared,none)}", "POST", raw=shown("a", "b", "id", "top")))),
    "assertions that are scripts (47, 56)": plan(group("".join(
        request(name, path, below=below) for name, path, below in [
            ("fails", "/a", script("BeanShellAssertion", 'if (ResponseCode.equals("200")) { Failure = true; FailureMessage = "no"; }')),
            ("passes", "/a", script("BeanShellAssertion", 'if (ResponseCode.equals("201")) { Failure = true; }')),
            ("made good", "/status/500", script("BeanShellAssertion", 'if (ResponseCode.equals("500") == true) { SampleResult.setResponseOK(); }')),
            ("stays bad", "/status/404", script("BeanShellAssertion", 'if (ResponseCode.equals("500") == true) { SampleResult.setResponseOK(); }')),
            ("made bad", "/a", script("JSR223PostProcessor", "prev.setSuccessful(false)", "groovy")),
            ("judged", "/json", script("JSR223Assertion",
                                       "if (!prev.getResponseDataAsString().contains('q1')) {\n  AssertionResult.setFailure(true)\n}", "groovy")),
            ("empty", "/a", script("BeanShellAssertion", "")),
        ]))),
    "samplers that are scripts, and what looks at them (56)": plan(group(
        element("JSR223Sampler", "sampler", text("script", "SampleResult.setResponseData('id=7;', 'UTF-8')\nSampleResult.setSuccessful(false)")
                + text("scriptLanguage", "groovy") + text("cacheKey", "true"), by_regex("id", "id=(\\d+)"), 'guiclass="TestBeanGUI"')
        + element("BeanShellSampler", "returns", text("BeanShellSampler.query", 'String s = "abc";\nreturn s + s.length();'),
                  by_regex("all", "(.*)") + asserts("a", 16, "abc3"), 'guiclass="BeanShellSamplerGui"')
        + element("JSR223Sampler", "ignored", text("script", "vars.put('set', 'x')\nSampleResult.setIgnore()") + text("scriptLanguage", "groovy")
                  + text("cacheKey", "true"), "", 'guiclass="TestBeanGUI"')
        + if_("${JMeterThread.last_sample_ok}", request("ok", "/ok")) + request("show", "/a", "POST", raw=shown("id", "all", "set")))),
    "properties that one group sets for the next (23)": plan(
        group(request("login", "/json", below=by_json("id", "$.id", "1", "none") + script("BeanShellAssertion", "${__setProperty(token,${id})};")), "first",
              tag="SetupThreadGroup"),
        group(request("use", "/use/${__P(token,none)}/${__property(token)}/${__P(other,o)}"), "second")),
    "a sample that is passed over (3)": plan(group(
        request("passed over", "/a", below=script("JSR223PostProcessor", "prev.setIgnore()", "groovy")) + request("counted", "/b"))),
    "the last sample is any sampler's (14)": plan(group(
        request("bad", "/status/500") + debug("shown") + if_("${JMeterThread.last_sample_ok}", request("after", "/after")))),
    "names of transactions known only while the plan runs (27)": plan(group(
        request("find", "/json", below=by_json("id", "$.id", "1", "none")) + transaction("T ${id}", request("in it", "/in")) + debug("D ${id}"))),
    "XPath assertions (47)": plan(group("".join(request(name, path, below=below) for name, path, below in [
        ("there", "/xml", asserts_xpath("//a[2]")), ("not there", "/xml", asserts_xpath("//c")), ("not negated", "/xml", asserts_xpath("//c", True)),
        ("there negated", "/xml", asserts_xpath("//a", True)), ("true", "/xml", asserts_xpath("count(//a) = 2")),
        ("false", "/xml", asserts_xpath("count(//a) = 3")), ("false negated", "/xml", asserts_xpath("count(//a) = 3", True)),
        ("empty", "/empty", asserts_xpath("//a"))]))),
    "JMESPath extractors (46)": plan(group(
        request("find", "/json", below=by_jmespath("id", "id") + by_jmespath("deep", '"a-b".id', "1", "D") + by_jmespath("none", "zip", "1", "D")
                + by_jmespath("all", "list[*].id", "-1", "D") + by_jmespath("second", "list[*].id", "2") + by_jmespath("third", "list[*].id", "3", "D")
                + by_jmespath("place", "list[1].id") + by_jmespath("blank", "id", ""))
        + request("show", "/a", "POST", raw=shown("id", "deep", "none", "all_1", "all_2", "all_matchNr", "second", "third", "place", "blank")))),
    "a Java request with a response (31)": plan(group(
        element("JavaSampler", "java", java("x", "JavaTest", Sleep_Time="0", Sleep_Mask="0", ResultData="id=5;", ResponseCode="201")
                .split(">", 1)[1].rsplit("</JavaSampler>", 1)[0], by_regex("id", "id=(\\d)") + asserts("a", 8, "201", field="code"),
                'guiclass="JavaTestSamplerGui"') + request("show", "/a", "POST", raw=shown("id")))),
    "URLs and their arguments (33)": plan(group(
        request("encoded", "/a?x=1", arguments=argument("b", "x y&") + argument("c", "a+b", False) + argument("", "z"))
        + request("no slash", "no slash", arguments=argument("q", "é~*-._"))
        + request("as written", "/b", arguments=argument("c", "a+%20", False) + argument("d", "e f"))
        + request("options", "/c", "OPTIONS", TWO) + request("head", "/d", "HEAD", TWO)
        + request("delete", "/e", "DELETE", TWO) + request("nothing to delete", "/f", "DELETE"))),
    "methods of WebDAV, and TRACE (33, 34)": plan(group("".join(
        request(f"{method} {name}", f"/{name}", method, *body)
        for method in ["TRACE", "PROPFIND", "MKCOL", "MOVE", "LOCK", "REPORT", "SEARCH"]
        for name, *body in [("nothing",), ("form", TWO), ("raw", "", "<x/>")])
        + request("within the client", "/redirect/302", "LOCK", more=http(auto_redirects=True))
        + request("not with Java's client", "/never", "COPY", more=http(implementation="Java")))),
    "bodies and their types (34)": plan(group(
        request("raw", "/a", "POST", raw='{"a":1}\nx') + request("empty", "/b", "POST", raw="")
        + request("form", "/c", "POST", FORM) + request("nothing", "/d", "POST")
        + request("put", "/e", "PUT", raw="é") + request("put a form", "/f", "PUT", TWO) + request("put nothing", "/g", "PUT")
        + request("patch", "/h", "PATCH", raw="x") + request("get with a body", "/i", raw="x")
        + request("get with an empty body", "/j", raw="") + request("delete with a body", "/k", "DELETE", raw="x"))),
    "headers sent, and how managers merge (5, 35)": plan(headers(("X-Plan", "plan"), ("X-All", "plan")), group(
        headers(("x-all", "group"), ("User-Agent", "me"))
        + request("outer", "/a") + request("closes", "/b", keep=False)
        + request("inner", "/c", "POST", raw="x",
                  below=headers(("X-ALL", "own"), ("X-All", "twice"), ("Content-Type", "application/json"))))),
    "defaults, the nearest first (5)": plan(group(
        defaults(path="/group") + request("of the group", "")
        + simple(defaults(path="/simple") + request("of the controller", "") + request("own", "/own")))),
    "redirects (36)": plan(group(cookies() + "".join(
        request(f"{method} {code}", f"/redirect/{code}", method, follow=True, raw="x" if method == "POST" else None)
        for method, code in [("GET", 301), ("GET", 302), ("GET", 303), ("GET", 307), ("GET", 308), ("HEAD", 302),
                             ("POST", 301), ("POST", 302), ("POST", 303)])
        + "".join(request(f"{method} {code}", f"/redirect/{code}", method, follow=True, raw="x")
                  for method in ["GET", "PUT", "PATCH", "DELETE", "POST"] for code in [302, 307, 308])
        + request("round and round", "/redirect/round/302", follow=True) + request("to another protocol", "/redirect/myapp/302", follow=True)
        + request("nowhere", "/redirect/nowhere/302", follow=True) + request("no place", "/status/302", follow=True)
        + request("not followed", "/redirect/302") + request("headers go along", "/redirect/302", follow=True,
                                                              below=headers(("Authorization", "Basic eHg6eXk="), ("X-Key", "own key"))))),
    "redirects lead to other hosts (36)": plan(group(
        request("followed", "/redirect/away/302", follow=True, below=headers(("Authorization", "Basic eHg6eXk="), ("X-Key", "own key")))
        + request("with cookies", "/redirect/away/302", follow=True, below=cookies()))),
    "cookies: none without a manager (42)": plan(
        group(request("set", "/cookie") + request("none", "/a"), "without", loops=2),
        group(cookies() + request("set", "/cookie") + request("kept", "/b"), "kept", loops=2),
        group(cookies(clear=True) + request("first", "/c") + request("set", "/cookie") + request("then", "/d"), "cleared", loops=2)),
    "variables and properties (17 to 22)": plan(
        variables(one="1", two="${one}x", host="${__P(port)}", slash=r"c\,d\$e"),
        variables(three="${two}-${one}"), group(
            request("values", "/${one}/${__P(none)}/${__P(none,d)}/${__property(none)}/${__threadNum}")
            + request("as written", "/a", "POST", raw="${nobody} ${two} ${three} ${__notAFunction(1)} ${slash}")
            + request("no escapes", "/a", "POST", raw=r"c\,d\$e") + request("escapes", "/a", "POST", raw=r"c\,d\$e${one}"))),
    "extractors (46)": plan(group(
        request("before", "/b", "POST", raw="${first} ${user.id}")
        + request("find", "/json", below=by_regex("first", '"id":(\\d+)') + by_regex("second", '"id":(\\d+)', "2")
                  + by_regex("user.id", "none(.)") + by_regex("unfound", "none(.)", default="D${one}")
                  + by_boundaries("bound", '"a-b":', "}") + by_boundaries("unbound", "<<", ">>", default="U")
                  + by_json("deep;top;missing;list", "$.a-b.id;$.id;$.none;$.list[*].id", "1;1;1;2", "a;;gone;b"))
        + request("after", "/a", "POST",
                  raw="${first} ${second} ${user.id} ${unfound} ${bound} ${unbound} ${deep} ${top} [${missing}] ${list}")
        + request("unchanged", "/empty", below=by_regex("first", '"id":(\\d+)') + by_json("top", "$.id", "1", "none"))
        + request("last", "/a", "POST", raw="${first} ${top}"), loops=2)),
    "a variable of two extractors (46)": plan(group(
        request("find", "/json", below=by_regex("id", "none(.)", default="D") + by_regex("id", '"id":(\\d+)', "2")
                + by_regex("kept", '"id":(\\d+)') + by_regex("kept", "none(.)") + by_json("lost", "$.id", "1", "N") + by_regex("lost", "none(.)", default="E")
                + by_boundaries("mixed", "<<", ">>") + by_json("mixed", "$.a-b.id", "1", "N"))
        + request("show", "/a", "POST", raw=shown("id", "id_g1", "kept", "kept_g1", "lost", "mixed"))
        + request("none", "/empty", below=by_regex("kept", "none(.)") + by_regex("kept", "none(.)", "2"))
        + request("last", "/a", "POST", raw=shown("kept", "kept_g1")), loops=2)),
    "all matches are variables with numbers (46)": plan(group(
        request("before", "/a", "POST", raw=shown("all", "all_1", "all_matchNr"))
        + request("find", "/json", below=by_regex("all", '"id":((\\d)+)', "-1") + by_regex("none", "zzz(.)", "-1", "DEF")
                  + by_json("js", "$.list[*].id", "-1", "dd") + by_json("jn", "$.zip", "-1", "dn") + by_json("j1", "$.list[*].id", "1", "dd")
                  + by_boundaries("bo", '"id":', "}", "-1") + by_boundaries("bn", "<<", ">>", "-1", "DB"))
        + request("show", "/a", "POST", raw=shown(
            "all", "all_1", "all_2", "all_3", "all_matchNr", "none", "none_1", "none_matchNr", "js", "js_1", "js_2", "js_3", "js_matchNr",
            "jn", "jn_1", "jn_matchNr", "j1", "j1_1", "j1_matchNr", "bo", "bo_1", "bo_2", "bo_3", "bo_matchNr", "bn", "bn_1", "bn_matchNr"))
        + for_each("all", "it", request("each", "/each/${it}")) + for_each("js", "it", request("some", "/some/${it}"), startIndex=1, endIndex=5)
        + for_each("none", "it", request("never", "/never")) + request("none again", "/empty", below=by_regex("all", "(x)", "-1"))
        + request("last", "/a", "POST", raw=shown("all_1", "all_matchNr")))),
    "groups of a match (46)": plan(group(
        request("find", "/json", below=by_regex("two", '"(id)":(\\d+)', template="$1$=$2$;") + by_regex("un", "(z)(y)", template="$1$$2$", default="D")
                + by_regex("kept", "(z)(y)", template="$1$$2$") + by_regex("word", '"(id)"', template="plain"))
        + request("show", "/a", "POST", raw=shown("two", "two_g0", "two_g1", "two_g2", "un", "un_g1", "kept", "word")))),
    "CSS selectors and XPath (46)": plan(group(
        request("find", "/page", below=by_css("link", "link", "href") + by_css("image", "img", "src", "-1") + by_css("no", "h1", default="none")
                + by_css("all", "h1", "", "-1", "none") + by_css("empty", "script")
                + by_xpath("first", "//img/@src") + by_xpath("one", "//img/@src", "1") + by_xpath("miss", "//h1", default="D")
                + by_xpath("count", "count(//img)"))
        + request("XML", "/xml", below=by_xpath("a", "/r/a[2]", second=True) + by_xpath("b", "//b/@k", "2", "D", True))
        + request("show", "/a", "POST", raw=shown(
            "link", "image", "image_1", "image_2", "image_matchNr", "no", "all", "all_matchNr", "empty", "first", "first_1", "first_2",
            "first_matchNr", "one", "one_1", "one_2", "one_matchNr", "miss", "miss_1", "miss_matchNr", "count", "a", "a_matchNr", "b")))),
    "redirects are looked at, too (46, 47)": plan(group(
        request("led", "/redirect/302", follow=True,
                below=of_all(of_headers(by_regex("to", "Location: (\\S*)"))) + of_all(by_regex("ok", "(ok)")) + of_all(asserts("a", 16, "ok")))
        + request("last has it", "/redirect/302", follow=True, below=of_all(of_headers(by_regex("length", "Content-Length: (\\d+)"))))
        + request("a code", "/redirect/302", follow=True, below=of_all(asserts("a", 8, "200", field="code")))
        + request("last code", "/redirect/302", follow=True, below=asserts("a", 8, "200", field="code"))
        + request("alone", "/a", below=of_all(asserts("a", 16, "ok")))
        + request("show", "/a", "POST", raw=shown("to", "ok", "length")))),
    "cookies of a manager go before a header (42)": plan(group(
        cookies() + request("own", "/a", below=headers(("Cookie", "own=1; x=2")))
        + request("set", "/cookie", below=headers(("Cookie", "own=1"))) + request("of the manager", "/b", below=headers(("Cookie", "own=1"))))),
    "patterns known only while the plan runs (47)": plan(variables(what="o."), group(
        request("find", "/json", below=by_regex("id", '"id":(\\d+)'))
        + "".join(request(name, "/json", below=below) for name, below in [
            ("found", asserts("a", 2, '"id":${id}')), ("not found", asserts("a", 2, '"id":1${id}')), ("not", asserts("a", 6, "x${id}")),
            ("whole", asserts("a", 1, "(?s).*${id}.*")), ("value", asserts_json("j", "$.list[0].id", "${id}")),
            ("end", asserts("a", 2, "}$")), ("no end", asserts("a", 2, "id$"))]))),
    "a counter that begins anew with each iteration (6)": plan(group(
        loop(3, counter("n", 5, 6, 1, "", True).replace("</CounterConfig>", flag("CounterConfig.reset_on_tg_iteration", True) + "</CounterConfig>")
             + request("a", "/${n}")), loops=2)),
    "interleave: what does nothing is passed by (30)": plan(variables(none="0"), group(
        counter("n") + request("find", "/json", below=by_regex("id", '"id":(\\d+)') + by_regex("no", "(z)"))
        + interleave(request("a", "/a") + loop("${none}", request("never", "/never")) + if_("${__jexl3(${n} % 2 == 0)}", request("even", "/even"))
                     + loop("${id}", request("seven", "/seven"))), loops=6)),
    "what scripts ask of the machine (22)": plan(group(
        request("a", "/a", "POST", raw='[${__BeanShell(System.getenv("no_such_variable"))}] [${__groovy(null)}] [${__BeanShell(File.separator,)}]'
                                      '[${__BeanShell(System.getProperty("user.dir"))}] [${__groovy(vars.get("none"))}]'))),
    "assertions (39, 47)": plan(group(
        "".join(request(name, path, below=below) for name, path, below in [
            ("has", "/a", asserts("a", 16, "ok")), ("has not", "/a", asserts("a", 16, "nope")),
            ("not", "/a", asserts("a", 20, "nope")), ("not not", "/a", asserts("a", 20, "ok")),
            ("both", "/a", asserts("a", 16, "ok", "nope")), ("either", "/a", asserts("a", 48, "nope", "ok")),
            ("neither", "/a", asserts("a", 52, "nope", "ok")),
            ("found", "/a", asserts("a", 2, "o.$".replace("$", ""))), ("whole", "/a", asserts("a", 1, "(?s).*ok")),
            ("not whole", "/a", asserts("a", 1, "ok")), ("equal", "/json", asserts("a", 8, "x")),
            ("nothing there", "/empty", asserts("a", 2, ".*")), ("not there", "/empty", asserts("a", 6, ".*")),
            ("no patterns", "/empty", asserts("a", 2)),
            ("code", "/a", asserts("a", 8, "200", field="code")), ("other code", "/a", asserts("a", 2, "^4..$", field="code")),
            ("bad all the same", "/status/404", asserts("a", 8, "404", field="code")), ("bad", "/status/500", ""),
            ("meant", "/status/404", asserts("a", 8, "404", field="code", more=flag("Assertion.assume_success", True))),
        ]))),
    "controllers (24, 27, 30)": plan(group(
        once(request("first", "/once")) + loop(3, request("looped", "/loop") + loop(2, request("inner", "/inner")))
        + transaction("apart", request("in it", "/in") + simple(request("also", "/also")))
        + transaction("bad", request("wrong", "/status/500")) + request("end", "/end"), loops=2)),
    "timers are waited for before each sampler (2)": plan(group(
        timer(20) + timer(5, 10.0) + request("a", "/a", below=timer(10)) + request("b", "/b"), loops=2)),
    "threads and loops (10)": plan(
        group(request("r", "/${__threadNum}"), "first", threads=3, loops=4),
        group(request("s", "/s/${__threadNum}"), "second", threads=2, loops=1, ramp=1)),
    "what an error does: the next loop (13)": plan(group(
        request("a", "/a") + request("bad", "/status/500") + request("never", "/never"), loops=3, on_error="startnextloop")),
    "what an error does: the thread ends (13)": plan(group(
        request("a", "/a") + request("bad", "/status/500") + request("never", "/never"), threads=2, loops=3, on_error="stopthread")),
    "conditions: as an expression only the text true holds, without it JavaScript decides (25)": plan(
        variables(one="1", name="shop"), group(
            request("find", "/json", below=by_regex("id", '"id":(\\d+)'))
            + "".join(if_(condition, request(f"expression {n}", f"/e/{n}")) for n, condition in enumerate([
                "true", "TRUE", " true ", "1", "${one}", "${one} == 1", '"${id}" == "7"', "${__jexl3(${id} == 7)}",
                '${__jexl3("${id}" == "7" && "${name}".startsWith("sh"))}', "${__groovy(vars.get('id').toInteger() > 6)}",
                '${__groovy(vars.get("none") == null)}', '${__jexl3("${id}" eq "8" or not ("${one}" ne "1"))}',
                '${__groovy("${id}".equals("7") ? "true" : "false")}', "${JMeterThread.last_sample_ok}",
            ]))
            + "".join(if_(condition, request(f"script {n}", f"/s/{n}"), False) for n, condition in enumerate([
                "true", "${id} == 7", '"${id}" == 7', '"${id}" === 7', '"${name}".length > 3 && ${one} < 2', "'${name}' != 'shop'",
                "(${id} + 1) % 4 == 0", "${id} / 2 > 3.4", "!(${one} > 1 || ${id} > 7)", '"true"', "1",
            ])))),
    "a condition is looked at once, or before each sample (25)": plan(group(
        if_("${JMeterThread.last_sample_ok}", request("a", "/a") + request("fails", "/status/500") + request("all the same", "/b"))
        + request("mends", "/c")
        + if_("${JMeterThread.last_sample_ok}", request("d", "/d") + request("fails too", "/status/500") + request("never", "/never"),
              for_all=True), loops=2)),
    "while: until the text is false, or a sample fails (26)": plan(variables(no="false"), group(
        while_("", request("once", "/a") + request("fails", "/status/500")) + request("mends", "/b")
        + while_("LAST", request("again", "/c") + request("then fails", "/status/500")) + while_("LAST", request("never", "/never"))
        + while_("${no}", request("nor this", "/never")) + while_("False", request("nor that", "/never"))
        + request("mends all", "/b")
        + while_("${__jexl3(\"${id}\" != \"7\")}", request("find", "/json", below=by_regex("id", '"id":(\\d+)'))))),
    "throughput: counted, not drawn (29)": plan(group(
        throughput("a fourth", request("a", "/a"), 25.0) + throughput("most", request("b", "/b"), 66.6)
        + throughput("all", request("c", "/c"), 100.0) + throughput("none", request("d", "/d"), 0.0)
        + throughput("two", request("e", "/e"), total=2) + loop(3, throughput("half", request("f", "/f"), 50.0)), loops=9)),
    "throughput: counted by all threads together (29)": plan(group(
        throughput("a fourth", request("a", "/a"), 25.0, each=False) + throughput("five", request("b", "/b"), total=5, each=False),
        threads=3, loops=8)),
    "once only: the first pass of what is around it (30)": plan(group(
        loop(2, once(request("first pass", "/a")) + request("each", "/b")) + simple(once(request("ever", "/c")))
        + transaction("t", once(request("ever too", "/d")) + request("e", "/e")), loops=2)),
    "interleave: the next in turn, blocks as a whole (30)": plan(group(
        interleave(request("a", "/a") + simple(request("b", "/b") + request("c", "/c")) + request("d", "/d"))
        + interleave(request("e", "/e") + request("f", "/f"), 0), loops=5)),
    "interleave: controllers that are left after each sample (30)": plan(group(
        interleave(simple(request("a", "/a/${n}") + request("b", "/b/${n}") + counter("n")) + request("c", "/c")
                   + loop(2, request("d", "/d/${m}") + request("never", "/never") + counter("m"))
                   + simple(simple(request("e", "/e")) + interleave(request("f", "/f") + request("g", "/g"), 0) + loop(2, request("h", "/h/${o}") + counter("o"))), 0)
        + interleave(simple(request("i", "/i") + request("j", "/j") + loop(2, request("k", "/k") + request("l", "/l"))), 0, "RandomController"),
        loops=33)),
    "interleave: threads begin with another branch each (30)": plan(group(
        interleave(request("a", "/a") + request("b", "/b") + simple(request("c", "/c") + request("d", "/d")), 0)
        .replace("</InterleaveControl>", flag("InterleaveControl.accrossThreads", True) + "</InterleaveControl>", 1), threads=4, loops=2)),
    "switch: by number, by name, or the default (30)": plan(variables(**{"to": "named"}), group(
        "".join(switch(value, request("first", f"/{n}/0") + simple(request("named", f"/{n}/1")).replace('"simple"', '"named"')
                       + request("Default", f"/{n}/2")) for n, value in enumerate(["", "0", "1", "2", "7", "-1", "named", "${to}", "other", "first"]))
        + request("find", "/json", below=by_regex("id", '"id":(\\d+)') + by_regex("kind", '"(id)":'))
        + "".join(switch(value, request("7", f"/v/{n}/0") + request("id", f"/v/{n}/1"))
                  for n, value in enumerate(["${id}", "${kind}", "${none}"])))),
    "for each: variables with numbers, up to the first that is missing (30)": plan(
        variables(v_1="a", v_2="b", v_3="c", v_5="e", w1="x"), group(
            for_each("v", "item", request("all", "/all/${item}")) + for_each("v", "item", request("some", "/some/${item}"), startIndex=1, endIndex=2)
            + for_each("w", "item", request("plain", "/plain/${item}"), False) + for_each("none", "item", request("never", "/never"))
            + request("after", "/a", "POST", raw="${item}"))),
    "loops: once for all, without end until they are left (24, 31)": plan(group(
        loop(2, request("twice", "/a")).replace('continue_forever">true', 'continue_forever">false')
        + loop(-1, request("b", "/b") + transaction("t", request("in t", "/t") + action(5) + request("never", "/never")))
        + loop(2, request("c", "/c") + action(4) + request("nor this", "/never")) + request("d", "/d")
        + action(3) + request("nor that", "/never"), loops=2)),
    "flow control: a pause, and the end of a thread (31)": plan(group(
        request("a", "/a") + action(1, 0, "30") + request("b", "/b") + action(0) + request("never", "/never"), threads=2, loops=2)),
    "flow control: the end of the test (31)": plan(group(request("a", "/a") + action(0, 2) + request("never", "/never"), loops=3)),
    "a result decides what comes next, in two threads (31)": plan(
        group(loop(2, request("bad", "/status/500", below=on_failure(5)) + request("never", "/never")) + request("next", "/a")
              + request("bad too", "/status/404", below=on_failure(4)) + request("never", "/never"), "loops", loops=2),
        group(request("good", "/b", below=on_failure(1)) + request("bad", "/status/500", below=on_failure(1)) + request("never", "/never"), "ends", loops=2)),
    "setUp groups, then the others, then tearDown groups (9)": plan(
        group(request("last", "/last"), "after", tag="PostThreadGroup"),
        group(timer(50) + request("main", "/main"), "main", loops=2),
        group(timer(50) + request("before", "/before"), "before", loops=3, tag="SetupThreadGroup")),
    "groups one after the other (9)": plan(
        group(timer(50) + request("a", "/a"), "first", loops=3), group(request("b", "/b"), "second", loops=2),
        group(request("c", "/c"), "third"), in_turn=True),
    "a module stands where it is asked for (7)": plan(
        element("TestFragmentController", "login", "", headers(("X-Module", "own")) + request("of the module", "/module/${who}"),
                'guiclass="TestFragmentControllerGui" enabled="false"'),
        variables(who="me"), group(headers(("X-Group", "here")) + loop(2, module("plan", "login")) + request("own", "/own"))),
    "random timers (2, 22)": plan(group(
        random_timer("Gaussian", 10, 5) + random_timer("Poisson", 5, 5) + random_timer("Uniform", 5, 5.0) + request("a", "/a"), loops=3)),
    "a constant throughput, of threads (32)": plan(
        group(constant_throughput(1200.0, 0) + request("a", "/a") + request("b", "/b"), "own", loops=3),
        group(constant_throughput(2400.0, 2) + request("c", "/c"), "of a group", threads=2, loops=3),
        group(constant_throughput(2400.0, 1) + request("d", "/d"), "of all", threads=2, loops=3)),
    # In order: while one is between the two samples, nobody else begins.
    "one at a time in a critical section, over groups": plan(
        group(critical_section("one", request("in", "/in", below=timer(20)) + request("out", "/out", below=timer(20))),
              "some", threads=3, loops=2),
        group(critical_section("one", request("in", "/in") + request("out", "/out", below=timer(20))), "others", threads=2, loops=2)
),
    "critical sections that are left by an error, and one without a name (in threads)": plan(
        group(critical_section("a", request("bad", "/status/500") + request("never", "/never")), "next", threads=2, loops=2,
              on_error="startnextloop"),
        group(critical_section("a", request("bad too", "/status/500") + request("never", "/never")), "stops", threads=2, loops=2,
              on_error="stopthread"),
        group(critical_section("", request("free", "/free")) + critical_section("a", loop(2, request("both", "/both") + action(5))
              + critical_section("b", request("inner", "/inner"))), "inner", threads=2, loops=2)),
    # Of a second each, in which arrivals stay clear of the ends.
    "threads that arrive by a free form": plan(free_form("rows", request("a", "/a"), (3.7, 3.7, 1), (5.5, 5.5, 1))),
    # How many fall into the time of a group is not compared: JMeter counts from before its threads start.
    "samples at random moments, of which the number is exact (in threads)": plan(
        group(precise(6, 3) + request("a", "/a") + request("b", "/b"), "exact", threads=3),
        group(precise(8, 3, 4) + request("c", "/c"), "batches", threads=4, loops=2)),
    # In order: all come before any goes on.
    "so many go on together (synchronizing timer)": plan(group(
        request("before", "/before") + request("after", "/after", below=synchronizing(0)), threads=3, ramp=1)),
    "those who are too few go on in time (synchronizing timer)": plan(group(
        request("before", "/before") + request("after", "/after", below=synchronizing(5, 1500)), threads=2, ramp=1)),
    "synchronized before each sampler of a scope, over groups (of 2 and 1 threads)": plan(
        synchronizing(3), group(request("a", "/a") + request("b", "/b"), "two", threads=2, loops=2),
        group(request("c", "/c") + request("d", "/d"), "one", loops=2)),
    "a random order has all each time, in two threads (30)": plan(group(
        element("RandomOrderController", "order", "", request("a", "/a") + simple(request("b", "/b") + request("c", "/c")),
                'guiclass="RandomOrderControllerGui"'), threads=2, loops=3)),
    "a transaction without its timers (27)": plan(group(
        transaction("t", timer(20) + request("a", "/a") + request("b", "/b"))
        .replace('includeTimers">true', 'includeTimers">false'), loops=2)),
    "stop the test at once on an error (13)": plan(group(
        request("a", "/a") + request("bad", "/status/500") + request("never", "/never"), loops=2, on_error="stoptestnow")),
    "data files (6, 45)": plan(csv_data("users.csv", "id, name", ignoreFirstLine=True), group(
        csv_data("users.csv", shareMode="shareMode.thread") + csv_data("quoted.csv", "q1,q2", delimiter=";", quotedData=True)
        + request("before", "/a/${id}/${name}/${q1}", "POST", raw="${q2}")
        + loop(2, csv_data("upload.txt", "line", recycle=False) + request("looped", "/b", "POST", raw="${line}"))
        + request("eof", "/c", "POST", raw="${line} ${id}"), loops=4)),
    "data files: their end stops the thread (45)": plan(group(
        csv_data("users.csv", "id", recycle=False, stopThread=True) + request("a", "/${id}"), loops=9)),
    "counters, random variables and user parameters (6)": plan(group(
        counter("n") + counter("m", 5, 6, 1, "u000", True) + random_variable("r", 7, 7, "x00")
        + user_parameters(["p", "q"], ["1", "${p}2"], per_iteration=True)
        + request("a", "/${n}/${m}/${r}/${p}/${q}", below=user_parameters(["own"], ["${n}"]))
        + debug("shown") + request("b", "/${own}"), loops=3)),
    "redirects within the client (36)": plan(group(cookies() + "".join(
        request(f"{method} {code}", f"/redirect/{code}", method, more=http(auto_redirects=True), raw="x" if method == "POST" else None)
        for method, code in [("GET", 302), ("GET", 308), ("POST", 302), ("POST", 307), ("HEAD", 302)])
        + request("no cookie", "/a", more=http(auto_redirects=True))
        + request("away", "/redirect/away/301", more=http(auto_redirects=True)))),
    "multipart bodies and files (34)": plan(group(
        request("parts", "/a", "POST", TWO, more=http(DO_MULTIPART_POST=True))
        + request("as browsers", "/b", "POST", TWO, more=http(DO_MULTIPART_POST=True, BROWSER_COMPATIBLE_MULTIPART=True))
        + request("of GET", "/c", "GET", TWO, more=http(DO_MULTIPART_POST=True))
        + request("file", "/d", "POST", TWO, more=file("upload.txt", "up", "text/plain"))
        + request("file alone", "/e", "POST", more=file("upload.txt", "", "application/x-own"))
        + request("file without a type", "/f", "PUT", more=file("upload.txt", "", "")))),
    "pages and the cache, with threads of their own (38, 43)": plan(group(
        cache(clear=True) + request("page", "/page", more=http(image_parser=True), below=headers(("X-Own", "1")))
        + request("tagged", "/tagged") + request("again", "/tagged"), loops=2)),
    "fresh responses are not asked for (43)": plan(group(
        cache(expires=True) + request("fresh", "/fresh") + request("again", "/fresh") + request("other", "/a"))),
    "credentials are sent where the URL begins so (5)": plan(group(
        credentials("http://127.0.0.1:${__P(port)}/secret", "me", "pass word") + request("in", "/secret/a") + request("out", "/a")
        + request("its own", "/secret/b", below=headers(("Authorization", "Own credentials"))))),
    "the client of Java (35)": plan(group(
        request("get", "/a", more=http(implementation="Java")) + request("raw", "/b", "POST", raw="x", more=http(implementation="Java"))
        + request("form", "/c", "POST", TWO, more=http(implementation="Java"))
        + request("closes", "/d", keep=False, more=http(implementation="Java")))),
    "functions (22)": plan(variables(u="${__UUID}", v="${__char(65,66)}"), group(
        request("texts", "/a", "POST", raw="${__urlencode(a b&é)} ${__urldecode(a+b%26)} ${__changeCase(aB)} ${__changeCase(aB,LOWER)}")
        + request("numbers", "/b", "POST", raw="${__intSum(1,2,-4)} ${__Random(3,3)} ${__RandomString(3,x)} ${__digest(MD5,a)}")
        + request("others", "/c", "POST", raw="${v} ${__eval(${__P(none)}x)} ${__threadGroupName} ${__FileToString(/etc/hostname)}")
        + request("plain", "/d?at=${__time(yyyy)}&p=${__isPropDefined(port)}"))),
    "what is no URL is not sent (33)": plan(group(
        request("braces", "/${nobody}") + request("bar", "/a|b")
        + request("slashes", "//a//b?x=//y")
        + request("no equals", "/e", arguments=argument("n", "v").replace(text("Argument.metadata", "="), "")))),
    "headers of the plan (35)": plan(group(
        request("own", "/a", below=headers(("Cookie", "a=b"), ("Connection", "close")))
        + request("found", "/tagged", below=by_regex("tag", 'ETag: "(\\w+)"').replace(
            text("RegexExtractor.useHeaders", "false"), text("RegexExtractor.useHeaders", "true")))
        + request("tag", "/${tag}"))),
    "assertions of heads, sizes and JSON (47)": plan(group(
        "".join(request(name, path, below=below) for name, path, below in [
            ("header", "/tagged", asserts("a", 16, "ETag", field="headers")), ("no header", "/a", asserts("a", 16, "ETag", field="headers")),
            ("message", "/a", asserts("a", 8, "OK", field="message")), ("other message", "/a", asserts("a", 8, "Bad", field="message")),
            ("small", "/a", asserts_size("s", 5000, 4, "network_size")), ("large", "/a", asserts_size("s", 5000, 3, "network_size")),
            ("exact", "/a", asserts_size("s", 17, 1, "data")), ("code", "/a", asserts_size("s", 3, 5, "code")),
            ("json", "/json", asserts_json("j", "$.id", "to.")), ("json text", "/json", asserts_json("j", "$.id", "to.", False)),
            ("json not", "/json", asserts_json("j", "$.id", "x", invert=True)), ("json none", "/json", asserts_json("j", "$.none", "x")),
            ("json number", "/json", asserts_json("j", "$.list[1].id", "8")),
        ]))),
    "what is no number of a group is 0 (10)": plan(
        group(request("nobody", "/never"), "nobody", threads="THREADS_COUNT", loops="CTRL_LOOPS", ramp="RAMPUP_TIME"),
        group(request("never", "/never"), "never", loops="CTRL_LOOPS"), group(request("at once", "/a"), "at once", ramp="RAMPUP_TIME")),
    "dates by week years, time zones, and formats that are none (22)": plan(group(
        request("years", "/a", "POST", raw="${__time(YYYY)} ${__time(YY)} ${__time(Y)} ${__time(zzz)} ${__time('YYYY')}")
        + request("too many letters", "/b", "POST", raw="${__time(HH:mm:sss)}") + request("after", "/c"))),
    "scripts that ask for folders and the environment (22)": plan(
        variables(home="${__BeanShell(System.getenv(\"HOME\"))}", none="${__BeanShell(System.getenv(\"NO_SUCH_NAME\"))}"), group(
            request("texts", "/a", "POST", raw="${home} [${none}] ${__BeanShell(System.getProperty(\"user.dir\"))} ${__BeanShell(File.separator)}")
            + csv_data("${__BeanShell(import org.apache.jmeter.services.FileServer; FileServer.getFileServer().getBaseDir();)}/users.csv", "id,name")
            + request("row", "/${id}/${name}"))),
    "programs, and their exit codes": plan(group(
        program("good", "true") + program("bad", "false", expected=0) + program("whatever", "false")
        + program("meant", "sh", "-c", "exit 3", expected=3) + program("lost", "/nowhere/at/all")
        + program("told", "sh", "-c", "test $GREETING = hello && test $PWD = /", expected=0, environment={"GREETING": "hello"}, directory="/")
        + request("after", "/${JMeterThread.last_sample_ok}"), loops=2)),
    "the samplers of a Java Request that JMeter has itself": plan(group(
        java("test", "JavaTest", Sleep_Time="5", Sleep_Mask="0x3") + java("sleep", "SleepTest", SleepTime="5", SleepMask="1")
        + java("labelled", "JavaTest", Sleep_Time="1", Sleep_Mask="0", Label="its own label") + request("after", "/a"), loops=2)),
    "all samples of a page are looked at (38, 48)": plan(group(
        request("page", "/page", more=http(image_parser=True), below=of_all(by_regex("id", '"id":(.)', default="none"))
                + of_all(by_regex("page", "<(html)>", default="none")) + of_all(by_regex("nothing", "(never)", default="none"))
                + by_regex("own", '"id":(.)', default="none") + of_all(asserts("no such word", 20, "never")))
        + request("found", "/found", "POST", raw=shown("id", "page", "nothing", "own")))),
    "a fragment of another file stands where it is included (7)": plan(variables(of="it"), group(
        simple(headers(("X-In", "scope")) + include("fragment.jmx")) + request("after", "/after"))),
    "cookies: each manager has its own (42, 43)": plan(group(
        simple(cookies() + request("set", "/cookie") + request("kept", "/a")) + simple(cookies(True) + request("none yet", "/b") + request("set too", "/cookie"))
        + request("none", "/c") + simple(cache() + request("tagged", "/tagged") + request("tagged again", "/tagged"))
        + simple(cache(clear=True) + request("new", "/tagged") + request("new again", "/tagged")), loops=3)),
    "cookies: the outermost manager is the one (5)": plan(group(
        cookies(True) + request("set", "/cookie") + simple(cookies() + request("within", "/a")) + request("again", "/b"), loops=2)),
    "data files in GBK (45)": plan(group(csv_data("chinese.csv", "a,b", fileEncoding="GB2312")
                                         + request("row", "/row", "POST", raw=shown("a", "b")))),
    "rows that are alike, and files that are not there (22)": plan(
        group(request("row", "/row", "POST", raw="${__CSVRead(alike.csv,2)}|${__CSVRead(alike.csv,7)}|${__CSVRead(none.csv,0)}"),
              "two threads", threads="${__CSVRead(alike.csv,0)}", loops="${__CSVRead(alike.csv,1)}"),
        group(request("never", "/never"), "none", threads="${__CSVRead(none.csv,0)}")),
    "functions set variables, and find them by names (22)": plan(variables(d1="one", d2="two", none=""), group(
        counter("n") + request("sets", "/sets", "POST", raw="${__Random(5,5,x)} ${x} ${__intSum(2,3,sum)} ${sum} ${__RandomString(2,a,s)} ${s}")
        + request("finds", "/finds", "POST", raw="${x}${s} ${__V(d${n})} ${__V(d${n}x)} ${__V(d${n}x,default)} ${__V(d1)} ${__V(d9)}")
        + request("asks", "/asks", "POST", raw="${__isVarDefined(d1)} ${__isVarDefined(d9)} ${__isVarDefined(x)} ${__P(no,${x})}")
        + request("chooses", "/chooses", "POST", raw="${__RandomFromMultipleVars(d1|none)}|${__RandomFromMultipleVars(none|d9)}"), loops=2)),
    "functions that count and split (22)": plan(variables(parts="q|r|"), group(
        request("counts", "/counts", "POST", raw="${__counter(TRUE)} ${__counter(FALSE,own)} ${own}")
        + request("splits", "/splits", "POST", raw="${__split(${parts},p,|)} ${p} ${p_1} ${p_2} ${p_3} ${p_4} ${p_n} ${__split(a;b,o,)} ${o_n}")
        + for_each("p", "part", request("${part}", "/part/${part}"))
        + request("digests", "/digests", "POST", raw="${__digest(MD5,abc,salt,,)} ${__digest(SHA-1,a,,true,d)} ${d} ${__digest(SHA-224,a)} ${__digest(SHA-384,a)}")
        + request("named", "/named", "POST", raw="${__samplerName()} ${__TestPlanName} ${__changeCase(ab c,CAPITALIZE,)} ${__changeCase(aB,other,)}")
        + request("escapes", "/escapes", "POST", raw="${__escapeXml(<a 'b'>)} ${__escapeHtml(<a \"b\">)} ${__unescape(x\\\\u0041)} ${__escapeOroRegexpChars(a.b,)}")
        + request("reads", "/reads", "POST", raw="${__StringFromFile(upload.txt)} ${__FileToString(missing.txt)} ${__StringFromFile(/etc/hostname)}"), loops=2)),
    "multipart bodies of other methods, and of Java's client (34)": plan(group("".join(
        request(f"{method} with {client or 'the usual one'}", f"/{method}", method, FORM,
                more=http(DO_MULTIPART_POST=True, implementation=client) + ("" if client else file("upload.txt", "f", "text/plain")))
        for method, client in [("PUT", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "Java")])
        + request("like browsers", "/b", "POST", TWO, more=http(DO_MULTIPART_POST=True, BROWSER_COMPATIBLE_MULTIPART=True,
                                                                implementation="Java")))),
    "a loop of as many passes as a random variable draws is one of several (30)": plan(group(
        random_variable("times", 2, 2) + interleave(loop("${times}", request("a", "/a")) + request("b", "/b")), loops=3)),
}
