// One moment of a simulation as the invariants see it: the snapshot, and for each kind of record the changes since the
// previous moment. The changes are computed once for all invariants.

import type { Event, Infer, TenantId } from '@holdfast/contract'
import type {
  nodeNameShape,
  StoredDeployment,
  StoredJob,
  StoredNetwork,
  StoredNode,
  StoredObservation,
  StoredPlacement,
  StoredVolume,
  StoredVolumeWriter,
  shardShape,
  slotShape,
} from '@holdfast/server/store/records'
import type { Kept, Snapshot } from '../cluster/snapshot.ts'

/** A changed record. `was` is absent for a new record, `is` for a deleted record. */
export interface Changed<T> {
  readonly tenant: TenantId | undefined
  readonly id: string
  readonly was: T | undefined
  readonly is: T | undefined
}

interface Watched<T> {
  readonly changed: readonly Changed<T>[]
  readonly all: readonly Kept<T>[]
  is(tenant: TenantId | undefined, id: string): T | undefined
  /** The record at the previous moment. */
  was(tenant: TenantId | undefined, id: string): T | undefined
}

export interface Moment {
  readonly now: number
  readonly deployments: Watched<StoredDeployment>
  readonly placements: Watched<StoredPlacement>
  readonly observations: Watched<StoredObservation>
  readonly nodes: Watched<StoredNode>
  readonly nodeNames: Watched<Infer<typeof nodeNameShape>>
  readonly slots: Watched<Infer<typeof slotShape>>
  readonly shards: Watched<Infer<typeof shardShape>>
  readonly volumes: Watched<StoredVolume>
  readonly volumeWriters: Watched<StoredVolumeWriter>
  readonly jobs: Watched<StoredJob>
  readonly networks: Watched<StoredNetwork>
  readonly events: Watched<Event>
  readonly world: Snapshot
  readonly machinesChanged: boolean
}

export const isOfPlatform = ({ world: { tenants } }: Moment, tenant: TenantId): boolean =>
  tenants.some(({ record }) => record.id === tenant && record.platform)

/** Whether the node is being removed: it stays until nothing of its tenant is left on it. */
export const isReleased = ({ nodeNames }: Moment, tenant: TenantId, { id, name }: StoredNode): boolean =>
  nodeNames
    .is(undefined, name)
    ?.claims.some(
      (claim) => claim.tenant === tenant && claim.nodeId === id && claim.state === 'releasing',
    ) === true

/** Returns a function that turns snapshots into moments. Call the function with each snapshot in order. */
export function createMoments(): (world: Snapshot) => Moment {
  const [deployments, placements, observations] = [
    watch<StoredDeployment>(),
    watch<StoredPlacement>(),
    watch<StoredObservation>(),
  ]
  const [nodes, nodeNames] = [watch<StoredNode>(), watch<Infer<typeof nodeNameShape>>()]
  const [slots, shards] = [watch<Infer<typeof slotShape>>(), watch<Infer<typeof shardShape>>()]
  const [volumes, volumeWriters] = [watch<StoredVolume>(), watch<StoredVolumeWriter>()]
  const [jobs, events, networks] = [watch<StoredJob>(), watch<Event>(), watch<StoredNetwork>()]
  let machines: Snapshot['machines'] | undefined
  return (world) => {
    const machinesChanged = machines !== world.machines
    machines = world.machines
    return {
      now: world.now,
      world,
      machinesChanged,
      deployments: deployments(world.deployments),
      placements: placements(world.placements),
      observations: observations(world.observations),
      nodes: nodes(world.nodes),
      nodeNames: nodeNames(world.nodeNames),
      slots: slots(world.slots),
      shards: shards(world.shards),
      volumes: volumes(world.volumes),
      volumeWriters: volumeWriters(world.volumeWriters),
      jobs: jobs(world.jobs),
      networks: networks(world.networks),
      events: events(world.events),
    }
  }
}

const keyOf = (tenant: TenantId | undefined, id: string): string => `${tenant ?? ''}/${id}`

function watch<T>(): (all: readonly Kept<T>[]) => Watched<T> {
  const known = new Map<string, Kept<T>>()
  let before: readonly Kept<T>[] | undefined
  return (all) => {
    const changed = before === all ? new Map<string, Changed<T>>() : takeChanges(known, all)
    before = all
    return {
      changed: [...changed.values()],
      all,
      is: (tenant, id) => known.get(keyOf(tenant, id))?.record,
      was(tenant, id) {
        const change = changed.get(keyOf(tenant, id))
        return change === undefined ? known.get(keyOf(tenant, id))?.record : change.was
      },
    }
  }
}

function takeChanges<T>(known: Map<string, Kept<T>>, all: readonly Kept<T>[]): Map<string, Changed<T>> {
  const changed = new Map<string, Changed<T>>()
  for (const kept of all) {
    const { tenant, id, record } = kept
    const key = keyOf(tenant, id)
    const old = known.get(key)
    if (old?.modRevision === kept.modRevision) continue
    changed.set(key, { tenant, id, was: old?.record, is: record })
    known.set(key, kept)
  }
  if (known.size > all.length) dropGone(known, all, changed)
  return changed
}

function dropGone<T>(
  known: Map<string, Kept<T>>,
  all: readonly Kept<T>[],
  changed: Map<string, Changed<T>>,
): void {
  const present = new Set(all.map(({ tenant, id }) => keyOf(tenant, id)))
  for (const [key, { tenant, id, record }] of known) {
    if (present.has(key)) continue
    known.delete(key)
    changed.set(key, { tenant, id, was: record, is: undefined })
  }
}
