#!/usr/bin/env bash
# What a cluster of Kubernetes on this machine is made of, into target/interop/kubernetes, if it is not there: the control plane and kubectl,
# built from their Go module (go.mod has their version; some ten minutes of one core), Debian's etcd, and a busybox for images.
set -euo pipefail
cd "$(dirname "$0")"

root="$(cd ../../.. && pwd)"
folder="$root/target/interop/kubernetes"
version="$(sed -n 's|^\tk8s.io/kubernetes \(v[0-9.]*\).*|\1|p' go.mod)"
IFS=. read -r major minor _ <<<"${version#v}"

../debian.sh "$folder/debian" etcd-server busybox-static
[ "$("$folder/bin/kube-apiserver" --version 2>/dev/null)" = "Kubernetes $version" ] && [ -x "$folder/bin/kubectl" ] && exit
go=go
command -v go >/dev/null || go="$root/target/interop/bin/go"
package=k8s.io/component-base/version
GOBIN="$folder/bin" CGO_ENABLED=0 nice "$go" install -p 1 -trimpath \
    -ldflags "-s -w -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor" tool
