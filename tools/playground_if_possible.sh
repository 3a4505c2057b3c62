#!/usr/bin/env bash
# Build what `perhop playground` opens if npm and a Rust for WebAssembly are here; the last line says whether it is
# built, or what to install. Exits with 0 where a tool is missing, with make's code where the build fails. The scripts
# of pages need npm only.
#   tools/playground_if_possible.sh TARGET [LOG]
# TARGET: playground, playground-tested or page-scripts. The build prints to LOG.
set -euo pipefail
target=${1:?playground, playground-tested or page-scripts}
log=$(realpath --canonicalize-missing "${2:-/dev/stderr}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
command -v npm > /dev/null || missing+=("npm (Node.js; on Debian: apt-get install npm)")
[ "$target" = page-scripts ] || tools/build_playground_module.sh --check 2> /dev/null ||
  missing+=("Rust for WebAssembly (rustup target add wasm32-unknown-unknown; on Debian also rustc-web, rust-web-src)")
if [ ${#missing[@]} -gt 0 ]; then
  all=$(printf '%s, ' "${missing[@]}")
  echo "skipped: $target; install ${all%, } and run: make $target"
  exit
fi
make --no-print-directory "$target" > "$log" 2>&1 || {
  code=$?
  echo "error: the build of the playground failed, see $log; to try again: make $target"
  exit "$code"
}
[ "$target" = page-scripts ] || echo "playground: built; \`perhop playground\` opens it in a browser"
