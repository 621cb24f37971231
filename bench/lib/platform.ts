// The system under test: three etcd members, the secrets store, a registry, and the server in its own process.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, makeTempFolder, startEtcd, startRegistry, startSecretsStore } from '@holdfast/testkit'
import { engineBinary } from '@holdfast/testkit/engines/engine-binaries'
import { createApiClient } from '@holdfast/testkit/platform/api-client'
import { makeToken, provision } from '@holdfast/testkit/platform/set-up'

interface BenchTenant {
  readonly id: string
  readonly token: string
}

export interface BenchPlatform {
  readonly endpoints: readonly string[]
  readonly port: number
  readonly image: string
  readonly etcdPids: readonly number[]
  readonly serverPid: number
  readonly secretsStorePid: number
  readonly tenants: readonly BenchTenant[]
  stop(): Promise<void>
}

const MAIN = join(import.meta.dirname, '../../packages/server/src/main.ts')
const UNLIMITED = {
  deployments: 10_000_000,
  containers: 10_000_000,
  secrets: 10_000_000,
  nodes: 10_000_000,
  volumes: 10_000_000,
  stored_bytes: 1_000_000_000_000,
}

export interface BenchPlatformOptions {
  /** Flags for the server's Node process, for example for a profiler. */
  readonly nodeFlags?: readonly string[]
  /** Roles of the server. By default only those that a create needs; controllers, which place replicas, run elsewhere. */
  readonly roles?: readonly string[]
  /** Settings of the server that are added to those of the benchmark. */
  readonly settings?: { readonly [name: string]: unknown }
}

export async function startBenchPlatform(
  tenantCount: number,
  { nodeFlags = [], roles = ['api', 'broker'], settings: more = {} }: BenchPlatformOptions = {},
): Promise<BenchPlatform> {
  const [etcd, secrets, registry] = await Promise.all([
    startEtcd({ members: 3, quotaBytes: 8 * 1024 ** 3, snapshotCount: 5000 }),
    startSecretsStore(),
    startRegistry(),
  ])
  const port = await freePort()
  const folder = makeTempFolder('bench')
  const configPath = join(folder.path, 'server.yaml')
  const settings = {
    listen: { host: '127.0.0.1', port, drainSeconds: 0 },
    publicUrl: `http://127.0.0.1:${port}`,
    etcd: { endpoints: etcd.endpoints, quotaBytes: 8 * 1024 ** 3 },
    secretsStore: { address: secrets.address, ...(await provision(secrets.address, secrets.rootToken)) },
    registries: [{ host: registry.host, plainHttp: true, allowAddress: true }],
    rates: { requestsPerMinute: 1_000_000, burst: 1_000_000 },
    quotas: UNLIMITED,
    roles,
    ...more,
  }
  writeFileSync(configPath, JSON.stringify(settings), { mode: 0o600 })
  const platformToken = (await run(['init', '--config', configPath])).trim()
  const server = startServer([...nodeFlags, MAIN, 'serve', '--config', configPath])
  await untilReady(port, server)
  const { reference } = await registry.pushSampleImage('bench/app', '1.0')
  const tenants = await makeTenants(port, platformToken, tenantCount)
  return {
    endpoints: etcd.endpoints,
    port,
    image: reference,
    tenants,
    serverPid: server.pid ?? 0,
    etcdPids: etcd.members.map(({ pid }) => pid),
    secretsStorePid: secrets.pid,
    async stop() {
      const ended = once(server, 'exit')
      server.kill('SIGTERM')
      await ended
      await Promise.all([etcd.stop(), secrets.stop(), registry.stop()])
      folder.remove()
    },
  }
}

/** The kernel kills the server when the benchmark ends, however it ends: a server that is left over slows down the next one. */
function startServer(words: readonly string[]): ChildProcess {
  return spawn(engineBinary('setpriv'), ['--pdeathsig', 'KILL', process.execPath, ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

function run(words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let talk = ''
    child.stdout.on('data', (chunk) => {
      out += String(chunk)
    })
    child.stderr.on('data', (chunk) => {
      talk += String(chunk)
    })
    child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(talk))))
  })
}

async function untilReady(port: number, server: ChildProcess): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error('the server exited during startup')
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (ready) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function makeTenants(port: number, token: string, count: number): Promise<BenchTenant[]> {
  const api = createApiClient(`http://127.0.0.1:${port}`, token)
  const made: BenchTenant[] = []
  for (let index = 0; index < count; index += 1) {
    const { body } = await api.post('/api/v1/tenants', { name: `bench-${index}` })
    const id = String(body['id'])
    made.push({ id, token: await makeToken(api, id, 'tenant-admin') })
  }
  return made
}
