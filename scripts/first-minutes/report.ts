// Counts what a walk checked, and prints its lines.

let passed = 0
let failed = 0

export const print = (text: string): void => void process.stdout.write(`${text}\n`)

export const printTime = (seconds: number, what: string): void =>
  print(`  ${seconds.toFixed(1).padStart(6)} s  ${what}`)

export function check(holds: boolean, what: string): boolean {
  if (holds) passed += 1
  else failed += 1
  if (!holds) print(`FAILED: ${what}`)
  return holds
}

/** Prints the last line, which counts the checks, and sets the exit code. */
export function finish(): void {
  print(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}
