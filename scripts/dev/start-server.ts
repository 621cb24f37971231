// Starts the server of the development platform: provisions the secrets store, runs `init`, then `serve`.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { promisify } from 'node:util'
import { provisionPlatform } from '@holdfast/server/adapters/secrets-store/provision-platform'
import { createSecretsStoreClient } from '@holdfast/server/adapters/secrets-store/secrets-store-client'
import { secret } from '@holdfast/server/ports/secret'
import { freePort } from '@holdfast/testkit'
import { waitUntilReady } from '@holdfast/testkit/engines/engine-home'
import { type EngineProcess, startEngineProcess } from '@holdfast/testkit/engines/engine-process'
import { type DevFolder, REPOSITORY, writePrivate } from './dev-folder.ts'
import { addProcess } from './process-list.ts'
import { serverConfig } from './server-config.ts'
import { type Engines, ETCD_QUOTA_BYTES } from './start-engines.ts'
import type { Step } from './step.ts'

const MAIN = join(REPOSITORY, 'packages/server/src/main.ts')
const NAMESPACES = ['deployments', 'resources']
const INIT_TIMEOUT_MS = 30_000

export interface RunningServer {
  readonly baseUrl: string
  readonly platformToken: string
  readonly process: EngineProcess
}

export async function startServer(folder: DevFolder, engines: Engines, step: Step): Promise<RunningServer> {
  const baseUrl = await step('platform provisioned in the secrets store', () => configure(folder, engines))
  const platformToken = await step('holdfast-server init', () => firstToken(folder))
  const process = await step('holdfast-server serve', () => serve(folder, baseUrl))
  return { baseUrl, platformToken, process }
}

/** Writes the server's configuration and returns the server's address. */
async function configure(
  folder: DevFolder,
  { etcd, secretsStore, registry, address }: Engines,
): Promise<string> {
  const port = await freePort()
  const identities = await provision(secretsStore.address, secretsStore.rootToken)
  const settings = {
    address,
    port,
    etcdEndpoints: etcd.endpoints,
    etcdQuotaBytes: ETCD_QUOTA_BYTES,
    secretsStore: secretsStore.address,
    registryHost: registry.host,
    dashboard: folder.dashboard,
    ...identities,
  }
  writePrivate(folder.serverConfig, serverConfig(settings))
  return `http://${address}:${port}`
}

async function provision(address: string, rootToken: string) {
  const client = createSecretsStoreClient({ address, auth: { token: secret(rootToken) } })
  const provisioned = await provisionPlatform(client, { namespaces: NAMESPACES })
  client.close()
  if (provisioned.kind !== 'ok') throw new Error(`the secrets store returned ${provisioned.kind}`)
  const plain = ({ roleId, secretId }: typeof provisioned.api) => ({ roleId, secretId: secretId.reveal() })
  return { api: plain(provisioned.api), broker: plain(provisioned.broker) }
}

async function firstToken({ serverConfig: config }: DevFolder): Promise<string> {
  const run = promisify(execFile)
  const { stdout } = await run(execPath, [MAIN, 'init', '--config', config], { timeout: INIT_TIMEOUT_MS })
  return stdout.trim()
}

async function serve(folder: DevFolder, baseUrl: string): Promise<EngineProcess> {
  writePrivate(folder.serverLog, '')
  const server = startEngineProcess({
    binary: execPath,
    args: [MAIN, 'serve', '--config', folder.serverConfig],
    logFile: folder.serverLog,
  })
  addProcess(folder, 'server', server.pid)
  const probe = async () => {
    const { ok } = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(2_000) })
    return ok
  }
  await waitUntilReady(server, 'the server is ready', probe)
  return server
}
