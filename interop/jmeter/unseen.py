"""Small plans of what real ones hold that nobody had thought of: several elements that set one variable, loops up to a counter's number,
numbers that are texts, nulls, and headers that contradict a body."""

from plans import (argument, by_jmespath, by_json, counter, csv_data, file, flag, group, headers, http, if_, loop, plan, random_variable, request,
                   script, shown, user_parameters, while_)

#: `@` is the variable that a counter in the loop sets.
CONDITIONS = [
    "${__jexl3(${@} < 3)}", "${__groovy(${@} < 3)}", "${__javaScript(${@} < 3)}", '${__jexl3("${@}" < 3)}', "${__jexl2(${@} < 3)}",
    "${__javaScript(${@}<=5)}", "${__jexl3(${@} != 3)}", "${__jexl3(${@} == 3)}", '${__javaScript("${@}" != "3")}', '${__jexl3("${@}" != "3")}',
    '${__groovy("${@}" != "3")}', '${__groovy(vars.get("@") != "3")}', '${__jexl3(vars.get("@") != "3")}', "${__jexl3(3 > ${@})}",
    "${__BeanShell(${@} < 3)}", "${__javaScript(parseInt(${@}) < 3)}", '${__javaScript(parseInt("${@}") < 3)}', "${__jexl3(${@}+1 < 4)}",
]

COMPARED = [
    '${__groovy(vars.get("c") == "1")}', '${__groovy(vars.get("c").equals("1"))}', '${__groovy(vars.get("n") == "7")}', '${__groovy(vars.get("r") == "5")}',
    '${__groovy(vars.get("all_1") == "7")}', '${__jexl3(vars.get("c") == "1")}', '${__jexl3(vars.get("n") == "7")}', '${__jexl3(vars.get("n") == 7)}',
    '${__javaScript(vars.get("c") == "1")}', '${__jexl3("${c}" == "1")}', "${__jexl3(${c} == 1)}", '${__groovy("${n}" == "7")}',
    '${__groovy(vars.get("c") == "2")}', '${__groovy(vars.get("n") != "7")}',
]

NULLS = '{"n":null,"l":[1,null,3],"o":{"x":null},"e":"","all":[null,null]}'


def nulls(extractor, *paths, ends=("", "_1", "_2", "_3", "_matchNr")):
    found = [(f"v{number}", path, match, default) for number, (path, match, default) in enumerate(paths)]
    return "".join(
        request(f"find {name}", "/echo", "POST", raw=NULLS, below=extractor(name, path, match, default))
        + request(f"show {name}", "/shown", "POST", raw=shown(*(f"{name}{end}" for end in ends)))
        for name, path, match, default in found)


MULTIPART = flag("HTTPSampler.DO_MULTIPART_POST", True)
JSON = ("Content-Type", "application/json")


def headed(name, method, *pairs, **more):
    return request(name, "/h", method, below=headers(*pairs), **more)


PLANS = {
    "several that set one variable: files of the plan": plan(
        csv_data("users.csv", "x") + csv_data("alike.csv", "x") + group(request("row ${x}", "/r"), loops=2)),
    "several that set one variable: files of the plan and a group": plan(
        csv_data("users.csv", "x") + group(csv_data("alike.csv", "x") + request("row ${x}", "/r"), loops=2)),
    "several that set one variable: in a group and a loop": plan(group(
        counter("c", 100, per_user=True) + counter("c", 200, per_user=True) + random_variable("r", 1, 1) + random_variable("r", 2, 2)
        + user_parameters(["p"], ["first"], per_iteration=True) + user_parameters(["p"], ["second"], per_iteration=True)
        + user_parameters(["q"], ["first"]) + user_parameters(["q"], ["second"])
        + csv_data("users.csv", "m") + counter("m", 7) + user_parameters(["e"], ["${x}"], per_iteration=True) + csv_data("alike.csv", "x")
        + request("c ${c} r ${r} p ${p} q ${q} m ${m} e ${e}", "/r")
        + loop(2, counter("c", 300, per_user=True) + user_parameters(["q"], ["inner"]) + request("in c ${c} q ${q}", "/r")), loops=2)),
    "several that read one file": plan(group(csv_data("users.csv", "a") + csv_data("users.csv", "b") + request("${a} ${b}", "/r"), loops=2)),
    "loops up to a counter's number (26)": plan(group("".join(
        while_(condition.replace("@", f"w{number}"), counter(f"w{number}", 1, end=9) + request(f"loop {number}-${{w{number}}}", "/w"))
        for number, condition in enumerate(CONDITIONS)))),
    "numbers are texts": plan(group(
        counter("c", 1, end=9) + random_variable("r", 5, 5)
        + request("find", "/json", below=by_json("n", "$.list[0].id", "1", "none") + by_json("all", "$.list[*].id", "-1", "none"))
        + "".join(if_(condition, request(f"holds {number}", "/yes")) for number, condition in enumerate(COMPARED))
        + request("script", "/s", "POST", raw=shown("a", "b", "d"), below=script(
            "JSR223PreProcessor",
            "if (vars.get('c') == '1') { vars.put('a', 'yes') } else { vars.put('a', 'no') }\n"
            "if (vars.get('n').equals('7')) { vars.put('b', 'yes') } else { vars.put('b', 'no') }\nvars.put('d', vars.get('c') + vars.get('n'))", "groovy")))),
    "nulls in JSON have the default": plan(group(nulls(by_json, *(
        (path, match, default) for path in ("$.n", "$.l[*]", "$.l[1]", "$.e", "$..x", "$.all[*]", "$.nope") for match in ("1", "-1", "2")
        for default in ("DEF", "") if (path, match) != ("$.e", "2"))))),
    "nulls of JMESPath have the default": plan(group(nulls(
        by_jmespath, ("n", "1", "DEF"), ("n", "-1", "DEF"), ("l[1]", "1", "DEF"), ("o.x", "0", "DEF"), ("e", "1", "DEF"), ends=("",)))),
    "headers that contradict the body (35)": plan(group(
        headed("too long", "POST", ("Content-Length", "99"), raw="abc") + headed("too short", "POST", ("content-length", "1"), raw="abc")
        + headed("of no body", "GET", ("Content-Length", "5")) + headed("of a form", "POST", ("Content-Length", "99"), arguments=argument("a", "b"))
        + headed("type over a file", "POST", JSON, more=MULTIPART + file("upload.txt", "f", "text/plain"), arguments=argument("a", "b"))
        + headed("type over parts", "POST", ("content-type", "a/b"), ("Content-Type", "c/d"), more=MULTIPART, arguments=argument("a", "b"))
        + headed("boundary of its own", "PUT", ("Content-Type", "multipart/form-data; boundary=----x"), more=MULTIPART, arguments=argument("a", "b"))
        + headed("type over a form", "POST", JSON, arguments=argument("a", "b c")) + headed("type over one file", "POST", JSON, more=file("upload.txt", "", "text/plain"))
        + headed("type of a text", "POST", ("Content-Type", "application/x-www-form-urlencoded"), raw="abc") + headed("type of no body", "GET", JSON)
        + headed("type over parts, Java", "POST", JSON, more=MULTIPART + http(implementation="Java"), arguments=argument("a", "b")))),
}
