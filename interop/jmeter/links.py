"""Small JMeter plans in which requests follow the links and forms of the page before."""

from plans import argument, debug, element, group, plan, request

PARSER = element("AnchorModifier", "links", attributes='guiclass="AnchorModifierGui"')


def page(body):
    """A request whose response is that page, at `/echo`."""
    return request("page", "/echo", "POST", raw=body)


def follow(name, path, method="GET", arguments=""):
    return request(name, path, method, arguments, below=PARSER)


def any_of(*names):
    """Arguments that take whatever value a form has for them."""
    return "".join(argument(name, ".*") for name in names)


LINKS = "<html><body><a href='/one?a=1&amp;b=x%20y'>1</a><a href='/two/x?c=1'>2</a><a href='three'>3</a>"
LINKS += "<a href='javascript:go()'>4</a><a href='mailto:a@b.test'>5</a><a name='x'>6</a><a href='https://127.0.0.1/six'>7</a>"
LINKS += "<a href='http://other.test/seven'>8</a></body></html>"
FORM = """<html><body><form action="/send?in=1" method="post"><input type="hidden" name="token" value="a b&amp;c">
<input name="user"><textarea name="note">some text</textarea><select name="kind"><option value="k1">one</option></select>
<input type="submit" name="go" value="Go"></form><form><input name="user" value="none"></form></body></html>"""

PLANS = {
    "links of the page before": plan(group(
        follow("first of all", "/o.*") + page(LINKS) + follow("by path", "/on.") + follow("no page", "/on.")
        + page(LINKS) + follow("deeper", "/two/.*") + page(LINKS) + follow("relative", "three")
        + page(LINKS) + follow("relative too", "/three") + page(LINKS) + follow("no match", "/four")
        + page(LINKS) + follow("another scheme", "/six") + page(LINKS) + follow("another host", "/seven")
        + page(LINKS) + follow("by argument", ".*", arguments=argument("c", "own"))
        + page(LINKS) + follow("by two", ".*", arguments=argument("b", "") + argument("^a", ""))
        + page(LINKS) + follow("no such argument", ".*", arguments=argument("d", "own"))
        + page(LINKS) + follow("deleted", "/on.", "DELETE") + page(LINKS) + follow("head", "/on.", "HEAD"), loops=2)),
    "links that are relative": plan(group(
        page("<base href='/b/c'><a href='x'>") + follow("base", ".*") + page("<a href='?q=1'>") + follow("query", ".*")
        + page("<base href='/b/c'><a href='?q=1'>") + follow("query of the base", ".*") + page("<a href='#top'>") + follow("place", ".*")
        + page("<a href='./y/../z'>") + follow("dots", ".*") + page("<a href='../up'>") + follow("above", ".*")
        + page("<a href=\"/a b\">") + follow("blank", ".*") + page("<a href='/a b'>") + follow("blank in the pattern", "/a b")
        + page("<a href='//127.0.0.1/same'>") + follow("host", ".*") + page("<a href='/x?a&amp;&amp;=b&amp;c='>") + follow("parts", ".*")
        + page("<frameset><frame src='/frame?x=1'></frameset>") + follow("frame", ".*")
        + page("<iframe src='/iframe'></iframe>") + follow("no iframe", "/if.*"))),
    "links after other samples": plan(group(
        page("<a href='/x'>") + debug("between") + follow("behind debug", ".*") + page("<a href='/x'>") + request("other", "/a") + follow("behind other", "/.*")
        + page("<a href='/x'>") + request("nobody", "http://127.0.0.1:1/") + follow("behind an error", "/.*")
        + page("<a href='/x'>") + follow("code", "/[x]") + request("to a page", "/status/404") + follow("behind 404", "/.*"))),
    "links of forms": plan(group(
        page(FORM) + follow("posted", "/send", "POST", any_of("token", "user", "note", "kind", "go"))
        + page(FORM) + follow("some", "/s.*", "POST", argument("token", "a.*") + argument("user", "") + argument("k.*", "k[0-9]"))
        + page(FORM) + follow("asked", "/s.*", arguments=any_of("token", "in"))
        + page(FORM) + follow("other value", "/s.*", "POST", argument("token", "none") + argument("user", "me"))
        + page(FORM) + follow("as it is", "/s.*", "POST", argument("token", ".*", False) + argument("note", ".*", False))
        + page(FORM) + follow("no such field", "/s.*", "POST", any_of("token", "other"))
        + page("<a href='/x?a=1&amp;b=x%20y'>") + follow("a link posted", "/x", "POST", any_of("a"))
        + page("<a href='/x'>") + follow("an empty link posted", "/x", "POST"))),
}
