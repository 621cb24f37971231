// Watches the certificate files of the configuration: a changed certificate of the listener is served without a signal, and the
// log names each certificate that is about to expire.

import {
  certificateFiles,
  type ExpiryStage,
  expiryOf,
  expiryStage,
  wholeDays,
} from '../config/certificate-files.ts'
import type { Config } from '../config/schema.ts'

type Log = (fields: object, message: string) => void

export interface CertificateWatchDeps {
  /** The configuration as it was loaded last. */
  readonly config: () => Config
  /** Throws if the file is unreadable. */
  readonly read: (path: string) => string
  readonly now: () => number
  readonly log: { readonly warn: Log; readonly error: Log }
  /** Serves the listener's files as they are now. */
  readonly reloadCertificate: () => void
  /** Whether the files were refused when they were last loaded. */
  readonly isRefused: () => boolean
}

/** Returns the function that checks once. The first call only remembers the files that the listener already serves. */
export function createCertificateWatch(deps: CertificateWatchDeps): () => void {
  const { read, reloadCertificate } = deps
  const stages = new Map<string, ExpiryStage | 'unreadable'>()
  let before: string | undefined
  return () => {
    const config = deps.config()
    const { cert, key, ca, nextCa } = config.listen.tls ?? {}
    const served = [cert, key, ca, nextCa].filter((path) => path !== undefined)
    const now = served.map((path) => readOr(read, path, '')).join('\0')
    const changed = before !== undefined && before !== now
    before = now
    if (changed || deps.isRefused()) reloadCertificate()
    for (const path of certificateFiles(config)) raiseAlarm(deps, path, stages)
  }
}

function readOr(read: CertificateWatchDeps['read'], path: string, otherwise: string): string {
  try {
    return read(path)
  } catch {
    return otherwise
  }
}

/** Logs a file when its stage changes, so that each alarm is raised once and again after a restart. */
function raiseAlarm(
  deps: CertificateWatchDeps,
  path: string,
  stages: Map<string, ExpiryStage | 'unreadable'>,
): void {
  const nowMs = deps.now()
  const notAfterMs = expiryAt(deps, path)
  const stage = notAfterMs === undefined ? 'unreadable' : expiryStage(notAfterMs, nowMs)
  if (stages.get(path) === stage) return
  stages.set(path, stage)
  if (stage === 'valid') return
  if (notAfterMs === undefined) {
    deps.log.error({ file: path }, 'certificate unreadable, correct the file or its permissions')
    return
  }
  const fields = {
    file: path,
    expiresAt: new Date(notAfterMs).toISOString(),
    days: wholeDays(notAfterMs, nowMs),
  }
  if (stage === 'expired') deps.log.error(fields, 'certificate expired, renew it now')
  else if (stage === 'week') deps.log.error(fields, 'certificate expires within 7 days, renew it now')
  else deps.log.warn(fields, `certificate expires within ${stage === 'month' ? 30 : 14} days, renew it`)
}

function expiryAt({ read }: CertificateWatchDeps, path: string): number | undefined {
  try {
    return expiryOf(read(path))
  } catch {
    return undefined
  }
}
