// A real secrets store: Vault as in production, with raft storage, initialized, unsealed, and with a file audit device.
// The store is ready on return and ends with this process.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import type { TempFolder } from '../temp-folder.ts'
import { uniqueName } from '../unique-names.ts'
import { engineBinary } from './engine-binaries.ts'
import { type EngineHome, openHome, retryPortClash, subfolder, waitUntilReady } from './engine-home.ts'
import { type EngineProcess, startEngineProcess } from './engine-process.ts'
import { answersHealth, enableAudit, enableKvMount, initialise, seal, unseal } from './secrets-store-admin.ts'

export interface SecretsStore {
  readonly address: string
  readonly rootToken: string
  readonly unsealKey: string
  /** Path of the audit log: one JSON line per request and response, with secret values hashed. */
  readonly auditLogPath: string
  /** Process id of the store's current process; changes with restart(). */
  readonly pid: number
  /** Creates a KV version 2 mount for one test and returns the mount's name. */
  createMount(): Promise<string>
  seal(): Promise<void>
  /** Unseals the store. Resolves when the store accepts writes again. */
  unseal(): Promise<void>
  /** Stops the store with SIGSTOP: calls to it hang, as on an overloaded machine. */
  pause(): void
  resume(): void
  /** Kills the store with SIGKILL; resolves when its process has exited. */
  kill(): Promise<void>
  /** Kills a running store and starts it again on the same data and address; resolves when it is unsealed. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export function startSecretsStore(home: EngineHome = {}): Promise<SecretsStore> {
  return retryPortClash(async () => {
    const folder = openHome('secrets-store', home)
    const address = `http://127.0.0.1:${await freePort()}`
    const life = await startLife(folder, address, home.detached === true)
    const stop = async () => {
      await life.running().kill()
      folder.remove()
    }
    try {
      return await bringIntoService(life, folder, address, stop)
    } catch (error) {
      await stop()
      throw error
    }
  })
}

/** A sequence of processes of the secrets store on the same data. */
interface Life {
  running(): EngineProcess
  /** Starts the next process; resolves when the store answers. The store is sealed at that time. */
  again(): Promise<void>
}

async function startLife(folder: TempFolder, address: string, detached: boolean): Promise<Life> {
  const config = join(folder.path, 'config.hcl')
  writeFileSync(config, configText(subfolder(folder, 'raft'), new URL(address).host, await freePort()))
  const start = () => launch(folder, config, detached)
  let engine = start()
  return {
    running: () => engine,
    again: async () => {
      await engine.kill()
      engine = start()
      await untilItAnswers(engine, address)
    },
  }
}

const untilItAnswers = (engine: EngineProcess, address: string): Promise<void> =>
  waitUntilReady(engine, 'the secrets store answers', () => answersHealth(address))

async function bringIntoService(
  life: Life,
  folder: TempFolder,
  address: string,
  stop: () => Promise<void>,
): Promise<SecretsStore> {
  await untilItAnswers(life.running(), address)
  const { rootToken, unsealKey } = await initialise(address)
  await unseal(address, unsealKey)
  const auditLogPath = join(folder.path, 'audit.log')
  await enableAudit(address, rootToken, auditLogPath)
  return {
    address,
    rootToken,
    unsealKey,
    auditLogPath,
    stop,
    get pid() {
      return life.running().pid
    },
    createMount: async () => {
      const mount = uniqueName('kv')
      await enableKvMount(address, rootToken, mount)
      return mount
    },
    seal: () => seal(address, rootToken),
    unseal: () => unseal(address, unsealKey),
    pause: () => life.running().pause(),
    resume: () => life.running().resume(),
    kill: () => life.running().kill(),
    restart: async () => {
      await life.again()
      await unseal(address, unsealKey)
    },
  }
}

function launch(folder: TempFolder, config: string, detached: boolean): EngineProcess {
  return startEngineProcess({
    binary: engineBinary('vault'),
    args: ['server', `-config=${config}`, '-log-level=error'],
    // This version of Vault bundles a certificate with a negative serial number, which current Go rejects by default.
    env: { GODEBUG: 'x509negativeserial=1' },
    logFile: join(folder.path, 'vault.log'),
    detached,
  })
}

/** Vault's configuration. performance_multiplier 1 shortens raft's timers: the store is active in 2 s instead of 10 s. */
function configText(raftFolder: string, host: string, clusterPort: number): string {
  return `storage "raft" {
  path = "${raftFolder}"
  node_id = "one"
  performance_multiplier = 1
}
listener "tcp" {
  address = "${host}"
  cluster_address = "127.0.0.1:${clusterPort}"
  tls_disable = true
}
api_addr = "http://${host}"
cluster_addr = "https://127.0.0.1:${clusterPort}"
disable_mlock = true
`
}
