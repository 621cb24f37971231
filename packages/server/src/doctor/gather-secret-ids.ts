// Observes the secret ids of the configuration for the doctor: their expiry, and whether a process may replace their files.

import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from '../config/schema.ts'
import { withSecretId } from '../connect-engines.ts'
import { seen, unobserved } from './finding.ts'
import type { SecretIdObserved } from './judge-secret-ids.ts'

export async function gatherSecretIds(config: Config): Promise<SecretIdObserved[]> {
  const observed: SecretIdObserved[] = []
  for (const identity of ['api', 'broker'] as const) {
    const given = config.secretsStore[identity]
    if (given === undefined) continue
    const { secretId, secretIdFile } = given
    const found = await withSecretId(config, identity, secretId, (calls) => calls.lookUp(secretId))
    const why = found.kind === 'unavailable' ? `the secrets store: ${found.cause}` : found.kind
    const lifetime = found.kind === 'found' ? seen(found) : unobserved(why)
    observed.push({
      identity,
      lifetime,
      isRenewed: secretIdFile !== undefined && ownsFolder(secretIdFile),
    })
  }
  return observed
}

/** The doctor runs as root, which may write everywhere, so the owners of file and folder are compared. */
function ownsFolder(path: string): boolean {
  const [file, folder] = [path, dirname(path)].map((each) => statSync(each, { throwIfNoEntry: false }))
  return file !== undefined && folder !== undefined && file.uid === folder.uid && (folder.mode & 0o200) !== 0
}
