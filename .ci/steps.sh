# Runs named steps one after another, even if some fail, and ends with one line that counts the tests.
# Sourced by .ci/run and scripts/long; a caller uses step, test_step, engine_test_step and counted_step, each of them
# alone or beside others (beside, gather), then finish.
# Every step leaves a line in the list of steps: name, wall seconds, CPU seconds, verdict, report, command. `finish` judges it
# and writes the ledger of the run: docs/design/ci.md#what-ci-remembers
# shellcheck shell=bash

passed=0 failed=0 skipped=0
reporters=(--reporter=default --reporter=json)
reports="$(mktemp -d)"
steps="$reports/steps.tsv"
# Each test file appends the CPU seconds of its worker here (tests/no-warnings.ts).
export CI_FILE_LEDGER="$reports/files.tsv"
# And the event types, alterations, warnings and filters that its tests received over HTTP.
export CI_RECEIVED="$reports/received.tsv"
trap 'rm -rf "$reports"' EXIT
# A run of a part of the tests has no number: it leaves no ledger and takes every slice of what rotates.
CI_RUN=0 CI_SLICES='' CI_SINCE=''

# machine_cpu: the CPU seconds that all processes of this machine have used, engines and containers included.
machine_cpu() { awk -v hertz="$(getconf CLK_TCK)" 'NR == 1 { printf "%d", ($2 + $3 + $4 + $7 + $8) / hertz }' /proc/stat; }
machine_cpu_before="$(machine_cpu)"

# Node 24 is a development dependency in node_modules/.bin; tools run from there, without npm in between.
PATH="$PWD/node_modules/.bin:$PATH"
# The tests start servers, agents and the CLI hundreds of times; a compile cache makes these starts fast.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$HOME/.cache/holdfast/node-compile}"

# step NAME COMMAND...: a check without tests of its own. If it fails, it adds one failed test.
step() {
  local name="$1" status=0
  shift
  run_timed "$name" '' "$@" || status=$?
  if ((status != 0)); then failed=$((failed + 1)); fi
  return 0
}

# test_step NAME COMMAND...: a vitest run; its tests are counted from vitest's own report, whose path stays in `report`.
test_step() {
  local name="$1" status=0
  shift
  report="$(new_file report.json)"
  run_vitest "$name" "$report" "$@" || status=$?
  count_tests "$report" "$status"
}

# engine_test_step NAME SECONDS PROJECT [FILE...]: runs a project that uses real engines. Failed test files are repeated.
engine_test_step() {
  local name="$1" seconds="$2" project="$3" status=0 report
  shift 3
  report="$(new_file report.json)"
  run_vitest "$name" "$report" timeout "$seconds" vitest run --project "$project" "$@" || status=$?
  count_or_repeat "$name" "$report" "$status" "$seconds" "$project"
}

# run_vitest NAME REPORT COMMAND...
run_vitest() {
  local name="$1" report="$2"
  shift 2
  run_timed "$name" "$report" "$@" "${reporters[@]}" --outputFile.json="$report"
}

