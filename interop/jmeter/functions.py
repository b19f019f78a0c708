"""Small JMeter plans for its functions, one or more of them in each."""

from plans import (
    FILES, csv_data, for_each, group, loop, plan, request, user_parameters, variables, while_,
)

FILES["differ.csv"] = "1,a\n2,b\n3,c\n\nnever,read\n"
FILES["evals.csv"] = "text,path\na ${day} ${none} $ {,${day}\n"

DAY = user_parameters(["day", "by", "none_of_it"], ["21/01/2018", "P2D", "x"])


def said(*texts):
    """A request that says what these texts come to."""
    return group(DAY + request("said", "/said", "POST", raw="|".join(texts)) + request("after", "/after"))


#: Name: what the plan holds to, and the plan.
PLANS = {
    "functions: dates later and earlier (timeShift)": plan(said(
        "${__timeShift(dd/MM/yyyy,21/01/2018,P2D,,)}", "${__timeShift(yyyy-MM-dd'T'HH:mm:ss,2018-01-31T23:59:00,PT61S,,)}",
        "${__timeShift(,1000,PT1.5S,,)}", "${__timeShift(d/M/yy,1/2/21,-P1D,en_US,v)} ${v}", "${__timeShift(dd/MM,1/2,,w)} ${w}",
        "${__timeShift(yyyy,x,,,)}", "${__timeShift(HH:mm X,05:06 Z,PT1H,,)}", "${__timeShift(ddd,,P1D,,)}",
        "${__timeShift(yyyy-MM-dd'T'HH:mm:ssXXX,2021-03-04T05:06:07+03:00,PT25H,,)}",
        "${__timeShift(yyyy-MM-dd'T'HH:mm:ss.SSSZ,2021-03-04T05:06:07.000-0130,,,)}",
        "${__timeShift(dd MMM yyyy,04 Mar 2021,nonsense,,)}", "${__timeShift(EEE dd,Mon 04,P1D,,)}", "${__timeShift(yyyyMMdd,,P1D,,)}",
        "${__timeShift(dd/MM/yyyy,${day},${by},,)}", "${__timeShift(yyyy,${none_of_it},${none_of_it},,)}",
        "${__timeShift(dd/MM/yyyy,31/02/2021, P1D ,fr_FR,)}", "${__timeShift(HH:mm,24:00,PT1M,,)}")),
    "functions: dates in another pattern (dateTimeConvert)": plan(said(
        "${__dateTimeConvert(2021-03-04 05:06,yyyy-MM-dd HH:mm,dd.MM.yy H:m)}", "${__dateTimeConvert(31/02/2021,dd/MM/yyyy,yyyy-MM-dd EEE)}",
        "${__dateTimeConvert(1609459200000,,dd-MM-yyyy HH Z z XXX,w)} ${w}", "${__dateTimeConvert(x,yyyy-MM-dd,yy)}",
        "${__dateTimeConvert(05:06,HH:mm,yyyy)}", "${__dateTimeConvert(05:06 PM,hh:mm a,HH:mm:ss)}",
        "${__dateTimeConvert(2021-03-04T05:06:07+0300,yyyy-MM-dd'T'HH:mm:ssZ,HH:mm Z)}", "${__dateTimeConvert(${day},dd/MM/yyyy,D MMMM)}",
        "${__dateTimeConvert(2021-03-04,yyyy-MM-dd,HH:mm)}", "${__dateTimeConvert(2021-03-04 05:06,yyyy-MM-dd HH:mm,HH Z)}",
        "${__dateTimeConvert(20210304,yyyyMMdd,YYYY dd)}", "${__dateTimeConvert( 12 ,,yyyy)}", "${__dateTimeConvert(0,,S SS SSS SSSS)}")),
    "functions: days at random (RandomDate)": plan(said(
        "${__RandomDate(,2021-01-01,2021-01-02,,)}", "${__RandomDate(dd/MM/yyyy,05/05/2020,06/05/2020,,r)} ${r}",
        "${__RandomDate(,2021-01-02,2021-01-01,,)}", "${__RandomDate(dd MM,05 05,06 05,,)}")),
    "functions: a day at random of no days (RandomDate)": plan(group(
        request("none", "/none", "POST", raw="${__RandomDate(yyyy-MM-dd,2021-01-01,2021-01-01,,)}") + request("after", "/after"))),
    "functions: the machine's time zone (time)": plan(said(
        "${__time(yyyy-MM-dd HH Z z XXX X x)}", "${__timeShift(yyyy-MM-dd HH Z,,P1D,,)}", "${__dateTimeConvert(1625097600000,,HH Z z)}")),
    "functions: the machine's name and address (machineName, machineIP)": plan(variables(m="${__machineName}"), said(
        "${__machineName()}", "${__machineName(n)} ${n}", "${__machineIP}", "${__machineIP(i)} ${i}", "${m}")),
    "functions: a pattern and the response before (regexFunction)": plan(variables(text="q5 q6"), group(
        request("first", "/json", "POST", raw="${__regexFunction(a,$0$,1,,none)}")
        + request("said", "/said", "POST", raw="|".join([
            '${__regexFunction("id":(\\d+),$1$)}', '${__regexFunction("id":(\\d+),<$0$ $1$>,2)}', '${__regexFunction("id":(\\d+),$1$,ALL,-)}',
            '${__regexFunction("id":(\\d+),$1$,5,,none)}', "${__regexFunction(x(y)?,$1$,1,,no,m)} ${m} ${m_matchNr} ${m_g0}",
            '${__regexFunction("(id)":(\\d+),$2$,2,,no,n)} ${n} ${n_matchNr} ${n_g0} ${n_g1} ${n_g2}',
            "${__regexFunction(q(\\d),[$1$ $1$],,,,,text)}", "${__regexFunction(q(\\d),$1$,RAND,,,,none)}", "${__regexFunction(5(x)?,$1$ $2$,,,,,text)}"]))
        + request("of what was said", "/after", "POST", raw="${__regexFunction(ok|id,$0$)}"), loops=2)),
    "functions: the number of a loop's pass (__jm__NAME__idx)": plan(variables(v_1="a", v_2="b"), group(
        loop(2, request("l", "/l/${__jm__L__idx}")
             + loop(2, request("inner", "/inner/${__jm__L__idx}/${__jm__other loop__idx}"), "other loop"), "L")
        + while_("${__jexl3(${__jm__while__idx} < 2)}", request("w", "/w/${__jm__while__idx}"))
        + for_each("v", "item", request("f", "/f/${item}/${__jm__for each__idx}"))
        + request("after", "/after/${__jm__L__idx}/${__jm__while__idx}/${__jm__for each__idx}/${__jm__other loop__idx}"), loops=2)),
    "functions: properties that texts set (setProperty)": plan(group(
        user_parameters(["a", "b", "c"], ["${__setProperty(p1,x${__threadNum})}", "${__setProperty(p1,y,true)}", "${__setProperty(p2,z,true)}"])
        + request("said", "/said", "POST", raw="${a}|${b}|${c}|${__P(p1,none)}|${__property(p2)}|${__setProperty(p3,w)}|${__P(p3)}")
        + request("after", "/after/${__P(p3)}/${__isPropDefined(p3)}/${__isPropDefined(p4)}"))),
    "functions: the day on which the run starts (START.YMD, 17)": plan(variables(u="on ${START.YMD}"), said(
        "${START.YMD}", "${u}", "${__P(START.YMD)}", "${__V(START.YMD)}", "${__isVarDefined(START.MS)}", "${__isPropDefined(TESTSTART.MS)}")),
    "functions: rows that differ (CSVRead)": plan(group(
        request("row", "/row", "POST", raw="${__CSVRead(differ.csv,0)}${__CSVRead(differ.csv,1)}|${__CSVRead(differ.csv,7)}|${__CSVRead(differ.csv,x)}")
        + request("same", "/same", "POST", raw="${__CSVRead(differ.csv,0)}")
        + request("next", "/next", "POST", raw="a${__CSVRead(differ.csv,next)}b")
        + request("in a path", "/path/${__CSVRead(differ.csv,0)}${__CSVRead(differ.csv,next)}"), loops=4)),
    "functions: rows that differ from thread to thread (CSVRead)": plan(group(
        request("row", "/row", "POST", raw="${__CSVRead(differ.csv,0)}${__CSVRead(differ.csv,1)}"), loops=2, threads=3)),
    "functions: the number of a group's iteration (__jm__NAME__idx)": plan(group(
        request("n", "/n/${__jm__users__idx}") + loop(2, request("in", "/in/${__jm__users__idx}/${__jm__loop__idx}")), loops=3).replace(
            'name="ThreadGroup.main_controller"', 'name="ThreadGroup.main_controller" testname="Loop Controller"')),
    "functions: the number of an iteration of a group whose loop has no name (__jm____idx)": plan(group(request("n", "/n/${__jm____idx}"), loops=3)),
    "functions: texts that go to a file (StringToFile)": plan(said(
        "${__StringToFile(/tmp/squall-string-to-file.txt,a${day}\\n,false)}", "${__StringToFile(/tmp/squall-string-to-file.txt,b)}")),
    "functions: texts in which variables are looked up again (eval, evalVar)": plan(group(
        DAY + csv_data("evals.csv")
        + request("said", "/said", "POST", raw="${__eval(${text})}|${__evalVar(text)}|${text}|${__eval(x${path}y)}|${__evalVar(day)}"))),
}
