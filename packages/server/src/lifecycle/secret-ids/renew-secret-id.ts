// Checks the secret id of one identity, and renews it: issue, try, write to the file, use, destroy the previous one. A crash
// or a failed call between two steps leaves a valid secret id in the file; the next check continues.

import type { Secret } from '../../ports/secret.ts'
import type { SecretIdCalls } from '../../ports/secret-ids.ts'
import type { Denied, Unavailable } from '../../ports/secrets-store.ts'
import { isRenewalDue, planPrevious } from './plan-renewal.ts'
import type { SecretIdFile } from './secret-id-file.ts'

export interface RenewalDeps {
  /** The secret id that this process uses now. */
  current(): Secret
  /** Undefined if the configuration has the secret id itself. */
  readonly file: SecretIdFile | undefined
  /** Logs in with a secret id, and ends the login after the work. */
  loggedIn<T>(secretId: Secret, work: (calls: SecretIdCalls) => Promise<T>): Promise<T>
  use(next: Secret): void
  now(): number
}

/** `isOwn`: this process renews the secret id itself. The expiry is that of the secret id in use after the check. */
export type SecretIdCheck =
  | { readonly kind: 'valid' | 'renewed'; readonly expiresAtMs: number | undefined; readonly isOwn: boolean }
  | { readonly kind: 'failed'; readonly step: string; readonly why: string }

export function checkSecretId(deps: RenewalDeps): Promise<SecretIdCheck> {
  const { file } = deps
  const current = deps.current()
  return deps.loggedIn(current, async (calls) => {
    const facts = await calls.lookUp(current)
    if (facts.kind !== 'found') return failed('look-up', facts)
    const { expiresAtMs } = facts
    if (file?.isReplaceable() !== true) return { kind: 'valid', expiresAtMs, isOwn: false }
    await settlePrevious(current, file, calls)
    if (!isRenewalDue(facts, deps.now())) return { kind: 'valid', expiresAtMs, isOwn: true }
    // Another value in the file is from an operator, who will reload this process.
    if (file.read()?.reveal() !== current.reveal())
      return { kind: 'failed', step: 'comparison', why: 'the file has another secret id' }
    const answer = await calls.issue()
    if (answer.kind !== 'issued') return failed('issue', answer)
    return adopt(answer.secretId, current, { ...deps, file })
  })
}

/** The new secret id is tried by a login of its own, written, used, and then destroys the previous one. */
const adopt = (
  next: Secret,
  previous: Secret,
  { file, loggedIn, use }: RenewalDeps & { readonly file: SecretIdFile },
): Promise<SecretIdCheck> =>
  loggedIn(next, async (calls) => {
    const facts = await calls.lookUp(next)
    if (facts.kind !== 'found') return failed('trial', facts)
    file.replace(previous, next)
    use(next)
    await settlePrevious(next, file, calls)
    return { kind: 'renewed', expiresAtMs: facts.expiresAtMs, isOwn: true }
  })

/** Destroys the secret id that was in use before. The next check repeats a destruction that fails. */
async function settlePrevious(current: Secret, file: SecretIdFile, calls: SecretIdCalls): Promise<void> {
  const previous = file.readPrevious()
  if (previous === undefined) return
  const facts = await calls.lookUp(previous)
  if (facts.kind !== 'found' && facts.kind !== 'absent') return
  const found = facts.kind === 'found' ? facts : facts.kind
  const isInUse = previous.reveal() === current.reveal()
  if (planPrevious({ isInUse, found }) === 'destroy') {
    const done = await calls.destroy(previous)
    if (done.kind !== 'ok') return
  }
  file.forgetPrevious()
}

function failed(
  step: string,
  answer: { readonly kind: 'absent' } | Denied | Unavailable,
): Extract<SecretIdCheck, { kind: 'failed' }> {
  return { kind: 'failed', step, why: answer.kind === 'unavailable' ? answer.cause : answer.kind }
}
