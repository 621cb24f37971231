import { type Client, type Result, readAll } from '@holdfast/client'
import type { DeploymentRecord, PlacementEntry } from '@holdfast/contract'
import { age } from '../print/age.ts'
import { colorOf } from '../print/color.ts'
import { lastExitText, replicaState } from '../print/containers.ts'
import type { Resource } from './resource.ts'

export interface ListedReplica extends PlacementEntry {
  readonly deployment: string
}

export const replicas: Resource<ListedReplica> = {
  names: ['replicas', 'replica', 'containers', 'container'],
  kind: 'replica',
  nameOf: ({ deployment, replica, revision }) => `${deployment}/${replica}/${revision}`,
  async list(client) {
    const listed = await readAll((page) => client.deployments.list(page))
    return listed.ok ? replicasOf(client, listed.value) : listed
  },
  columns: [
    { header: 'DEPLOYMENT', value: ({ deployment }) => deployment },
    { header: 'REPLICA', value: ({ replica }) => String(replica) },
    { header: 'NODE', value: ({ nodeName }) => nodeName },
    { header: 'STATE', value: replicaState, tint: (item) => colorOf(replicaState(item)) },
    { header: 'REVISION', drop: 1, value: ({ revision }) => String(revision) },
    { header: 'RESTARTS', value: ({ restarts = 0 }) => String(restarts) },
    { header: 'UP', drop: 2, value: ({ startedAt }, nowMs) => age(startedAt, nowMs) },
    { header: 'LAST EXIT', value: (item, nowMs) => lastExitText(item, [], nowMs) },
    { header: 'CONTAINER', wide: true, value: ({ containerId }) => containerId?.slice(0, 12) ?? '' },
  ],
}

/** Deployments whose replicas are requested at the same time. */
const AT_ONCE = 8

/** The replicas of deployments, in their order. The API has no list over deployments, so each is asked for. */
export async function replicasOf(
  client: Client,
  of: readonly Pick<DeploymentRecord, 'name'>[],
): Promise<Result<ListedReplica[]>> {
  const found: ListedReplica[] = []
  for (let from = 0; from < of.length; from += AT_ONCE) {
    const batch = of.slice(from, from + AT_ONCE)
    const answers = await Promise.all(batch.map(({ name }) => client.deployments.placements(name)))
    for (const [at, answer] of answers.entries()) {
      const deployment = batch[at]?.name ?? ''
      if (answer.ok) found.push(...answer.value.items.map((item) => ({ ...item, deployment })))
      // A deployment that was deleted since it was listed has no replicas.
      else if (answer.failure.kind !== 'rejected' || answer.failure.status !== 404) return answer
    }
  }
  return { ok: true, value: found }
}
