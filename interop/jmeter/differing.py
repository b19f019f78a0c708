"""Plans whose samples differ from JMeter's in some columns, of all or of one label, and why: each reason stands in docs/jmeter.md.
`parts` are the rows of a sample's parts, and `threads` is which thread has which rows."""

CHANCE = "Which thread takes which of several shared values, or draws which, is up to chance."
ARRIVALS = "JMeter calls threads of arrivals groups `NAME-ThreadStarter`, and each of them takes several arrivals."
CALLS = "In the message of a transaction, JMeter also counts each Flow Control Action in it, and once more what follows a controller."
OF_JAVA = "JMeter's Java implementation counts no sent bytes."
BOUNDARY = "The boundary of a multipart body has another length, and its content type no charset."
TCP = "For a TCP Sampler JMeter counts no bytes as sent, and as received the characters of a hexadecimal text."
NOT_SENT = "A request that is not sent because of its URL, or of a function in it, has a code or message of squall's own, and no URL."
PATH = "The URL is the one that was requested: `//a` is `/a` in it."
WITHIN = "Redirects within the HTTP client are parts of the sample, and counted; JMeter knows only the last exchange."
SCRIPTS = "A failure message that a script sets is left out, and so is a code or message that it sets in place of the response's own."
PARSERS = "If a document cannot be parsed, the message is not that of JMeter's parser."
PASSED = "An XPath Assertion of something true or false, or a negated one, leaves a message in JMeter even if it passes."
EQUAL = "If a text should equal another that is longer than 40 characters or known only while the plan runs, squall marks both as a whole; JMeter marks only what differs in them."
PARTS = "An assertion on main sample and sub-samples that fails for a redirected request fails the whole sample; in JMeter also the part in which it failed."
NO_PATH = "For a JSON path that leads nowhere, JMeter's message says how far it leads."
SAID = "Bytes that a Java Request says it sent are not counted."
SHOWN = "Bytes of what a Debug Sampler shows are not counted."
LOST = "A program that cannot be started is reported as a lost request."
LAST = "The value of a BeanShell Sampler's last statement is not a response unless the script returns it."
LATE = "A Sample Timeout is reported as a response that did not arrive in time; JMeter closes the connection, and reports that."
NOWHERE = "A redirect to something that is not a URL has a message of squall's own, unless only its protocol is unknown."
NO_PLACE = "A redirect without a location is a response like others; in JMeter it is a lost request."
UNKNOWN = "A TCP Sampler whose port is not a number sends nothing; JMeter takes port 0."

ESCAPED = "Control characters in a cell are escaped, so that a sample is one line."


def escaped(name):
    """The samples that tell of characters that are escaped."""
    return {f"responseMessage of {name} {code}": ESCAPED for code in ("7f", "85", "2028")}


#: By the plan's rule: columns, and the reason.
DIFFERING = {
    "assertions that are scripts (47, 56)": {"failureMessage": SCRIPTS, "responseCode": SCRIPTS, "responseMessage": SCRIPTS},
    "XPath assertions (47)": {"failureMessage": PASSED},
    "methods of WebDAV, and TRACE (33, 34)": {"responseCode": NOT_SENT, "responseMessage": NOT_SENT, "URL": NOT_SENT},
    "redirects are looked at, too (46, 47)": {"failureMessage": PARTS, "success": PARTS},
    "redirects (36)": {"responseMessage of nowhere": NOWHERE, "responseMessage of nowhere-0": NOWHERE} | {
        f"{column} of no place": NO_PLACE for column in ("responseCode", "responseMessage", "success", "bytes", "sentBytes")},
    "throughput: counted by all threads together (29)": {"threads": CHANCE},
    "once only: the first pass of what is around it (30)": {"responseMessage": CALLS},
    "loops: once for all, without end until they are left (24, 31)": {"responseMessage": CALLS},
    "threads that arrive by a free form": {"threads": ARRIVALS},
    "threads that arrive evenly": {"threads": ARRIVALS},
    "a random order has all each time, in two threads (30)": {"threads": CHANCE},
    "redirects within the client (36)": {"parts": WITHIN, "bytes": WITHIN, "sentBytes": WITHIN},
    "multipart bodies and files (34)": {"sentBytes": BOUNDARY},
    "multipart bodies of other methods, and of Java's client (34)": {"sentBytes": BOUNDARY},
    "the client of Java (35)": {"sentBytes": OF_JAVA},
    "what is no URL is not sent (33)": {"URL": PATH},
    "URLs: all of ASCII, and beyond, in a path": {"URL": NOT_SENT} | escaped("path"),
    "URLs: all of ASCII, and beyond, in a query": {"URL": NOT_SENT} | escaped("query"),
    "URLs: an argument that is sent as it is written": {"URL": NOT_SENT} | escaped("argument"),
    "URLs: what only the run knows": {"responseMessage": NOT_SENT, "URL": NOT_SENT},
    "URLs: what no extractor found": {"responseMessage": NOT_SENT, "URL": NOT_SENT},
    "URLs: fragments are dropped": {"URL": NOT_SENT},
    "URLs: whole ones in a path": {"URL": NOT_SENT},
    "URLs: the client of Java": {"sentBytes": OF_JAVA, "URL": PATH},
    "headers that contradict the body (35)": {"sentBytes": BOUNDARY},
    "dates by week years, time zones, and formats that are none (22)": {"responseCode": NOT_SENT, "responseMessage": NOT_SENT},
    "functions: a day at random of no days (RandomDate)": {"responseCode": NOT_SENT, "responseMessage": NOT_SENT},
    "programs, and their exit codes": {f"{column} of lost": LOST for column in ("responseCode", "responseMessage", "bytes", "sentBytes")},
    "bytes over TCP: what came is the body": {"sentBytes": TCP},
    "bytes over TCP: connections that are kept, closed, and new": {"sentBytes": TCP},
    "bytes over TCP: where a response ends": {"sentBytes": TCP},
    "bytes over TCP: servers that are late, silent, or not there": {
        "sentBytes": TCP, "responseCode": UNKNOWN, "responseMessage": UNKNOWN, "bytes": UNKNOWN},
    "bytes over TCP: hexadecimal": {"sentBytes": TCP, "bytes": TCP},
    "bytes over TCP: defaults": {"sentBytes": TCP},
    "JSON paths: assertions of several values": {"failureMessage": NO_PATH},
    "charsets: ISO-8859-1": {"sentBytes": BOUNDARY},
    "charsets: ASCII alone in ISO-8859-1, by a name in small letters": {"sentBytes": BOUNDARY},
    "charsets: windows-1251": {"sentBytes": BOUNDARY},
    "charsets: windows-1252": {"sentBytes": BOUNDARY},
    "charsets: GBK": {"sentBytes": BOUNDARY},
    "assertions about Java Requests": {"failureMessage": EQUAL, "sentBytes": SAID},
    "scripts that name their samples": {"bytes of BeanShellSampler script": LAST},
    "Debug Samplers that are looked at": {"bytes": SHOWN},
    "assertions about variables": {"failureMessage": PARSERS},
    "JMESPath assertions": {"failureMessage": PARSERS},
    "XML assertions": {"failureMessage": PARSERS},
    "the time of a sample is limited": {"responseCode": LATE, "responseMessage": LATE},
}
