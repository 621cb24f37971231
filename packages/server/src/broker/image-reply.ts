// Encodes the result of an image check for the call between two server processes. Only known values are accepted.

import { type Infer, object, oneOf, optional, string } from '@holdfast/contract'
import type { ImageAnswer } from '../ports/broker.ts'
import { UNREACHABLE_CAUSES } from '../ports/registry.ts'

export const imageReplyShape = object({
  kind: oneOf(['exists', 'absent', 'unreachable', 'credentials_unavailable']),
  digest: optional(string()),
  cause: optional(oneOf(UNREACHABLE_CAUSES)),
})
export type ImageReply = Infer<typeof imageReplyShape>

const DIGEST = /^sha256:[0-9a-f]{64}$/

/** Decodes the result of an image check; returns undefined for a reply that no broker sends. */
export function imageAnswerOf({ kind, digest, cause }: ImageReply): ImageAnswer | undefined {
  if (kind === 'exists') return digest !== undefined && DIGEST.test(digest) ? { kind, digest } : undefined
  if (kind === 'unreachable') return cause === undefined ? undefined : { kind, cause }
  return { kind }
}
