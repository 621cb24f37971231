// Enrolls a machine as a node: creates keys like those of an agent and a join token, and sends the enrollment request.

import { generateKeyPairSync } from 'node:crypto'
import { type ApiAnswer, type ApiClient, createApiClient } from '../platform/api-client.ts'

type Parts = { readonly [field: string]: unknown }

const rawKey = (kind: 'ed25519' | 'x25519'): string =>
  String(
    (kind === 'ed25519' ? generateKeyPairSync(kind) : generateKeyPairSync(kind)).publicKey.export({
      format: 'jwk',
    }).x,
  )

export const newKeys = () => ({ publicKey: rawKey('ed25519'), encryptionKey: rawKey('x25519') })

/** A valid enrollment body with parts replaced; an undefined part is omitted. */
export const enrollment = (nodeName: string, joinToken: string, parts: Parts = {}): Parts => ({
  nodeName,
  joinToken,
  ...newKeys(),
  labels: {},
  engine: { version: '29.5.1', apiVersion: '1.56' },
  capacity: { cpuMillis: 4000, memoryBytes: 8 * 2 ** 30 },
  ...parts,
})

export async function joinToken(api: ApiClient, nodeName: string, parts: Parts = {}): Promise<string> {
  const { status, body, text } = await api.post('/api/v1/nodes/join-tokens', { nodeName, ...parts })
  if (status !== 201) throw new Error(`no join token: ${text}`)
  return String(body['token'])
}

/** Sends an enrollment without an API token, as a machine does. */
export const enroll = (baseUrl: string, body: unknown): Promise<ApiAnswer> =>
  createApiClient(baseUrl, undefined).post('/api/v1/nodes/enroll', body)

/** Enrolls a new node for the tenant of the client `api` and returns the node's id. */
export async function makeNode(
  baseUrl: string,
  api: ApiClient,
  nodeName: string,
  { token = {}, sent = {} }: { readonly token?: Parts; readonly sent?: Parts } = {},
): Promise<string> {
  const made = await enroll(baseUrl, enrollment(nodeName, await joinToken(api, nodeName, token), sent))
  if (made.status !== 201) throw new Error(`enrollment failed: ${made.text}`)
  return String(made.body['nodeId'])
}
