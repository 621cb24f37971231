// Checks whether a registry has a manifest for an image reference, and returns the digest. Sends HEAD first, and GET if
// the answer to HEAD is incomplete. An image is absent only after a 404 of the registry itself.

import { createHash } from 'node:crypto'
import { defined } from '@holdfast/contract'
import { isDigest, isRepository, isTag } from '@holdfast/core'
import type {
  ManifestAnswer,
  ManifestQuery,
  Registry,
  RegistryCredential,
  RegistryEntry,
  UnreachableCause,
} from '../../ports/registry.ts'
import { type AllowedRegistry, buildAllowList, closeAllowList } from './allow-list.ts'
import { explainStatus, resolveAuthorization } from './authorize.ts'
import { type ExchangeAnswer, exchange } from './http-exchange.ts'
import { type Resolve, resolveBySystem } from './pinned-lookup.ts'

export interface RegistryClientOptions {
  readonly allowList: readonly RegistryEntry[]
  /** Deadline for the complete check: name resolution, tokens, HEAD and GET. */
  readonly deadlineMs?: number
  readonly capBytes?: number
  readonly resolve?: Resolve
}

const ACCEPT = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')
const ABSENT_CODES: readonly unknown[] = ['MANIFEST_UNKNOWN', 'NAME_UNKNOWN', 'NOT_FOUND']

type SendResult = ExchangeAnswer | { readonly kind: 'unreachable'; readonly cause: UnreachableCause }
type Send = (method: 'HEAD' | 'GET') => Promise<SendResult>

export function createRegistryClient(options: RegistryClientOptions): Registry {
  const { allowList, deadlineMs = 3000, capBytes = 4 * 1024 * 1024, resolve = resolveBySystem } = options
  const registries = buildAllowList(allowList, resolve)
  return {
    checkManifest: async (query, credential) => {
      const registry = registries.get(query.host)
      if (registry === undefined || !isValid(query)) return unreachable('not_allowed')
      const signal = AbortSignal.timeout(deadlineMs)
      return resolveManifest(openSession({ registry, query, credential, signal, capBytes }), query.reference)
    },
    close: () => closeAllowList(registries),
  }
}

/** Checks the repository and the reference again, because the path of the request is built from them. */
function isValid({ repository, reference }: ManifestQuery): boolean {
  return isRepository(repository) && (isTag(reference) || isDigest(reference))
}

interface Session {
  readonly registry: AllowedRegistry
  readonly query: ManifestQuery
  readonly credential: RegistryCredential | undefined
  readonly signal: AbortSignal
  readonly capBytes: number
}

/** Sends the requests of one image check: anonymous ones until the registry's challenge, later ones authorized. */
function openSession(session: Session): Send {
  const { registry, query, signal } = session
  let authorization: string | undefined
  const once = (method: 'HEAD' | 'GET') =>
    exchange(registry.origin, {
      method,
      path: `/v2/${query.repository}/manifests/${query.reference}`,
      headers: { accept: ACCEPT, ...defined({ authorization }) },
      signal,
      capBytes: session.capBytes,
    })
  return async (method) => {
    const first = await once(method)
    if (first.kind === 'failed') return unreachable(first.cause)
    if (first.status !== 401 || authorization !== undefined) return first
    const granted = await resolveAuthorization(first, { ...session, repository: query.repository })
    if (granted.kind === 'refused') return unreachable(granted.cause)
    authorization = granted.value
    const second = await once(method)
    return second.kind === 'failed' ? unreachable(second.cause) : second
  }
}

async function resolveManifest(send: Send, reference: string): Promise<ManifestAnswer> {
  const head = await send('HEAD')
  if (head.kind === 'unreachable') return head
  const digest = digestHeader(head)
  if (head.status === 200 && digest !== undefined) return matching(digest, reference)
  if (![200, 404, 405].includes(head.status)) return unreachable(explainStatus(head.status))
  const get = await send('GET')
  if (get.kind === 'unreachable') return get
  if (get.status === 404) return isRegistryAnswer(get) ? { kind: 'absent' } : unreachable('answer_invalid')
  return get.status === 200 ? checkBody(get, reference) : unreachable(explainStatus(get.status))
}

function digestHeader(answer: ExchangeAnswer): string | undefined {
  const [digest = '', ...others] = answer.headers['docker-content-digest'] ?? []
  return others.length === 0 && isDigest(digest) ? digest : undefined
}

/** Computes the digest of the manifest in the response body, and compares it with the requested or announced digest. */
function checkBody(answer: ExchangeAnswer, reference: string): ManifestAnswer {
  const claimed = digestHeader(answer)
  const expected = isDigest(reference) ? reference : claimed
  const algorithm = expected?.startsWith('sha512:') ? 'sha512' : 'sha256'
  const digest = `${algorithm}:${createHash(algorithm).update(answer.body).digest('hex')}`
  return digest === (expected ?? digest) ? matching(digest, reference) : unreachable('digest_mismatch')
}

function matching(digest: string, reference: string): ManifestAnswer {
  if (isDigest(reference) && reference !== digest) return unreachable('digest_mismatch')
  return { kind: 'exists', digest }
}

/** Whether a 404 is from a registry: it has a version header or error code, which proxies and web servers do not send. */
function isRegistryAnswer(answer: ExchangeAnswer): boolean {
  const version = answer.headers['docker-distribution-api-version']?.[0] ?? ''
  return (
    version.startsWith('registry/') || errorCodes(answer.body).some((code) => ABSENT_CODES.includes(code))
  )
}

function errorCodes(body: Buffer): unknown[] {
  try {
    const { errors }: { errors?: unknown } = Object(JSON.parse(body.toString('utf8')))
    return Array.isArray(errors) ? errors.map((error) => Object(error).code) : []
  } catch {
    // A body that is not JSON is not from a registry, so it has no error codes.
    return []
  }
}

function unreachable(cause: UnreachableCause): { kind: 'unreachable'; cause: UnreachableCause } {
  return { kind: 'unreachable', cause }
}
