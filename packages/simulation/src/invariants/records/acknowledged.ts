// Invariant: an acknowledged write is applied and never undone. A deployment's revision never falls, a deployment
// disappears only after its deletion and the removal of its replicas, and every acknowledged revision was in the store.

import { ownerOf } from '@holdfast/contract'
import type { Broken, Invariant } from '../invariant.ts'
import type { Moment } from '../moment.ts'

export const acknowledged: Invariant = {
  name: 'acknowledged',
  start() {
    const stored = new Set<string>()
    const specs = new Map<string, string>()
    let checked = 0
    return function* (moment) {
      for (const { tenant, id, is } of moment.deployments.changed) {
        if (is === undefined) continue
        stored.add(`${tenant}/${id}/${is.revision}`)
        const of = `${is.uid}/${is.revision}`
        if ((specs.get(of) ?? is.specHash) !== is.specHash)
          yield { subject: id, message: `has two specs of revision ${is.revision}` }
        specs.set(of, is.specHash)
      }
      yield* undone(moment)
      for (const { tenant, action, name, revision } of moment.world.acknowledged.slice(checked))
        if (action === 'apply' && !stored.has(`${tenant}/${name}/${revision}`))
          yield { subject: name, message: `revision ${revision} was acknowledged and is not stored` }
      checked = moment.world.acknowledged.length
    }
  },
}

function* undone({ deployments, placements }: Moment): Generator<Broken> {
  for (const { tenant, id, was, is } of deployments.changed) {
    if (was === undefined) continue
    if (is?.uid === was.uid && is.revision < was.revision)
      yield { subject: id, message: `went back from revision ${was.revision} to ${is.revision}` }
    if (is?.uid === was.uid && was.deleting && !is.deleting)
      yield { subject: id, message: 'is no longer being deleted' }
    if (is?.uid === was.uid) continue
    const left = placements.is(tenant, ownerOf('deployment', was.uid))?.assignments.length ?? 0
    if (!was.deleting || left > 0)
      yield {
        subject: id,
        message: `is gone, ${was.deleting ? `with ${left} assignments left` : 'undeleted'}`,
      }
  }
}
