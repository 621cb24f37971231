// Connections of setup to the services of this machine: configurations as the services will read them, and whether each
// service answers.

import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { isIP } from 'node:net'
import { rootCertificates } from 'node:tls'
import pino from 'pino'
import { gatherConfig, type LoadedConfig, loadConfig, readTextFile } from '../config/load-config.ts'
import type { Config } from '../config/schema.ts'
import { connectEtcd, connectUnsealer, readClusterCa } from '../connect-engines.ts'
import type { StoreUnsealer } from '../ports/store-unsealer.ts'
import { createKeyspace } from '../store/keys.ts'
import { platform } from '../store/records.ts'
import { setupConfig } from './file-contents.ts'
import { type Layout, layoutBelow, type Service, type SetupOptions } from './layout.ts'

/** A service that does not run refuses at once, so only one that hangs takes this long. */
const PROBE_MS = 10_000
const silent = pino({ level: 'silent' })

/** The configuration with which setup reaches etcd and the secrets store at the addresses that this machine shall have;
 * undefined while its certificates are missing. */
export function gatherSetupConfig(options: SetupOptions): Config | undefined {
  return accepted(
    loadConfig({ text: setupConfig(options), env: {}, readFile: readTextFile, identities: 'to be issued' }),
  )
}

/** The configuration of a service in its file. The environment of the operator's shell does not belong to the service. */
export const gatherServiceConfig = (layout: Layout, service: 'server' | 'broker'): Config | undefined =>
  accepted(gatherConfig(service === 'server' ? layout.serverConfig : layout.brokerConfig, {}))

const accepted = (loaded: LoadedConfig): Config | undefined => (loaded.ok ? loaded.config : undefined)

export async function answers(service: Service, options: SetupOptions): Promise<boolean> {
  if (service === 'server' || service === 'broker') {
    const config = gatherServiceConfig(layoutBelow(options.root), service)
    return config !== undefined && isReady(config, service)
  }
  const config = gatherSetupConfig(options)
  if (config === undefined) return false
  if (service === 'etcd') return isMember(config)
  return (await withUnsealer(config, (store) => store.status())) !== undefined
}

/** Whether the member on this machine answers, with or without a majority of the others. */
async function isMember(config: Config): Promise<boolean> {
  const engine = connectEtcd(config, silent)
  try {
    return (await engine.status({ deadlineMs: PROBE_MS })).length > 0
  } finally {
    engine.close()
  }
}

/** Whether the platform exists; undefined if etcd does not answer. */
export async function hasPlatform(config: Config): Promise<boolean | undefined> {
  const engine = connectEtcd(config, silent)
  try {
    const key = createKeyspace(config.etcd.root).globalKey(platform.folder, 'id')
    const { count } = await engine.range({ key, countOnly: true }, { deadlineMs: PROBE_MS })
    return count > 0
  } catch {
    return undefined
  } finally {
    engine.close()
  }
}

export async function withUnsealer<T>(
  config: Config,
  work: (store: StoreUnsealer) => Promise<T>,
): Promise<T> {
  const store = connectUnsealer(config)
  try {
    return await work(store)
  } finally {
    store.close()
  }
}

/** Whether the process of the configuration answers on this machine that it is ready. */
function isReady(config: Config, service: 'server' | 'broker'): Promise<boolean> {
  const { host, port, tls } = config.listen
  const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const { hostname } = new URL(config.publicUrl)
  // An operator's own certificate of the server may have its public name alone. That of the broker never has it.
  const isNamed = service === 'server' && isIP(hostname.replaceAll(/[[\]]/g, '')) === 0
  const name = isNamed ? { servername: hostname } : {}
  const ca = [...rootCertificates, readClusterCa(config) ?? []].flat()
  const settings = { host: address, port, path: '/readyz', signal: AbortSignal.timeout(PROBE_MS) }
  return new Promise((resolve) => {
    const call =
      tls === undefined ? requestPlain(settings) : requestSecure({ ...settings, ...name, ca, agent: false })
    call.once('error', () => resolve(false))
    call.once('response', (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    call.end()
  })
}
