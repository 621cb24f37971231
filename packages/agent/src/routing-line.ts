// What was typed about routes, or undefined when it makes no sense.

import { dirname, join } from 'node:path'
import type { CaddySettings, RoutesTls } from './ports/router-settings.ts'

/** As holdfast-caddy.service has them. */
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
  /** What Caddy is started with. */
  readonly configFile: string
  readonly peerAddress: string | undefined
}

/** `10.0.0.1:80`, `:80`, `[::1]:80` */
const LISTEN = /^([A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})$/
const portOf = (address: string): number => Number(LISTEN.exec(address)?.[2] ?? Number.NaN)
const isListen = (address: string): boolean => portOf(address) > 0 && portOf(address) <= 65_535

export function readRouting(once: ReadonlyMap<string, string>): RoutingLine | undefined {
  const tls = readTls(once)
  const configFile = once.get('caddy-config') ?? DEFAULT_CONFIG
  const peerAddress = once.get('peer-address')
  const listen = readListen(once, tls)
  const peerListen = once.get('peer-listen') ?? (peerAddress && `:${portOf(peerAddress)}`)
  const peers = [peerAddress, peerListen].filter((address) => address !== undefined)
  // What comes by the peer address is told from the rest by its port.
  const isApart =
    peerListen === undefined || listen.every((address) => portOf(address) !== portOf(peerListen))
  if (tls === undefined || !isApart || ![...listen, ...peers].every(isListen)) return undefined
  if (peerAddress?.startsWith(':')) return undefined
  return {
    caddy: {
      listen,
      peerListen,
      adminSocket: once.get('caddy-socket') ?? DEFAULT_SOCKET,
      leadsFolder: join(dirname(configFile), 'leads'),
      tls,
    },
    configFile,
    peerAddress,
  }
}

function readListen(once: ReadonlyMap<string, string>, tls: RoutesTls | undefined): string[] {
  const given = once.get('routes-listen')
  if (given !== undefined) return given.split(',')
  return tls?.mode === 'off' ? [':80'] : [':80', ':443']
}

function readTls(once: ReadonlyMap<string, string>): RoutesTls | undefined {
  const [directory, email] = [once.get('acme-directory'), once.get('acme-email')]
  const mode = once.get('routes-tls') ?? 'off'
  if (mode !== 'acme')
    return (mode === 'off' || mode === 'internal') && !directory && !email ? { mode } : undefined
  if (directory !== undefined && !URL.canParse(directory)) return undefined
  return {
    mode,
    ...(directory === undefined ? {} : { directory }),
    ...(email === undefined ? {} : { email }),
  }
}
