"""Small plans with TCP Samplers. They reach a stub at 127.0.0.1, at the port of `-Jtcp`, which takes lines and does what each says."""

from plans import asserts, by_regex, element, flag, group, plan, request, shown, text


def tcp(name, send, below="", of="", eol=10, port="${__P(tcp)}", reuse=True, close=False, **more):
    inner = text("TCPSampler.classname", of) + text("TCPSampler.server", "127.0.0.1") + text("TCPSampler.port", port)
    inner += flag("TCPSampler.reUseConnection", reuse) + flag("TCPSampler.closeConnection", close)
    inner += text("TCPSampler.EolByte", eol) + text("TCPSampler.request", send)
    inner += "".join(flag(f"TCPSampler.{n}", v) if isinstance(v, bool) else text(f"TCPSampler.{n}", v) for n, v in more.items())
    return element("TCPSampler", name, inner, below, 'guiclass="TCPSamplerGui"')


def config(**values):
    inner = "".join(text(f"TCPSampler.{n}", v) for n, v in values.items())
    return element("ConfigTestElement", "defaults", inner, attributes='guiclass="TCPConfigGui"')


PLANS = {
    "bytes over TCP: what came is the body": plan(group(
        tcp("say", "say id=7${__threadNum}\n", by_regex("id", "id=(.*)") + asserts("has id", 2, "id=71"))
        + tcp("more", "two ${id}\n", asserts("both lines", 8, "71\n71\n"))
        + tcp("wrong", "say x\n", asserts("not y", 16, "y")) + request("shown", "/shown", "POST", raw=shown("id")), loops=3)),
    "bytes over TCP: connections that are kept, closed, and new": plan(group(
        tcp("kept", "say a\n") + tcp("closed", "say b\n", close=True) + tcp("anew", "say c\n")
        + tcp("new", "say d\n", reuse=False, nodelay=True) + tcp("last", "say e\n", soLinger="0"), loops=2)),
    "bytes over TCP: where a response ends": plan(group(
        tcp("to the close", "drop all of it\n", asserts("all", 8, "all of it"), eol="", reuse=False)
        + tcp("before the end", "drop half\n", asserts("half", 8, "half"), close=True)
        + tcp("nothing", "drop\n", close=True) + tcp("no byte of Java", "drop x\n", eol=200, close=True), loops=2)),
    "bytes over TCP: servers that are late, silent, or not there": plan(group(
        tcp("late", "late x\n", timeout="3000") + tcp("silent", "never\n", timeout="300") + tcp("after", "say y\n", timeout="3000")
        + tcp("in the middle", "part z\n", timeout="300", ctimeout="300") + tcp("nobody", "say z\n", port="1")
        + tcp("no port", "say z\n", port="none"))),
    "bytes over TCP: hexadecimal": plan(group(
        tcp("hex", "7361792068690a", by_regex("got", "(.*)"), of="BinaryTCPClientImpl")
        + tcp("whole name", "7361792068690A", asserts("got", 8, "68690a"), of="org.apache.jmeter.protocol.tcp.sampler.BinaryTCPClientImpl")
        + tcp("prefixed", "6d0102ff", asserts("reversed", 8, "ff02016d"), of="LengthPrefixedBinaryTCPClientImpl", eol="", port="${__P(tcp_prefixed)}")
        + request("shown", "/shown", "POST", raw=shown("got")), loops=2)),
    "bytes over TCP: defaults": plan(config(server="127.0.0.1", port="${__P(tcp)}", EolByte="10", timeout="2000", request="say default\n"), group(
        tcp("own", "say own\n", eol="", port="") + tcp("all", "", asserts("default", 8, "default\n"), eol="", port=""), loops=2)),
}
