// Who this node is, on its own disk: two private keys that never leave it, and what enrollment answered. DECISIONS 8.
// Each enrollment has keys of its own, in files of its own: the node's file is written last and says which they are, so
// whatever crashes the node is wholly the one it was or wholly the one it became.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { access, constants, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  branded,
  capacityShape,
  decode,
  engineShape,
  type Infer,
  integer,
  isNodeId,
  list,
  map,
  type NodeId,
  object,
  optional,
  string,
  type TenantId,
} from '@holdfast/contract'
import { writeDurably } from './durable-file.ts'

const KEY_FILE = /^(identity|encryption)[^/]*\.pem$/
const NODE_FILE = 'node.json'
const STARTS_FILE = 'starts'

export interface NodeKeys {
  /** Ed25519: who the node is. */
  readonly identityKey: KeyObject
  /** X25519: what is sealed to it. */
  readonly encryptionKey: KeyObject
}

const nodeFileShape = object({
  server: string(),
  /** PEM of the authority that the server's certificate must come from; absent: those of the machine. */
  ca: optional(string()),
  nodeId: branded<NodeId>(),
  nodeName: string(),
  tenant: branded<TenantId>(),
  generation: integer(),
  labels: map(string()),
  /** Where the engine listens: unix:///var/run/docker.sock. */
  engine: string(),
  /** As last seen, for a start at which the engine does not answer. */
  engineVersion: engineShape,
  /** What the operator offers of the machine; absent: all of it. */
  capacity: optional(capacityShape),
  /** Where the control plane runs on this node: the assignments that were here before, and nothing else may be made. */
  closedBut: optional(list(string())),
})
export type NodeFile = Infer<typeof nodeFileShape>
export type NodeState = NodeFile & NodeKeys

/** Fresh ones for each enrollment: whoever stole those of the last one is nobody in the next. SAFETY 2 row 13. */
export const makeNodeKeys = (): NodeKeys => ({
  identityKey: generateKeyPairSync('ed25519').privateKey,
  encryptionKey: generateKeyPairSync('x25519').privateKey,
})

/** Before a join token is spent on it: a folder that takes no file is found out now. */
export async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await access(folder, constants.W_OK)
}

/** The raw 32 bytes of the public half, as enrollment sends them. */
export function publicKeyText(key: KeyObject): string {
  const { x } = createPublicKey(key).export({ format: 'jwk' })
  if (x === undefined) throw new Error('The key has no raw public half.')
  return x
}

export async function saveNode(folder: string, node: NodeFile, keys: NodeKeys): Promise<void> {
  const files = keyFiles(node)
  await writeDurably(join(folder, files.identity), pem(keys.identityKey))
  await writeDurably(join(folder, files.encryption), pem(keys.encryptionKey))
  await writeDurably(join(folder, NODE_FILE), `${JSON.stringify(node, null, 2)}\n`)
  const current = Object.values(files)
  for (const name of await readdir(folder))
    if (KEY_FILE.test(name) && !current.includes(name)) await rm(join(folder, name))
}

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

/** Named after the enrollment; the id is the server's word, and no path is made of anything but an id. */
function keyFiles({ nodeId, generation }: NodeFile): { identity: string; encryption: string } {
  if (!isNodeId(nodeId)) throw new Error('The id of the node has not the form of one.')
  const enrollment = `${nodeId}-${generation}`
  return { identity: `identity-${enrollment}.pem`, encryption: `encryption-${enrollment}.pem` }
}

/** Undefined where no node was enrolled into the folder. */
export async function loadNodeState(folder: string): Promise<NodeState | undefined> {
  const text = await readIfThere(join(folder, NODE_FILE))
  if (text === undefined) return undefined
  const node = decode(nodeFileShape, JSON.parse(text))
  const { identity, encryption } = keyFiles(node)
  return {
    ...node,
    identityKey: createPrivateKey(await readFile(join(folder, identity), 'utf8')),
    encryptionKey: createPrivateKey(await readFile(join(folder, encryption), 'utf8')),
  }
}

/** What else the file says is left as it is now: an operator may have changed the labels in it. */
export async function keepClosed(folder: string, closedBut: readonly string[] | undefined): Promise<void> {
  const path = join(folder, NODE_FILE)
  const { closedBut: _before, ...node } = decode(nodeFileShape, JSON.parse(await readFile(path, 'utf8')))
  const kept = closedBut === undefined ? node : { ...node, closedBut }
  await writeDurably(path, `${JSON.stringify(kept, null, 2)}\n`)
}

/** How often an agent was started on this state, this time included: what it numbers is above all it numbered before. */
export async function countStart(folder: string): Promise<number> {
  const path = join(folder, STARTS_FILE)
  const before = Number(await readIfThere(path)) || 0
  await writeDurably(path, String(before + 1))
  return before + 1
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
