// A ticket to run one command: 32 random bytes that only the caller receives. The store has the hash of those bytes, and
// the command, encrypted with a key derived from them.

import { createCipheriv, createDecipheriv, hash, hkdfSync, timingSafeEqual } from 'node:crypto'
import {
  type AssignmentId,
  boolean,
  branded,
  decodeOpen,
  encodeOpen,
  type Infer,
  integer,
  list,
  type NodeId,
  object,
  string,
} from '@holdfast/contract'
import type { IdSource } from '../../../ports/clock.ts'

export const EXEC_TICKET_MS = 30_000

const SECRET_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const INFO = 'holdfast-exec-ticket-v1'

export const execOrderShape = object({
  assignmentId: branded<AssignmentId>(),
  nodeId: branded<NodeId>(),
  replica: integer(),
  command: list(string()),
  tty: boolean(),
})
export type ExecOrder = Infer<typeof execOrderShape>

export interface MintedTicket {
  readonly text: string
  readonly secretHash: string
  readonly sealed: string
}

export function mintExecTicket(ids: IdSource, order: ExecOrder): MintedTicket {
  const secret = Buffer.from(ids.bytes(SECRET_BYTES))
  const nonce = Buffer.from(ids.bytes(NONCE_BYTES))
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret), nonce)
  const sealed = Buffer.concat([cipher.update(encodeOpen(order), 'utf8'), cipher.final()])
  return {
    text: secret.toString('base64url'),
    secretHash: hash('sha256', secret, 'hex'),
    sealed: Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url'),
  }
}

/** Decrypts the command of an exec ticket; undefined if the command was encrypted with another ticket. */
export function openExecTicket(
  text: string,
  { secretHash, sealed }: Pick<MintedTicket, 'secretHash' | 'sealed'>,
): ExecOrder | undefined {
  const secret = Buffer.from(text, 'base64url')
  const known = Buffer.from(secretHash, 'hex')
  const given = hash('sha256', secret, 'buffer')
  if (known.length !== given.length || !timingSafeEqual(known, given)) return undefined
  const bytes = Buffer.from(sealed, 'base64url')
  const opener = createDecipheriv('aes-256-gcm', keyOf(secret), bytes.subarray(0, NONCE_BYTES))
  opener.setAuthTag(bytes.subarray(-TAG_BYTES))
  const order = Buffer.concat([opener.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), opener.final()])
  return decodeOpen(execOrderShape, JSON.parse(order.toString('utf8')))
}

const keyOf = (secret: Buffer): Buffer => Buffer.from(hkdfSync('sha256', secret, '', INFO, 32))
