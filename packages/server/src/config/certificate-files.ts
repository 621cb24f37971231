// The certificate files that the configuration names, the expiry of each, and how urgent its renewal is. The doctor, the metric
// and the alarms of the log use the same times.

import { X509Certificate } from 'node:crypto'
import type { Config } from './schema.ts'

/** The path of each file with certificates, once. */
export function certificateFiles({ listen, etcd, secretsStore, cluster, registries }: Config): string[] {
  const { tls } = listen
  const named = [tls?.cert, tls?.ca, tls?.nextCa, etcd.tls?.ca, etcd.tls?.cert, secretsStore.ca, cluster?.ca]
  return [...new Set([...named, ...registries.map(({ ca }) => ca)])].filter((path) => path !== undefined)
}

/** The expiry of the first certificate of a PEM text, in milliseconds. Throws if there is none. */
export const expiryOf = (pem: string | Buffer): number => new X509Certificate(pem).validToDate.getTime()

/** How urgent a renewal is: alarms are raised 30, 14 and 7 days before the end, and at the end. */
export type ExpiryStage = 'valid' | 'month' | 'fortnight' | 'week' | 'expired'

const DAY_MS = 86_400_000

export function expiryStage(notAfterMs: number, nowMs: number): ExpiryStage {
  const days = (notAfterMs - nowMs) / DAY_MS
  if (days <= 0) return 'expired'
  if (days < 7) return 'week'
  if (days < 14) return 'fortnight'
  return days < 30 ? 'month' : 'valid'
}

export const wholeDays = (notAfterMs: number, nowMs: number): number =>
  Math.floor((notAfterMs - nowMs) / DAY_MS)
