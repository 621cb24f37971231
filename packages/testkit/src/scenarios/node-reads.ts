// Functions that read nodes from the API as their tenant, and wait for what it reports about them.

import { waitUntil } from '@holdfast/testkit'
import { eventsOf, placementsOf } from './lab-reads.ts'
import type { LabPlatform } from './start-lab-platform.ts'

interface ListedNode {
  readonly id?: string
  readonly status?: string
  /** The most severe fault of a degraded node. */
  readonly reason?: string
}

export async function nodeCalled(cluster: LabPlatform, name: string): Promise<ListedNode> {
  const { body } = await cluster.api(cluster.node(name).tenant).get('/api/v1/nodes')
  return Object(Object.values(Object(body['items'])).find((each) => Object(each).name === name))
}

/** Waits until all of the nodes have the status. */
export async function untilStatus(
  cluster: LabPlatform,
  names: readonly string[],
  status: string,
  timeoutMs: number,
): Promise<void> {
  const haveIt = async (): Promise<boolean> => {
    const found = await Promise.all(names.map((name) => nodeCalled(cluster, name)))
    return found.every((one) => one.status === status)
  }
  await waitUntil(haveIt, { what: `${names.join(', ')}: ${status}`, timeoutMs, intervalMs: 100 })
}

/** The names of the nodes with a ready replica of the deployment, once for each replica. */
export async function readyOn(cluster: LabPlatform, tenant: string, name: string): Promise<string[]> {
  return (await placementsOf(cluster.api(tenant), name))
    .filter(({ state }) => state === 'ready')
    .map(({ nodeName }) => nodeName)
}

/** Times at which events of this type about the node were emitted, in milliseconds of the wall clock. */
export async function emittedAt(cluster: LabPlatform, type: string, node: string): Promise<number[]> {
  const events = await eventsOf(cluster.api(cluster.node(node).tenant), type)
  return events.filter(({ subject }) => subject.name === node).map(({ time }) => Date.parse(time))
}
