// The changes of a scaling policy: set and delete, each with its dry run.

import type { Client, Result } from '@holdfast/client'
import type { JsonObject, Scaling, ScalingPolicy } from '@holdfast/contract'
import type { Change, Planned } from '../plan/change.ts'

const NOT_FOUND = 404

async function readPolicy(client: Client, name: string): Promise<Result<Scaling | undefined>> {
  const read = await client.scaling.read(name)
  const isAbsent = !read.ok && read.failure.kind === 'rejected' && read.failure.status === NOT_FOUND
  return isAbsent ? { ok: true, value: undefined } : read
}

async function storedRevision(client: Client, name: string): Promise<Result<number | undefined>> {
  const read = await readPolicy(client, name)
  return read.ok ? { ok: true, value: read.value?.revision } : read
}

const of = (name: string) => ({
  deployment: name,
  archived: false,
  keyed: false,
  revision: (client: Client) => storedRevision(client, name),
  stored: (client: Client) => storedRevision(client, name),
})

const FIELDS = ['min', 'max', 'metric', 'targetPercent', 'scaleDownDelay'] as const

/** The fields that differ; null for a policy that does not exist. */
export function policyChanges(
  before: ScalingPolicy | undefined,
  after: ScalingPolicy | undefined,
): Planned['changes'] {
  return FIELDS.filter((field) => before?.[field] !== after?.[field]).map((field) => ({
    ...{ field, from: before?.[field] ?? null, to: after?.[field] ?? null },
  }))
}

let counter = 0

export const scalingChanges = {
  set(name: string, body: JsonObject): Change {
    counter += 1
    return {
      ...of(name),
      id: `scaling-${counter}`,
      plan: async (client, conditions) => {
        const before = await readPolicy(client, name)
        if (!before.ok) return before
        const tried = await client.scaling.dryRuns.set(name, body, conditions)
        if (!tried.ok) return tried
        const { plan, alterations, warnings } = tried.value
        const changes = policyChanges(before.value, plan.result.scaling)
        const action = changes.length === 0 ? 'none' : before.value === undefined ? 'create' : 'update'
        const { steps, effects } = plan
        return { ok: true, value: { action, changes, steps, effects, alterations, warnings } }
      },
      send: (client, { ifMatch }) => client.scaling.set(name, body, { ifMatch }),
    }
  },
  remove: (name: string): Change => ({
    ...of(name),
    id: `scaling-remove-${name}`,
    plan: async (client, conditions) => {
      const tried = await client.scaling.dryRuns.remove(name, conditions)
      if (!tried.ok) return tried
      const { plan, alterations, warnings } = tried.value
      const changes = policyChanges(plan.result, undefined)
      const { steps, effects } = plan
      return { ok: true, value: { action: 'update', changes, steps, effects, alterations, warnings } }
    },
    send: (client, { ifMatch }) => client.scaling.remove(name, { ifMatch }),
  }),
}
