// `holdfast-server check-config`: is the configuration sound, and what is in force? Starts nothing and connects nowhere.

import { explainFault } from './config-fault.ts'
import { describeConfig } from './describe-config.ts'
import type { LoadedConfig } from './load-config.ts'

export interface Checked {
  readonly exitCode: 0 | 1
  /** For standard output when sound, for standard error when not. */
  readonly text: string
}

export function checkConfig(loaded: LoadedConfig): Checked {
  if (loaded.ok) return { exitCode: 0, text: describeConfig(loaded.config, loaded.sources) }
  const count = loaded.faults.length
  const summary = `${count} ${count === 1 ? 'fault' : 'faults'} in the configuration; nothing was started`
  return { exitCode: 1, text: [...loaded.faults.map(explainFault), summary, ''].join('\n') }
}
