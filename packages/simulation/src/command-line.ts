// The command-line arguments of holdfast-simulate.

import { parseArgs } from 'node:util'
import type { SimulateOptions } from './script/simulate-command.ts'

export const USAGE = `holdfast-simulate FILE [--seed NUMBER]

Runs a script of changes through the real controllers in virtual time and prints what happened.
Exit codes: 0, every invariant held; 1, an invariant was violated; 2, the script or the arguments are invalid.
`

/** Returns the parsed options, 'help', or a sentence that names the mistake in the arguments. */
export function readArguments(words: readonly string[]): SimulateOptions | string {
  try {
    const options = { seed: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const
    const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true })
    if (values.help) return 'help'
    return checkArguments(positionals, values.seed)
  } catch (error) {
    return error instanceof Error ? `${error.message}.` : String(error)
  }
}

function checkArguments(
  [file, ...more]: readonly string[],
  seed: string | undefined,
): SimulateOptions | string {
  if (file === undefined || more.length > 0) return 'Name the file of one script.'
  if (seed !== undefined && !/^\d{1,15}$/.test(seed))
    return `--seed ${seed}: a whole number of at most 15 digits is accepted.`
  return { file, seed: seed === undefined ? undefined : Number(seed) }
}
