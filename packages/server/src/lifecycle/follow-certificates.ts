// Follows the files with which this process connects to etcd or to the secrets store. Renewed certificates are used after the
// engine has accepted them on a new connection; until then, and if they are faulty, the previous ones stay.

import { createPrivateKey, hash, type X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { readCertificates } from '../net/certificate-chain.ts'
import type { ClientTls, CurrentTls } from '../ports/client-tls.ts'

type Log = (fields: object, message: string) => void

export interface CertificateFollowerDeps {
  /** The engine, as log messages name it. */
  readonly engine: string
  /** Reads the files. Throws if one of them is unreadable. */
  readonly read: () => ClientTls
  /** The number of members of the engine that answer on a new connection with these certificates. */
  readonly countAccepting: (tls: ClientTls) => Promise<number>
  readonly now: () => number
  readonly log: { readonly info: Log; readonly warn: Log; readonly error: Log }
}

export interface CertificateFollower {
  readonly current: CurrentTls
  /** Compares the files with the certificates in use, and replaces these. Never rejects. */
  check(): Promise<void>
}

/** Throws if the files are unreadable: without them the process cannot start. */
export function followCertificates(deps: CertificateFollowerDeps): CertificateFollower {
  const { engine, read, log } = deps
  let current = read()
  let logged: string | undefined
  let running: Promise<void> | undefined
  /** Logs an outcome once, and again for other files or another reason. */
  const report = (level: 'warn' | 'error', why: string, message: string, found = ''): void => {
    const outcome = `${why}\0${found}`
    if (logged === outcome) return
    logged = outcome
    log[level]({ engine, why }, message)
  }
  const check = async (): Promise<void> => {
    const found = readOrExplain(read)
    const next = 'fault' in found ? undefined : found
    if (next !== undefined && isSame(next, current)) {
      logged = undefined
      return
    }
    const fault = 'fault' in found ? found.fault : await judge(deps, found, current)
    if (fault === undefined && next !== undefined) {
      current = next
      logged = undefined
      log.info({ engine }, 'client certificates replaced')
    } else if (fault === 'unknown') report('warn', 'no answer', NOT_TRIED, digestOf(next))
    else report('error', fault ?? '', NOT_REPLACED, digestOf(next))
  }
  return {
    current: () => current,
    check() {
      running ??= check().finally(() => {
        running = undefined
      })
      return running
    },
  }
}

const NOT_REPLACED =
  'client certificates not replaced, the previous ones are still used; correct the files, which are then read again'
const NOT_TRIED =
  'client certificates not replaced yet: the engine answers neither with them nor with the previous ones, retrying'

/** Names the content of the files without the key. */
const digestOf = (tls: ClientTls | undefined): string => hash('sha256', JSON.stringify(tls ?? {}))

const isSame = (a: ClientTls, b: ClientTls): boolean => a.ca === b.ca && a.cert === b.cert && a.key === b.key

function readOrExplain(read: () => ClientTls): ClientTls | { readonly fault: string } {
  try {
    return read()
  } catch (error) {
    return { fault: explain(error) }
  }
}

/** Why the next certificates must not be used; `unknown` if the engine answers with none, undefined if they are usable. */
async function judge(
  { countAccepting, now }: CertificateFollowerDeps,
  next: ClientTls,
  current: ClientTls,
): Promise<string | undefined> {
  const fault = judgeClientTls(next, now())
  if (fault !== undefined) return fault
  try {
    const [accepted, before] = await Promise.all([countAccepting(next), countAccepting(current)])
    if (accepted > 0 && accepted >= before) return undefined
    return before === 0
      ? 'unknown'
      : `${before} members accept the previous certificates, ${accepted} the new ones`
  } catch (error) {
    return explain(error)
  }
}

/** Finds what is wrong with the texts alone. */
export function judgeClientTls({ ca, cert, key }: ClientTls, nowMs: number): string | undefined {
  try {
    if (ca !== undefined && !readCertificates(ca).some((one) => isValid(one, nowMs)))
      return 'every certificate of the authorities has expired or is not yet valid'
    if (cert !== undefined && key !== undefined) {
      const [leaf] = readCertificates(cert)
      if (leaf?.checkPrivateKey(createPrivateKey(key)) !== true)
        return 'the key does not belong to the certificate'
      if (!isValid(leaf, nowMs)) return 'the certificate has expired or is not yet valid'
    }
    createSecureContext({ ca, cert, key })
    return undefined
  } catch (error) {
    return explain(error)
  }
}

const isValid = ({ validFromDate, validToDate }: X509Certificate, nowMs: number): boolean =>
  validFromDate.getTime() <= nowMs && nowMs < validToDate.getTime()

/** Errors of files and of TLS quote no content of the files. */
const explain = (error: unknown): string => (error instanceof Error ? error.message : String(error))
