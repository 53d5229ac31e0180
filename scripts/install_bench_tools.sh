#!/bin/sh
# Installs what `make bench` measures with: nginx, and documentation packages as a real site.
# Does nothing if they are there already; without apt it says what is missing.
set -eu

if ! command -v nginx >/dev/null 2>&1; then
    if command -v apt-get >/dev/null 2>&1; then
        sudo=""
        [ "$(id -u)" = 0 ] || sudo="sudo"
        $sudo apt-get update -qq
        $sudo apt-get install -y -qq --no-install-recommends nginx-light
    else
        echo "nginx is missing and there is no apt-get: install it by hand" >&2
    fi
fi
"$(dirname "$0")/install_real_docs.sh"
