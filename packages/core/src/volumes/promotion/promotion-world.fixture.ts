// A group of volumes with the primary on node 1 and promotable replicas on nodes 2 and 3, and the answers of their agents.

import { asVolumeId, type HeldCheckpoint, type PromiseAnswer } from '@holdfast/contract'
import { nodeIdOf } from '../../scheduling/scheduling.fixture.ts'
import type { VolumeRecord } from '../volume-record.ts'
import { aVolume, NOW, primaryOn, replicaOn } from '../volume-world.fixture.ts'
import type { GroupFacts } from './plan-group.ts'

export const DATA = asVolumeId('vol_01JD0000000000000000000000')
export const WAL = asVolumeId('vol_01JD0000000000000000000001')

/** A volume that both of its replicas may replace. */
export const replicated = (parts: Partial<VolumeRecord> = {}): VolumeRecord =>
  aVolume({
    id: DATA,
    copies: [primaryOn(1), replicaOn(2), replicaOn(3)],
    promotable: [nodeIdOf(2), nodeIdOf(3)],
    cv: 4,
    ...parts,
  })

/** A checkpoint that was taken in the second of its number. */
export const held = (number: number, epoch = 1): HeldCheckpoint => ({
  epoch,
  number,
  takenAt: { boot: 1, ms: number * 1_000 },
})

/** The answer of a copy whose promise has expired, and whose primary wrote until second 20 at most. */
export const answer = (parts: Partial<PromiseAnswer> = {}): PromiseAnswer => ({
  volume: DATA,
  epoch: 1,
  cv: 4,
  state: 'expired',
  held: [held(9), held(8)],
  lastWriteBy: { boot: 1, ms: 20_000 },
  ...parts,
})

/** The same answer without a bound on the last write. */
export function unbounded({ lastWriteBy: _bound, ...others }: PromiseAnswer): PromiseAnswer {
  return others
}

export interface WorldParts extends Partial<Omit<GroupFacts, 'members' | 'answersOf'>> {
  readonly volumes?: readonly VolumeRecord[]
  /** The answers by the number of the node; an absent number is a node that does not answer. */
  readonly answers?: { readonly [number: number]: readonly PromiseAnswer[] }
  /** The numbers of nodes that a filter refuses. */
  readonly refused?: readonly number[]
}

export function groupFacts(parts: WorldParts = {}): GroupFacts {
  const { volumes = [replicated()], answers = { 2: [answer()] }, refused = [], ...others } = parts
  const byNode = new Map(Object.entries(answers).map(([number, given]) => [nodeIdOf(Number(number)), given]))
  return {
    members: volumes.map((volume) => ({
      volume,
      accepts: (nodeId) => !refused.some((number) => nodeIdOf(number) === nodeId),
    })),
    isPrimarySilent: true,
    limits: { maxLagMs: 60_000, apartMs: 60_000 },
    nowMs: NOW,
    answersOf: (nodeId) => byNode.get(nodeId),
    ...others,
  }
}
