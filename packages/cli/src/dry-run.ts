// `--dry-run` of commands that change one thing: prints what would happen, the effects first, and changes nothing.

import type { Result } from '@holdfast/client'
import type { Effects, PlanStep } from '@holdfast/contract'
import type { OptionSpec } from './command.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { printEffects, printSteps } from './print/effects.ts'
import { printFailure } from './print/failure.ts'
import { print, type Terminal } from './terminal/terminal.ts'

export const DRY_RUN_OPTION: OptionSpec = {
  flags: '--dry-run',
  summary: 'show the effects and steps that would follow, and change nothing',
}

interface Planned {
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
  const { steps, effects } = planned.value.plan
  print(terminal, `${subject} would be ${outcome}`)
  printEffects(terminal, effects)
  printSteps(terminal, steps, own)
  return EXIT.ok
}
