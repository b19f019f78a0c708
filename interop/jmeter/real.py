"""Small JMeter plans for what real plans ask for, and others seldom."""

from plans import (
    by_boundaries, by_regex, debug, element, for_each, group, of_headers, plan, request, script, shown, synchronizing,
    text, timer,
)

BOTH = '"(id|x)":("?)(\\w+)'


def arrivals(name, below, rate, hold, rise="", steps="", most=""):
    """Threads that arrive at a rate, by the second."""
    given = {"TargetLevel": rate, "RampUp": rise, "Steps": steps, "Hold": hold, "Unit": "S", "ConcurrencyLimit": most,
             "LogFilename": "", "Iterations": "", "ThreadGroup.on_sample_error": "continue"}
    inner = "".join(text(*pair) for pair in given.items())
    inner += ('<elementProp name="ThreadGroup.main_controller" '
              'elementType="com.blazemeter.jmeter.control.VirtualUserController"/>')
    tag = "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup"
    return element(tag, name, inner, below, f'guiclass="{tag}Gui"')


#: Name: what the plan holds to, and the plan.
PLANS = {
    "several groups of all matches, and of any (46)": plan(group(
        request("find", "/json", below=by_regex("all", BOTH, "-1", template="$3$/$1$$4$") + by_regex("one", '"(id)":(8)', "0", template="$2$-$1$")
                + by_regex("un", "(z)(y)", "0", template="$1$$2$", default="D") + by_regex("none", "(z)(y)", "-1", template="$1$$2$", default="DD")
                + by_regex("part", '"id":(\\d)|("list")', "-1", template="[$1$$2$]") + by_regex("kept", "(z)", "0", template="$1$.")
                + by_regex("chosen", '"id":(8)', "0") + by_regex("beyond", '"(i)d":', "-1", template="$1$$4$")
                + by_regex("aside", '"list"|(x)', template="<$1$$0$>"))
        + request("show", "/a", "POST", raw=shown(
            "all", "all_1", "all_2", "all_3", "all_4", "all_5", "all_matchNr", "one", "one_g1", "one_g2", "un", "un_g1", "none", "none_1",
            "none_matchNr", "part", "part_1", "part_2", "part_3", "part_matchNr", "kept", "chosen", "chosen_g0", "chosen_g1", "beyond_1", "aside",
            "aside_g0"))
        + for_each("all", "it", request("each", "/each/${it}"))
        + request("none of it", "/empty", below=by_regex("all", BOTH, "-1", template="$1$$2$") + by_regex("one", "(x)(y)", "0", template="$1$$2$"))
        + request("last", "/a", "POST", raw=shown("all_1", "all_matchNr", "one", "one_g1")))),
    "patterns of extractors known only while the plan runs (46)": plan(group(
        request("begin", "/json", below=by_regex("key", '"(id)":7') + by_regex("big", '"(l)ist"') + by_boundaries("letters", '"a-b":{"', '"'))
        + request("find", "/json", below=by_regex("first", '"${key}":(\\d+)') + by_regex("second", '"${key}":(\\d+)', "2", template="$0$;$1$")
                  + by_regex("all", '"(${key})":("?\\w)', "-1", template="$1$=$2$") + by_regex("no", "${big}${big}(.)", default="D${key}")
                  + by_regex("still", "${big}${big}(.)") + of_headers(by_regex("size", "${big}ength: (\\d+)")))
        + request("show", "/a", "POST", raw=shown(
            "key", "big", "letters", "first", "first_g1", "first_g0", "second", "all", "all_1", "all_3", "all_4", "all_matchNr", "no", "still",
            "size")))),
    "numbers that are none (27, 29; in threads)": plan(
        group(request("find", "/json", below=by_regex("all", '"id":(\\d)', "-1")) + request("soon", "/soon", below=timer("9*9999") + timer("x"))
              + for_each("all", "it", request("never", "/never/${it}"), endIndex="2*2")
              + for_each("all", "it", request("each", "/each/${it}"), startIndex="1*1"), "one"),
        group(request("two", "/two", below=synchronizing("2*2").replace("intProp", "stringProp")), "threads", threads=2)),
    "scripts that come after a sample of nothing": plan(group(
        script("JSR223PostProcessor", "vars.put('after', 'it ' + vars.get('after'))", "groovy") + script("BeanShellPostProcessor", "")
        + debug("shown") + request("show", "/a", "POST", raw=shown("after")) + request("again", "/b", "POST", raw=shown("after")))),
    "scripts see variables as they are before later extractors": plan(group(
        script("JSR223PostProcessor", "def id = vars.get('id')\nvars.put('seen', 'was ' + id)\nlog.info('id ' + id)", "groovy")
        + request("find", "/json", below=by_regex("id", '"id":(\\d+)')) + request("show", "/a", "POST", raw=shown("seen", "id"))
        + request("other", "/json", below=by_regex("id", '"id":(8)')) + request("show it", "/a", "POST", raw=shown("seen", "id")), loops=2)),
    # In JMeter, one more may come at the end of a second: a rate that is no whole number of them stays clear of it.
    "threads that arrive evenly": plan(arrivals("held", request("a", "/a"), "7", "1", "0", "1")),
}
