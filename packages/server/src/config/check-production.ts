// The profile `production` of check-config: what a valid configuration permits for development and labs, but an operator must
// not run. Pure; the caller supplies the permissions of files.

import { valueAt } from './draft.ts'
import type { ConfigSources } from './load-config.ts'
import { CONTENT_OF_FILE } from './resolve-settings.ts'
import type { Config } from './schema.ts'
import { settingRows } from './settings-table.ts'

export interface ProfileFault {
  readonly setting: string
  readonly found: string
  readonly remedy: string
}

interface ProfileInput {
  readonly config: Config
  readonly sources: ConfigSources
  /** The configuration file; undefined if the environment sets everything. */
  readonly file: string | undefined
  /** The permission bits of a file; undefined if the file cannot be examined. */
  modeOf(path: string): number | undefined
}

export function checkProduction(input: ProfileInput): ProfileFault[] {
  const { config } = input
  return [...plainHttp(config), ...clusterKey(config), ...identities(config), ...readableFiles(input)]
}

export const explainProfileFault = ({ setting, found, remedy }: ProfileFault): string =>
  `${setting}: found ${found}; ${remedy}`

const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', 'localhost']

function* plainHttp(config: Config): Generator<ProfileFault> {
  const { listen, publicUrl, cluster, etcd, secretsStore, registries } = config
  // A proxy that terminates TLS on the same machine reaches a listener on loopback.
  if (listen.tls === undefined && !LOOPBACK.includes(listen.host))
    yield {
      setting: 'listen.tls',
      found: `plain HTTP on ${listen.host}`,
      remedy: 'set listen.tls.cert and listen.tls.key, or listen on 127.0.0.1 behind a proxy with TLS',
    }
  const addresses: (readonly [setting: string, url: string | undefined])[] = [
    ['publicUrl', publicUrl],
    ['cluster.url', cluster?.url],
    ...etcd.endpoints.map((url, index) => [`etcd.endpoints[${index}]`, url] as const),
    ['secretsStore.address', secretsStore.address],
  ]
  for (const [setting, url] of addresses)
    if (url?.startsWith('http:') === true)
      yield { setting, found: url, remedy: 'serve it with TLS and use an https:// address' }
  for (const [index, { host, plainHttp: isPlain }] of registries.entries())
    if (isPlain === true)
      yield {
        setting: `registries[${index}].plainHttp`,
        found: `true for ${host}`,
        remedy: 'serve the registry with TLS and remove the setting',
      }
}

function* clusterKey({ cluster }: Config): Generator<ProfileFault> {
  if (cluster?.key === undefined)
    yield {
      setting: 'cluster.key',
      found: 'no value',
      remedy: 'set cluster.keyFile to a file with the output of: openssl rand -base64 32',
    }
}

function* identities({ roles, secretsStore }: Config): Generator<ProfileFault> {
  if (secretsStore.api !== undefined && secretsStore.broker !== undefined)
    yield {
      setting: 'secretsStore.broker',
      found: 'both identities in one configuration',
      remedy: 'give the broker its own configuration and user, and remove this identity here',
    }
  if (roles.includes('broker') && roles.length > 1)
    yield {
      setting: 'roles',
      found: roles.join(', '),
      remedy: 'run the role broker in a process of its own',
    }
}

/** Bits of a mode that let users other than the owner and the group read or replace the file. */
const OTHERS = 0o006

function* readableFiles(input: ProfileInput): Generator<ProfileFault> {
  for (const [setting, path] of [...secretFiles(input.config), ...configurationFile(input)]) {
    const mode = input.modeOf(path)
    if (mode === undefined || (mode & OTHERS) === 0) continue
    yield {
      setting,
      found: `${path} with mode ${(mode & 0o777).toString(8).padStart(4, '0')}`,
      remedy: `make it unreadable for other users: chmod o= ${path}`,
    }
  }
}

const PRIVATE_KEYS: readonly string[] = ['listen.tls.key', 'etcd.tls.key']

function* secretFiles(config: Config): Generator<readonly [setting: string, path: string]> {
  for (const { node, keys, path } of settingRows) {
    const value = valueAt(config, keys)
    if (typeof value !== 'string') continue
    if (node.setting?.secretFile === true || PRIVATE_KEYS.includes(path)) yield [path, value]
  }
}

/** The configuration file itself, if it contains a secret. */
function* configurationFile({ config, sources, file }: ProfileInput): Generator<readonly [string, string]> {
  const inline = settingRows.find(({ node, keys, path }) => {
    const source = sources.get(path)
    const isInline = source?.startsWith(`${file}:`) === true && !source.endsWith(CONTENT_OF_FILE)
    return node.setting?.secret === true && valueAt(config, keys) !== undefined && isInline
  })
  if (file !== undefined && inline !== undefined) yield [inline.path, file]
}
