// Parses the options of the peer port of `holdfast-agent run`, where other nodes exchange copies of volumes.

import { MAX_LEASE_MS, MIN_LEASE_MS } from '@holdfast/core/promotion/timings'
import { UsageError } from './usage-error.ts'

const DEFAULT_PORT = 7844
const DEFAULT_RATE = 100 * 1024 ** 2
const UNITS: { readonly [unit: string]: number } = { Ki: 1, Mi: 2, Gi: 3 }
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]*)(?::([0-9]{1,5}))?$/

export const PEER_OPTIONS = ['agent-peer-address', 'agent-peer-listen', 'replication-rate', 'promise-lease']

export interface PeerLine {
  /** The `host:port` that other nodes use. */
  readonly address: string
  /** The host on which the agent listens; undefined: all addresses. */
  readonly host: string | undefined
  readonly port: number
  readonly bytesPerSecond: number
}

/** Parses the options; undefined if the node exchanges no copies. */
export function readPeerLine(once: ReadonlyMap<string, string>): PeerLine | undefined {
  const text = once.get('agent-peer-address')
  const listen = once.get('agent-peer-listen')
  const rate = once.get('replication-rate')
  if (text === undefined && (listen ?? rate) === undefined) return undefined
  const address = readEndpoint('agent-peer-address', text ?? '')
  if (address.host === '')
    throw new UsageError(
      '--agent-peer-address: accepted is a host that other nodes reach, perhaps with a port.',
    )
  const at =
    listen === undefined ? { host: '', port: address.port } : readEndpoint('agent-peer-listen', listen)
  return {
    address: `${address.host}:${address.port}`,
    host: at.host === '' ? undefined : at.host.replace(/^\[|\]$/g, ''),
    port: at.port,
    bytesPerSecond: rate === undefined ? DEFAULT_RATE : readRate(rate),
  }
}

function readEndpoint(option: string, text: string): { readonly host: string; readonly port: number } {
  const [, host, digits] = HOST.exec(text) ?? []
  const port = digits === undefined ? DEFAULT_PORT : Number(digits)
  if (host === undefined || port < 1 || port > 65_535)
    throw new UsageError(`--${option} ${text}: accepted is HOST or HOST:PORT, with a port from 1 to 65535.`)
  return { host, port }
}

function readRate(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,12})(Ki|Mi|Gi)?$/.exec(text) ?? []
  const rate = Number(digits) * 1024 ** (UNITS[unit] ?? 0)
  if (!(rate >= 1024))
    throw new UsageError(`--replication-rate ${text}: accepted are bytes per second, such as 50Mi.`)
  return rate
}

/** The length of the leases of this node's primaries; undefined: the shipped one. */
export function readPromiseLease(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const leaseMs = Math.round(Number(text) * 1000)
  if (/^\d{1,2}(\.\d{1,3})?$/.test(text) && leaseMs >= MIN_LEASE_MS && leaseMs <= MAX_LEASE_MS) return leaseMs
  throw new UsageError(
    `--promise-lease ${text}: accepted are seconds from ${MIN_LEASE_MS / 1000} to ${MAX_LEASE_MS / 1000}, such as 12 or 1.5.`,
  )
}
