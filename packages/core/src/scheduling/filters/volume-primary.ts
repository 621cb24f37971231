// Requires that the node holds the primary of every volume that the workload mounts from a storage pool. The residency of
// the workload is checked here as well: no other node can run it, so the refusal quotes both sides.

import { type Json, NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import type { DesiredResidency, MountedVolume, NodeFacts, Workload } from '../facts.ts'
import { labelOf } from '../labels.ts'
import type { Filter, Mismatch } from '../refusal.ts'
import { answersResidency } from '../residency.ts'

export const volumePrimary: Filter = {
  name: 'volume_primary',
  retryOn: ['volumes', 'node_labels', 'deployment'],
  phrases: {
    volume_without_primary: 'because a volume has no primary',
    not_the_volume_primary: 'without the primary of a volume',
    volume_handed_over: 'while a volume is handed over',
    volume_primary_residency: 'because the primary of a volume violates residency',
  },
  reportsRecordFact: false,
  cacheKey: ({ volumes, residency }) =>
    volumes === undefined ? [] : [JSON.stringify(volumes), JSON.stringify(residency ?? null)],
  refuse({ volumes = [], residency }, node) {
    const refused = volumes.find(({ primary, isMoving }) => primary !== node.id || isMoving)
    if (refused !== undefined) return { ...refuseVolume(refused, node), required: primariesOf(volumes) }
    return residency?.enforced === true && volumes.length > 0 ? refuseLocation(residency, node) : undefined
  },
}

function refuseVolume({ primary, copies }: MountedVolume, node: NodeFacts): Omit<Mismatch, 'required'> {
  if (primary === null) return { code: 'volume_without_primary', reported: null }
  if (primary === node.id) return { code: 'volume_handed_over', reported: null }
  return { code: 'not_the_volume_primary', reported: { copy: copies[node.id] ?? null } }
}

const primariesOf = (volumes: readonly MountedVolume[]): Json =>
  volumes.map(({ id, primary }) => ({ volume: id, primary }))

function refuseLocation(residency: DesiredResidency, node: NodeFacts): Mismatch | undefined {
  if (answersResidency(residency, node)) return undefined
  const { country = null, region = null, blockedCountries = null } = residency
  const reported: Json = {
    [NODE_COUNTRY]: labelOf(NODE_COUNTRY, node.labels) ?? node.hiddenCountry ?? null,
    [NODE_REGION]: labelOf(NODE_REGION, node.labels) ?? null,
  }
  const required: Json = { country, region, blockedCountries: blockedCountries && [...blockedCountries] }
  return { code: 'volume_primary_residency', required, reported }
}

/** Distinguishes nodes by the volumes whose primary they hold and by the state of their copies. */
export function keyOfCopies({ volumes }: Workload, { id }: NodeFacts): string {
  if (volumes === undefined) return ''
  return volumes.map(({ primary, copies }) => (primary === id ? '!' : `${copies[id] ?? ''},`)).join('')
}
