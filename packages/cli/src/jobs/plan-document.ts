// Prints the dry run of a job: of `holdfast run`, or of one document as a summary, as a diff, or as an item of the data.

import type { Client } from '@holdfast/client'
import type { ExitCode } from '../exit-codes.ts'
import { failureOf } from '../judge-all.ts'
import { printRefused } from '../print/applied.ts'
import { outArea } from '../print/area.ts'
import { type Announced, printAnnounced, printLabeled } from '../print/changes.ts'
import { signedLines } from '../print/difference.ts'
import { printEffects, printSteps } from '../print/effects.ts'
import { print, type Terminal } from '../terminal/terminal.ts'
import type { Prepared } from '../volumes/prepared.ts'
import { type PlannedJob, planJobOnPlatform } from './apply-job.ts'

/** The plan of a job in `diff -o json`. */
export interface PlannedJobItem extends Announced {
  readonly kind: 'Job'
  readonly name: string
  readonly plan: PlannedJob['plan'] & { readonly action: 'create' }
}

/** Prints the plan of a job, or its faults, of which the exit code is returned. */
export async function planJobDocument(
  terminal: Terminal,
  client: Client,
  document: Prepared,
  { form, verbose }: { readonly form: 'summary' | 'difference' | 'json' | 'yaml'; readonly verbose: boolean },
): Promise<PlannedJobItem | ExitCode> {
  const { manifest, faults, awaits } = document
  if (faults.length > 0) return printRefused(terminal, manifest, failureOf(faults))
  const planned = await planJobOnPlatform(client, document)
  if (!planned.ok) return printRefused(terminal, manifest, planned.failure)
  const { alterations, warnings, plan } = planned.value
  if (form === 'summary' || form === 'difference') {
    const { colored } = outArea(terminal)
    const lines = form === 'difference' ? await signedLines('+', manifest.value, { colored }) : []
    printPlannedJob(terminal, planned.value, { verbose, lines })
    for (const volume of awaits)
      printLabeled(
        terminal,
        'note',
        'yellow',
        `the mount of volume ${volume} is left out of this plan: the platform judges it when the volume is Ready`,
      )
  }
  return {
    kind: 'Job',
    name: plan.result.job.name,
    alterations,
    warnings,
    plan: { ...plan, action: 'create' },
  }
}

export function printPlannedJob(
  terminal: Terminal,
  { alterations, warnings, plan }: PlannedJob,
  { verbose, lines = [] }: { readonly verbose: boolean; readonly lines?: readonly string[] },
): void {
  const { name, secrets } = plan.result.job
  print(terminal, `job/${name} would be created`)
  for (const line of lines) print(terminal, line)
  printAnnounced(terminal, { alterations, warnings }, { verbose, secrets })
  printEffects(terminal, plan.effects)
  printSteps(terminal, plan.steps, name)
}
