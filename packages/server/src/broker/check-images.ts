// Checks on behalf of the API whether a registry has an image, with the tenant's own credential. The credential is never
// returned to the API.

import { performance } from 'node:perf_hooks'
import type { TenantId } from '@holdfast/contract'
import { parseImageReference } from '@holdfast/core'
import type { Broker, ImageAnswer } from '../ports/broker.ts'
import type { Registry } from '../ports/registry.ts'
import { createAnswerCache } from './answer-cache.ts'
import { type CredentialSource, readCredential } from './read-credential.ts'

export interface ImageCheckDeps {
  readonly secretsStore: CredentialSource
  readonly registry: Pick<Registry, 'checkManifest'>
  readonly nowMs?: () => number
  /** Maximum number of cached results of image checks. */
  readonly cacheCapacity?: number
}

const KEEP_MS = 10_000
/** Time to cache the result "absent". It is short, because the user will push the missing image and try again. */
const KEEP_ABSENT_MS = 1_000

export function createImageChecks(deps: ImageCheckDeps): Pick<Broker, 'checkImage'> {
  const { nowMs = () => performance.now(), cacheCapacity = 10_000 } = deps
  const answers = createAnswerCache<ImageAnswer>({ nowMs, keepMs, capacity: cacheCapacity })
  return {
    checkImage: async (tenant, image, credentialVersion) => {
      const parsed = parseImageReference(image)
      const reference = parsed?.digest ?? parsed?.tag
      if (parsed === undefined || reference === undefined)
        return { kind: 'unreachable', cause: 'not_allowed' }
      const query = { host: parsed.host, repository: parsed.repository, reference }
      const key = [tenant, credentialVersion ?? '-', query.host, query.repository, reference].join(' ')
      return answers.of(key, () => askRegistry(deps, tenant, query, credentialVersion))
    },
  }
}

function keepMs(answer: ImageAnswer): number {
  if (answer.kind === 'credentials_unavailable') return 0
  return answer.kind === 'absent' ? KEEP_ABSENT_MS : KEEP_MS
}

/** Asks the registry. If the tenant's credential cannot be read, the check fails; no anonymous request is sent. */
async function askRegistry(
  { secretsStore, registry }: ImageCheckDeps,
  tenant: TenantId,
  query: Parameters<Registry['checkManifest']>[0],
  version: number | undefined,
): Promise<ImageAnswer> {
  if (version === undefined) return registry.checkManifest(query)
  const credential = await readCredential(secretsStore, tenant, query.host, version)
  return credential === undefined
    ? { kind: 'credentials_unavailable' }
    : registry.checkManifest(query, credential)
}
