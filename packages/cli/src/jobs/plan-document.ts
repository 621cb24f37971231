// Prints the dry run of a job: of `holdfast run`, or of one document as a summary, as a diff, or as an item of the data.

import type { DryRun, DryRunDocument, Effects, PlanStep } from '@holdfast/contract'
import type { ExitCode } from '../exit-codes.ts'
import { failureOf } from '../judge-all.ts'
import { printRefused } from '../print/applied.ts'
import { outArea } from '../print/area.ts'
import {
  type Announced,
  type NamedSecrets,
  namedSecrets,
  printAnnounced,
  printLabeled,
} from '../print/changes.ts'
import { signedLines } from '../print/difference.ts'
import { printEffects, printSteps } from '../print/effects.ts'
import { print, type Terminal } from '../terminal/terminal.ts'
import type { Prepared } from '../volumes/prepared.ts'

/** The plan of a job in `diff -o json`. */
export interface PlannedJobItem extends Announced {
  readonly kind: 'Job'
  readonly name: string
  readonly plan: DryRun['plan']
}

/** Prints the plan of a job, or its faults, of which the exit code is returned. */
export async function planJobDocument(
  terminal: Terminal,
  { manifest, faults, awaits }: Prepared,
  item: DryRunDocument | undefined,
  { form, verbose }: { readonly form: 'summary' | 'difference' | 'json' | 'yaml'; readonly verbose: boolean },
): Promise<PlannedJobItem | ExitCode> {
  const { name = '', alterations = [], warnings = [], plan, rejections = [] } = item ?? {}
  const all = [...faults, ...rejections]
  if (plan === undefined || all.length > 0) return printRefused(terminal, manifest, failureOf(all))
  if (form === 'summary' || form === 'difference') {
    const { colored } = outArea(terminal)
    const lines = form === 'difference' ? await signedLines('+', manifest.value, { colored }) : []
    const secrets = namedSecrets(manifest.value)
    printPlannedJob(terminal, { name, secrets, alterations, warnings, plan }, { verbose, lines })
    for (const volume of awaits)
      printLabeled(
        terminal,
        'note',
        'yellow',
        `the mount of volume ${volume} is left out of this plan: the platform judges it when the volume is Ready`,
      )
  }
  return { kind: 'Job', name, alterations, warnings, plan }
}

interface PlannedJob extends Announced {
  readonly name: string
  readonly secrets: NamedSecrets
  readonly plan: { readonly steps: readonly PlanStep[]; readonly effects: Effects }
}

export function printPlannedJob(
  terminal: Terminal,
  { name, secrets, alterations, warnings, plan }: PlannedJob,
  { verbose, lines = [] }: { readonly verbose: boolean; readonly lines?: readonly string[] },
): void {
  print(terminal, `job/${name} would be created`)
  for (const line of lines) print(terminal, line)
  printAnnounced(terminal, { alterations, warnings }, { verbose, secrets })
  printEffects(terminal, plan.effects)
  printSteps(terminal, plan.steps, name)
}
