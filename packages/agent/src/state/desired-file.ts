// Saves the last desired set to disk, so that a machine that boots without a server can start its containers. The file
// has no secret values. It contains the node's id, so a machine that is enrolled again, perhaps by another tenant,
// ignores an old set. See docs/design/agent.md#static-stability.

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
  /** The routes in the saved set; absent if no server has sent routes. */
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
  /** Reads the saved set; undefined if the file is missing, is unreadable or belongs to another node. */
  read(): Promise<SavedSet | undefined>
  /** Writes the desired set soon. Of several sets that arrive during a write, only the last is written. */
  save(set: SavedSet): void
  /** Resolves when the desired set that was saved last is on disk. */
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
      // An unchanged set with a later revision, as most resyncs send, is not written. An earlier revision is written: the
      // store was restored, and the next start of the agent must not assume the later revision.
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
