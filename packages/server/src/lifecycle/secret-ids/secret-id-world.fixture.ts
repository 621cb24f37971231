// For tests only: an AppRole in memory and the file of its secret id in a temporary folder. A test can lose answers.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Secret, secret } from '../../ports/secret.ts'
import type { SecretIdCalls, SecretIdLookUp, SecretIdOwner } from '../../ports/secret-ids.ts'
import type { Unavailable } from '../../ports/secrets-store.ts'
import type { Kept } from './keep-secret-ids.ts'
import { openSecretIdFile } from './secret-id-file.ts'

export const DAY_MS = 86_400_000
const LOST: Unavailable = { kind: 'unavailable', cause: 'timeout', applied: 'unknown' }

interface Issued {
  readonly createdAtMs: number
  readonly expiresAtMs: number | undefined
  readonly owner: SecretIdOwner
}

export function openSecretIdWorld(days: number | 'unlimited' = 90, owner: SecretIdOwner = 'process') {
  const path = join(mkdtempSync(join(tmpdir(), 'secret-id-')), 'api-secret-id')
  const issued = new Map<string, Issued>()
  const lost = new Set<keyof SecretIdCalls>()
  let nowMs = 0
  let inUse = secret('first')
  const lifetime = (by: SecretIdOwner): Issued => ({
    createdAtMs: nowMs,
    expiresAtMs: days === 'unlimited' ? undefined : nowMs + days * DAY_MS,
    owner: by,
  })
  issued.set('first', lifetime(owner))
  writeFileSync(path, 'first\n')
  const find = (of: Secret): Issued | undefined => {
    const found = issued.get(of.reveal())
    return found?.expiresAtMs !== undefined && found.expiresAtMs <= nowMs ? undefined : found
  }
  const refused: Unavailable = { kind: 'unavailable', cause: 'login_refused', applied: 'no' }
  const callsOf = (login: Secret): SecretIdCalls => {
    const guarded = async <T>(call: keyof SecretIdCalls, work: () => T): Promise<T | Unavailable> => {
      if (find(login) === undefined) return refused
      const answer = work()
      return lost.has(call) ? LOST : answer
    }
    return {
      lookUp: (of) =>
        guarded('lookUp', (): SecretIdLookUp => {
          const found = find(of)
          return found === undefined ? { kind: 'absent' } : { kind: 'found', ...found }
        }),
      issue: () =>
        guarded('issue', () => {
          const value = `issued-${issued.size}`
          issued.set(value, lifetime('process'))
          return { kind: 'issued', secretId: secret(value) } as const
        }),
      destroy: (of) =>
        guarded('destroy', () => {
          issued.delete(of.reveal())
          return { kind: 'ok' } as const
        }),
    }
  }
  const file = openSecretIdFile(path)
  const deps: Kept = {
    identity: 'api',
    file,
    current: () => inUse,
    loggedIn: (login, work) => work(callsOf(login)),
    use(next) {
      inUse = next
    },
    now: () => nowMs,
  }
  return {
    ...{ path, file, deps, lost },
    inFile: () => readFileSync(path, 'utf8').trim(),
    inUse: () => inUse.reveal(),
    valid: () => [...issued.keys()].filter((value) => find(secret(value)) !== undefined),
    atDay(day: number) {
      nowMs = day * DAY_MS
    },
    /** As after a start: the process uses the content of the file. */
    restart() {
      inUse = file.read() ?? secret('')
    },
  }
}
