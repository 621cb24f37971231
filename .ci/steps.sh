# Runs named steps one after another, all of them whatever fails, and closes with one line that counts the tests.
# Sourced by .ci/run and scripts/long; a caller says step, test_step and counted_step, then finish.
# shellcheck shell=bash

passed=0 failed=0 skipped=0
summary=()
reports="$(mktemp -d)"
trap 'rm -rf "$reports"' EXIT

# Node 24 is a dev dependency and stands in node_modules/.bin; tools are called from there, without npm in between.
PATH="$PWD/node_modules/.bin:$PATH"

# step NAME COMMAND...: a check without tests of its own. It counts only when it fails: as one failed test.
step() {
  local name="$1" status=0
  shift
  run_timed "$name" "$@" || status=$?
  if ((status != 0)); then failed=$((failed + 1)); fi
  return 0
}

# test_step NAME COMMAND...: a vitest run; its tests are counted from vitest's own report.
test_step() {
  local name="$1" status=0 report
  shift
  report="$reports/$((${#summary[@]} + 1)).json"
  run_timed "$name" "$@" --reporter=default --reporter=json --outputFile.json="$report" || status=$?
  count_tests "$report" "$status"
}

# test_step_beside NAME COMMAND...: begins a vitest run that waits more than it works; gather_beside waits for it, shows
# what it printed, and counts it.
test_step_beside() {
  local name="$1"
  shift
  begin_beside "$name" "$reports/beside.json" "$@" --reporter=default --reporter=json --outputFile.json="$reports/beside.json"
}

# step_beside NAME COMMAND...: the same of a check without tests of its own.
step_beside() {
  local name="$1"
  shift
  begin_beside "$name" '' "$@"
}

# begin_beside NAME REPORT COMMAND...
begin_beside() {
  beside_name="$1" beside_report="$2" beside_output="$reports/beside.txt" beside_started=$SECONDS
  shift 2
  printf '\n=== %s: begun beside what follows: %s\n' "$beside_name" "$*"
  "$@" >"$beside_output" 2>&1 </dev/null &
  beside_pid=$!
}

gather_beside() {
  local status=0
  wait "$beside_pid" || status=$?
  printf '\n=== %s: what it printed\n' "$beside_name"
  cat "$beside_output"
  note_end "$beside_name" "$beside_started" "$status"
  if [[ -n $beside_report ]]; then count_tests "$beside_report" "$status"; elif ((status != 0)); then failed=$((failed + 1)); fi
}

# count_tests REPORT STATUS
count_tests() {
  local status="$2" counts
  read -ra counts <<<"$(node scripts/count-report.ts "$1" "$reports/failures.txt" || echo 0 0 0)"
  # A run that breaks off has no failed test to show for it.
  if ((status != 0 && counts[1] == 0)); then counts[1]=1; fi
  passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
  return 0
}

# counted_step NAME COMMAND...: checks of its own, which its last line counts as ours does: "N passed, N failed".
counted_step() {
  local name="$1" status=0 output last counts=(0 0)
  shift
  output="$reports/$((${#summary[@]} + 1)).txt"
  run_timed "$name" recorded "$output" "$@" || status=$?
  last="$(tail -n 1 "$output")"
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then counts=("${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"); fi
  if ((status != 0 && counts[1] == 0)); then counts[1]=1; fi
  passed=$((passed + counts[0])) failed=$((failed + counts[1]))
  return 0
}

# recorded FILE COMMAND...: what it prints also goes to FILE; its status is the command's.
recorded() {
  local file="$1"
  shift
  "$@" | tee "$file"
  return "${PIPESTATUS[0]}"
}

run_timed() {
  local name="$1" started=$SECONDS status=0
  shift
  printf '\n=== %s: %s\n' "$name" "$*"
  "$@" </dev/null || status=$?
  note_end "$name" "$started" "$status"
  return "$status"
}

# note_end NAME STARTED STATUS
note_end() {
  local name="$1" started="$2" status="$3" verdict=ok
  if ((status != 0)); then verdict="FAILED ($status)"; fi
  summary+=("$(printf '%-22s %5s s  %s' "$name" "$((SECONDS - started))" "$verdict")")
  printf '=== %s: %s after %s s\n' "$name" "$verdict" "$((SECONDS - started))"
}

# finish WHAT_WAS_SKIPPED: the table of steps, then the closing line; fails when anything failed.
finish() {
  printf '\n=== %s steps in %s s\n' "${#summary[@]}" "$SECONDS"
  printf '  %s\n' "${summary[@]}"
  if [[ -s $reports/failures.txt ]]; then printf '=== what failed\n' && cat "$reports/failures.txt"; fi
  printf '%s\n' "$1"
  if ((skipped > 0)); then printf 'Skipped among the tests: %s, which run in the long versions or on one engine line only.\n' "$skipped"; fi
  printf '\n%s passed, %s failed\n' "$passed" "$failed"
  ((failed == 0))
}
