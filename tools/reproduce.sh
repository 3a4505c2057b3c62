#!/usr/bin/env bash
# Install perhop (`make setup`), run all published studies into results/ and end with their summary; build the
# playground meanwhile where its tools are here. `make reproduce` calls it.
#   tools/reproduce.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p results

# A background job is a process group, so that it ends with all its compilers where this script ends early. It takes
# the processor time that the installation and the studies leave. The page is that of the tests, which compiles in a
# third of the time: it is not downloaded, so that its size does not matter.
jobs=()
trap 'for job in "${jobs[@]}"; do kill -- "-$job" 2> /dev/null; done' EXIT
in_background() {
  set -m
  nice -n 19 "$@" &
  jobs+=("$!")
  set +m
}

# Only the module is built during the installation, because the installation packs the folder that the page is written
# to. The build of the page then waits for that of the module, because both lock one folder.
in_background tools/build_playground_module.sh target/playground/perhop.wasm web-tested 2> /dev/null
make --no-print-directory setup
in_background tools/playground_if_possible.sh playground-tested results/playground.log > results/playground.txt

# Exit code 4 means that a claim is not met. The summary and the report show it; it is not a failure.
code=0
.venv/bin/perhop study run --all --output results || code=$?
[ "$code" = 0 ] || [ "$code" = 4 ] || exit "$code"

# All results exist without a playground: a failed build is reported, but is not a failure.
wait "${jobs[1]}" || true
trap - EXIT
# The installed perhop gets the page. Another wheel would take half a minute for the same files.
if [ -d python/perhop/playground/assets ]; then
  installed=$(.venv/bin/python -c 'import perhop; print(perhop.__path__[0])')
  cp -r python/perhop/playground/assets "$installed/playground/"
  touch .venv/compiled .venv/built
fi
cat results/playground.txt
rm results/playground.txt
