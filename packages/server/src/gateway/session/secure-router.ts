// Decides what a node's record states about mutual TLS between routers, from the hello of the node's agent and the record
// before. See docs/design/routing.md#peer-forwarding

import { X509Certificate } from 'node:crypto'
import { defined, type Hello } from '@holdfast/contract'
import type { StoredNode } from '../../store/records.ts'
import { validPeerAddress } from './peer-address.ts'

type SecureRouter = NonNullable<StoredNode['secureRouter']>

/** The certificate stated last and the one before it, which the router may still present. */
const MAX_CERTIFICATES = 2
/** A certificate of an agent has about 400 bytes. */
const MAX_BASE64 = 2048
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

export interface StatedRouter {
  readonly address: string
  readonly certificate: string
}

/** The secure address and certificate of a hello; undefined if one of them is absent or invalid. */
export function statedRouter(
  { peerAddress, securePeerAddress, peerCertificate }: Hello,
  nowMs: number,
): StatedRouter | undefined {
  const address = validPeerAddress(securePeerAddress)
  if (validPeerAddress(peerAddress) === undefined || address === undefined) return undefined
  const certificate = peerCertificate
  return certificate !== undefined && isCertificate(certificate, nowMs) ? { address, certificate } : undefined
}

/** Whether the text is exactly one certificate of a router: a P-256 key, no authority, and not expired. */
export function isCertificate(text: string, nowMs: number): boolean {
  if (text.length > MAX_BASE64 || !BASE64.test(text)) return false
  const bytes = Buffer.from(text, 'base64')
  try {
    const { raw, publicKey, ca, validTo } = new X509Certificate(bytes)
    const isOne = raw.equals(bytes) && bytes.toString('base64') === text
    const isP256 = publicKey.asymmetricKeyDetails?.namedCurve === 'prime256v1'
    return isOne && isP256 && !ca && Date.parse(validTo) > nowMs
  } catch {
    return false
  }
}

/** True if the node's current session stated a certificate and an address. */
export const isSecure = ({ secureRouter, generation, session }: StoredNode): boolean =>
  secureRouter?.address !== undefined &&
  secureRouter.generation === generation &&
  secureRouter.epoch === session.epoch

/**
 * The state of the record after a hello that opens the next session. Without a stated certificate, the earlier ones stay
 * known: the router may present them until the older agent has loaded its own configuration.
 */
export function nextSecureRouter(
  node: StoredNode,
  stated: StatedRouter | undefined,
  nowMs: number,
  plainMs: number,
): SecureRouter | undefined {
  const { generation, secureRouter } = node
  const before = secureRouter?.generation === generation ? secureRouter : undefined
  const known = before?.certificates ?? []
  const at = { generation, epoch: node.session.epoch + 1 }
  if (stated === undefined) return known.length === 0 ? undefined : { ...at, certificates: known }
  const { address, certificate } = stated
  const others = known.filter((one) => one !== certificate)
  return {
    ...at,
    address,
    certificates: [certificate, ...others].slice(0, MAX_CERTIFICATES),
    ...defined({ plainUntil: plainUntil(node, nowMs, plainMs) }),
  }
}

/** A router that forwarded by plain HTTP until now may be set back to that; one that is new never did. */
function plainUntil(node: StoredNode, nowMs: number, plainMs: number): string | undefined {
  if (isSecure(node)) return node.secureRouter?.plainUntil
  return node.peerAddress === undefined ? undefined : new Date(nowMs + plainMs).toISOString()
}
