// Invariant: no replica of a deployment is created while its dependencies are not ready. Existing replicas are not
// checked. The controller's cache may lag, but never behind the two records that its write compares: the deployment and
// the placement that it replaces.

import { type Owner, ownerOf } from '@holdfast/contract'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'
import { newAssignments, type Placed, showPlaced } from './assigned.ts'
import { type Condition, isMet } from './dependency-met.ts'

/** Time for which a controller may still act on an outdated dependency state: longer than any server's cache lag. */
const ON_ITS_WAY_MS = 15_000

/** The last moment at which a dependency was ready: its number in the sequence of moments, and its time. */
interface Held {
  readonly turn: number
  readonly until: number
}

export const waitsForOthers: Invariant = {
  name: 'waits-for-others',
  start() {
    const writtenAt = new Map<Owner, number>()
    const held = new Map<string, Held>()
    let turn = 0
    return function* (moment) {
      turn += 1
      for (const placed of newAssignments(moment))
        yield* unmet(moment, placed, held, writtenAt.get(placed.placement.owner) ?? 0)
      for (const { is } of moment.deployments.changed)
        if (is !== undefined) writtenAt.set(ownerOf('deployment', is.uid), turn)
      for (const { is } of moment.placements.changed) if (is !== undefined) writtenAt.set(is.owner, turn)
      noteHeld(moment, held, turn)
    }
  },
}

const keyOf = (tenant: string | undefined, name: string, condition: Condition): string =>
  `${tenant}/${name}/${condition}`

/** Dependencies that were not ready at the time when the controller decided on the new assignment. */
function* unmet(
  { deployments, now }: Moment,
  placed: Placed,
  held: ReadonlyMap<string, Held>,
  since: number,
): Generator<Broken> {
  const { tenant, placement } = placed
  const stored = deployments.was(tenant, placement.name)
  if (stored === undefined || ownerOf('deployment', stored.uid) !== placement.owner) return
  for (const [name, condition] of Object.entries(stored.spec.dependsOn ?? {})) {
    const last = held.get(keyOf(tenant, name, condition))
    if (last === undefined || last.turn < since || last.until < now - ON_ITS_WAY_MS)
      yield { subject: showPlaced(placed), message: `is placed, and ${name} was not ${condition}` }
  }
}

function noteHeld(moment: Moment, held: Map<string, Held>, turn: number): void {
  for (const { tenant, record } of moment.deployments.all) {
    if (tenant === undefined) continue
    for (const [name, condition] of Object.entries(record.spec.dependsOn ?? {})) {
      const key = keyOf(tenant, name, condition)
      const before = held.get(key)
      if (isMet(moment, tenant, name, condition)) held.set(key, { turn, until: Number.POSITIVE_INFINITY })
      else if (before?.until === Number.POSITIVE_INFINITY)
        held.set(key, { turn: before.turn, until: moment.now })
    }
  }
}
