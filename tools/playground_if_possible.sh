#!/usr/bin/env bash
# Build what `perhop playground` opens if npm and a Rust for WebAssembly are here; the last line says whether it is
# built, or what to install. Exits with 0 where a tool is missing, with make's code where the build fails.
#   tools/playground_if_possible.sh [LOG]    what the build prints goes to LOG, or to stderr
set -euo pipefail
log=$(realpath --canonicalize-missing "${1:-/dev/stderr}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
command -v npm > /dev/null || missing+=("npm (Node.js; on Debian: apt-get install npm)")
tools/build_playground_module.sh --check 2> /dev/null ||
  missing+=("Rust for WebAssembly (rustup target add wasm32-unknown-unknown; on Debian also rustc-web, rust-web-src)")
if [ ${#missing[@]} -gt 0 ]; then
  all=$(printf '%s, ' "${missing[@]}")
  echo "playground: not built; install ${all%, } and run: make playground"
  exit
fi
make --no-print-directory playground > "$log" 2>&1 || {
  code=$?
  echo "playground: the build failed, see $log; to try again: make playground"
  exit "$code"
}
echo "playground: .venv/bin/perhop playground opens it in a browser"
