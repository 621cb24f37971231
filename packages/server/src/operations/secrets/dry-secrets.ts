// The secrets store of a dry run: it answers reads, remembers the versions that the dry run would write, and writes and
// destroys nothing.

import { canonicalJson } from '@holdfast/contract'
import type { SecretPath, SecretsWriter } from '../../ports/secrets-store.ts'

export function createDrySecrets(secrets: SecretsWriter): SecretsWriter {
  const nothingDone = async () => ({ kind: 'ok' as const })
  /** The newest version of each path that the dry run would have written. */
  const versions = new Map<string, number>()
  const note = (tenant: string, path: SecretPath, cas: number) => {
    versions.set(canonicalJson({ tenant, ...path }), cas + 1)
    return { kind: 'ok' as const, version: cas + 1 }
  }
  return {
    ...secrets,
    provisionTenant: nothingDone,
    removeTenant: nothingDone,
    destroyVersion: nothingDone,
    deleteAll: nothingDone,
    async currentVersion(tenant, path) {
      const found = await secrets.currentVersion(tenant, path)
      const version = versions.get(canonicalJson({ tenant, ...path }))
      if (version === undefined || (found.kind !== 'ok' && found.kind !== 'absent')) return found
      return { kind: 'ok', version, versions: found.kind === 'ok' ? found.versions : [] }
    },
    writeVersion: async (tenant, path, _document, cas) => note(tenant, path, cas),
    patchVersion: async (tenant, path, _document, cas) => note(tenant, path, cas),
  }
}
