// The part of a simulated agent that holds volumes: its copies, their exchange with other nodes, and whether a container
// may be created or started.

import {
  type AssignmentId,
  type ContainerTemplate,
  defined,
  type Measurement,
  type NodeId,
  type ObservedCopy,
  type VolumeId,
} from '@holdfast/contract'
import { storedMounts, writtenVolumes } from '@holdfast/core/node'
import type { Machine } from '../cluster/machine.ts'
import type { Random } from '../time/random.ts'
import { type CopyKeeper, startCopyKeeper } from './keep-copies.ts'
import { createPeerSide, type PeerSide, type ReachPeer } from './peers.ts'
import { type Pool, USED_BYTES } from './pool.ts'
import { type PromiseDeps, type PromiseKeeper, startPromises } from './promises/keep-promises.ts'
import { type Replication, startReplication } from './replicate.ts'

export interface VolumeAgentDeps {
  readonly machine: Machine
  readonly pool: Pool
  readonly random: Random
  readonly self: NodeId
  readonly reach: ReachPeer
  /** Number of this start of the agent. */
  readonly starts: number
  readonly post: PromiseDeps['post']
  readonly configure: PromiseDeps['configure']
  report(copies: readonly ObservedCopy[]): void
  onMounts(): void
  onTouched(): void
}

export interface VolumeAgent extends Pick<CopyKeeper, 'apply' | 'peers'> {
  readonly peerSide: PeerSide
  readonly promises: Pick<PromiseKeeper, 'answer' | 'receive'>
  observed(): ObservedCopy[]
  measurements(): Measurement[]
  /** Whether the container may be created or started now: every volume is mounted here and has no other writer. */
  mayStart(id: AssignmentId, template: ContainerTemplate): boolean
}

export function startVolumeAgent(deps: VolumeAgentDeps): VolumeAgent {
  const { machine, onTouched } = deps
  let replication: Replication | undefined
  let promises: PromiseKeeper | undefined
  const withFacts = (copy: ObservedCopy): ObservedCopy => ({
    ...copy,
    ...defined({ replicas: replication?.replicas(copy.volume) }),
    ...promises?.facts(copy.volume),
  })
  const report = (copies: readonly ObservedCopy[]) => deps.report(copies.map(withFacts))
  const keeper = startCopyKeeper({ ...deps, report })
  const onChange = (volume: VolumeId) => report(keeper.observed().filter((one) => one.volume === volume))
  const started = startReplication({ ...deps, keeper, onChange })
  replication = started
  const kept = startPromises({
    ...{ ...deps, keeper, onChange, onLease: deps.onMounts },
    current: (volume) => started.current(volume),
  })
  promises = kept
  return {
    apply(change) {
      keeper.apply(change)
      kept.apply(change.complete && change.copies !== undefined)
    },
    peers: keeper.peers,
    promises: kept,
    peerSide: createPeerSide({ ...deps, keeper, promises: kept, onTouched }),
    observed: () => keeper.observed().map(withFacts),
    measurements: () =>
      [...keeper.desired.keys()].map((volume) => ({
        volume,
        usedBytes: USED_BYTES,
        measuredAt: new Date(Date.now()).toISOString(),
      })),
    mayStart: (id, template) =>
      mayStart(machine, keeper, id, template) && writtenVolumes(template).every(kept.mayWrite),
  }
}

function mayStart(
  { containers }: Machine,
  keeper: CopyKeeper,
  id: AssignmentId,
  template: ContainerTemplate,
): boolean {
  const written = new Set(writtenVolumes(template))
  const isRival = (other: { assignmentId: AssignmentId; template: ContainerTemplate }): boolean =>
    other.assignmentId !== id && writtenVolumes(other.template).some((volume) => written.has(volume))
  return (
    storedMounts(template).every(({ volume }) => keeper.mayMount(volume)) &&
    ![...containers.values()].some(isRival)
  )
}
