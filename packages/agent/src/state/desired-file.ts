// Saves the last desired set to disk, so that a machine that boots without a server can start its containers. The file has
// no secret values. It names its node, so a machine that is enrolled again, perhaps by another tenant, ignores the old set.
// See docs/design/agent.md#static-stability.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  branded,
  type DesiredItem,
  decode,
  defined,
  desiredItemShape,
  integer,
  list,
  type NodeId,
  object,
  optional,
  type RoutedDeployment,
  routedDeploymentShape,
  type TenantId,
} from '@holdfast/contract'
import { writeDurably } from './durable-file.ts'

const FILE = 'desired.json'

const savedSetShape = object({
  v: integer(),
  nodeId: branded<NodeId>(),
  tenant: branded<TenantId>(),
  revision: integer(),
  items: list(desiredItemShape),
  /** Absent if no server has sent routes. */
  routes: optional(list(routedDeploymentShape)),
})

export interface SavedSet {
  readonly revision: number
  readonly items: readonly DesiredItem[]
  readonly routes?: readonly RoutedDeployment[]
}

interface SetOwner {
  readonly nodeId: NodeId
  readonly tenant: TenantId
}

export interface DesiredFile {
  /** Undefined if there is none, or it is unreadable or another node's. */
  read(): Promise<SavedSet | undefined>
  /** Writes the set soon; of several sets during a write only the last is written. */
  save(set: SavedSet): void
  /** Resolves when the last saved set is on disk. */
  settled(): Promise<void>
}

export function openDesiredFile(
  folder: string,
  { nodeId, tenant }: SetOwner,
  onError: (error: unknown) => void,
): DesiredFile {
  const path = join(folder, FILE)
  let written = { revision: 0, text: '' }
  let next: SavedSet | undefined
  let writing: Promise<void> | undefined

  async function write(): Promise<void> {
    while (next !== undefined) {
      const { revision, ...set } = next
      next = undefined
      // A resync usually repeats the same set with a later revision, which is not worth a write. An earlier revision is:
      // the store was restored, and the next start must not assume the later one.
      const text = JSON.stringify(set)
      if (text === written.text && revision >= written.revision) continue
      await writeDurably(path, `${JSON.stringify({ v: 1, nodeId, tenant, revision, ...set })}\n`)
      written = { revision, text }
    }
  }
  return {
    async read() {
      try {
        const saved = decode(savedSetShape, JSON.parse(await readFile(path, 'utf8')))
        if (saved.nodeId !== nodeId || saved.tenant !== tenant)
          throw new Error(`The desired set belongs to ${saved.nodeId}, not to ${nodeId}.`)
        const { revision, items, routes } = saved
        return { revision, items, ...defined({ routes }) }
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) onError(error)
        return undefined
      }
    },
    save(set) {
      next = set
      writing ??= write()
        .catch(onError)
        .finally(() => {
          writing = undefined
        })
    },
    settled: async () => {
      await writing
    },
  }
}
