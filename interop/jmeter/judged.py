"""Small JMeter plans about what extractors and assertions look at: variables, requests, documents."""

from plans import (argument, asserts, asserts_json, asserts_size, asserts_xpath, by_boundaries, by_css, by_jmespath, by_json,
                   by_regex, by_xpath, cookies, element, flag, group, headers, plan, request, shown, text, variables)


def of_variable(name, element_text):
    """With a variable as its scope."""
    tag = element_text[1:].split(" ")[0]
    scope = "Assertion.scope" if tag.endswith("Assertion") else "Sample.scope"
    return element_text.replace(f"</{tag}>", text(scope, "variable") + text("Scope.variable", name) + f"</{tag}>", 1)


def of_field(field, extractor):
    """Of another part of the sample than the response's body."""
    return extractor.replace('useHeaders">false<', f'useHeaders">{field}<')


def asserts_field(name, field, kind, *patterns):
    return asserts(name, kind, *patterns).replace("Assertion.response_data", f"Assertion.{field}")


def strict(extractor):
    """That reads XML, without Tidy."""
    return extractor.replace(flag("XPathExtractor.tolerant", True), flag("XPathExtractor.tolerant", False))


def asserts_jmespath(name, path, expected="", compares=True, null=False, invert=False, regex=True):
    inner = text("JMES_PATH", path) + text("EXPECTED_VALUE", expected) + flag("JSONVALIDATION", compares)
    inner += flag("EXPECT_NULL", null) + flag("INVERT", invert) + flag("ISREGEX", regex)
    return element("JMESPathAssertion", name, inner, attributes='guiclass="JMESPathAssertionGui"')


def asserts_xml(name="xml"):
    return element("XMLAssertion", name, attributes='guiclass="XMLAssertionGui"')


def asserts_md5(digest):
    return element("MD5HexAssertion", "md5", text("MD5HexAssertion.size", digest), attributes='guiclass="MD5HexAssertionGUI"')


def sample_timeout(time):
    return element("SampleTimeout", "timeout", text("InterruptTimer.timeout", time), attributes='guiclass="SampleTimeoutGui"')


def rewriting(name, in_path=False, no_equals=False, no_question=False, kept=False, encode=False):
    inner = text("argument_name", name) + flag("path_extension", in_path) + flag("path_extension_no_equals", no_equals)
    inner += flag("path_extension_no_questionmark", no_question) + flag("cache_value", kept) + flag("encode", encode)
    return element("URLRewritingModifier", "rewriting", inner, attributes='guiclass="URLRewritingModifierGui"')


def answered(name, body, below=""):
    """A request whose response is that body."""
    return request(name, "/echo", "POST", raw=body, below=below)


def judged(*cases):
    """Requests with a response and an assertion each."""
    return "".join(answered(f"{number} {name}", body, below) for number, (name, body, below) in enumerate(cases))


XML = '<?xml version="1.0"?><r><a>1</a><a>2</a></r>'
PART = "<r><a>1</a><B/>x</r>"
DOCUMENT = '{"id":"q1","n":7,"none":null,"of":{"a":[1,2]},"list":[{"k":"x"},{"k":"y"}]}'

