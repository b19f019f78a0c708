#!/usr/bin/env bash
# Installs squall VERSION from RELEASES (a URL) for the steps that follow, after a look at its digest.
set -euo pipefail

case $(uname -sm) in
    "Linux x86_64") target=x86_64-unknown-linux-musl ;;
    "Linux aarch64") target=aarch64-unknown-linux-musl ;;
    *) echo "::error::squall: there is no binary for $(uname -sm): it runs on Linux, on x86_64 and aarch64"; exit 1 ;;
esac
archive=squall-$VERSION-$target.tar.gz
folder=$RUNNER_TEMP/squall
mkdir -p "$folder"
cd "$folder"
for file in "$archive" SHA256SUMS; do
    curl --fail --silent --show-error --location --retry 3 --remote-name "$RELEASES/$file"
done
# The lines of other files are not of interest; a file without a line is refused.
grep -E "[ /*]$archive\$" SHA256SUMS | sha256sum --check --quiet
tar -xzf "$archive"
echo "$folder/squall-$VERSION-$target" >>"$GITHUB_PATH"
"squall-$VERSION-$target/squall" --version
