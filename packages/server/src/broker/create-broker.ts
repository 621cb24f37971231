// The broker: the one role that reads secret data. DECISIONS 8 (last points), SAFETY 2 rows 10 and 26. It asks the
// registry on the API's behalf with the tenant's own credential, which is read here, used here and forgotten here.

import { performance } from 'node:perf_hooks'
import type { TenantId } from '@holdfast/contract'
import { type ImageReference, parseImageReference } from '@holdfast/core'
import type { Broker, ImageAnswer } from '../ports/broker.ts'
import type { Registry, RegistryCredential } from '../ports/registry.ts'
import type { SecretDocument, SecretsReader } from '../ports/secrets-store.ts'
import { createAnswerCache } from './answer-cache.ts'

export interface BrokerDeps {
  readonly secretsStore: Pick<SecretsReader, 'readVersion'>
  readonly registry: Pick<Registry, 'checkManifest'>
  readonly nowMs?: () => number
  /** Answers kept at the most. */
  readonly cacheCapacity?: number
}

const KEEP_MS = 10_000
/** Who is told to push the image pushes it and asks again: "absent" must not outlive that. */
const KEEP_ABSENT_MS = 1_000

type CredentialResult =
  | { readonly kind: 'ok'; readonly credential?: RegistryCredential }
  | { readonly kind: 'none' }

export function createBroker(deps: BrokerDeps): Broker {
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
      return answers.of(key, async () => {
        const found = await resolveCredential(deps, tenant, parsed, credentialVersion)
        if (found.kind === 'none') return { kind: 'credentials_unavailable' }
        return deps.registry.checkManifest(query, found.credential)
      })
    },
    readCredential: async (tenant, host, version) => {
      const credential = await credentialAt(deps, tenant, host, version)
      if (credential === undefined) throw new Error(`the credential for ${host} does not answer`)
      return credential
    },
  }
}

function keepMs(answer: ImageAnswer): number {
  if (answer.kind === 'credentials_unavailable') return 0
  return answer.kind === 'absent' ? KEEP_ABSENT_MS : KEEP_MS
}

/** A credential that the tenant has and that does not answer is never replaced by an anonymous call. */
async function resolveCredential(
  deps: BrokerDeps,
  tenant: TenantId,
  image: ImageReference,
  version: number | undefined,
): Promise<CredentialResult> {
  if (version === undefined) return { kind: 'ok' }
  const credential = await credentialAt(deps, tenant, image.host, version)
  return credential === undefined ? { kind: 'none' } : { kind: 'ok', credential }
}

async function credentialAt(
  { secretsStore }: BrokerDeps,
  tenant: TenantId,
  registryHost: string,
  version: number,
): Promise<RegistryCredential | undefined> {
  const read = await secretsStore.readVersion(tenant, { registryHost }, version)
  return read.kind === 'ok' ? credentialIn(read.document) : undefined
}

function credentialIn(document: SecretDocument): RegistryCredential | undefined {
  const username = document.get('username')?.reveal()
  const password = document.get('password')
  return username === undefined || password === undefined ? undefined : { username, password }
}
