"""Small plans with JSON paths that have filters and functions, and with XPaths that variables decide."""

import os
import tempfile

from judged import strict
from plans import by_json, by_xpath, element, flag, group, plan, request, shown, text, variables

DOCUMENT = """{"id":5,"b":"x","n":null,"s":"text","nums":[3,1,2],"words":["aa","b"],"none":[],"obj":{"b":"x","v":1,"k":{"b":"x","v":2}},
"list":[{"id":7,"b":"x","p":1.5,"t":["a","b"]},{"id":8,"b":"Xy","p":10,"t":[]},{"id":"7","n":null,"p":3,"on":true,"in":{"b":"x","id":9}}]}"""

#: JMeter looks for it where it was started, and nowhere else.
NODES = os.path.join(tempfile.gettempdir(), "squall-nodes.xml")
with open(NODES, "w") as file:
    file.write('<?xml version="1.0"?>\n<r><a>1</a><a>two</a><a>3</a><b k="x"/></r>\n')

PLUGIN = "com.atlantbh.jmeter.plugins.jsonutils"

FILTERS = [
    "$.list[?(@.b == 'x')].id", "$.list[?(@.id == 7)].p", "$.list[?(@.id == '7')].p", "$.list[?(@.id != 7)].p", "$.list[?(@.zip != 7)].p",
    "$.list[?(@.b =~ /x.*/i)].id", "$.list[?(@.b =~ /y/)].id", "$.list[?(@.b in ['x','z'])].id", "$.list[?(@.id in [7, 8])].p",
    "$.list[?(@.id =~ /7/)].p", "$.list[?(@.n =~ /.*/)].p", "$.list[?(@.zip =~ /x?/)].p", "$.list[?(@.on =~ /tr.*/)].p", "$.list[?(@.id == '07')].p",
    "$.list[?(@.id nin [7])].p", "$.list[?(@.t contains 'a')].id", "$.list[?(@.b contains 'y')].id", "$.list[?(@.t size 2)].id",
    "$.list[?(@.t empty true)].id", "$.list[?(@.t empty false)].id", "$.list[?(@.t anyof ['a','z'])].id",
    "$.list[?(@.b == 'x' && @.p < 2)].id", "$.list[?(@.b=='x'||@.p==3)].id", "$.list[?((@.id==7||@.id==8) && @.p > 2)].id",
    "$.list[?(!(@.b == 'x'))].p", "$.list[?(!@.b)].p", "$.list[?(@.n)].p", "$.list[?(@.n == null)].p", "$.list[?(@.on == true)].p",
    "$.obj[?(@.b == 'x')].v", "$[?(@.b == 'x')].id", "$.[?(@.b == 'y')].id", "$..[?(@.b == 'x')].v", "$..list[?(@.p > 2)].id", "$.nums[?(@ > 1)]",
    "$.list[?(@.in.b == 'x')].p", "$.list[?(@['t'][0] == 'a')].p", "$.list[?(@.p > $.id)].p", "$.list[?(@.p >= 3)].p", "$.list[?(@.b > 'a')].id",
    "$.list[-1].id", "$.list[0:2].id", "$.list[0,2].id", "$.list.[1].id", "$.list[?('x' == @.b)].id", "$.list[?(7 < @.id)].id",
]


def by_plugin(name, path, default="D"):
    inner = text("VAR", name) + text("JSONPATH", path) + text("DEFAULT", default) + text("VARIABLE", "") + text("SUBJECT", "BODY")
    tag = f"{PLUGIN}.jsonpathextractor.JSONPathExtractor"
    return element(tag, "plug-in", inner, attributes=f'guiclass="{PLUGIN}.jsonpathextractor.gui.JSONPathExtractorGui"')


def asserts_plugin(path, expected=None, **more):
    inner = text("JSON_PATH", path) + text("EXPECTED_VALUE", expected or "") + flag("JSONVALIDATION", expected is not None)
    inner += flag("EXPECT_NULL", more.get("null", False)) + flag("INVERT", more.get("invert", False)) + flag("ISREGEX", more.get("regex", True))
    tag = f"{PLUGIN}.jsonpathassertion.JSONPathAssertion"
    return element(tag, "plug-in", inner, attributes=f'guiclass="{PLUGIN}.jsonpathassertion.gui.JSONPathAssertionGui"')


