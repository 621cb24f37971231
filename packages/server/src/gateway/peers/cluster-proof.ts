// Authenticates requests between server replicas: an HMAC with the shared cluster key over the whole request, a timestamp
// and a nonce. `Authorization: Cluster <ms>.<nonce>.<hmac>`

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../ports/clock.ts'
import type { Secret } from '../../ports/secret.ts'

export interface ProvenRequest {
  readonly method: string
  readonly path: string
  readonly body: string
}

const WINDOW_MS = 30_000
const PROOF = /^Cluster (\d{1,16})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/

export function proveRequest(key: Secret, clock: Clock, request: ProvenRequest): string {
  const at = String(clock.now())
  const nonce = randomBytes(16).toString('base64url')
  return `Cluster ${at}.${nonce}.${hmacOf(key, request, at, nonce)}`
}

function hmacOf(key: Secret, { method, path, body }: ProvenRequest, at: string, nonce: string): string {
  return createHmac('sha256', key.reveal())
    .update(JSON.stringify(['holdfast-cluster-v1', method, path, at, nonce, body]))
    .digest('base64url')
}

/** The head of a request with a body. It is proven apart from the body, so that a large body is read only if it is proven. */
export interface ProvenHead {
  readonly method: string
  readonly path: string
  /** The proof of the whole request, to which the proof of the head belongs. */
  readonly authorization: string
  readonly bytes: number
}

export const HEAD_PROOF = 'x-holdfast-head'

export const proveHead = (key: Secret, { method, path, authorization, bytes }: ProvenHead): string =>
  createHmac('sha256', key.reveal())
    .update(JSON.stringify(['holdfast-cluster-head-v1', method, path, authorization, bytes]))
    .digest('base64url')

/** `unproven`: without proof of the head, as older server replicas send it; only the whole request can be checked. */
export type HeadVerdict = 'proven' | 'unproven' | 'refused'

export type JudgeHead = (head: ProvenHead, proof: string | undefined) => HeadVerdict

export const createHeadCheck =
  (key: Secret, clock: Clock): JudgeHead =>
  (head, proof) => {
    const [, at = ''] = PROOF.exec(head.authorization) ?? []
    if (at === '' || Math.abs(clock.now() - Number(at)) > WINDOW_MS) return 'refused'
    if (proof === undefined) return 'unproven'
    const [expected, received] = [Buffer.from(proveHead(key, head)), Buffer.from(proof)]
    return expected.length === received.length && timingSafeEqual(expected, received) ? 'proven' : 'refused'
  }

/** Checks proofs and accepts each proof only once: nonces are kept for as long as their timestamps are accepted. */
export function createProofCheck(key: Secret, clock: Clock) {
  const seen = new Map<string, number>()
  return (authorization: string | undefined, request: ProvenRequest): boolean => {
    const [, at = '', nonce = '', received = ''] = PROOF.exec(authorization ?? '') ?? []
    const now = clock.now()
    if (received === '' || Math.abs(now - Number(at)) > WINDOW_MS) return false
    const expected = hmacOf(key, request, at, nonce)
    if (!timingSafeEqual(Buffer.from(expected), Buffer.from(received)) || seen.has(nonce)) return false
    for (const [old, until] of seen) {
      if (until >= now) break
      seen.delete(old)
    }
    seen.set(nonce, now + 2 * WINDOW_MS)
    return true
  }
}
