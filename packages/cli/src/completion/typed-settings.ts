// Reads the connection options, such as --context and --url, from an incomplete command line, so that completion asks the
// same platform as the finished command.

import { defined } from '@holdfast/contract'
import type { Settings } from '../command.ts'

export function typedSettings(typed: readonly string[]): Settings {
  return defined({
    context: flagValue(typed, '--context'),
    url: flagValue(typed, '--url'),
    token: flagValue(typed, '--token'),
    tenant: flagValue(typed, '--tenant'),
    caFile: flagValue(typed, '--ca-file'),
  })
}

/** The value of `--flag value` or `--flag=value`. The last word of the command line is incomplete and is ignored. */
function flagValue(typed: readonly string[], flag: string): string | undefined {
  const done = typed.slice(0, -1)
  const at = done.lastIndexOf(flag)
  if (at >= 0) return done[at + 1]
  return done.findLast((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1)
}
