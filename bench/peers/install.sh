#!/usr/bin/env bash
# Puts JMeter and Gatling (with the plan of 10 requests compiled), or the one that is named, into a folder, as
# `bin/jmeter` and `bin/gatling`. They need mvn, java and javac 17 or later, and python3. `plugins` adds plug-ins with
# thread groups and timers to a JMeter that is there.
# Usage: install.sh FOLDER [gatling] [jmeter] [plugins]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
usage() { echo "usage: install.sh FOLDER [gatling] [jmeter] [plugins]" >&2; exit 2; }
[ $# -ge 1 ] || usage
folder=$1; shift
[ $# -ge 1 ] || set -- gatling jmeter
for tool in "$@"; do
    case $tool in gatling|jmeter|plugins) ;; *) usage ;; esac
done
mkdir -p "$folder/bin" && to=$(cd "$folder" && pwd)

jars() { # PROFILE FOLDER
    mvn -q -B -f "$here/pom.xml" -P "$1" dependency:copy-dependencies -DoutputDirectory="$2" -DincludeScope=runtime
}

launcher() { # NAME, its script from standard input
    cat > "$to/bin/$1" && chmod +x "$to/bin/$1"
}

install_gatling() {
    jars gatling "$to/gatling/lib"
    javac -cp "$to/gatling/lib/*" -d "$to/gatling/classes" "$here/Ten.java"
    # A log of warnings only, as users have it: the default writes every event to the terminal.
    echo '<configuration><root level="OFF"/></configuration>' > "$to/gatling/classes/logback.xml"
    launcher gatling <<LAUNCHER
#!/bin/sh
# gatling CLASS [-Dname=value ...]
class=\$1; shift
exec java -server -Xmx1G -XX:+UseG1GC -XX:+ParallelRefProcEnabled --add-opens=java.base/java.lang=ALL-UNNAMED "\$@" \\
    -cp "$to/gatling/classes:$to/gatling/lib/*" io.gatling.app.Gatling -s "\$class" -rf "\${TMPDIR:-/tmp}/gatling-results" -nr
LAUNCHER
}

install_jmeter() {
    # The jars are laid out as in JMeter's own archive, whose configuration comes out of one of them.
    jars jmeter "$to/jmeter/lib"
    mkdir -p "$to/jmeter/lib/ext" "$to/jmeter/lib/junit"
    mv "$to"/jmeter/lib/ApacheJMeter_*.jar "$to/jmeter/lib/ext/"
    python3 -m zipfile -e "$to"/jmeter/lib/ext/ApacheJMeter_config-*.jar "$to/jmeter"
    mv "$to"/jmeter/lib/ApacheJMeter-*.jar "$to/jmeter/bin/ApacheJMeter.jar"
    launcher jmeter <<LAUNCHER
#!/bin/sh
exec java -server -Xms1g -Xmx1g -XX:MaxMetaspaceSize=256m -XX:+UseG1GC -XX:MaxGCPauseMillis=100 -XX:G1ReservePercent=20 \\
    --add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/java.util=ALL-UNNAMED -Djava.awt.headless=true \\
    -Dlog4j.configurationFile="$to/jmeter/bin/log4j2.xml" -jar "$to/jmeter/bin/ApacheJMeter.jar" "\$@"
LAUNCHER
}

install_plugins() {
    mvn -q -B -f "$here/pom.xml" -P plugins dependency:copy-dependencies -DoutputDirectory="$to/jmeter/lib/ext" -DexcludeTransitive=true
}

for tool in "$@"; do
    "install_$tool"
done
echo "add $to/bin to the PATH"
