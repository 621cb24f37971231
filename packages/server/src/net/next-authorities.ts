// Reads the roots to which the certificate of the listener will change. They are announced to nodes before. See
// docs/design/certificates.md#the-next-authority

import { MAX_AUTHORITIES } from '@holdfast/contract'
import { isRoot, pinOf, readCertificates } from './certificate-chain.ts'

export interface NextAuthority {
  readonly pem: string
  /** The fingerprint by which nodes confirm it. */
  readonly pin: string
}

/** A node keeps the roots of earlier announcements as well. */
const MAX_ANNOUNCED = MAX_AUTHORITIES / 2

/** Throws an error for the operator if the text is anything but a few roots that are valid now. */
export function readNextAuthorities(pem: string | undefined, nowMs: number): readonly NextAuthority[] {
  if (pem === undefined) return []
  const found = readCertificates(pem)
  if (found.length > MAX_ANNOUNCED)
    throw new Error(`${found.length} certificates, and at most ${MAX_ANNOUNCED} can be announced`)
  return found.map((one) => {
    const subject = one.subject.replaceAll('\n', ', ')
    if (!isRoot(one)) throw new Error(`${subject} is no root: it is signed by another certificate`)
    if (one.validToDate.getTime() <= nowMs) throw new Error(`${subject} has expired`)
    return { pem: one.toString(), pin: pinOf(one) }
  })
}

/** Reads the announced roots of a pair once for each text. A faulty text announces nothing, and `onFault` is called once. */
export function createAnnouncement(
  served: () => { readonly next?: string | undefined } | undefined,
  nowMs: () => number,
  onFault: (why: string) => void,
): () => readonly NextAuthority[] {
  let text: string | undefined
  let announced: readonly NextAuthority[] = []
  return () => {
    const next = served()?.next
    if (next === text) return announced
    text = next
    try {
      announced = readNextAuthorities(next, nowMs())
    } catch (error) {
      announced = []
      onFault(error instanceof Error ? error.message : String(error))
    }
    return announced
  }
}
