// Keeps the secret ids of this process valid while it serves: checks them in intervals, logs what needs an operator and
// publishes their expiry.

import { expiryStage, wholeDays } from '../../config/certificate-files.ts'
import type { LiveSecrets } from '../../config/live-secrets.ts'
import { identitiesOf } from '../../config/schema.ts'
import { withSecretId } from '../../connect-engines.ts'
import { checkSecretId, type RenewalDeps, type SecretIdCheck } from './renew-secret-id.ts'
import { openSecretIdFile } from './secret-id-file.ts'

const CHECK_MS = 600_000

type Log = (fields: object, message: string) => void
interface KeeperLog {
  readonly info: Log
  readonly warn: Log
  readonly error: Log
}

export interface SecretIdKeeper {
  /** The expiry of each identity's secret id in seconds since 1970, as the last successful check saw it. */
  expiries(): ReadonlyMap<string, number>
  /** Checks now and then in intervals, until the process ends. */
  start(): void
}

export interface Kept extends RenewalDeps {
  readonly identity: 'api' | 'broker'
}

export function keepSecretIds(secrets: LiveSecrets, log: KeeperLog): SecretIdKeeper {
  // The identities of the roles of this process: another process may use the same configuration for other roles.
  const kept = identitiesOf(secrets.config.roles).flatMap((identity) => keptIdentity(identity, secrets))
  const keeper = createSecretIdKeeper(kept, log)
  const check = (): void => void keeper.check()
  return {
    expiries: keeper.expiries,
    start() {
      check()
      setInterval(check, CHECK_MS).unref()
    },
  }
}

function keptIdentity(identity: 'api' | 'broker', { config, useSecretId }: LiveSecrets): Kept[] {
  const given = config.secretsStore[identity]
  if (given === undefined) return []
  const file = given.secretIdFile === undefined ? undefined : openSecretIdFile(given.secretIdFile)
  return [
    {
      identity,
      file,
      current: () => given.secretId,
      loggedIn: (secretId, work) => withSecretId(config, identity, secretId, work),
      use: (next) => useSecretId(identity, next),
      now: Date.now,
    },
  ]
}

export function createSecretIdKeeper(kept: readonly Kept[], log: KeeperLog) {
  const expiries = new Map<string, number>()
  const logged = new Map<string, string>()
  let running: Promise<unknown> | undefined
  const checkOne = async (one: Kept): Promise<void> => {
    const { identity } = one
    const check = await checkSecretId(one).catch(failedBy)
    if (check.kind !== 'failed') {
      if (check.expiresAtMs === undefined) expiries.delete(identity)
      else expiries.set(identity, Math.floor(check.expiresAtMs / 1000))
    }
    if (check.kind === 'renewed') log.info({ identity }, 'secret id renewed')
    raiseAlarm(check, { ...one, knownSeconds: expiries.get(identity) }, logged, log)
  }
  return {
    expiries: () => expiries,
    /** A check that takes longer than the interval is not started again. */
    async check(): Promise<void> {
      running ??= Promise.all(kept.map(checkOne)).finally(() => {
        running = undefined
      })
      await running
    },
  }
}

const failedBy = (error: unknown): SecretIdCheck => ({ kind: 'failed', step: 'file', why: String(error) })

/** Logs a secret id when its state changes, so that each alarm is raised once and again after a restart. */
function raiseAlarm(
  check: SecretIdCheck,
  { identity, now, file, knownSeconds }: Kept & { readonly knownSeconds: number | undefined },
  logged: Map<string, string>,
  log: KeeperLog,
): void {
  const nowMs = now()
  const state = stateOf(check, nowMs, knownSeconds)
  if (logged.get(identity) === state) return
  logged.set(identity, state)
  if (check.kind === 'failed') {
    const { step, why } = check
    const text = 'secret id not checked or not renewed, retrying; see the doctor'
    if (isUrgent(state)) log.error({ identity, step, why }, text)
    else log.warn({ identity, step, why }, text)
  } else if (check.expiresAtMs === undefined)
    log.warn({ identity }, 'secret id never expires, replace it: docs/guides/configuration.md')
  else if (state !== 'valid') {
    const expiresAt = new Date(check.expiresAtMs).toISOString()
    const fields = { identity, file: file?.path, expiresAt, days: wholeDays(check.expiresAtMs, nowMs) }
    const text = 'secret id expires soon, renew it by hand'
    if (isUrgent(state)) log.error(fields, text)
    else log.warn(fields, text)
  } else if (!check.isOwn)
    log.info(
      { identity, file: file?.path },
      'secret id is not renewed by this process, its file is read-only',
    )
}

const isUrgent = (state: string): boolean => /\b(week|expired)$/.test(state)

/** While a process renews its secret id, no stage of the expiry is an alarm; a failed check has that of the known expiry. */
function stateOf(check: SecretIdCheck, nowMs: number, knownSeconds: number | undefined): string {
  if (check.kind !== 'failed' && check.expiresAtMs === undefined) return 'unlimited'
  if (check.kind !== 'failed') return check.isOwn ? 'valid' : expiryStage(check.expiresAtMs ?? 0, nowMs)
  const stage = knownSeconds === undefined ? 'unknown' : expiryStage(knownSeconds * 1000, nowMs)
  return `failed ${check.step} ${check.why} ${stage}`
}
