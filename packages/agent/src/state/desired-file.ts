// Saves the last desired set to disk, so that a machine that boots without a server can start its containers. The file
// has no secret values. It contains the node's id, so a machine that is enrolled again, perhaps by another tenant,
// ignores an old set. See docs/design/agent.md#static-stability.

import { join } from 'node:path'
import {
  branded,
  type DeploymentUid,
  type DesiredCopy,
  type DesiredItem,
  type DesiredNetwork,
  decodeOpen,
  defined,
  desiredCopyShape,
  desiredItemShape,
  desiredNetworkShape,
  encodeOpen,
  type Infer,
  integer,
  list,
  type NodeId,
  object,
  optional,
  ownerOf,
  type Peer,
  peerShape,
  type RoutedDeployment,
  routedDeploymentShape,
  routersShape,
  type TenantId,
  type TenantRouters,
} from '@holdfast/contract'
import { readIfExists, writeDurably } from './durable-file.ts'
import { createSaver } from './saver.ts'

const FILE = 'desired.json'
/** The newest form of the file that this agent reads, and the form that it writes. */
const READS = 2
/** In this older form, each item had the uid of its deployment instead of an owner. */
const FORMER = 1

const savedSetShape = object({
  v: integer(),
  nodeId: branded<NodeId>(),
  tenant: branded<TenantId>(),
  revision: integer(),
  items: list(desiredItemShape),
  /** The routes in the saved set; absent if no server has sent routes. */
  routes: optional(list(routedDeploymentShape)),
  /** Copies of volumes and the nodes with the other copies; absent if no server has sent copies. */
  copies: optional(list(desiredCopyShape)),
  peers: optional(list(peerShape)),
  /** The other routers of the tenant, so that they are trusted without a server. */
  routers: optional(routersShape),
  /** The networks of the node; absent if no server has sent networks. */
  networks: optional(list(desiredNetworkShape)),
})

const { owner: _owner, ...formerFields } = desiredItemShape.fields
const formerSetShape = object({
  ...savedSetShape.fields,
  items: list(object({ ...formerFields, deployment: branded<DeploymentUid>() })),
})

export interface SavedSet {
  readonly revision: number
  readonly items: readonly DesiredItem[]
  readonly routes?: readonly RoutedDeployment[]
  readonly copies?: readonly DesiredCopy[]
  readonly peers?: readonly Peer[]
  readonly routers?: TenantRouters
  readonly networks?: readonly DesiredNetwork[]
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
  /** Resolves when the desired set that was saved last is on disk, or could not be written. */
  settled(): Promise<void>
  close(): Promise<void>
}

/** A file that cannot be read starts the agent without a desired set; one that cannot be written is written again later. */
export type OnFileError = (error: unknown, act: 'read' | 'write') => void

export function openDesiredFile(
  folder: string,
  { nodeId, tenant }: SetOwner,
  onError: OnFileError,
): DesiredFile {
  const path = join(folder, FILE)
  let written = { revision: 0, text: '' }
  // Members of the file that only a newer agent knows; each write of the file contains them.
  let kept: object = {}
  let next: SavedSet | undefined

  async function write(): Promise<void> {
    const saved = next
    if (saved === undefined) return
    const { revision, ...set } = saved
    // An unchanged set with a later revision, as most resyncs send, is not written. An earlier revision is written: the
    // store was restored, and the next start of the agent must not assume the later revision.
    const text = encodeOpen(set)
    if (text !== written.text || revision < written.revision) {
      await writeDurably(path, `${encodeOpen({ ...kept, v: READS, nodeId, tenant, revision, ...set })}\n`)
      written = { revision, text }
    }
    if (next === saved) next = undefined
  }
  const saver = createSaver({ write, onFailed: (error) => onError(error, 'write') })
  return {
    async read() {
      try {
        const read = await readIfExists(path)
        if (read === undefined) return undefined
        const saved = decodeSaved(JSON.parse(read))
        if (saved.nodeId !== nodeId || saved.tenant !== tenant)
          throw new Error(`The desired set belongs to ${saved.nodeId}, not to ${nodeId}.`)
        if (saved.v > READS)
          throw new Error(`The desired set has form ${saved.v}; this agent reads form ${READS}.`)
        const { v, nodeId: _node, tenant: _tenant, revision, ...rest } = saved
        const { items, routes, routers, copies, peers, networks, ...newer } = rest
        kept = newer
        return { revision, items, ...defined({ routes, routers, copies, peers, networks }) }
      } catch (error) {
        onError(error, 'read')
        return undefined
      }
    },
    save(set) {
      next = set
      saver.save()
    },
    settled: saver.settled,
    close: saver.close,
  }
}

function decodeSaved(value: unknown): Infer<typeof savedSetShape> {
  const isFormer = typeof value === 'object' && value !== null && 'v' in value && value.v === FORMER
  if (!isFormer) return decodeOpen(savedSetShape, value)
  const { items, ...set } = decodeOpen(formerSetShape, value)
  const owned = items.map(({ deployment, ...item }) => ({
    ...item,
    owner: ownerOf('deployment', deployment),
  }))
  return { ...set, items: owned }
}
