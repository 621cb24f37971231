// Asks each etcd member over a new connection, to find out whether it and this process accept each other's certificates.

import { type Client, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import type { ClientTls } from '../../ports/client-tls.ts'
import { makeCredentials, openChannel, parseAddress } from './channel.ts'
import { encodeRangeRequest } from './codec/encode-requests.ts'

const DEADLINE_MS = 5_000
/** A read that costs nothing: no store has this key. An etcd with users refuses it, which is an answer as well. */
const NO_KEY = encodeRangeRequest({ key: '/', serializable: true, keysOnly: true, limit: 1 })
/** Codes of calls that reached no member. With TLS 1.3 a refused client certificate ends the connection after the handshake. */
const NO_ANSWER: ReadonlySet<number> = new Set([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
])

/** The number of members that answer with these certificates. */
export async function countAccepting(
  endpoints: readonly string[],
  tls: ClientTls,
  deadlineMs = DEADLINE_MS,
): Promise<number> {
  const answers = await Promise.all(endpoints.map((endpoint) => isAccepted(endpoint, tls, deadlineMs)))
  return answers.filter(Boolean).length
}

async function isAccepted(endpoint: string, tls: ClientTls, deadlineMs: number): Promise<boolean> {
  const address = parseAddress(endpoint, tls)
  const client = openChannel(address, makeCredentials(address, tls))
  try {
    return await isAnswered(client, deadlineMs)
  } finally {
    client.close()
  }
}

function isAnswered(client: Client, deadlineMs: number): Promise<boolean> {
  const same = (bytes: Buffer) => bytes
  return new Promise((resolve) => {
    const settle = (error: ServiceError | null) => resolve(error === null || !NO_ANSWER.has(error.code))
    const options = { deadline: Date.now() + deadlineMs }
    client.makeUnaryRequest('/etcdserverpb.KV/Range', same, same, NO_KEY, new Metadata(), options, settle)
  })
}
