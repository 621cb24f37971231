// Checks references to secrets: within a tenant a label belongs to one namespace, and a credential on which a mounted
// volume depends must not be removed.

import {
  type DeploymentSpec,
  elementPath,
  type Rejection,
  type SecretEntry,
  type Warning,
} from '@holdfast/contract'
import { safeKey } from '../../credentials/index.ts'
import { reject } from '../../reject.ts'
import { anchorVolume } from '../../secrets/anchor.ts'
import type { SentMaterial } from '../../secrets/material.ts'
import { warnOfDroppedKeys } from '../../secrets/plan-write.ts'
import { credentialPath } from '../../secrets/vault-path.ts'
import type { ExistingFact, Facts } from './facts.ts'

type Credentials = Facts['credentials']

export function checkSecretFacts(
  spec: DeploymentSpec,
  credentials: Credentials,
  existing: ExistingFact | undefined,
): Rejection[] {
  return [...checkAnchored(spec, existing?.record.secrets ?? []), ...checkNamespaces(spec, credentials)]
}

function checkNamespaces({ secrets }: DeploymentSpec, credentials: Credentials): Rejection[] {
  return secrets.flatMap(({ vault_path }, index) => {
    const { namespace, label } = credentialPath(vault_path)
    const bound = credentials?.get(label)?.namespace ?? namespace
    if (bound === namespace) return []
    const field = `${elementPath('secrets', index)}.vault_path`
    return [reject('secret_path_namespace_split', field, vault_path, { namespace: bound, label })]
  })
}

/** Rejects removing a secret entry on which a volume depends, unless the same update removes the volume. */
function checkAnchored(spec: DeploymentSpec, stored: readonly SecretEntry[]): Rejection[] {
  const mounted = new Set(spec.volumes?.map(({ volume }) => volume))
  return stored.flatMap((before) => {
    const volume = anchorVolume(before.anchor)
    if (volume === undefined || !mounted.has(volume)) return []
    const index = spec.secrets.findIndex(({ name }) => name === before.name)
    const after = spec.secrets[index]
    if (after === undefined || after.anchor !== before.anchor) {
      return [
        reject('anchored_secret_dropped', 'secrets', spec.secrets, { name: safeKey(before.name), volume }),
      ]
    }
    if (after.vault_path === before.vault_path) return []
    const field = `${elementPath('secrets', index)}.vault_path`
    return [reject('anchored_secret_repointed', field, after.vault_path, { path: before.vault_path, volume })]
  })
}

/**
 * Reports `generate` blocks without effect, because existing secret values may be in use, and sent values that leave out
 * keys of the version before.
 */
export function explainExisting(
  { secrets }: DeploymentSpec,
  credentials: Credentials,
  material: readonly SentMaterial[],
): Warning[] {
  return material.flatMap(({ namespace, label, values, generate }): Warning[] => {
    const { newest = null, initial = null, newestKeys: keys = [] } = credentials?.get(label) ?? {}
    const path = `${namespace}/${label}`
    const entry = elementPath(
      'secrets',
      secrets.findIndex(({ vault_path }) => vault_path === path),
    )
    const before = newest === null || values.size === 0 ? undefined : { version: newest, keys }
    const dropped = warnOfDroppedKeys(before, [...values.keys()], `${entry}.values`)
    if (generate === undefined || (newest === null && initial === null)) return dropped
    const why = `${path} already has material, so nothing was generated. To replace it, write or rotate it.`
    return [{ code: 'secret_exists', field: `${entry}.generate`, why }, ...dropped]
  })
}