JUDGED = {
    "extractors of variables": plan(variables(page='<p id="a">one</p><p>two</p>', known="id=7;", document=DOCUMENT), group(
        request("find", "/json", below=by_regex("part", '"a-b":(\\{.*?\\})') + of_variable("part", by_json("id", "$.id", "1", "none"))
                + of_variable("part", by_regex("letter", "([a-z])1", default="no")) + of_variable("known", by_regex("seven", "id=(.)"))
                + of_variable("known", by_boundaries("between", "id=", ";")) + of_variable("nobody", by_regex("nothing", "(.+)", default="D"))
                + of_variable("nobody", by_boundaries("nought", "{", "}", default="D")) + of_variable("page", by_css("css", "p#a"))
                + of_variable("document", by_json("all", "$.list[*].k", "-1", "d")) + of_variable("document", by_jmespath("jm", "of.a"))
                + of_variable("document", by_regex("whole", '"(id)":"(q)', template="$1$=$2$", default="no"))
                + of_variable("letter", by_regex("again", "(.)")) + of_variable("nobody", by_css("nocss", "p", default="N")))
        + request("show", "/a", "POST", raw=shown("id", "letter", "seven", "between", "nothing", "nought", "css", "all_1", "all_2", "all_matchNr",
                                                  "jm", "whole", "again", "nocss")))),
    "XPath extractors of variables": plan(variables(xml=XML, part=PART), group(
        request("find", "/a", below=of_variable("xml", strict(by_xpath("a", "/r/a[2]")))
                + of_variable("part", strict(by_xpath("f", "/r/a"))) + of_variable("nobody", strict(by_xpath("g", "/r/a", default="D"))) + of_variable("xml", by_xpath("b", "/r/a", "2", "D", True))
                + of_variable("part", by_xpath("c", "/r/a", "1", "D", True)) + of_variable("part", by_xpath("d", "/r/b", "1", "D", True))
                + of_variable("part", by_xpath("e", "/r/text()", "1", "D", True)))
        + request("show", "/a", "POST", raw=shown("a", "b", "c", "d", "e", "f", "g")))),
    "assertions about variables": plan(variables(word="good", size="42", empty="", xml=XML, part=PART), group("".join(
        request(f"{number}", "/json", below=below) for number, below in enumerate([
            of_variable("word", asserts("a", 16, "oo")), of_variable("word", asserts("a", 16, "xx")),
            of_variable("word", asserts("a", 8, "good", field="code")), of_variable("word", asserts("a", 20, "xx")),
            of_variable("nobody", asserts("a", 16, "o")), of_variable("nobody", asserts("a", 20, "o")),
            of_variable("empty", asserts("a", 2, ".*")), of_variable("word", asserts("a", 1, "go+d")),
            by_regex("id", '"id":"(..)"') + of_variable("id", asserts("a", 8, "q1")),
            of_variable("size", asserts_size("s", 42, 1, "data")), of_variable("size", asserts_size("s", 41, 3, "data")),
            of_variable("size", asserts_size("s", 43, 3, "data")), of_variable("word", asserts_size("s", 4, 1, "data")),
            of_variable("nobody", asserts_size("s", 4, 2, "data")),
            of_variable("xml", asserts_xpath("/r/a[2]")), of_variable("xml", asserts_xpath("/r/c")),
            of_variable("part", asserts_xpath("/r/B")), of_variable("part", asserts_xpath("/r/b")),
            of_variable("nobody", asserts_xpath("//r")), of_variable("nobody", asserts_xpath("//r", True))])))),
    "JMESPath assertions": plan(group(judged(
        ("is", DOCUMENT, asserts_jmespath("j", "id", "q1")), ("matches", DOCUMENT, asserts_jmespath("j", "id", "q.")),
        ("matches part", DOCUMENT, asserts_jmespath("j", "id", "q")), ("is number", DOCUMENT, asserts_jmespath("j", "n", "7", regex=False)),
        ("is not", DOCUMENT, asserts_jmespath("j", "n", "8", regex=False)), ("list", DOCUMENT, asserts_jmespath("j", "of.a", "[1, 2]", regex=False)),
        ("map", DOCUMENT, asserts_jmespath("j", "of", '{"a":[1,2]}', regex=False)), ("no JSON", DOCUMENT, asserts_jmespath("j", "id", "q2", regex=False)),
        ("exists", DOCUMENT, asserts_jmespath("j", "id", compares=False)), ("not there", DOCUMENT, asserts_jmespath("j", "zip", compares=False)),
        ("null is not there", DOCUMENT, asserts_jmespath("j", "none", compares=False)), ("null", DOCUMENT, asserts_jmespath("j", "none", null=True)),
        ("no null", DOCUMENT, asserts_jmespath("j", "id", null=True)), ("nothing is null", DOCUMENT, asserts_jmespath("j", "zip", null=True)),
        ("null as text", DOCUMENT, asserts_jmespath("j", "none", "null")), ("not is", DOCUMENT, asserts_jmespath("j", "id", "q1", invert=True)),
        ("not matches", DOCUMENT, asserts_jmespath("j", "id", "x", invert=True)), ("no document", "text", asserts_jmespath("j", "id", "q1")),
        ("not in no document", "text", asserts_jmespath("j", "id", "q1", invert=True)),
        ("not in nothing", "", asserts_jmespath("j", "id", "q1", invert=True)),
        ("not no JSON", DOCUMENT, asserts_jmespath("j", "id", "q2", regex=False, invert=True)),
        ("JSON path not in no document", "text", asserts_json("j", "$.id", "q1", invert=True)),
        ("JSON path not there", DOCUMENT, asserts_json("j", "$.zip", "q1", invert=True)),
        ("JSON path not in nothing", "", asserts_json("j", "$.id", "q1", invert=True))))),
    "XML assertions": plan(group(judged(
        ("document", XML, asserts_xml()), ("part", PART, asserts_xml()), ("empty", "", asserts_xml()), ("text", "text", asserts_xml()),
        ("open", "<a>", asserts_xml()), ("crossed", "<a><b></a></b>", asserts_xml()), ("two", "<a/><b/>", asserts_xml()),
        ("entity", "<a>&nbsp;</a>", asserts_xml()), ("known entities", "<a>&amp;&lt;&#65;</a>", asserts_xml()),
        ("attribute", "<a b=1/>", asserts_xml()), ("twice", "<a b='1' b='2'/>", asserts_xml()), ("joined", "<a b='1'c='2'/>", asserts_xml()),
        ("ampersand", "<a>a & b</a>", asserts_xml()), ("document type", "<!DOCTYPE a><a/>", asserts_xml()),
        ("page", "<!DOCTYPE html><html><br></html>", asserts_xml()), ("comment", "<!-- a --><a/>", asserts_xml()),
        ("word of a document type", "<a><![CDATA[<!DOCTYPE a>]]></a>", asserts_xml()), ("comment of dashes", "<a><!-- a -- b --></a>", asserts_xml()),
        ("prefix", "<p:a/>", asserts_xml()), ("blank before", " <a/>", asserts_xml()), ("blank before all", ' <?xml version="1.0"?><a/>', asserts_xml()),
        ("less", "<a b='<'/>", asserts_xml()), ("end of data", "<a>]]></a>", asserts_xml()), ("name", "<1a/>", asserts_xml()),
        ("control", "<a>&#1;</a>", asserts_xml()), ("behind", "<a/>x", asserts_xml()), ("instruction", "<?b c?><a/>", asserts_xml())))),
    "MD5 assertions": plan(variables(digest="5d41402abc4b2a76b9719d911017c592"), group(judged(
        ("is", "hello", asserts_md5("5d41402abc4b2a76b9719d911017c592")), ("in capitals", "hello", asserts_md5("5D41402ABC4B2A76B9719D911017C592")),
        ("is not", "hallo", asserts_md5("5d41402abc4b2a76b9719d911017c592")), ("of a variable", "hello", asserts_md5("${digest}")),
        ("nothing", "hello", asserts_md5("")), ("empty", "", asserts_md5("d41d8cd98f00b204e9800998ecf8427e"))))),
    "the time of a sample is limited": plan(group(
        request("first", "/a") + request("late", "/slow/9000", below=sample_timeout(300)) + request("in time", "/slow/100", below=sample_timeout(60000))
        + request("no limit", "/slow/100", below=sample_timeout(0)) + request("no number", "/slow/100", below=sample_timeout("x"))
        + request("led on", "/slow/200/to/slow/20000", follow=True, below=sample_timeout(6000)) + request("after", "/a"))),
    "assertions about requests": plan(group(
        cookies() + headers(("X-Own", "one two")) + request("cookie", "/cookie") + "".join(
            request(f"{number}", path, method, raw=raw, below=below, follow=True) for number, (path, method, raw, below) in enumerate([
                ("/a", "GET", None, asserts_field("a", "request_headers", 16, "X-Own: one two")),
                ("/a", "GET", None, asserts_field("a", "request_headers", 2, "(?i)x-own: one.*")),
                ("/a", "GET", None, asserts_field("a", "request_headers", 16, "Connection: keep-alive")),
                ("/a", "GET", None, asserts_field("a", "request_headers", 16, "Host: 127.0.0.1")),
                ("/a", "GET", None, asserts_field("a", "request_headers", 16, "User-Agent: Apache-HttpClient/4.5.14")),
                ("/a", "GET", None, asserts_field("a", "request_headers", 16, "Cookie")),
                ("/a", "GET", None, asserts_field("a", "request_headers", 16, "GET")),
                ("/a", "POST", "x=1", asserts_field("a", "request_headers", 16, "Content-Length: 3")),
                ("/a", "POST", "x=1", asserts_field("a", "request_headers", 16, "Content-Type: text/plain; charset=UTF-8")),
                ("/a?b=c%20d", "GET", None, asserts_field("a", "sample_label", 16, "/a?b=c%20d")),
                ("/a", "GET", None, asserts_field("a", "sample_label", 1, "http://127.0.0.1:[0-9]+/a")),
                ("/redirect/302", "GET", None, asserts_field("a", "sample_label", 16, "/landed?x=1")),
                ("/redirect/302", "GET", None, asserts_field("a", "sample_label", 20, "/redirect")),
                ("/a", "POST", "x=1&y", asserts_field("a", "request_data", 16, "POST data:\nx=1&y\n")),
                ("/a", "GET", None, asserts_field("a", "request_data", 16, "sid=abc")),
                ("/a", "GET", None, asserts_field("a", "request_data", 16, "Cookie Data:\nsid=abc\n")),
                ("/a", "GET", None, asserts_field("a", "request_data", 16, "GET data")),
                ("/a", "GET", None, asserts_field("a", "request_data", 2, "^GET http://127.0.0.1:[0-9]+/a\n")),
                ("/a", "GET", None, asserts_field("a", "request_data", 16, "X-Own"))])))),
    "the data of a request without cookies": plan(group(
        request("none", "/a", below=asserts_field("a", "request_data", 16, "[no cookies]"))
        + request("form", "/a", "POST", argument("a", "x y") + argument("b", "é"), below=asserts_field("a", "request_data", 16, "a=x+y&b=%C3%A9")))),
    "sessions in pages": plan(group(
        request("first", "/a", below=rewriting("sid")) + answered("page", "<a href='/b?x=1&sid=a%20b;'>")
        + request("in URL", "/a", arguments=argument("x", "1"), below=rewriting("sid")) + request("gone", "/a", below=rewriting("sid"))
        + answered("form", "<form><input name='s.id' type=\"hidden\" VALUE = \"x 1\"></form>")
        + request("posted", "/a", "POST", argument("x", "1") + argument("s.id", "old"), below=rewriting("s.id", encode=True))
        + answered("turned", "<input value='x2' name=\"s.id\">") + request("asked", "/a?b=c", below=rewriting("s.id", kept=True))
        + request("kept", "/a", below=rewriting("s.id", kept=True)) + request("not kept", "/a", "POST", argument("x", "1"), below=rewriting("s.id"))
        + answered("path", "<a href='/b;jsid=p1?q'>") + request("in path", "/a", below=rewriting("jsid", True, no_question=True))
        + answered("path to the end", "<a href='/b;jsid=p2?q&r'>") + request("with query", "/a", below=rewriting("jsid", True))
        + request("within", "/a;jsid=old?x=y", "POST", raw="x", below=rewriting("jsid", True))
        + answered("no sign", "<a href='/b;jsidp3'>") + request("behind query", "/a?b=c", "POST", raw="x", below=rewriting("jsid", True, True))
        + answered("new", "<a href='/b;jsid=p4'>") + request("in place", "/a;jsid=old", below=rewriting("jsid", True)), loops=2)),
    "sessions of another thread": plan(
        group(answered("page", "<a href='/b?sid=own'>")), group(request("none", "/a;sid=old", below=rewriting("sid", True)), "other"), in_turn=True),
    "extractors of other fields": plan(group(
        headers(("X-Own", "one two")) + request("find", "/redirect/302", follow=True, below=of_field("URL", by_regex("url", "(/l.*)"))
                + of_field("code", by_regex("code", "(.+)")) + of_field("message", by_regex("message", "(.+)"))
                + of_field("request_headers", by_regex("own", "X-Own: (.*)")) + of_field("true", by_boundaries("length", "Content-Length: ", "\n"))
                + of_field("URL", by_boundaries("query", "?", "=")) + of_field("code", by_boundaries("middle", "2", "0"))
                + of_field("request_headers", by_boundaries("two", "X-Own: ", " ")))
        + request("show", "/a", "POST", raw=shown("url", "code", "message", "own", "length", "query", "middle", "two")))),
}
