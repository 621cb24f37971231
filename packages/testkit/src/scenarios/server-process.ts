// A server of the platform in its own process, so that it can be killed with SIGKILL and restarted with the same configuration
// at the same address.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type EngineProcess,
  freePort,
  makeTempFolder,
  sharedSecretsStore,
  startEngineProcess,
  waitUntil,
} from '@holdfast/testkit'
import { type ApiClient, createApiClient } from '../platform/api-client.ts'
import { provision } from '../platform/set-up.ts'
import type { Platform } from '../platform/start-platform.ts'

const MAIN = join(import.meta.dirname, '../../../../packages/server/src/main.ts')

export interface ServerProcess {
  /** Everything that the server has logged, over all restarts. */
  output(): string
  api(token: string): ApiClient
  kill(): Promise<void>
  /** Starts the server. Resolves once it answers. */
  start(): Promise<void>
  /** Kills the server and removes its files. */
  remove(): Promise<void>
}

export async function startServerProcess(
  platform: Platform,
  roles: readonly string[],
): Promise<ServerProcess> {
  const folder = makeTempFolder('server')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const config = join(folder.path, 'config.json')
  writeFileSync(config, JSON.stringify(await settingsOf(platform, port, url, roles)), { mode: 0o600 })
  const logFile = join(folder.path, 'server.log')
  const args = [MAIN, 'serve', '--config', config]
  const run = () => startEngineProcess({ binary: process.execPath, args, logFile })
  let running = run()
  await untilReady(running, url)
  return {
    output: () => readFileSync(logFile, 'utf8'),
    api: (token) => createApiClient(url, token),
    kill: () => running.kill(),
    async start() {
      running = run()
      await untilReady(running, url)
    },
    async remove() {
      await running.kill()
      folder.remove()
    },
  }
}

async function untilReady(server: EngineProcess, url: string): Promise<void> {
  const giveUp = () => (server.hasExited() ? `its process ended. ${server.logTail()}` : undefined)
  await waitUntil(() => isReady(url), { what: `the server at ${url} answers`, timeoutMs: 60_000, giveUp })
}

async function settingsOf({ config }: Platform, port: number, url: string, roles: readonly string[]) {
  const { address, rootToken } = await sharedSecretsStore()
  const { etcd, registries, rates, cluster } = config
  return {
    listen: { host: '127.0.0.1', port },
    publicUrl: url,
    roles,
    registries,
    rates,
    etcd: { endpoints: etcd.endpoints, root: etcd.root },
    // Secret values in the configuration have to be revealed explicitly before they can be serialized.
    cluster: { key: cluster?.key?.reveal(), ca: cluster?.ca },
    secretsStore: { address, ...(await provision(address, rootToken)) },
  }
}

async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined)
  return answer?.status === 200
}
