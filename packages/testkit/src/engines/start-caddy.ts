// A real Caddy, as systemd runs it on a node: from a file that the agent writes, and started again whenever it ends.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { engineBinary } from './engine-binaries.ts'
import { openHome, waitUntilReady } from './engine-home.ts'
import { type EngineCommand, type EngineProcess, startEngineProcess } from './engine-process.ts'

/** As RestartSec of the unit. */
const RESTART_MS = 100

export interface CaddyService {
  /** Of the admin API; its folder is for the owner alone. */
  readonly socketPath: string
  /** What it starts with. */
  readonly configFile: string
  /** Of the process that runs now. */
  readonly pid: number
  /** kill -9; it is started again at once, with what is in its file. */
  kill(): Promise<void>
  pause(): void
  resume(): void
  /** It ends and stays away, until start(). */
  stop(): Promise<void>
  start(): Promise<void>
}

export interface CaddyPlace {
  /** Survives a power cut. */
  readonly stateFolder: string
  readonly runFolder: string
  /** Before each start, as ExecStartPre of the unit. */
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
  // One that was stopped and started meanwhile is watched by the one that started it: two would share a port unnoticed.
  const supervise = async (mine: typeof watch): Promise<void> => {
    while (mine.wanted) {
      await caddy.exited
      await pause(RESTART_MS, undefined, { ref: false })
      try {
        if (mine.wanted && caddy.hasExited()) caddy = run(place, configFile)
      } catch {
        // Its machine is gone.
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
  /** It ends, and its folder is gone. */
  remove(): Promise<void>
}

/** In a folder of its own, on this machine. */
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
    const asked = request(
      { socketPath, path: '/config/admin', headers: { host: 'caddy' }, timeout: 1000, agent: false },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode === 200)
      },
    )
    asked.once('timeout', () => asked.destroy(new Error('Caddy did not answer within 1 s.')))
    asked.once('error', reject)
    asked.end()
  })
}
