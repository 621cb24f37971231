// Asks a registry on the API's behalf whether it has an image, with the tenant's own credential, which is read here, used
// here and forgotten here. DECISIONS 8 (last points), SAFETY 2 rows 10 and 26.

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
  /** Answers kept at the most. */
  readonly cacheCapacity?: number
}

const KEEP_MS = 10_000
/** Who is told to push the image pushes it and asks again: "absent" must not outlive that. */
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

/** A credential that the tenant has and that does not answer is never replaced by an anonymous call. */
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
