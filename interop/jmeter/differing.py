"""Plans whose samples differ from JMeter's in some columns, of all or of one label, and why: each reason stands in docs/jmeter.md.
`parts` are the rows of a sample's parts, and `threads` is which thread has which rows."""

CHANCE = "Which thread takes which of what several share, or draws what, is up to chance."
ARRIVALS = "Threads of groups of arrivals are called `NAME-ThreadStarter` in JMeter, and each of them takes several arrivals."
CALLS = "JMeter counts what it asks a transaction's controllers for: each Flow Control Action in it, and once more what comes behind a controller."
OF_JAVA = "The client of Java counts no bytes that it sent."
BOUNDARY = "The boundary between the parts of a body has another length, and its type no charset."
TCP = "Of a TCP Sampler JMeter counts no bytes as sent, and the characters of a hexadecimal text as received."
NOT_SENT = "What is not sent, for its URL or a function in it, is told in squall's words, and has no URL."
PATH = "The URL is the one that was asked for: `//a` is `/a` in it."
WITHIN = "Redirects within the HTTP client are parts of the sample, and counted; JMeter knows of the last exchange alone."
SCRIPTS = "What a script says of a failure is not told, nor is a code that it makes of another."
PARSERS = "What a parser says of a document that it cannot read is not told in its words."
PASSED = "An XPath Assertion of something true or false, and one that is negated, leaves a message in JMeter though it passes."
EQUAL = "Of two texts that should be equal, one of which is long or only the run knows it, both are told whole; JMeter marks what is not the same in them."
PARTS = "An assertion of all samples of a request that was redirected fails the whole, and in JMeter the part with it."
NO_PATH = "Of a path that leads nowhere JMeter tells how far it leads."
SAID = "Bytes that a Java Request says that it sent are not counted."
SHOWN = "Bytes of what a Debug Sampler shows are not counted."
LOST = "A program that is not there is told as a lost request."
LAST = "What the last statement of a BeanShell Sampler gives is no response, unless it returns it."
LATE = "A Sample Timeout is told as a response that did not come in time; JMeter closes the connection, and tells that."
NOWHERE = "Where a redirect leads that is no URL is told in squall's words, unless its protocol is what is unknown; `ftp` and its like are unknown, too."
NO_PLACE = "A redirect that does not say where it leads is a response like others; in JMeter it is lost."
UNKNOWN = "A TCP Sampler with a port that is no number is not sent; JMeter takes port 0."

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
    "what is no URL is not sent (33)": {"responseMessage": NOT_SENT, "URL": PATH},
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
