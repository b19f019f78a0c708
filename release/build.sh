#!/usr/bin/env bash
# Builds squall as static binaries (musl) for x86_64 and aarch64, packs each in every format of package.py, and
# tries them: the one of this machine's kind runs a plan, the other one with qemu if it is installed
# (Debian: qemu-user-static); and `cargo install`, as the README has it. Needs rustup, and Python for the C compiler and linker (zig, which pip brings into
# target/): the compressors and the cryptography have C and assembler in them.
# Usage: build.sh [TARGET...]       The files are in target/release-files. With HOMEPAGE, the URL of a repository on GitHub to whose
#                                   releases they will be uploaded, Homebrew's formula is one of them.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
tools=target/release-tools files=target/release-files features=parquet

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

# Whether a binary says its version.
says_version() {
    [[ "$("$@" --version)" =~ ^"squall $version"( \([0-9a-f]+ [0-9-]+\))?$ ]]
}

# Tries a binary: it says its version, and a short load on its own test site has no errors.
try() {
    local run=$1 binary=$2 result
    says_version "$run" "$binary"
    "$run" "$binary" check examples/first.yaml >/dev/null
    result=$("$run" "$binary" run examples/first.yaml --for 3s --out "$(mktemp -d)" --quiet --json -)
    python3 -c 'import json, sys
totals = json.load(sys.stdin)["totals"]
assert totals["count"] > 0 and totals["errors"] == 0, totals
print("  tried:", totals["count"], "requests, no errors")' <<<"$result"
}

echo "== cargo install"
cargo install --quiet --locked --path crates/cli --root "$tools/installed"
says_version "$tools/installed/bin/squall"

for target in "${targets[@]}"; do
    echo "== $target"
    cargo zigbuild --profile dist --locked --quiet -p squall --features "$features" --target "$target"
    binary=target/$target/dist/squall
    if readelf --program-headers "$binary" | grep -q INTERP; then
        echo "$binary is not static" >&2
        exit 1
    fi
    if run=$(runner "$target"); then
        try "$run" "$binary"
    else
        echo "  not tried: no qemu for it" >&2
        readelf --file-header "$binary" | grep Machine
    fi
    release/package.py "$binary" --pages-from "$tools/installed/bin/squall" --features "$features" --out "$files"
done

(cd "$files" && find . -maxdepth 1 -type f ! -name SHA256SUMS ! -name squall.rb | sort | xargs sha256sum >SHA256SUMS)
[ -z "${HOMEPAGE:-}" ] || release/formula.py "$HOMEPAGE" "$files"
ls -l "$files"
