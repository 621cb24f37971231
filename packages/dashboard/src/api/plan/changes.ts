// The changes of a deployment: each with its dry run and its write.

import type { Client, Result } from '@holdfast/client'
import type { DryRun, JsonObject } from '@holdfast/contract'
import type { Change, Planned } from './change.ts'

const mapped = <T, U>(result: Result<T>, map: (value: T) => U): Result<U> =>
  result.ok ? { ok: true, value: map(result.value) } : result

function plannedOf({ plan, alterations, warnings }: DryRun): Planned {
  const { action, changes, steps, effects, placement } = plan
  const { unplaced: count, summary, cure: cures } = placement
  return {
    ...{ action, changes, steps, effects, alterations, warnings },
    ...(count === 0 ? {} : { unplaced: { count, summary, cures } }),
  }
}

type Planning = Promise<Result<DryRun>>
const planned = async (dryRun: Planning): Promise<Result<Planned>> => mapped(await dryRun, plannedOf)

/** A canary runs beside its deployment, whose fields stay as they are, so the server plans no change of the record itself. */
const plannedBeside = async (
  dryRun: Planning,
  beside: Pick<Planned, 'canary' | 'changes'>,
): Promise<Result<Planned>> =>
  mapped(await dryRun, (tried) => ({ ...plannedOf(tried), action: 'update', ...beside }))

/** The fields that a canary has instead of those of its deployment. */
const canaryChanges = (loaded: JsonObject, body: JsonObject): Planned['changes'] =>
  Object.entries(body).map(([field, to]) => ({ field, from: loaded[field] ?? null, to: to ?? null }))

interface CanaryStart {
  /** The revision and the fields from which the text was made. */
  readonly base: number
  readonly loaded: JsonObject
  readonly replicas: number
  readonly weight: number
}

const NOT_FOUND = 404

/** Reads the revision of the stored deployment; undefined if there is none. */
const storedRevision =
  (name: string): Change['revision'] =>
  async (client, signal) => {
    const read = await client.deployments.read(name, { signal })
    if (read.ok) return { ok: true, value: read.value.revision }
    return read.failure.kind === 'rejected' && read.failure.status === NOT_FOUND
      ? { ok: true, value: undefined }
      : read
  }

/** A change of the text that was made from a revision requires that revision, so that no other change is overwritten. */
const revisionOf = (name: string, base: number | undefined): Change['revision'] =>
  base === undefined ? storedRevision(name) : async () => ({ ok: true, value: base })

let counter = 0
/** Bodies may hold anything that a person typed, so a number identifies them in the cache. */
const nextId = (kind: string): string => {
  counter += 1
  return `${kind}-${counter}`
}

const of = (name: string) => ({
  deployment: name,
  archived: true,
  revision: storedRevision(name),
  stored: storedRevision(name),
})

export const changes = {
  create: (name: string, body: JsonObject): Change => ({
    id: nextId('create'),
    ...of(name),
    keyed: true,
    revision: async () => ({ ok: true, value: undefined }),
    plan: (client, { signal }) => planned(client.dryRuns.create(body, { signal })),
    send: (client, { idempotencyKey }) => client.deployments.create(body, { idempotencyKey }),
  }),
  /** `base`: the revision from which the body was made; absent: the stored one. */
  update: (name: string, body: JsonObject, base?: number): Change => ({
    id: nextId('update'),
    ...of(name),
    keyed: false,
    revision: revisionOf(name, base),
    plan: (client, conditions) => planned(client.dryRuns.update(name, body, conditions)),
    send: (client, { ifMatch }) => client.deployments.update(name, body, { ifMatch }),
  }),
  scale: (name: string, replicas: number): Change => ({
    ...changes.update(name, { replicas }),
    id: `scale-${name}-${replicas}`,
  }),
  restart: (name: string): Change => ({
    id: `restart-${name}`,
    ...of(name),
    keyed: true,
    plan: (client, conditions) => planned(client.dryRuns.restart(name, conditions)),
    send: (client, conditions) => client.deployments.restart(name, conditions),
  }),
  rollBack: (name: string, revision: number): Change => ({
    id: `rollback-${name}-${revision}`,
    ...of(name),
    keyed: true,
    plan: (client, conditions) => planned(client.dryRuns.rollBack(name, revision, conditions)),
    send: (client, conditions) => client.deployments.rollBack(name, revision, conditions),
  }),
  remove: (name: string): Change => ({
    id: `remove-${name}`,
    ...of(name),
    keyed: false,
    plan: async (client, conditions) => removal(client, name, conditions),
    send: (client, { ifMatch }) => client.deployments.remove(name, { ifMatch }),
  }),
  startCanary: (name: string, body: JsonObject, { base, loaded, ...size }: CanaryStart): Change => ({
    id: nextId('canary'),
    ...of(name),
    keyed: true,
    revision: revisionOf(name, base),
    plan: (client, conditions) =>
      plannedBeside(client.dryRuns.startCanary(name, { change: body, ...size }, conditions), {
        canary: 'start',
        changes: canaryChanges(loaded, body),
      }),
    send: (client, conditions) => client.deployments.startCanary(name, { change: body, ...size }, conditions),
  }),
  promoteCanary: (name: string, force: boolean): Change => ({
    id: `promote-${name}-${force}`,
    ...of(name),
    keyed: true,
    plan: (client, conditions) => planned(client.dryRuns.promoteCanary(name, force, conditions)),
    send: (client, conditions) => client.deployments.promoteCanary(name, force, conditions),
  }),
  abortCanary: (name: string): Change => ({
    id: `abort-${name}`,
    ...of(name),
    keyed: true,
    plan: (client, conditions) =>
      plannedBeside(client.dryRuns.abortCanary(name, conditions), { canary: 'abort', changes: [] }),
    send: (client, conditions) => client.deployments.abortCanary(name, conditions),
  }),
}

async function removal(
  client: Client,
  name: string,
  conditions: Parameters<Change['plan']>[1],
): Promise<Result<Planned>> {
  return mapped(await client.dryRuns.remove(name, conditions), ({ plan, alterations, warnings }) => ({
    action: 'delete',
    changes: [],
    ...{ steps: plan.steps, effects: plan.effects, alterations, warnings },
  }))
}
