// Who this node is, on its own disk: two private keys that never leave it, and what enrolment answered. DECISIONS 8.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  branded,
  capacityShape,
  decode,
  engineShape,
  type Infer,
  integer,
  map,
  type NodeId,
  object,
  optional,
  string,
  type TenantId,
} from '@holdfast/contract'
import { writeDurably } from './durable-file.ts'

const IDENTITY_FILE = 'identity.pem'
const ENCRYPTION_FILE = 'encryption.pem'
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
})
export type NodeFile = Infer<typeof nodeFileShape>
export type NodeState = NodeFile & NodeKeys

/** Made once; a second call gives the same keys. */
export async function ensureNodeKeys(folder: string): Promise<NodeKeys> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return {
    identityKey: await ensureKey(join(folder, IDENTITY_FILE), () => generateKeyPairSync('ed25519')),
    encryptionKey: await ensureKey(join(folder, ENCRYPTION_FILE), () => generateKeyPairSync('x25519')),
  }
}

async function ensureKey(path: string, generate: () => { privateKey: KeyObject }): Promise<KeyObject> {
  const kept = await readIfThere(path)
  if (kept !== undefined) return createPrivateKey(kept)
  const { privateKey } = generate()
  await writeDurably(path, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  return privateKey
}

/** The raw 32 bytes of the public half, as enrolment sends them. */
export function publicKeyText(key: KeyObject): string {
  const { x } = createPublicKey(key).export({ format: 'jwk' })
  if (x === undefined) throw new Error('The key has no raw public half.')
  return x
}

export async function saveNode(folder: string, node: NodeFile): Promise<void> {
  await writeDurably(join(folder, NODE_FILE), `${JSON.stringify(node, null, 2)}\n`)
}

/** Undefined where no node was enrolled into the folder. */
export async function loadNodeState(folder: string): Promise<NodeState | undefined> {
  const text = await readIfThere(join(folder, NODE_FILE))
  if (text === undefined) return undefined
  return { ...decode(nodeFileShape, JSON.parse(text)), ...(await ensureNodeKeys(folder)) }
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
