// Volumes on the machines of a lab's first tenant: creating and reading them, and their limits and files as the kernel has
// them.

import { join } from 'node:path'
import { type LabNode, waitUntil } from '@holdfast/testkit'
import { expect } from 'vitest'
import { newestHeld } from '../faults/promotion-world.ts'
import { liveOf, poolOf } from '../faults/witness.ts'
import type { LabPlatform } from './start-lab-platform.ts'

const PATIENCE_MS = 90_000

/** The path of the tenant's volumes. */
export const volumesOf = ({ platform }: LabPlatform): string => `/api/v1/tenants/${platform.acme.id}/volumes`

export const readVolume = async (cluster: LabPlatform, id: string) =>
  Object((await cluster.api('acme').get(`${volumesOf(cluster)}/${id}`)).body)

/** Creates a replicated volume, with its primary on a node if one is named. Returns the id of the volume. */
export async function createVolume(
  cluster: LabPlatform,
  {
    nodeName,
    ...spec
  }: {
    readonly name: string
    readonly sizeBytes: number
    readonly replicas: number
    readonly nodeName?: string
  },
): Promise<string> {
  const nodeId = nodeName === undefined ? {} : { nodeId: await nodeIdOf(cluster, nodeName) }
  const body = { class: 'replicated', ...spec, ...nodeId }
  const created = await cluster.api('acme').post(volumesOf(cluster), body)
  expect(created.status, created.text).toBe(201)
  const { id } = Object(created.body['volume'])
  await untilReplicated(cluster, id)
  return id
}

async function nodeIdOf(cluster: LabPlatform, name: string): Promise<string> {
  const { body } = await cluster.api('acme').get('/api/v1/nodes')
  const items: { id: string; name: string }[] = Object(body['items'])
  return items.find((node) => node.name === name)?.id ?? ''
}

/** Waits until the volume has all its copies and none of them lags. */
export async function untilReplicated(cluster: LabPlatform, id: string): Promise<void> {
  let seen: unknown
  await waitUntil(
    async () => {
      const { phase, reason, copies, replicas } = await readVolume(cluster, id)
      seen = { phase, reason, copies }
      return phase === 'Ready' && reason === null && copies.length === replicas + 1
    },
    { what: `${id} has its copies`, timeoutMs: PATIENCE_MS, seen: () => JSON.stringify(seen) },
  )
}

/** The limit of a volume on the node of its primary in bytes, from the kernel. */
export async function limitOf(node: LabNode, id: string): Promise<number> {
  const output = await node.exec(['btrfs', 'qgroup', 'show', '-reF', '--raw', liveOf(node, id)])
  const [, , , limit] = output.trim().split('\n').at(-1)?.trim().split(/\s+/) ?? []
  return Number(limit)
}

/** Waits until the newest checkpoint on a node has the bytes of a file that the writer has written. */
export async function untilHeld(from: LabNode, to: LabNode, id: string, file: string): Promise<void> {
  const sent = await hashOf(from, join(liveOf(from, id), file))
  const isHeld = async (): Promise<boolean> => {
    const newest = newestHeld(to, id) ?? ''
    return (await hashOf(to, join(poolOf(to), 'checkpoints', id, newest, newest, file))) === sent
  }
  await waitUntil(isHeld, { what: 'the copy has the bytes of the writer', timeoutMs: PATIENCE_MS })
}

const hashOf = async (node: LabNode, file: string): Promise<string | undefined> =>
  (await node.exec(['sha256sum', file]).catch(() => '')).split(' ')[0]
