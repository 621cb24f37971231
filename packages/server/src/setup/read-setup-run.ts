// The options of `holdfast-server setup`, checked together. A mistake is one sentence on what was received and is accepted.

import { isIP } from 'node:net'
import { defined, isTenantId, TENANT_NAME } from '@holdfast/contract'
import { filePath, origin, registryHost } from '../config/forms.ts'
import { DEFAULT_PORTS, FIRST_NAME, type SetupOptions } from './layout.ts'
import type { JoinRun, SetupRun } from './run-setup.ts'

export type SetupRunRead =
  | { readonly kind: 'run'; readonly run: SetupRun }
  | { readonly kind: 'fault'; readonly why: string }

const ENGINES = '/usr/lib/holdfast/engines'
/** The server has no capabilities, so it cannot listen on a lower port. */
const LOWEST_PORT = 1024
const HIGHEST_PORT = 65_535

export function readSetupRun(options: ReadonlyMap<string, string>): SetupRunRead {
  if (options.has('--single') === options.has('--join'))
    return fault('setup needs either --single, for the first machine, or --join FILE with an invitation.')
  const root = options.get('--root') ?? '/'
  const engines = options.get('--engines') ?? ENGINES
  if (!root.startsWith('/') || !engines.startsWith('/'))
    return fault('--root and --engines are absolute paths.')
  if (root !== '/' && !options.has('--dry-run'))
    return fault('--root needs --dry-run: the units read their files below / only.')
  const common = { root, engines, ports: DEFAULT_PORTS }
  return options.has('--single') ? readSingle(options, common) : readJoin(options, common)
}

type Common = JoinRun['options']

function readSingle(options: ReadonlyMap<string, string>, common: Common): SetupRunRead {
  const publicUrl = options.get('--public-url')
  if (publicUrl === undefined || !origin.test(publicUrl) || !publicUrl.startsWith('https://'))
    return fault('setup needs --public-url https://HOST:PORT, the address at which clients reach the API.')
  const listenPort = readPort(options.get('--listen-port') ?? (new URL(publicUrl).port || '443'))
  if (listenPort === undefined) return fault(NEEDS_PORT)
  const address = options.get('--address')
  if (address !== undefined && !isMachineAddress(address)) return fault(NEEDS_ADDRESS)
  const wrong = explainFirst(options)
  if (wrong !== undefined) return fault(wrong)
  return {
    kind: 'run',
    run: {
      kind: 'single',
      options: { ...common, publicUrl, listenPort, name: FIRST_NAME, ...readFirst(options) },
      address,
      dryRun: options.has('--dry-run'),
      unsealKeyFile: options.get('--unseal-key-file'),
    },
  }
}

/** The tenant and the registry that the first run writes besides the platform. */
function readFirst(options: ReadonlyMap<string, string>): Pick<SetupOptions, 'tenant' | 'registry'> {
  const [tenant, host, ca] = [
    options.get('--tenant'),
    options.get('--registry'),
    options.get('--registry-ca'),
  ]
  return defined({ tenant, registry: host === undefined ? undefined : { host, ...defined({ ca }) } })
}

function explainFirst(options: ReadonlyMap<string, string>): string | undefined {
  const [tenant, host, ca] = [
    options.get('--tenant'),
    options.get('--registry'),
    options.get('--registry-ca'),
  ]
  if (tenant !== undefined && (!TENANT_NAME.test(tenant) || isTenantId(tenant) || tenant === 'platform'))
    return `--tenant ${tenant}: accepted are lowercase letters, digits and hyphens, beginning with a letter, other than platform.`
  if (host !== undefined && !registryHost.test(host))
    return `--registry ${host}: accepted is ${registryHost.accepts}.`
  if (ca === undefined) return undefined
  if (host === undefined) return '--registry-ca needs --registry HOST.'
  return filePath.test(ca) ? undefined : `--registry-ca ${ca}: accepted is ${filePath.accepts}.`
}

function readJoin(options: ReadonlyMap<string, string>, common: Common): SetupRunRead {
  for (const option of ['--public-url', '--address', '--tenant', '--registry', '--registry-ca'])
    if (options.has(option)) return fault(`${option} is an option of the first machine; omit it.`)
  const text = options.get('--listen-port')
  const listenPort = text === undefined ? undefined : readPort(text)
  if (text !== undefined && listenPort === undefined) return fault(NEEDS_PORT)
  return {
    kind: 'run',
    run: {
      kind: 'join',
      options: common,
      invitationFile: options.get('--join') ?? '',
      listenPort,
      dryRun: options.has('--dry-run'),
      unsealKeyFile: options.get('--unseal-key-file'),
    },
  }
}

/** Other machines cannot reach a loopback address or one that stands for all. */
export const isMachineAddress = (address: string): boolean =>
  isIP(address) !== 0 && !/^(127\.|0\.0\.0\.0$|::1?$)/.test(address)

const NEEDS_ADDRESS =
  '--address is the IP address at which the other machines of the platform reach this one, for example 10.0.0.1.'
const NEEDS_PORT = `The server listens on the port of --public-url, which must be from ${LOWEST_PORT} to ${HIGHEST_PORT}. If a proxy or the firewall forwards another port to it, pass --listen-port, for example 8443.`

function readPort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= LOWEST_PORT && port <= HIGHEST_PORT ? port : undefined
}

const fault = (why: string): SetupRunRead => ({ kind: 'fault', why })
