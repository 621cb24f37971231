// Observes this machine for the doctor: names, disks and certificates. Each observation ends within a deadline.

import { promises as dns } from 'node:dns'
import { type FileHandle, mkdtemp, open, readFile, rm, statfs } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { certificateFiles, expiryOf } from '../config/certificate-files.ts'
import type { Config } from '../config/schema.ts'
import { readServerTls } from '../connect-engines.ts'
import { withDeadline } from '../lib/with-deadline.ts'
import { rootPinOf } from '../net/certificate-chain.ts'
import { readNextAuthorities } from '../net/next-authorities.ts'
import { type Observed, seen, unobserved } from './finding.ts'
import type { AuthorityFacts } from './judge-authorities.ts'
import type { ExpiryFacts } from './judge-certificates.ts'
import type { NameFacts, SpaceFacts, SyncFacts } from './judge-machine.ts'
import { percentile } from './percentile.ts'

const NAME_MS = 5_000
const DISK_MS = 5_000
const SYNC_MS = 30_000
const SYNCS = 200
/** About the size of a group of etcd's log entries. */
const SYNC_BYTES = 8 * 1024

export async function gatherName(publicUrl: string): Promise<NameFacts> {
  const host = new URL(publicUrl).hostname.replaceAll(/[[\]]/g, '')
  if (isIP(host) !== 0) return { host, addresses: seen([host]) }
  return { host, addresses: await within(NAME_MS, resolveHost(host)) }
}

async function resolveHost(host: string): Promise<Observed<readonly string[]>> {
  try {
    const found = await dns.lookup(host, { all: true })
    return seen(found.map(({ address }) => address))
  } catch (error) {
    const code = codeOf(error)
    return code === 'ENOTFOUND' ? seen([]) : unobserved(`the name servers answered ${code}`)
  }
}

export async function gatherSpace(folder: string): Promise<SpaceFacts> {
  const ask = statfs(folder).then(
    ({ bavail, blocks, bsize }) => seen({ freeBytes: bavail * bsize, totalBytes: blocks * bsize }),
    (error) => unobserved(codeOf(error)),
  )
  return { folder, space: await within<{ freeBytes: number; totalBytes: number }>(DISK_MS, ask) }
}

/** Measures fdatasync with a file in the folder, which is removed afterwards. */
export async function gatherSync(folder: string): Promise<SyncFacts> {
  const measured = measureSync(folder).then(seen, (error) => unobserved(codeOf(error)))
  return { folder, p99Ms: await within<number>(SYNC_MS, measured) }
}

async function measureSync(folder: string): Promise<number> {
  const own = await mkdtemp(join(folder, '.holdfast-doctor-'))
  try {
    const file = await open(join(own, 'probe'), 'w')
    try {
      return percentile(await timeSyncs(file), 99)
    } finally {
      await file.close()
    }
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

async function timeSyncs(file: FileHandle): Promise<number[]> {
  const block = Buffer.alloc(SYNC_BYTES, 1)
  const times: number[] = []
  const until = performance.now() + SYNC_MS / 2
  while (times.length < SYNCS && performance.now() < until) {
    await file.write(block)
    const startedAt = performance.now()
    await file.datasync()
    times.push(performance.now() - startedAt)
  }
  return times
}

/** The expiry of every certificate that the configuration names. */
export const gatherExpiries = (config: Config): Promise<ExpiryFacts[]> =>
  Promise.all(certificateFiles(config).map(gatherExpiry))

/** The root of the listener's chain and the announced ones. */
export function gatherRoots(config: Config): AuthorityFacts['roots'] {
  try {
    const pair = readServerTls(config)
    const next = readNextAuthorities(pair?.next, Date.now()).map(({ pin }) => pin)
    return seen({ served: pair && rootPinOf(pair), next })
  } catch (error) {
    return unobserved(error instanceof Error ? error.message : 'unknown error')
  }
}

async function gatherExpiry(path: string): Promise<ExpiryFacts> {
  try {
    return { path, notAfterMs: seen(expiryOf(await readFile(path))) }
  } catch (error) {
    return { path, notAfterMs: unobserved(codeOf(error)) }
  }
}

const within = <T>(ms: number, work: Promise<Observed<T>>): Promise<Observed<T>> =>
  withDeadline<Observed<T>>(ms, work, () => unobserved(`no answer within ${ms / 1000} s`))

/** The code of a system error, which names no file content. */
const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