# count_or_repeat NAME REPORT STATUS SECONDS PROJECT: runs the failed test files once more and counts their second result.
# A test that passes only then is unstable: `finish` lists it with the reason of its first failure.
count_or_repeat() {
  local name="$1" report="$2" status="$3" seconds="$4" project="$5" second files=()
  if ((status != 0)); then mapfile -t files < <(node scripts/ci/files-to-repeat.ts "$report"); fi
  if ((${#files[@]} == 0)); then count_tests "$report" "$status" && return 0; fi
  second="$(new_file report.json)" status=0
  run_vitest "$name, repeated" "$second" timeout "$seconds" vitest run --project "$project" "${files[@]}" || status=$?
  count_tests "$report" "$status" "$second" "$reports/unstable.txt"
}

# beside NAME STEP...: runs a step, or a function of several steps, in the background, beside the steps that follow.
# `gather NAME` waits for it, prints its output and adds its tests.
declare -A lanes=()
beside() {
  local name="$1"
  shift
  printf '\n=== %s: started beside the next steps\n' "$name"
  {
    passed=0 failed=0 skipped=0
    "$@"
    printf '%s %s %s\n' "$passed" "$failed" "$skipped" >"$reports/$name.counts"
  } >"$reports/$name.output" 2>&1 </dev/null &
  lanes[$name]=$!
}

gather() {
  # If the background process was killed, it left no counts, which is one failure.
  local name="$1" counts=(0 1 0)
  wait "${lanes[$name]}"
  cat "$reports/$name.output"
  if [[ -s $reports/$name.counts ]]; then read -ra counts <"$reports/$name.counts"; fi
  passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
}

# lowest COMMAND...: runs the command at the lowest priority. Nice alone does not yield to containers: all processes of a
# session share one weight against those in other cgroups, so the command gets a session of its own.
lowest() {
  setsid --wait bash -c '{ echo 19 >/proc/self/autogroup; } 2>/dev/null; exec nice -n 19 "$@"' lowest "$@"
}

# new_file SUFFIX: the path of a file that no other step uses.
new_file() { mktemp "$reports/XXXXXX.$1"; }

# count_tests REPORT STATUS [SECOND_REPORT UNSTABLE]
count_tests() {
  local status="$2" counts
  read -ra counts <<<"$(node scripts/ci/count-report.ts "$1" "$reports/failures.txt" "${@:3}" || echo 0 0 0)"
  # A run that was aborted reports no failed test.
  if ((status != 0 && counts[1] == 0)); then counts[1]=1; fi
  passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
  return 0
}

# counted_step NAME COMMAND...: a command whose last line is "N passed, N failed". It uses real engines, so it is repeated once
# if it fails, as their tests are.
counted_step() {
  local name="$1" status=0 output last counts=(0 0)
  shift
  output="$(new_file output.txt)"
  run_timed "$name" '' recorded "$output" "$@" || status=$?
  if ((status != 0)); then
    { printf '  %s\n' "$name" && grep -A 20 '^FAILED' "$output" | sed 's/^/    /'; } >>"$reports/unstable.txt"
    status=0
    run_timed "$name, repeated" '' recorded "$output" "$@" || status=$?
  fi
  last="$(tail -n 1 "$output")"
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then counts=("${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"); fi
  if ((status != 0 && counts[1] == 0)); then counts[1]=1; fi
  passed=$((passed + counts[0])) failed=$((failed + counts[1]))
  return 0
}

# recorded FILE COMMAND...: also writes the output to FILE; the status is the command's.
recorded() {
  local file="$1"
  shift
  "$@" | tee "$file"
  return "${PIPESTATUS[0]}"
}

# run_timed NAME REPORT COMMAND...
run_timed() {
  local name="$1" report="$2" started=$SECONDS status=0 cpu
  shift 2
  cpu="$(new_file cpu)"
  printf '\n=== %s: %s\n' "$name" "$*"
  measured "$cpu" "$@" </dev/null || status=$?
  note_end "$name" "$started" "$status" "$cpu" "$report" "$*"
  return "$status"
}

# measured FILE COMMAND...: writes the CPU seconds of the command and its children, user and system, to FILE.
# In a subshell, because a background step that ends while the command runs would be added to the command's seconds.
measured() (
  file="$1" TIMEFORMAT='%U %S'
  shift
  { time "$@" 2>&3; } 3>&2 2>"$file"
)

# note_end NAME STARTED STATUS CPU_FILE REPORT COMMAND
note_end() {
  local name="$1" started="$2" status="$3" verdict=ok cpu
  if ((status != 0)); then verdict="FAILED ($status)"; fi
  cpu="$(tail -n 1 "$4" | awk '{ printf "%.0f", $1 + $2 }')"
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$((SECONDS - started))" "$cpu" "$verdict" "$5" "$6" >>"$steps"
  printf '=== %s: %s after %s s, %s s of CPU\n' "$name" "$verdict" "$((SECONDS - started))" "$cpu"
}

# rotate: chooses what this run takes of everything that rotates, from the ledgers that were kept.
rotate() {
  eval "$(node scripts/ci/slices.ts)"
  export CI_RUN CI_SLICES CI_SINCE
  printf '\n=== run %s; changes count since %s; slices %s\n' "$CI_RUN" "${CI_SINCE:-ever}" "$CI_SLICES"
}

# finish NOTE: prints and writes the ledger, then the note on skipped parts and the summary line; fails if anything failed.
finish() {
  local judged=0 run
  if [[ -s $reports/unstable.txt ]]; then printf '\n=== failures of first tries; these files were repeated\n' && cat "$reports/unstable.txt"; fi
  if [[ -s $reports/failures.txt ]]; then printf '\n=== failures\n' && cat "$reports/failures.txt"; fi
  printf '\n=== ledger of this run\n'
  run="$(printf '{"run":%d,"seconds":%d,"machineCpuSeconds":%d,"passed":%d,"failed":%d,"skipped":%d}' \
    "$CI_RUN" "$SECONDS" "$(($(machine_cpu) - machine_cpu_before))" "$passed" "$failed" "$skipped")"
  node scripts/ci/ledger.ts "$run" "$steps" "$CI_FILE_LEDGER" || judged=$?
  failed=$((failed + judged))
  printf '%s\n' "$1"
  if ((skipped > 0)); then printf 'Skipped tests: %s; they run in the long versions, in the turn of another run, or on one engine line only.\n' "$skipped"; fi
  printf '\n%s passed, %s failed\n' "$passed" "$failed"
  ((failed == 0))
}
