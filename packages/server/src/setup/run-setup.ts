// `holdfast-server setup --single`: gathers facts, plans, and performs the plan, or prints it with --dry-run. Only
// credentials go to standard output, so that a script can read them; everything else goes to standard error.

import { readFileSync } from 'node:fs'
import { secret } from '../ports/secret.ts'
import { describeStep } from './describe-step.ts'
import { gatherFacts } from './gather-facts.ts'
import type { SetupOptions } from './layout.ts'
import type { Machine } from './machine.ts'
import { performStep } from './perform-step.ts'
import type { Performing } from './performing.ts'
import { planSetup } from './plan-setup.ts'

export interface SetupRun {
  readonly options: SetupOptions
  readonly dryRun: boolean
  readonly unsealKeyFile: string | undefined
}

export interface SetupOutput {
  out(text: string): void
  err(text: string): void
}

/** Returns the exit code: 0 if the machine is set up or the plan was printed, otherwise 1. */
export async function runSetup(run: SetupRun, machine: Machine, output: SetupOutput): Promise<number> {
  const { options, dryRun, unsealKeyFile } = run
  const unsealKey =
    unsealKeyFile === undefined ? undefined : secret(readFileSync(unsealKeyFile, 'utf8').trim())
  const facts = await gatherFacts(options, machine, { hasUnsealKey: unsealKey !== undefined })
  const plan = planSetup(facts, options)
  if (plan.kind === 'refused') {
    for (const reason of plan.reasons) output.err(`${reason}\n`)
    return 1
  }
  if (dryRun) {
    output.out(plan.steps.map((step) => `${describeStep(step)}\n`).join('') || DONE)
    return 0
  }
  const report = (message: string): void => output.err(`${message}\n`)
  const show: Performing['show'] = (credentials) => {
    report('The values below are shown once. Store them in a safe place, away from this machine.')
    output.out(`${JSON.stringify(credentials, undefined, 2)}\n`)
  }
  const performing: Performing = { options, machine, unsealKey, report, show }
  for (const step of plan.steps) {
    report(describeStep(step))
    await performStep(step, performing)
  }
  report(plan.steps.length === 0 ? DONE.trimEnd() : `Holdfast serves ${options.publicUrl}`)
  return 0
}

const DONE = 'Everything is set up; nothing to do.\n'
