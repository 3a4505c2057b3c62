#!/usr/bin/env bash
# Install perhop (`make setup`), run all published studies, store the results in results/, and print a summary. In the
# background, build the playground if its tools are installed. `make reproduce` calls this script.
#   tools/reproduce.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p results

# A background job is a process group, so that all its compilers end if this script ends early. It uses the processor
# time that the installation and the studies do not use. It builds the page of the tests, which compiles in a third of
# the time. This page is larger, which does not matter because it is not downloaded.
jobs=()
trap 'for job in "${jobs[@]}"; do kill -- "-$job" 2> /dev/null; done' EXIT
in_background() {
  set -m
  nice -n 19 "$@" &
  jobs+=("$!")
  set +m
}

# During the installation, only the module is built, because the installation packs the folder to which the page is
# written. The build of the page then waits for the build of the module, because both lock the same folder.
in_background tools/build_playground_module.sh target/playground/perhop.wasm web-tested 2> /dev/null
make --no-print-directory setup
in_background tools/playground_if_possible.sh playground-tested results/playground.log > results/playground.txt

# Exit code 4 means that a claim is not met. The summary and the report show such claims. It is not a failure.
code=0
.venv/bin/perhop study run --all --output results || code=$?
[ "$code" = 0 ] || [ "$code" = 4 ] || exit "$code"

# All results exist without a playground, so a failed build is reported, but is not a failure.
wait "${jobs[1]}" || true
trap - EXIT
# Copies the page to the installed perhop. The build of another wheel with the page would take half a minute.
if [ -d python/perhop/playground/assets ]; then
  installed=$(.venv/bin/python -c 'import perhop; print(perhop.__path__[0])')
  cp -r python/perhop/playground/assets "$installed/playground/"
  touch .venv/compiled .venv/built
fi
cat results/playground.txt
rm results/playground.txt
