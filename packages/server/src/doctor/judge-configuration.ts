// Judges whether the configuration can be read and is valid. Without a valid one the other checks do not know what to ask.

import { explainFault } from '../config/config-fault.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { type Finding, failure, ok } from './finding.ts'

const CHECK = 'configuration'

/** `source` is the file, or undefined if the environment has every setting. */
export function judgeConfiguration(loaded: LoadedConfig, source: string | undefined): Finding {
  if (loaded.ok) return ok(CHECK, `${source ?? 'the environment'} is valid`)
  const [first] = loaded.faults
  const more = loaded.faults.length - 1
  const rest = more === 0 ? '' : ` and ${more} more ${more === 1 ? 'fault' : 'faults'}`
  const option = source === undefined ? '' : ` --config ${source}`
  return failure(
    CHECK,
    `${first === undefined ? 'it is not valid' : explainFault(first)}${rest}`,
    `list every fault with: holdfast-server check-config${option}`,
  )
}
