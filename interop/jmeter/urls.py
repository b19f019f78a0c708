"""Small plans with all characters of ASCII, and samples of those beyond it, at each place of a URL."""

from plans import argument, by_boundaries, by_regex, group, http, plan, request

#: Characters that are no letters or digits, one of these, and what has a meaning of its own.
OF_ASCII = ["\t", "\n", *(chr(code) for code in range(0x20, 0x80) if not chr(code).isalnum()), "a"]
#: Letters of two to four bytes; blanks of several kinds, a line's end, what has no width, and what is no character.
BEYOND = ["é", "ß", "中文", "€", "😀", "\u00a0", "\u0085", "\u00ad", "\u2003", "\u2028", "\u3000", "\u200b", "\ufeff", "\ufffd", "\uff0f", "\u202f", "\u1680"]
ENCODED = ["%41", "%2f", "%2F", "%7b", "%25", "%e9", "%C3%A9", "%c3%a9", "%zz", "%4", "%", "%20", "%5B", "%3f", "%23", "%2e", "%00", "%0A", "%7E", "%2B", "%FF%41"]
ALL = OF_ASCII + BEYOND + ENCODED
#: What the run brings in is otherwise where it has a fragment, or a slash behind another.
OF_RUN = [text for text in ALL if text not in ("\n", "#", "/")]
#: Java's own client sends these as they are, and squall does, too.
OF_JAVA = [text for text in OF_ASCII + ENCODED if text not in ("\t", "\n", " ", '"', "<", ">", "\x7f")]


def named(text):
    return "-".join(f"{ord(c):x}" for c in text)


def at(name, place, texts=ALL, **more):
    return "".join(request(f"{name} {named(text)}", place(text), **more) for text in texts)


def found(text):
    """The text in the variable `v`, which the run finds."""
    return request("find", "/echo", "POST", raw=f"BEGIN{text}END", below=by_boundaries("v", "BEGIN", "END", default="NONE"))


def whole(path):
    return "http://127.0.0.1:${__P(port)}" + path


AGAIN = ["é", "{", "[", "^", "|", "%41", "%zz", "#x?y", "&", "\u00a0", "<", "/./", "/../", "\\", "€"]

PLANS = {
    "URLs: all of ASCII, and beyond, in a path": plan(group(at("path", lambda text: f"/p{text}q"))),
    "URLs: all of ASCII, and beyond, in a query": plan(group(at("query", lambda text: f"/q?x={text}y"))),
    "URLs: an argument that is sent as it is written": plan(group("".join(
        request(f"argument {named(text)}", "/n", arguments=argument("n", f"v{text}w", False)) for text in ALL))),
    "URLs: what only the run knows": plan(group("".join(
        found(text) + request(f"in a path {named(text)}", "/p${v}q") + request(f"in a query {named(text)}", "/q?x=${v}y")
        + request(f"argument {named(text)}", "/n", arguments=argument("n", "${v}", False)) + request(f"last {named(text)}", "/l/${v}")
        for text in OF_RUN))),
    "URLs: what no extractor found": plan(group(
        request("none", "/a", below=by_regex("id", "nothing such")) + request("query", "/x?id=${id}") + request("path", "/x/${id}/y")
        + request("argument", "/x", arguments=argument("id", "${id}", False)) + request("encoded", "/x", arguments=argument("id", "${id}"))
        + request("unset", "/x?id=${nobody}") + request("body", "/x?id=${id}", "POST", raw="a"))),
    "URLs: fragments are dropped": plan(group(
        request("path", "/a#top") + request("query", "/?a=1#frag") + request("before a query", "/a#top?x=1") + request("empty", "/a#")
        + request("argument", "/a#top", arguments=argument("n", "v")) + request("argument of its own", "/a", arguments=argument("n", "v#w", False) + argument("m", "x"))
        + request("bad", "/a#t{p") + request("beyond", "/a#é") + request("bracket", "/a#[x]") + request("two", "/a#b#c") + request("posted", "/a#top", "POST", raw="b")
        + request("whole", whole("/a#top")) + found("/a#x") + request("of the run", "${v}"))),
    "URLs: whole ones in a path": plan(group(at("whole", lambda text: whole(f"/p{text}q"), AGAIN) + at("whole query", lambda text: whole(f"/q?x={text}y"), AGAIN))),
    "URLs: the client of Java": plan(group(at("path", lambda text: f"/p{text}q", OF_JAVA, more=http(implementation="Java"))
        + at("query", lambda text: f"/q?x={text}y", OF_JAVA, more=http(implementation="Java")))),
}
