// The last desired set on this node's disk, so that a machine that boots while no server answers starts what it has.
// It holds what the server sent, which is without secret material, and of which node that was: a machine that was enrolled
// anew, perhaps into another tenant, does not start what it had before. SAFETY 4h.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  branded,
  type DesiredItem,
  decode,
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

const keptSetShape = object({
  v: integer(),
  nodeId: branded<NodeId>(),
  tenant: branded<TenantId>(),
  revision: integer(),
  items: list(desiredItemShape),
  /** Absent in the files of agents that knew no routes, and where no server spoke of them. */
  routes: optional(list(routedDeploymentShape)),
})

export interface KeptSet {
  readonly revision: number
  readonly items: readonly DesiredItem[]
  readonly routes?: readonly RoutedDeployment[]
}

/** Whose set it is. */
interface SetOwner {
  readonly nodeId: NodeId
  readonly tenant: TenantId
}

export interface DesiredFile {
  /** Undefined where none was kept, or what was kept cannot be read or is another node's. */
  read(): Promise<KeptSet | undefined>
  /** Written soon; of sets that come meanwhile only the last. */
  keep(set: KeptSet): void
  /** Resolves when all that was kept is on disk. */
  settled(): Promise<void>
}

export function openDesiredFile(
  folder: string,
  { nodeId, tenant }: SetOwner,
  onError: (error: unknown) => void,
): DesiredFile {
  const path = join(folder, FILE)
  let written = { revision: 0, text: '' }
  let next: KeptSet | undefined
  let writing: Promise<void> | undefined

  async function write(): Promise<void> {
    while (next !== undefined) {
      const { revision, ...set } = next
      next = undefined
      // A resync mostly says what was known, under a later revision: that is not worth a write. An earlier one is: the
      // store went back, and the next start is to know only what the store knows.
      const text = JSON.stringify(set)
      if (text === written.text && revision >= written.revision) continue
      await writeDurably(path, `${JSON.stringify({ v: 1, nodeId, tenant, revision, ...set })}\n`)
      written = { revision, text }
    }
  }
  return {
    async read() {
      try {
        const kept = decode(keptSetShape, JSON.parse(await readFile(path, 'utf8')))
        if (kept.nodeId !== nodeId || kept.tenant !== tenant)
          throw new Error(`It is the set of ${kept.nodeId}, not of ${nodeId}.`)
        const { revision, items, routes } = kept
        return { revision, items, ...(routes === undefined ? {} : { routes }) }
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) onError(error)
        return undefined
      }
    },
    keep(set) {
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