def asserts_path(path, expected=None, **more):
    """The same of JMeter itself."""
    tag = f"{PLUGIN}.jsonpathassertion."
    return asserts_plugin(path, expected, **more).replace(f"{tag}gui.", "").replace(tag, "")


def found(paths, extractors):
    """A request in whose body paths are looked for, and one that says what they found."""
    names = [f"f{number}" for number in range(len(paths))]
    below = "".join(extractors(name, path) for name, path in zip(names, paths))
    said = shown(*(f"{name}{end}" for name in names for end in ("", "_1", "_2", "_3", "_matchNr")))
    return group(request("find", "/echo", "POST", raw=DOCUMENT, below=below) + request("shown", "/shown", "POST", raw=said))


def judged(assertions):
    return group("".join(request(f"r{number}", "/echo", "POST", raw=DOCUMENT, below=one) for number, one in enumerate(assertions)))


JUDGED = [
    ("$.list[?(@.b == 'x')].id",), ("$.list[?(@.b == 'none')].id",), ("$.list[*].id", "8"), ("$.list[*].id", "9"), ("$..b", "Xy"),
    ("$.list[?(@.b == 'x')].id", "7"), ("$.nums", "2"), ("$.n",), ("$.zip",), ("$.list[?(@.b == 'x')].id", "8"),
    ("$.list[*].b", "x.*"),
]

#: Name: what the plan holds to, and the plan.
PLANS = {
    "JSON paths: filters": plan(found(FILTERS, lambda name, path: by_json(name, path, "-1", "D"))),
    "JSON paths: the first of what filters leave": plan(found(FILTERS, lambda name, path: by_json(name, path, "1", "D"))),
    "JSON paths: functions": plan(found(
        ["$.list.length()", "$.nums.max()", "$.list[*].p.sum()", "$.s.length()"], lambda name, path: by_json(name, path, "1", "D"))),
    "JSON paths: assertions of several values": plan(judged(
        [asserts_path(*one) for one in JUDGED] + [asserts_path("$.n", "x", null=True), asserts_path("$.list[*].n", "x", null=True),
         asserts_path("$.list.length()", "3"), asserts_path("$.obj.size()", "3", regex=False), asserts_path("$.zip.length()", "0"), asserts_path("$.none.length()", "1"),
         asserts_path("$.s", "x", null=True), asserts_path("$.zip", "x", null=True), asserts_path("$.list[?(@.b == 'x')]", invert=True),
         asserts_path("$.list[?(@.b == 'q')]", invert=True), asserts_path("$.list[*].id", "9", invert=True), asserts_path("$.list[*].id", "8", regex=False)])),
    "XPaths that variables decide": plan(group(
        variables(which="2") + request("find", "/xml", below=strict(by_xpath("k", "//b[2]/@k", "1", "D")))
        + request("by it", "/xml", below=strict(by_xpath("n", "//b[@k='${k}']/preceding-sibling::a[${which}]", "1", "D"))
                  + strict(by_xpath("all", "//a[. > 0 and '${k}' = 'y']")) + strict(by_xpath("none", "//b[@k='${k}x']", "1", "D")))
        + request("shown", "/shown", "POST", raw=shown("k", "n", "all_1", "all_2", "all_matchNr", "none")), loops=2)),
    "functions: nodes of a file (XPath)": plan(group(
        request("first", "/first", "POST", raw=f"${{__XPath({NODES},//a)}}|${{__XPath({NODES},//b/@k)}}|${{__XPath({NODES},//none)}}")
        + request("next", "/next", "POST", raw=f"${{__XPath({NODES},//a)}}"), loops=3)),
}

#: Those for which JMeter needs the plug-in.
OF_PLUGIN = {
    "JSON paths of the plug-in: extractors": plan(found(
        FILTERS + ["$", "$.list", "$.none", "$.obj", "$.n", "$.zip", "$.list[*].id"], by_plugin)),
    "JSON paths of the plug-in: assertions": plan(judged([asserts_plugin(*one) for one in JUDGED] + [
        asserts_plugin("$.n", "x", null=True), asserts_plugin("$.s", "text", regex=False), asserts_plugin("$.list[?(@.b == 'q')]", invert=True)])),
}
