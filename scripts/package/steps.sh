# Steps with one line of result each, and the commands that an operator types. Sourced by scripts that set MACHINE and LOG.
# shellcheck shell=bash

passed=0 failed=0 typed=0

# step NAME COMMAND...: one line with the result and its seconds. The output of a failure is shown. The status is the command's.
step() {
  local name="$1" started=$EPOCHREALTIME status=0 result=ok seconds
  shift
  "$@" >"$MACHINE/output" 2>&1 || status=$?
  seconds="$(awk "BEGIN { printf \"%.1f\", $EPOCHREALTIME - $started }")"
  if ((status == 0)); then passed=$((passed + 1)); else failed=$((failed + 1)) result=FAILED; fi
  printf '%-6s %6s s  %s\n' "$result" "$seconds" "$name"
  { printf '\n=== %s (%s s): %s\n' "$name" "$seconds" "$result"; cat "$MACHINE/output"; } >>"$LOG"
  ((status == 0)) || tail -n 40 "$MACHINE/output" | sed 's/^/      /'
  return "$status"
}

# operator TEXT: runs one command line of the operator in the machine, and counts it, so never in a subshell. The log has no
# join token.
operator() {
  typed=$((typed + 1))
  sed -E 's/(hfj?_[0-9A-Z]+)_?[^ ]*/\1.../g; s/^/# /' <<<"$1" >&2
  in_machine bash -c "cd /root && $1"
}

finish() {
  printf '\n%s passed, %s failed\n' "$passed" "$failed"
  ((failed == 0)) || exit 1
}

fail() { echo "$*"; return 1; }

# explain UNIT: fails with the last lines of the unit's log.
explain() {
  echo "$1 does not do what it should. Its last lines:"
  in_machine journalctl --unit "$1" --no-pager --output cat --lines 30
  return 1
}
