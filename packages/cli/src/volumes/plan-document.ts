// Prints the dry run of one volume document: as a summary, as a diff, or as an item of the data.

import type { Client } from '@holdfast/client'
import type { Alteration, Effects, Volume, Warning } from '@holdfast/contract'
import { volumeBody } from '@holdfast/manifest'
import type { ExitCode } from '../exit-codes.ts'
import { failureOf } from '../judge-all.ts'
import { printRefused } from '../print/applied.ts'
import { outArea } from '../print/area.ts'
import { differenceLines, type FieldDifference, signedLines } from '../print/difference.ts'
import { print, type Terminal } from '../terminal/terminal.ts'
import { planOnPlatform } from './apply-volume.ts'
import type { Prepared } from './prepared.ts'
import { printKeptVolume, printPlannedVolume } from './print-volume.ts'

const OUTCOMES = { create: 'would be created', update: 'would be configured', none: 'unchanged' } as const

/** The plan of a volume in `diff -o json`. */
export interface PlannedVolumeItem {
  readonly kind: 'Volume'
  readonly name: string
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
  readonly plan: {
    readonly action: 'create' | 'update' | 'none'
    readonly changes: readonly FieldDifference[]
    readonly result: Volume
    readonly effects: Effects | undefined
  }
}

/** Prints the plan of a volume, or its faults, of which the exit code is returned. */
export async function planVolumeDocument(
  terminal: Terminal,
  client: Client,
  document: Prepared,
  form: 'summary' | 'difference' | 'json' | 'yaml',
): Promise<PlannedVolumeItem | ExitCode> {
  const { manifest, faults, before, plan } = document
  if (faults.length > 0) return printRefused(terminal, manifest, failureOf(faults))
  const planned = await planOnPlatform(client, document)
  if (!planned.ok) return printRefused(terminal, manifest, planned.failure)
  const { action = 'none', changes = [] } = plan ?? {}
  if (form === 'summary' || form === 'difference') {
    const shown =
      action === 'none'
        ? { ...planned.value, result: { ...planned.value.result, copies: [] } }
        : planned.value
    printPlannedVolume(terminal, OUTCOMES[action], shown)
    if (form === 'difference') await printDifference(terminal, document)
    printKeptVolume(terminal, volumeBody(manifest.value), before)
  }
  const { alterations, warnings, result, effects } = planned.value
  return {
    kind: 'Volume',
    name: result.name,
    alterations,
    warnings,
    plan: { action, changes, result, effects },
  }
}

async function printDifference(terminal: Terminal, { manifest, plan }: Prepared): Promise<void> {
  const { colored } = outArea(terminal)
  const created = plan?.action === 'create' ? await signedLines('+', manifest.value, { colored }) : []
  for (const line of [...created, ...(await differenceLines(plan?.changes ?? [], { colored }))])
    print(terminal, line)
}
