// The options of `holdfast-server setup`, checked together. A mistake is one sentence on what was received and is accepted.

import { defined, isTenantId, TENANT_NAME } from '@holdfast/contract'
import { filePath, origin, registryHost } from '../config/forms.ts'
import { DEFAULT_PORTS, type SetupOptions } from './layout.ts'
import type { SetupRun } from './run-setup.ts'

export type SetupRunRead =
  | { readonly kind: 'run'; readonly run: SetupRun }
  | { readonly kind: 'fault'; readonly why: string }

const ENGINES = '/usr/lib/holdfast/engines'
/** The server has no capabilities, so it cannot listen on a lower port. */
const LOWEST_PORT = 1024
const HIGHEST_PORT = 65_535

export function readSetupRun(options: ReadonlyMap<string, string>): SetupRunRead {
  if (!options.has('--single')) return fault('setup needs --single: it sets up one machine.')
  const publicUrl = options.get('--public-url')
  if (publicUrl === undefined || !origin.test(publicUrl) || !publicUrl.startsWith('https://'))
    return fault('setup needs --public-url https://HOST:PORT, the address at which clients reach the API.')
  const listenPort = readPort(options.get('--listen-port') ?? (new URL(publicUrl).port || '443'))
  if (listenPort === undefined) return fault(NEEDS_PORT)
  const root = options.get('--root') ?? '/'
  const engines = options.get('--engines') ?? ENGINES
  if (!root.startsWith('/') || !engines.startsWith('/'))
    return fault('--root and --engines are absolute paths.')
  if (root !== '/' && !options.has('--dry-run'))
    return fault('--root needs --dry-run: the units read their files below / only.')
  const wrong = explainFirst(options)
  if (wrong !== undefined) return fault(wrong)
  return {
    kind: 'run',
    run: {
      options: { root, publicUrl, listenPort, engines, ports: DEFAULT_PORTS, ...readFirst(options) },
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

const NEEDS_PORT = `The server listens on the port of --public-url, which must be from ${LOWEST_PORT} to ${HIGHEST_PORT}. If a proxy or the firewall forwards another port to it, pass --listen-port, for example 8443.`

function readPort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= LOWEST_PORT && port <= HIGHEST_PORT ? port : undefined
}

const fault = (why: string): SetupRunRead => ({ kind: 'fault', why })
