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
  'caddy-socket',
  'caddy-config',
]

export interface RoutingLine {
  readonly caddy: CaddySettings
  /** The configuration file that Caddy starts with. */
  readonly configFile: string
  readonly peerAddress: string | undefined
}

/** A listen address such as `10.0.0.1:80`, `:80` or `[::1]:80`. */
const LISTEN = /^([A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})$/
const portOf = (address: string): number => Number(LISTEN.exec(address)?.[2] ?? Number.NaN)

export function readRouting(once: ReadonlyMap<string, string>): RoutingLine {
  const tls = readTls(once)
  const configFile = once.get('caddy-config') ?? DEFAULT_CONFIG
  const listen = readListen(once, tls)
  const peerAddress = once.get('peer-address')
  return {
    caddy: {
      listen,
      peerListen: readPeerListen(once, listen),
      adminSocket: once.get('caddy-socket') ?? DEFAULT_SOCKET,
      upstreamsFolder: join(dirname(configFile), 'upstreams'),
      tls,
    },
    configFile,
    peerAddress,
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
