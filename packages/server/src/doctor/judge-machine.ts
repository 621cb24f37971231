// Judges this machine: the name of the public address, the clock, the space and the speed of disks.

import { couldNotObserve, type Finding, failure, type Observed, ok, warning } from './finding.ts'

export interface NameFacts {
  readonly host: string
  /** The addresses of the host; empty if the name does not exist. */
  readonly addresses: Observed<readonly string[]>
}

export function judgeName({ host, addresses }: NameFacts): Finding {
  const check = 'DNS'
  if (addresses.kind === 'unobserved')
    return couldNotObserve(check, addresses.why, 'check the name servers in /etc/resolv.conf')
  if (addresses.value.length > 0) return ok(check, `${host} has the address ${addresses.value.join(', ')}`)
  const remedy = 'create its DNS record, or correct publicUrl in the configuration'
  return failure(check, `${host}, the host of publicUrl, does not exist`, remedy)
}

/** The Date header that the skew is taken from has whole seconds, so smaller skews cannot be seen. */
const SKEW_WARNING_MS = 2_000
const SKEW_FAILURE_MS = 30_000
const SYNCHRONIZE = 'synchronize the clocks of all machines, for example with systemd-timesyncd or chrony'

/** `skewMs` is the clock of the secrets store less the clock of this machine. */
export function judgeClock(skewMs: Observed<number>): Finding {
  const check = 'clock'
  if (skewMs.kind === 'unobserved')
    return couldNotObserve(check, skewMs.why, 'repair the secrets store, whose answers have the time')
  const skew = Math.abs(skewMs.value)
  const side = skewMs.value > 0 ? 'behind' : 'ahead of'
  const text = `this machine is ${(skew / 1000).toFixed(1)} s ${side} the secrets store`
  if (skew > SKEW_FAILURE_MS) return failure(check, text, SYNCHRONIZE)
  if (skew > SKEW_WARNING_MS) return warning(check, text, SYNCHRONIZE)
  return ok(check, 'agrees with that of the secrets store within 2 s')
}

export interface SpaceFacts {
  readonly folder: string
  readonly space: Observed<{ readonly freeBytes: number; readonly totalBytes: number }>
}

const GIB = 1024 ** 3

export function judgeSpace({ folder, space }: SpaceFacts): Finding {
  const check = `disk space of ${folder}`
  if (space.kind === 'unobserved') return couldNotObserve(check, space.why, 'run the doctor as root')
  const { freeBytes, totalBytes } = space.value
  const share = totalBytes === 0 ? 0 : freeBytes / totalBytes
  const text = `${(freeBytes / GIB).toFixed(1)} GiB of ${(totalBytes / GIB).toFixed(1)} GiB are free`
  const remedy = 'remove other files from this file system or enlarge it'
  if (share < 0.05 || freeBytes < GIB / 2) return failure(check, text, remedy)
  return share < 0.15 ? warning(check, text, remedy) : ok(check, text)
}

export interface SyncFacts {
  readonly folder: string
  /** Time in which 99 % of the writes were on the disk. */
  readonly p99Ms: Observed<number>
}

/** etcd acknowledges a write after fdatasync; its elections fail when one takes as long as a heartbeat, 100 ms. */
const SYNC_WARNING_MS = 10
const SYNC_FAILURE_MS = 100

export function judgeSync({ folder, p99Ms }: SyncFacts): Finding {
  const check = `disk speed of ${folder}`
  if (p99Ms.kind === 'unobserved') return couldNotObserve(check, p99Ms.why, 'run the doctor as root')
  const text = `99 % of fdatasync calls took at most ${p99Ms.value.toFixed(1)} ms`
  const remedy = 'use an SSD or NVMe disk, and no other program with many writes on it'
  if (p99Ms.value > SYNC_FAILURE_MS) return failure(check, text, remedy)
  return p99Ms.value > SYNC_WARNING_MS ? warning(check, text, remedy) : ok(check, text)
}
