"""Small plans with options of JMeter's elements: hosts of its own, digests in the place of bodies, policies of cookies, old spellings,
defaults, assertions about transactions."""

from plans import (argument, asserts, by_boundaries, by_json, by_regex, element, flag, group, http, if_, java, plan, request,
                   shown, simple, text, timer, transaction)


def dns(*hosts, servers=(), custom=True, clear=False):
    inner = "".join(
        f'<elementProp name="{name}" elementType="StaticHost">{text("StaticHost.Name", name)}{text("StaticHost.Address", address)}</elementProp>'
        for name, address in hosts
    )
    inner = f'<collectionProp name="DNSCacheManager.hosts">{inner}</collectionProp>'
    inner += '<collectionProp name="DNSCacheManager.servers">' + "".join(text(str(n), own) for n, own in enumerate(servers)) + "</collectionProp>"
    inner += flag("DNSCacheManager.isCustomResolver", custom) + flag("DNSCacheManager.clearEachIteration", clear)
    return element("DNSCacheManager", "dns", inner, attributes='guiclass="DNSCachePanel"')


def cookies(policy="standard", *own, clear=False):
    """Cookies of its own are a name, a value, a domain, and when they end."""
    inner = "".join(
        f'<elementProp name="{name}" elementType="Cookie" testname="{name}">{text("Cookie.value", value)}{text("Cookie.domain", domain)}{text("Cookie.path", "")}'
        f'{flag("Cookie.secure", False)}<longProp name="Cookie.expires">{expires}</longProp>'
        f'{flag("Cookie.path_specified", True)}{flag("Cookie.domain_specified", True)}</elementProp>'
        for name, value, domain, expires in own
    )
    inner = f'<collectionProp name="CookieManager.cookies">{inner}</collectionProp>' + flag("CookieManager.clearEachIteration", clear)
    return element("CookieManager", "cookies", inner + text("CookieManager.policy", policy), attributes='guiclass="CookiePanel"')


def at(host, path):
    """A page of the server by another name."""
    return f"http://{host}:${{__P(port)}}{path}"


def java_defaults(of, **values):
    return java("defaults", of, **values).replace("JavaSampler", "JavaConfig").replace("JavaTestSamplerGui", "JavaConfigGui")


def asserts_duration(milliseconds):
    return element("DurationAssertion", "duration", text("DurationAssertion.duration", milliseconds), attributes='guiclass="DurationAssertionGui"')


def digests(*requests):
    """Requests of which the response's digest is kept, and one that shows what was found in each."""
    return "".join(requests) + request("shown", "/shown", "POST", raw=shown("all", "none", "code"))


MD5 = http(md5=True)

