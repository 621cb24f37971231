// Parses the routing options of `holdfast-agent run`.

import { dirname, join } from 'node:path'
import { defined } from '@holdfast/contract'
import type { CaddySettings, RoutesTls } from '../ports/router-settings.ts'
import { UsageError } from './usage-error.ts'

/** Default paths of Caddy's files, the same as in holdfast-caddy.service. */
const DEFAULT_SOCKET = '/run/holdfast-caddy/admin.sock'
const DEFAULT_CONFIG = '/var/lib/holdfast-caddy/config.json'

export const ROUTING_OPTIONS = [
  'routes-listen',
  'routes-tls',
  'acme-directory',
  'acme-email',
  'peer-address',
  'peer-listen',
  'secure-peer-address',
  'secure-peer-listen',
  'caddy-socket',
  'caddy-config',
]

export interface RoutingLine {
  readonly caddy: CaddySettings
  /** The configuration file that Caddy starts with. */
  readonly configFile: string
  readonly peerAddress: string | undefined
  readonly securePeerAddress: string | undefined
}

/** A listen address such as `10.0.0.1:80`, `:80` or `[::1]:80`. */
const LISTEN = /^([A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})$/
const hostOf = (address: string): string => LISTEN.exec(address)?.[1] ?? ''
const portOf = (address: string): number => Number(LISTEN.exec(address)?.[2] ?? Number.NaN)

export function readRouting(once: ReadonlyMap<string, string>): RoutingLine {
  const tls = readTls(once)
  const configFile = once.get('caddy-config') ?? DEFAULT_CONFIG
  const listen = readListen(once, tls)
  const peerAddress = once.get('peer-address')
  const peerListen = readPeerListen(once, listen)
  const secure = readSecurePeer(once, peerListen, listen)
  return {
    caddy: {
      listen,
      peerListen,
      securePeerListen: secure?.listen,
      adminSocket: once.get('caddy-socket') ?? DEFAULT_SOCKET,
      upstreamsFolder: join(dirname(configFile), 'upstreams'),
      tls,
    },
    configFile,
    peerAddress,
    securePeerAddress: secure?.address,
  }
}

function readListen(once: ReadonlyMap<string, string>, tls: RoutesTls): string[] {
  const given = once.get('routes-listen')
  if (given === undefined) return tls.mode === 'off' ? [':80'] : [':80', ':443']
  const listen = given.split(',')
  for (const address of listen) requireListen('routes-listen', address)
  return listen
}

function readPeerListen(once: ReadonlyMap<string, string>, listen: readonly string[]): string | undefined {
  const peerAddress = once.get('peer-address')
  if (peerAddress !== undefined) requireListen('peer-address', peerAddress)
  if (peerAddress?.startsWith(':'))
    throw new UsageError(
      `--peer-address ${peerAddress}: accepted is a host that other nodes reach, with its port.`,
    )
  const peerListen = once.get('peer-listen') ?? (peerAddress && `:${portOf(peerAddress)}`)
  if (peerListen === undefined) return undefined
  requireListen('peer-listen', peerListen)
  // Requests of other nodes are recognized by their port, so the peer port must differ from the public ports.
  if (listen.some((address) => portOf(address) === portOf(peerListen)))
    throw new UsageError(`Port ${portOf(peerListen)} is for other nodes: --routes-listen needs another one.`)
  return peerListen
}

interface SecurePeer {
  readonly address: string
  readonly listen: string
}

/** Where other nodes reach this node's Caddy by mutual TLS; undefined unless it is given. */
function readSecurePeer(
  once: ReadonlyMap<string, string>,
  peerListen: string | undefined,
  listen: readonly string[],
): SecurePeer | undefined {
  const address = once.get('secure-peer-address')
  if (address === undefined && !once.has('secure-peer-listen')) return undefined
  if (address === undefined || peerListen === undefined)
    throw new UsageError('Mutual TLS needs --peer-address and --secure-peer-address.')
  requireListen('secure-peer-address', address)
  if (address.startsWith(':'))
    throw new UsageError(
      `--secure-peer-address ${address}: accepted is a host that other nodes reach, with its port.`,
    )
  const own = once.get('secure-peer-listen') ?? `${hostOf(peerListen)}:${portOf(address)}`
  requireListen('secure-peer-listen', own)
  if ([...listen, peerListen].some((other) => portOf(other) === portOf(own)))
    throw new UsageError(
      `Port ${portOf(own)} is for other nodes by TLS: it must differ from the other ports.`,
    )
  return { address, listen: own }
}

function requireListen(option: string, address: string): void {
  const port = portOf(address)
  if (!(port > 0 && port <= 65_535))
    throw new UsageError(
      `--${option} ${address}: accepted is HOST:PORT or :PORT, with a port from 1 to 65535.`,
    )
}

function readTls(once: ReadonlyMap<string, string>): RoutesTls {
  const [directory, email] = [once.get('acme-directory'), once.get('acme-email')]
  const mode = once.get('routes-tls') ?? 'off'
  if (mode !== 'off' && mode !== 'internal' && mode !== 'acme')
    throw new UsageError(`--routes-tls ${mode}: accepted is off, internal or acme.`)
  if (mode !== 'acme' && (directory ?? email) !== undefined)
    throw new UsageError('--acme-directory and --acme-email go with --routes-tls acme.')
  if (mode !== 'acme') return { mode }
  if (directory !== undefined && !URL.canParse(directory))
    throw new UsageError(
      `--acme-directory ${directory}: accepted is an address such as https://ca.example/directory.`,
    )
  return { mode, ...defined({ directory, email }) }
}
