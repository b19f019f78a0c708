#!/usr/bin/env bash
# Builds squall as static binaries (musl) for x86_64 and aarch64, with man pages and completions, one archive each, and
# tries them: the one of this machine's kind runs a plan, the other one with qemu if it is installed
# (Debian: qemu-user-static); and `cargo install`, as the README has it. Needs rustup, and Python for the C compiler and linker (zig, which pip brings into
# target/): the compressors and the cryptography have C and assembler in them.
# Usage: build.sh [TARGET...]       The archives are in target/release-files.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
tools=target/release-tools files=target/release-files

if [ ! -x "$tools/bin/cargo-zigbuild" ]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet cargo-zigbuild==0.24.0 ziglang==0.15.2
fi
PATH="$PWD/$tools/bin:$PATH"
rustup target add "${targets[@]}"
mkdir -p "$files"

# What runs a binary of a target here; fails if nothing does.
runner() {
    case $1 in
        "$(uname -m)"-*) echo env ;;
        *) command -v "qemu-${1%%-*}-static" || command -v "qemu-${1%%-*}" ;;
    esac
}

# Tries a binary: it says its version, and a short load on its own test site has no errors.
try() {
    local run=$1 binary=$2 result
    [ "$($run "$binary" --version)" = "squall $version" ]
    "$run" "$binary" check examples/first.yaml >/dev/null
    result=$("$run" "$binary" run examples/first.yaml --for 3s --out "$(mktemp -d)" --quiet --json -)
    python3 -c 'import json, sys
totals = json.load(sys.stdin)["totals"]
assert totals["count"] > 0 and totals["errors"] == 0, totals
print("  tried:", totals["count"], "requests, no errors")' <<<"$result"
}

# The page of a command, and those of the commands below it.
pages() {
    local run=$1 binary=$2 folder=$3 names=("${@:4}") name command
    name=$(IFS=-; echo "squall${names[*]:+-${names[*]}}")
    "$run" "$binary" man "${names[@]}" >"$folder/$name.1"
    for command in $("$run" "$binary" help "${names[@]}" | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -vx help); do
        pages "$run" "$binary" "$folder" "${names[@]}" "$command"
    done
}

pack() {
    local target=$1 binary=$2 name=squall-$version-$1 run=$3 folder
    folder=$(mktemp -d)/$name
    mkdir -p "$folder/man" "$folder/completions"
    cp "$binary" README.md LICENSE-APACHE LICENSE-MIT "$folder"
    pages "$run" "$binary" "$folder/man"
    for shell in bash zsh fish; do "$run" "$binary" completions "$shell" >"$folder/completions/squall.$shell"; done
    tar -C "$(dirname "$folder")" --owner=0 --group=0 --sort=name -czf "$files/$name.tar.gz" "$name"
    rm -r "$(dirname "$folder")"
}

for target in "${targets[@]}"; do
    echo "== $target"
    cargo zigbuild --profile dist --locked --quiet -p squall --features parquet --target "$target"
    binary=target/$target/dist/squall
    if readelf --program-headers "$binary" | grep -q INTERP; then
        echo "$binary is not static" >&2
        exit 1
    fi
    if run=$(runner "$target"); then
        try "$run" "$binary"
        pack "$target" "$binary" "$run"
    else
        echo "  not tried: no qemu for it; packed without man pages" >&2
        readelf --file-header "$binary" | grep Machine
        tar -C "$(dirname "$binary")" -czf "$files/squall-$version-$target.tar.gz" squall
    fi
done

echo "== cargo install"
cargo install --quiet --locked --path crates/cli --root "$tools/installed"
[ "$("$tools/installed/bin/squall" --version)" = "squall $version" ]

(cd "$files" && sha256sum ./*.tar.gz >SHA256SUMS && ls -l)
