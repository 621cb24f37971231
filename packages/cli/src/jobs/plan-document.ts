// Prints the dry run of a job.

import type { Effects, PlanStep, WrittenJob } from '@holdfast/contract'
import { type Announced, printAnnounced } from '../print/changes.ts'
import { printEffects, printSteps } from '../print/effects.ts'
import { print, type Terminal } from '../terminal/terminal.ts'

export interface PlannedJob extends Announced {
  readonly plan: {
    readonly result: WrittenJob
    readonly steps: readonly PlanStep[]
    readonly effects: Effects
  }
}

export function printPlannedJob(
  terminal: Terminal,
  { alterations, warnings, plan }: PlannedJob,
  { verbose }: { readonly verbose: boolean },
): void {
  const { name, secrets } = plan.result.job
  print(terminal, `job/${name} would be created`)
  printAnnounced(terminal, { alterations, warnings }, { verbose, secrets })
  printEffects(terminal, plan.effects)
  printSteps(terminal, plan.steps, name)
}
