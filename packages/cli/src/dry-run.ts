// `--dry-run` of commands that change one thing: prints what would happen, the effects first, and changes nothing.

import type { Result } from '@holdfast/client'
import type { Alteration, Effects, PlanStep, Warning } from '@holdfast/contract'
import type { OptionSpec } from './command.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { printAnnounced } from './print/changes.ts'
import { printEffects, printSteps } from './print/effects.ts'
import { printFailure } from './print/failure.ts'
import { print, type Terminal } from './terminal/terminal.ts'

export const DRY_RUN_OPTION: OptionSpec = {
  flags: '--dry-run',
  summary: 'show the effects and steps that would follow, and change nothing',
}

interface Planned {
  readonly alterations?: readonly Alteration[]
  readonly warnings?: readonly Warning[]
  readonly plan: { readonly steps: readonly PlanStep[]; readonly effects: Effects }
}

/** Prints the plan of one change. `outcome` completes the sentence "node/n1 would be ...". */
export function printPlanned(
  terminal: Terminal,
  subject: string,
  outcome: string,
  planned: Result<Planned>,
  own?: string,
): ExitCode {
  if (!planned.ok) return printFailure(terminal, planned.failure)
  const { plan, alterations = [], warnings = [] } = planned.value
  const { steps, effects } = plan
  print(terminal, `${subject} would be ${outcome}`)
  printAnnounced(terminal, { alterations, warnings }, { verbose: false })
  printEffects(terminal, effects)
  printSteps(terminal, steps, own)
  return EXIT.ok
}
