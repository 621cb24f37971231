// Prints the dry run of one network document: as a summary, as a diff, or as an item of the data.

import type { Client } from '@holdfast/client'
import type { ExitCode } from '../exit-codes.ts'
import { failureOf } from '../judge-all.ts'
import { printRefused } from '../print/applied.ts'
import { outArea } from '../print/area.ts'
import { printAnnounced } from '../print/changes.ts'
import { signedLines } from '../print/difference.ts'
import { print, type Terminal } from '../terminal/terminal.ts'
import type { Prepared } from '../volumes/prepared.ts'
import { type NetworkDryRun, planNetworkOnPlatform } from './apply-network.ts'

/** The plan of a network in `diff -o json`. */
export interface PlannedNetworkItem extends Pick<NetworkDryRun, 'alterations' | 'warnings'> {
  readonly kind: 'Network'
  readonly name: string
  readonly plan: Pick<NetworkDryRun, 'result' | 'effects'> & { readonly action: 'create' | 'none' }
}

/** Prints the plan of a network, or its faults, of which the exit code is returned. */
export async function planNetworkDocument(
  terminal: Terminal,
  client: Client,
  document: Prepared,
  form: 'summary' | 'difference' | 'json' | 'yaml',
): Promise<PlannedNetworkItem | ExitCode> {
  const { manifest, faults, network } = document
  if (faults.length > 0) return printRefused(terminal, manifest, failureOf(faults))
  const planned = await planNetworkOnPlatform(client, document)
  if (!planned.ok) return printRefused(terminal, manifest, planned.failure)
  const { alterations, warnings, result, effects } = planned.value
  const action = network?.before === undefined ? 'create' : 'none'
  if (form === 'summary' || form === 'difference') {
    const outcome = action === 'create' ? `would be created on ${result.nodeName}` : 'unchanged'
    print(terminal, `network/${result.name} ${outcome}`)
    printAnnounced(terminal, { alterations, warnings }, { verbose: false })
  }
  if (form === 'difference' && action === 'create')
    for (const line of await signedLines('+', manifest.value, { colored: outArea(terminal).colored }))
      print(terminal, line)
  return { kind: 'Network', name: result.name, alterations, warnings, plan: { action, result, effects } }
}
