"""Small plans whose requests are sent in other charsets than UTF-8."""

from plans import argument, by_regex, flag, group, headers, plan, request, text, variables


def in_charset(name):
    return text("HTTPSampler.contentEncoding", name)


def all_ways(charset, known, with_forms=True):
    """A text, a form, a query and parts, with what is known and what variables hold."""
    more, pairs = in_charset(charset), argument("a", known) + argument("v", "${v}")
    texts = (
        request("text", "/text", "POST", raw=f"{known} ${{v}} end", more=more) + request("put", "/put", "PUT", raw=known, more=more)
    )
    if not with_forms:
        return texts
    return (
        texts + request("form", "/form", "POST", pairs + argument(known[:1] + "x", "1") + argument("plain", "x y", False), more=more)
        + request("query", "/query", "GET", pairs, more=more)
        + request("parts", "/parts", "POST", argument("a", known) + argument("v", "${v}"), more=more + flag("HTTPSampler.DO_MULTIPART_POST", True))
        + request("own type", "/own", "POST", raw=known, below=headers(("Content-Type", "text/xml")), more=more)
    )


def sent(charset, known, value, **more):
    return plan(group(variables(v=value) + request("find", "/echo", "POST", raw="v=" + value, below=by_regex("v", "v=(.*)")) + all_ways(charset, known, **more)))


#: Name: what the plan holds to, and the plan.
PLANS = {
    "charsets: ISO-8859-1": sent("ISO-8859-1", "\u00e9\u00df\u20ac", "\u00fc\u20ac\u0416"),
    "charsets: ASCII alone in ISO-8859-1, by a name in small letters": sent("iso-8859-1", "abc", "xyz"),
    "charsets: windows-1251": sent("windows-1251", "\u0416\u0438\u00e9", "\u0401\u20ac"),
    "charsets: windows-1252": sent("windows-1252", "\u20ac\u00e9", "\u2014"),
    "charsets: GBK": sent("GBK", "\u4e2d\u56fd", "\u6587"),
    "charsets: UTF-16": sent("UTF-16", "a\u00e9", "\u0416", with_forms=False),
    "charsets: UTF-16LE": sent("UTF-16LE", "a\u00e9", "\u0416", with_forms=False),
    "charsets: an argument that is encoded already": plan(group(
        request("form", "/form", "POST", argument("a", "%E9+b", False) + argument("b", "%41"), more=in_charset("ISO-8859-1")))),
}
