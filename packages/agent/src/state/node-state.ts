// The node's identity on its disk: two private keys that never leave the node, and the server's answer to the enrollment.
// Each enrollment has its own key files. The node's file is written last and names the key files, so after a crash either
// the old or the new enrollment is in effect. See docs/design/agent.md#enrollment.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { access, constants, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  branded,
  capacityShape,
  decodeOpen,
  encodeOpen,
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
import { readIfExists, writeDurably } from './durable-file.ts'
import { reserveStartCount } from './start-count.ts'

const KEY_FILE = /^(identity|encryption)[^/]*\.pem$/
const NODE_FILE = 'node.json'

export interface NodeKeys {
  /** Ed25519 key that signs the node's hello message. */
  readonly identityKey: KeyObject
  /** X25519 key that decrypts values sealed to the node. */
  readonly encryptionKey: KeyObject
}

const nodeFileShape = object({
  server: string(),
  /**
   * PEM of the authority that must have signed the server's certificate; absent: the machine's own authorities are
   * trusted.
   */
  ca: optional(string()),
  nodeId: branded<NodeId>(),
  nodeName: string(),
  tenant: branded<TenantId>(),
  generation: integer(),
  labels: map(string()),
  /** The address of the Docker Engine, such as unix:///var/run/docker.sock. */
  engine: string(),
  /** The engine's version at enrollment, used if the engine does not answer when the agent starts. */
  engineVersion: engineShape,
  /** The part of the machine's capacity that the operator offers; absent: all of it. */
  capacity: optional(capacityShape),
  /**
   * Ids of the assignments that may still get new containers on a control-plane node, and their owners: those from before
   * the node had that role. Absent on other nodes.
   */
  closedBut: optional(list(string())),
})
export type NodeFile = Infer<typeof nodeFileShape>
export type NodeState = NodeFile & NodeKeys

/** Generates new keys for each enrollment, so that stolen keys are worthless after the next enrollment. */
export const generateNodeKeys = (): NodeKeys => ({
  identityKey: generateKeyPairSync('ed25519').privateKey,
  encryptionKey: generateKeyPairSync('x25519').privateKey,
})

/** More than the files of an enrollment. */
const ENROLLMENT_BYTES = 64 * 1024
const PROBE_FILE = 'enrollment-probe'

/** Creates the folder. Fails if it is not writable or its disk is full, before a join token is spent. */
export async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await access(folder, constants.W_OK)
  const probe = join(folder, PROBE_FILE)
  await writeDurably(probe, 'x'.repeat(ENROLLMENT_BYTES))
  await rm(probe)
}

/** The raw 32 bytes of the public key in base64url, the format that enrollment sends. */
export function publicKeyText(key: KeyObject): string {
  const { x } = createPublicKey(key).export({ format: 'jwk' })
  if (x === undefined) throw new Error('The key has no raw public key.')
  return x
}

export async function saveNode(folder: string, node: NodeFile, keys: NodeKeys): Promise<void> {
  const files = keyFiles(node)
  await writeDurably(join(folder, files.identity), pem(keys.identityKey))
  await writeDurably(join(folder, files.encryption), pem(keys.encryptionKey))
  await reserveStartCount(folder)
  await writeDurably(join(folder, NODE_FILE), `${encodeOpen(node, 2)}\n`)
  const current = Object.values(files)
  for (const name of await readdir(folder))
    if (KEY_FILE.test(name) && !current.includes(name)) await rm(join(folder, name))
}

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

/**
 * Names of the key files of an enrollment. The node id comes from the server, so it is checked before it is used in a
 * path.
 */
function keyFiles({ nodeId, generation }: NodeFile): { identity: string; encryption: string } {
  if (!isNodeId(nodeId)) throw new Error('The node id of the server is malformed.')
  const enrollment = `${nodeId}-${generation}`
  return { identity: `identity-${enrollment}.pem`, encryption: `encryption-${enrollment}.pem` }
}

/** Loads the node's state; undefined if no node is enrolled in the folder. */
export async function loadNodeState(folder: string): Promise<NodeState | undefined> {
  const text = await readIfExists(join(folder, NODE_FILE))
  if (text === undefined) return undefined
  const node = decodeOpen(nodeFileShape, JSON.parse(text))
  const { identity, encryption } = keyFiles(node)
  return {
    ...node,
    identityKey: createPrivateKey(await readFile(join(folder, identity), 'utf8')),
    encryptionKey: createPrivateKey(await readFile(join(folder, encryption), 'utf8')),
  }
}

/** Saves `closedBut` and rewrites no other field, because an operator may have edited the labels in the file. */
export async function saveClosedBut(folder: string, closedBut: readonly string[] | undefined): Promise<void> {
  const path = join(folder, NODE_FILE)
  const { closedBut: _before, ...node } = decodeOpen(nodeFileShape, JSON.parse(await readFile(path, 'utf8')))
  const kept = closedBut === undefined ? node : { ...node, closedBut }
  await writeDurably(path, `${encodeOpen(kept, 2)}\n`)
}
