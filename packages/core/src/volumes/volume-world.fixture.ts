// A volume on numbered nodes, and the facts about them, for tests of its transitions.

import { asVolumeId, type VolumeSpec } from '@holdfast/contract'
import { nodeIdOf } from '../scheduling/scheduling.fixture.ts'
import type { CopyNode, CopyReport, HeldCopy, VolumeRecord, VolumeSituation } from './volume-record.ts'

export const NOW = Date.parse('2026-01-02T00:00:00.000Z')
export const SINCE = new Date(NOW).toISOString()
export const SIZE = 100

export const node = (parts: Partial<CopyNode> = {}): CopyNode => ({
  status: 'ready',
  statusSince: NOW - 1000,
  schedulable: true,
  isLeaving: false,
  hasPool: true,
  ...parts,
})

export const LEAVING = node({ isLeaving: true, schedulable: false })
export const FAILED = node({ status: 'failed' })

export const present = (parts: Partial<CopyReport> = {}): CopyReport => ({
  epoch: 1,
  state: 'present',
  sizeBytes: SIZE,
  reason: '',
  ...parts,
})

export const primaryOn = (number: number, parts: Partial<HeldCopy> = {}): HeldCopy => ({
  nodeId: nodeIdOf(number),
  role: 'primary',
  state: 'current',
  seeded: true,
  ...parts,
})

export const replicaOn = (number: number, parts: Partial<HeldCopy> = {}): HeldCopy => ({
  ...primaryOn(number),
  role: 'replica',
  ...parts,
})

export const aSpec = (parts: Partial<VolumeSpec> = {}): VolumeSpec => ({
  name: 'data',
  class: 'replicated',
  sizeBytes: SIZE,
  replicas: 1,
  ...parts,
})

/** A ready volume with its primary on node 1 and a current replica on node 2. */
export const aVolume = (parts: Partial<VolumeRecord> = {}): VolumeRecord => ({
  id: asVolumeId('vol_01JD0000000000000000000000'),
  spec: aSpec(),
  phase: 'Ready',
  reason: null,
  primary: { nodeId: nodeIdOf(1), epoch: 1, since: SINCE },
  copies: [primaryOn(1), replicaOn(2)],
  provisioned: true,
  ...parts,
})

export interface SituationParts {
  /** Nodes by number; an absent number is a removed node. */
  readonly nodes?: { readonly [number: number]: CopyNode }
  readonly reports?: { readonly [number: number]: CopyReport }
  /** The numbers of nodes that accept new copies, the best first. */
  readonly free?: readonly number[]
  readonly replicas?: number
  readonly offers?: ReturnType<VolumeSituation['offers']>
  readonly mounted?: boolean
  readonly anchored?: boolean
  /** The numbers of nodes that break the residency of the volume. */
  readonly strangers?: readonly number[]
}

const TWO_NODES = { 1: node(), 2: node() }
const CURRENT = { 1: present({ replicas: [{ nodeId: nodeIdOf(2), state: 'current' }] }), 2: present() }

export function aSituation(parts: SituationParts = {}): VolumeSituation {
  const { nodes = TWO_NODES, reports = CURRENT, free = [], replicas = 1 } = parts
  const byId = <T>(values: { readonly [number: number]: T }) =>
    new Map(Object.entries(values).map(([number, value]) => [nodeIdOf(Number(number)), value]))
  const [nodesById, reportsById] = [byId(nodes), byId(reports)]
  return {
    now: NOW,
    nodeOf: (id) => nodesById.get(id),
    reportOf: (id) => reportsById.get(id),
    isResident: (id) => !(parts.strangers ?? []).some((number) => nodeIdOf(number) === id),
    place(copies) {
      const kept = copies.slice(0, 1 + replicas)
      const taken = kept.map(({ nodeId }) => nodeId)
      const open = free.filter((number) => !taken.includes(nodeIdOf(number)))
      const added = open.slice(0, 1 + replicas - kept.length).map((number) => nodeIdOf(number))
      return [
        ...kept,
        ...added.map((nodeId, at): HeldCopy => {
          const role = kept.length + at === 0 ? 'primary' : 'replica'
          return { nodeId, role, state: 'seeding' }
        }),
      ]
    },
    offers: () => parts.offers ?? [],
    isMounted: () => parts.mounted ?? false,
    isAnchored: () => parts.anchored ?? false,
  }
}
