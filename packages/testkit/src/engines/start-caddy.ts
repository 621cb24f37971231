// A real Caddy, as systemd runs it on a node: it starts from a file that the agent writes, and restarts whenever it ends.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { engineBinary } from './engine-binaries.ts'
import { openHome, waitUntilReady } from './engine-home.ts'
import { type EngineCommand, type EngineProcess, startEngineProcess } from './engine-process.ts'

/** Like RestartSec of the unit. */
const RESTART_MS = 100

export interface CaddyService {
  /** Socket of the admin API; only the owner can enter its folder. */
  readonly socketPath: string
  /** The configuration that it starts with. */
  readonly configFile: string
  /** Process id of the current process. */
  readonly pid: number
  /** kill -9; it restarts at once, with the configuration in its file. */
  kill(): Promise<void>
  pause(): void
  resume(): void
  /** Ends it until start(). */
  stop(): Promise<void>
  start(): Promise<void>
}

export interface CaddyPlace {
  /** Survives a power cut. */
  readonly stateFolder: string
  readonly runFolder: string
  /** Runs before each start, like ExecStartPre of the unit. */
  prepare?(): void
  startProcess(command: EngineCommand): EngineProcess
}

export async function launchCaddy(place: CaddyPlace): Promise<CaddyService> {
  const socketPath = join(place.runFolder, 'admin.sock')
  const configFile = join(place.stateFolder, 'config.json')
  for (const folder of [place.stateFolder, place.runFolder])
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (!existsSync(configFile)) writeFileSync(configFile, firstConfig(socketPath), { mode: 0o600 })
  let watch = { wanted: false }
  let caddy = run(place, configFile)
  // After a stop and start, only the newer supervisor may restart it: two processes could share a port unnoticed.
  const supervise = async (mine: typeof watch): Promise<void> => {
    while (mine.wanted) {
      await caddy.exited
      await pause(RESTART_MS, undefined, { ref: false })
      try {
        if (mine.wanted && caddy.hasExited()) caddy = run(place, configFile)
      } catch {
        // The machine is off.
        mine.wanted = false
      }
    }
  }
  const start = async (): Promise<void> => {
    watch.wanted = false
    if (caddy.hasExited()) caddy = run(place, configFile)
    await waitUntilReady(caddy, 'Caddy answers', () => answers(socketPath))
    watch = { wanted: true }
    void supervise(watch)
  }
  await start()
  return {
    socketPath,
    configFile,
    get pid() {
      return caddy.pid
    },
    kill: () => caddy.kill(),
    pause: () => caddy.pause(),
    resume: () => caddy.resume(),
    stop: async () => {
      watch.wanted = false
      await caddy.kill()
    },
    start,
  }
}

export interface StandaloneCaddy extends CaddyService {
  /** Ends it and removes its folder. */
  remove(): Promise<void>
}

/** Starts Caddy in a temporary folder, on this machine. */
export async function startCaddy(): Promise<StandaloneCaddy> {
  const folder = openHome('caddy', {})
  const caddy = await launchCaddy({
    stateFolder: join(folder.path, 'lib'),
    runFolder: join(folder.path, 'run'),
    startProcess: startEngineProcess,
  })
  const remove = async (): Promise<void> => {
    await caddy.stop()
    folder.remove()
  }
  return Object.defineProperties({ ...caddy, remove }, { pid: { get: () => caddy.pid } })
}

const firstConfig = (socketPath: string): string =>
  JSON.stringify({ admin: { listen: `unix/${socketPath}|0600`, config: { persist: false } } })

function run(place: CaddyPlace, configFile: string): EngineProcess {
  const { stateFolder } = place
  place.prepare?.()
  return place.startProcess({
    binary: engineBinary('caddy'),
    args: ['run', '--config', configFile],
    logFile: join(stateFolder, 'caddy.log'),
    env: { XDG_DATA_HOME: stateFolder, XDG_CONFIG_HOME: stateFolder },
  })
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { socketPath, path: '/config/admin', headers: { host: 'caddy' }, timeout: 1000, agent: false },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode === 200)
      },
    )
    sent.once('timeout', () => sent.destroy(new Error('Caddy did not answer within 1 s')))
    sent.once('error', reject)
    sent.end()
  })
}
