// A server of the platform in its own process, so that it can be killed with SIGKILL and restarted with the same configuration
// at the same address.

import { readFileSync, writeFileSync } from 'node:fs'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import { join } from 'node:path'
import {
  type EngineProcess,
  freePort,
  makeTempFolder,
  type SecretsStore,
  sharedSecretsStore,
  startEngineProcess,
  waitUntil,
} from '@holdfast/testkit'
import { buildHas, programIn, testedBuild } from '../builds/programs.ts'
import { inNamespace } from '../lab/lab-network.ts'
import { type ApiClient, createApiClient } from '../platform/api-client.ts'
import { provision } from '../platform/set-up.ts'
import type { Platform } from '../platform/start-platform.ts'
import { runCommandAsync } from '../run-command.ts'

const LOOPBACK = '127.0.0.1'
/** How long a server may take to answer whether it is ready. */
const READY_MS = 1_000

export interface ServerProcess {
  /** Everything that the server has logged, over all restarts. */
  output(): string
  api(token: string): ApiClient
  kill(): Promise<void>
  /** Ends the server gracefully. */
  terminate(): Promise<void>
  /** Sends SIGHUP, by which the server loads its configuration and its certificate again. */
  reload(): void
  /** Starts the server from the folder of a build, by default the tested build. Resolves once it is ready. */
  start(build?: string): Promise<void>
  /** Resolves when the process that runs now has ended: with its exit code, or with null after a signal. */
  exited(): Promise<number | null>
  /** Starts the server from the folder of a build and returns the exit code with which it ends. */
  exitCodeOf(build: string): Promise<number | null>
  /** Kills the server and removes its files. */
  remove(): Promise<void>
}

export interface PreparedServer extends ServerProcess {
  /** Path of the configuration file. */
  readonly config: string
  /** Replaces the configuration, for the next start. */
  configure(settings: object): void
}

/** `secrets`: the platform's secrets store, if it is not the shared one. */
export async function startServerProcess(
  platform: Pick<Platform, 'config' | 'serverHost'>,
  roles: readonly string[],
  secrets?: Pick<SecretsStore, 'address' | 'rootToken'>,
): Promise<ServerProcess> {
  const [host, port] = [platform.serverHost ?? LOOPBACK, await freePort()]
  const url = `http://${host}:${port}`
  const store = secrets ?? (await sharedSecretsStore())
  const settings = {
    ...settingsOf(platform, { host, port }, url, roles),
    secretsStore: await identify(store),
  }
  const server = prepareServer({ url }, settings)
  await server.start()
  return server
}

export const urlAt = (port: number): string => `http://${LOOPBACK}:${port}`

/** Where a server answers. */
interface ServerPlace {
  readonly url: string
  /** The authority of the server's certificate as PEM, for a server with TLS. */
  readonly ca?: string
  /** The network namespace that the server runs in; by default that of this process. */
  readonly namespace?: string
}

/**
 * Writes the configuration of a server, without starting the server. `variablesOf` returns the environment variables for the
 * folder of a build, for settings that an older build does not know.
 */
export function prepareServer(
  place: ServerPlace,
  settings: object,
  variablesOf: (build: string) => { readonly [name: string]: string } = () => ({}),
): PreparedServer {
  const folder = makeTempFolder('server')
  const config = join(folder.path, 'config.json')
  const configure = (to: object): void => writeFileSync(config, JSON.stringify(to), { mode: 0o600 })
  configure(settings)
  const logFile = join(folder.path, 'server.log')
  const run = (build: string) => {
    const { node: binary, main, env } = programIn(build, 'server')
    const args = [main, 'serve', '--config', config]
    const command = { binary, args, env: { ...env, ...drainIn(build), ...variablesOf(build) }, logFile }
    const { namespace } = place
    return startEngineProcess(namespace === undefined ? command : inNamespace(namespace, command))
  }
  let running: EngineProcess | undefined
  return {
    config,
    configure,
    output: () => readFileSync(logFile, 'utf8'),
    api: (token) => createApiClient(place.url, token),
    kill: async () => running?.kill(),
    terminate: async () => running?.terminate(),
    async start(build = testedBuild()) {
      running = run(build)
      await untilReady(running, place)
    },
    reload() {
      if (running === undefined || running.hasExited()) throw new Error('the server does not run')
      process.kill(running.pid, 'SIGHUP')
    },
    exited: async () => running?.exited ?? null,
    exitCodeOf: (build) => run(build).exited,
    async remove() {
      await running?.kill()
      folder.remove()
    },
  }
}

/** Initializes the platform of a configuration with the server's own command, and returns its first token. */
export async function initialize(config: string, build = testedBuild()): Promise<string> {
  const { node, main, env } = programIn(build, 'server')
  return (await runCommandAsync(node, [main, 'init', '--config', config], { env })).trim()
}

/** Shortens the drain of a build that has one, so that a restart takes a second; an older server rejects the setting. */
const drainIn = (build: string): { [name: string]: string } =>
  buildHas(build, 'packages/server/src/lifecycle/drain.ts') ? { HOLDFAST_LISTEN_DRAIN_SECONDS: '1' } : {}

async function untilReady(server: EngineProcess, place: ServerPlace): Promise<void> {
  const giveUp = () => (server.hasExited() ? `its process ended. ${server.logTail()}` : undefined)
  await waitUntil(() => isReady(place), {
    what: `the server at ${place.url} answers`,
    timeoutMs: 60_000,
    giveUp,
  })
}

/** Makes identities in the secrets store for one server. */
async function identify({
  address,
  rootToken,
}: Pick<SecretsStore, 'address' | 'rootToken'>): Promise<object> {
  return { address, ...(await provision(address, rootToken)) }
}

function settingsOf(
  { config }: Pick<Platform, 'config'>,
  listen: { readonly host: string; readonly port: number },
  url: string,
  roles: readonly string[],
) {
  const { etcd, registries, rates, cluster, volumes } = config
  return {
    listen,
    publicUrl: url,
    roles,
    registries,
    rates,
    volumes,
    etcd: { endpoints: etcd.endpoints, root: etcd.root },
    // Secret values in the configuration have to be revealed explicitly before they can be serialized.
    cluster: { key: cluster?.key?.reveal(), ca: cluster?.ca },
  }
}

function isReady({ url, ca }: ServerPlace): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const answered = (response: IncomingMessage): void => {
    response.resume()
    resolve(response.statusCode === 200)
  }
  const [at, timeout] = [`${url}/readyz`, READY_MS]
  const asked =
    ca === undefined ? httpGet(at, { timeout }, answered) : httpsGet(at, { timeout, ca }, answered)
  asked.on('timeout', () => asked.destroy()).on('error', () => resolve(false))
  return promise
}
