// Prints planned and applied volumes: a line, the changed fields, and the nodes that would hold the copies.

import type { Volume } from '@holdfast/contract'
import { printAnnounced, printLabeled } from '../print/changes.ts'
import { printEffects } from '../print/effects.ts'
import { plain } from '../print/plain.ts'
import { phaseMeaning, phaseText } from '../print/volume.ts'
import { print, type Terminal } from '../terminal/terminal.ts'
import type { VolumeDryRun } from './apply-volume.ts'

/** Prints the dry run of a volume. `outcome` completes the sentence "volume/data ...". */
export function printPlannedVolume(
  terminal: Terminal,
  outcome: string,
  { result, alterations, warnings, effects }: VolumeDryRun,
): void {
  print(terminal, `volume/${result.name} ${outcome}`)
  printAnnounced(terminal, { alterations, warnings }, { verbose: false })
  const copies = result.copies.map(({ nodeName, role }) => `${role} on ${nodeName}`)
  if (copies.length > 0) print(terminal, plain(`  ${copies.join(', ')}`))
  if (result.reason !== null) print(terminal, plain(`  ${phaseText(result)}: ${phaseMeaning(result)}`))
  if (effects !== undefined && effects.lostData.length > 0) printEffects(terminal, effects)
}

/** Names the fields of a stored volume that the document does not mention. */
export function printKeptVolume(terminal: Terminal, body: object, before: Volume | undefined): void {
  if (before === undefined) return
  const stored = {
    replicas: before.replicas === 0 ? undefined : before.replicas,
    residency: before.residency,
  }
  for (const [field, value] of Object.entries(stored))
    if (value !== undefined && !Object.hasOwn(body, field))
      printLabeled(
        terminal,
        'kept',
        'blue',
        `${field} keeps its stored value, because the manifest does not mention it`,
      )
}
