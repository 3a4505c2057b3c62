#!/usr/bin/env bash
# Build the page that `perhop playground` opens, if npm and Rust for WebAssembly are installed. The last line of the
# output states whether the page was built, or what to install. The exit code is 0 if a tool is missing, and make's
# code if the build fails. The scripts of pages need only npm.
#   tools/playground_if_possible.sh TARGET [LOG]
# TARGET is playground, playground-tested or page-scripts. The output of the build goes to LOG.
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
