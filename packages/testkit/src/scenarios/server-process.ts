// A server of the platform in its own process, so that it can be killed with SIGKILL and restarted with the same configuration
// at the same address.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type EngineProcess,
  freePort,
  makeTempFolder,
  sharedSecretsStore,
  startEngineProcess,
  waitUntil,
} from '@holdfast/testkit'
import { programIn, ROOT } from '../builds/build.ts'
import { type ApiClient, createApiClient } from '../platform/api-client.ts'
import { provision } from '../platform/set-up.ts'
import type { Platform } from '../platform/start-platform.ts'

export interface ServerProcess {
  /** Everything that the server has logged, over all restarts. */
  output(): string
  api(token: string): ApiClient
  kill(): Promise<void>
  /** Ends the server gracefully. */
  terminate(): Promise<void>
  /** Starts the server from the folder of a build, by default from this tree. Resolves once it answers. */
  start(build?: string): Promise<void>
  /** Starts the server from the folder of a build and returns the exit code with which it ends. */
  exitCodeOf(build: string): Promise<number | null>
  /** Kills the server and removes its files. */
  remove(): Promise<void>
}

/** `variables`: environment variables of the process. */
export async function startServerProcess(
  platform: Platform,
  roles: readonly string[],
  variables: { readonly [name: string]: string } = {},
): Promise<ServerProcess> {
  const port = await freePort()
  const settings = await settingsOf(platform, port, urlAt(port), roles)
  const server = prepareServer(port, settings, () => variables)
  await server.start()
  return server
}

export const urlAt = (port: number): string => `http://127.0.0.1:${port}`

/**
 * Writes the configuration of a server at a port of this machine, without starting the server. `variablesOf` returns the
 * environment variables for the folder of a build, for settings that an older build does not know.
 */
export function prepareServer(
  port: number,
  settings: object,
  variablesOf: (build: string) => { readonly [name: string]: string } = () => ({}),
): ServerProcess & { readonly config: string } {
  const folder = makeTempFolder('server')
  const url = urlAt(port)
  const config = join(folder.path, 'config.json')
  writeFileSync(config, JSON.stringify(settings), { mode: 0o600 })
  const logFile = join(folder.path, 'server.log')
  const run = (build: string) => {
    const { main, env } = programIn(build, 'server')
    const args = [main, 'serve', '--config', config]
    return startEngineProcess({
      binary: process.execPath,
      args,
      env: { ...env, ...drainIn(build), ...variablesOf(build) },
      logFile,
    })
  }
  let running: EngineProcess | undefined
  return {
    config,
    output: () => readFileSync(logFile, 'utf8'),
    api: (token) => createApiClient(url, token),
    kill: async () => running?.kill(),
    terminate: async () => running?.terminate(),
    async start(build = ROOT) {
      running = run(build)
      await untilReady(running, url)
    },
    exitCodeOf: (build) => run(build).exited,
    async remove() {
      await running?.kill()
      folder.remove()
    },
  }
}

/** Shortens the drain of a build that has one, so that a restart takes a second; an older server rejects the setting. */
const drainIn = (build: string): { [name: string]: string } =>
  existsSync(join(build, 'packages/server/src/lifecycle/drain.ts'))
    ? { HOLDFAST_LISTEN_DRAIN_SECONDS: '1' }
    : {}

async function untilReady(server: EngineProcess, url: string): Promise<void> {
  const giveUp = () => (server.hasExited() ? `its process ended. ${server.logTail()}` : undefined)
  await waitUntil(() => isReady(url), { what: `the server at ${url} answers`, timeoutMs: 60_000, giveUp })
}

async function settingsOf({ config }: Platform, port: number, url: string, roles: readonly string[]) {
  const { address, rootToken } = await sharedSecretsStore()
  const { etcd, registries, rates, cluster, volumes } = config
  return {
    listen: { host: '127.0.0.1', port },
    publicUrl: url,
    roles,
    registries,
    rates,
    volumes,
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
