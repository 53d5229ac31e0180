#!/bin/sh
# Installs what the benchmarks measure with: nginx, valgrind, and documentation packages as a real
# site.
set -eu

here=$(dirname "$0")
command -v nginx >/dev/null 2>&1 || "$here/install_packages.sh" nginx-light
command -v valgrind >/dev/null 2>&1 || "$here/install_packages.sh" valgrind
"$here/install_real_docs.sh"