PLANS = {
    "hosts of a DNS Cache Manager": plan(group(
        dns(("shop.test", "127.0.0.1"), ("other.test", "localhost"), ("several.test", "127.0.0.9 , 127.0.0.1"), clear=True)
        + request("a", at("shop.test", "/a")) + request("b", at("other.test", "/b")) + request("c", at("several.test", "/c"))
        + request("d", "/redirect/302", follow=True), loops=2)),
    "hosts of a DNS Cache Manager, without name servers of its own": plan(
        dns(("shop.test", "127.0.0.1"), ("shop.test", "127.0.0.2"), custom=False, servers=["192.0.2.1"])
        + group(request("a", at("shop.test", "/a")) + request("b", at("nowhere.invalid", "/b")))),
    "a digest in the place of the response": plan(group(digests(
        request("a", "/a", more=MD5, below=by_regex("all", "^.*$", template="$0$") + by_boundaries("none", "line", "id", default="not there")
                + asserts("a", 16, "line") + by_regex("code", "(.*)", "1", "none", "$1$")),
        request("b", "/page", more=MD5 + flag("HTTPSampler.image_parser", True), below=asserts("b", 1, "[0-9a-f]{32}")),
        request("empty", "/empty", more=MD5, below=by_regex("all", "^.*$", default="no", template="$0$") + asserts("c", 5, "[0-9a-f]{32}")),
        request("way", "/redirect/302", follow=True, more=MD5, below=asserts("d", 1, "[0-9a-f]{32}")),
        request("size", "/a", more=MD5, below=element(
            "SizeAssertion", "size", text("Assertion.test_field", "SizeAssertion.response_data") + text("SizeAssertion.size", 16)
            + '<intProp name="SizeAssertion.operator">1</intProp>', attributes='guiclass="SizeAssertionGui"')),
        request("bad", "/status/500", more=MD5),
    ))),
    "cookies that are ignored": plan(group(cookies("ignoreCookies") + request("set", "/cookie") + request("sent", "/a"), loops=2)),
    "cookies of the policy netscape": plan(group(cookies("netscape") + request("set", "/cookie") + request("sent", "/a"), loops=2)),
    "cookies of the policy best-match": plan(group(cookies("best-match", clear=True) + request("set", "/cookie") + request("sent", "/a"), loops=2)),
    "cookies of its own that have ended, or will": plan(group(
        cookies("standard", ("past", "1", "127.0.0.1", 1), ("later", "2", "127.0.0.1", 4102444800), ("never", "3", "127.0.0.1", 0))
        + request("a", "/a") + request("b", "/b"))),
    "all matches of a JSON path in one text": plan(group(
        request("json", "/json", below="".join(
            by_json(name, path, match, "D").replace("</JSONPostProcessor>", flag("JSONPostProcessor.compute_concat", True) + "</JSONPostProcessor>")
            for name, path, match in [("ids", "$.list[*].id", "-1"), ("one", "$.id", "-1"), ("none", "$.nothing", "-1"), ("first", "$.list[*].id", "1")]))
        + request("shown", "/shown", "POST", raw=shown("ids_ALL", "one_ALL", "none_ALL", "ids_matchNr")))),
    "a response without HTML's references": plan(group(
        request("echo", "/echo", "POST", raw="&lt;b&gt;&eacute;&#233;&#xE9;&euro;&nosuch;&amp;lt; &", below="".join(
            by_regex(name, "(.*)", template="$1$", default="none").replace(">false<", f">{field}<", 1)
            for name, field in [("plain", "false"), ("clear", "unescaped")])
            + by_boundaries("bold", "<b>", "&", default="none").replace(">false<", ">unescaped<"))
        + request("shown", "/shown", "POST", raw=shown("plain", "clear", "bold") + " ${__unescapeHtml(${plain})}"))),
    "a Java Request with defaults": plan(group(
        java_defaults("JavaTest", ResponseCode="999", ResultData="far", Sleep_Time="1", Sleep_Mask="0", Status="KO")
        + java("j", "JavaTest", ResultData="near", Sleep_Time="1", Sleep_Mask="0", Label="own")
        + request("after ${__P(none,)}", "/a"))),
    "requests of GraphQL": plan(group("".join(
        request(name, "/graphql", method, **how).replace("HttpTestSampleGui", "GraphQLHTTPSamplerGui") for name, method, how in [
            ("post", "POST", dict(raw='{"operationName":"Q","query":"query Q { shop(id: \\"${__threadNum}\\") }"}', more=text("GraphQLHTTPSampler.query", "{ shop }"))),
            ("get", "GET", dict(arguments=argument("query", "{ shop }") + argument("variables", '{"a":1}'), more=text("GraphQLHTTPSampler.variables", '{"a":1}')))]))),
}

#: Assertions about transactions with a parent sample, which has what is in it as its parts.
TRANSACTIONS = plan(group("".join([
    # Its first request takes JMeter a tenth of a second more.
    request("first", "/first"),
    transaction("slow", asserts_duration(250) + request("a", "/slow/150") + request("b", "/slow/150"), parent=True),
    transaction("quick", asserts_duration(2000) + request("c", "/c") + request("d", "/d"), parent=True),
    transaction("apart", asserts_duration(250) + request("e", "/slow/150") + request("f", "/slow/150")),
    transaction("empty text", asserts("has ok", 16, "ok") + request("g", "/g"), parent=True),
    transaction("not in it", asserts("has no such text", 20, "nope") + request("h", "/h"), parent=True),
    transaction("code", asserts("code", 8, "200", field="code") + request("i", "/i") + request("j", "/status/404"), parent=True),
    transaction("nothing in it", asserts_duration(2000) + if_("${__P(none,false)}", request("never", "/never")), parent=True),
    transaction("nothing, and bad", asserts("has ok", 16, "ok") + if_("${__P(none,false)}", request("never", "/never")), parent=True),
    transaction("good code", asserts("code", 8, "200", field="code") + request("k", "/k"), parent=True),
    transaction("outer", asserts_duration(250) + transaction("inner", request("l", "/slow/150") + request("m", "/slow/150"), parent=True)
                + request("n", "/n"), parent=True),
    transaction("without waits", asserts_duration(200) + simple(timer(150) + request("o", "/o") + request("p", "/p")), parent=True).replace(
        'includeTimers">true', 'includeTimers">false'),
    if_("${JMeterThread.last_sample_ok}", request("last ok", "/ok")),
    transaction("failed first", request("q", "/status/500") + request("r", "/r"), parent=True),
    if_("${JMeterThread.last_sample_ok}", request("not sent", "/never")),
    if_("${__jexl3(!${JMeterThread.last_sample_ok})}", request("sent", "/ever")),
])))
