// A real Caddy, as systemd runs it on a node: Caddy starts from a file that the agent writes, and is restarted whenever
// it ends.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { engineBinary } from './engine-binaries.ts'
import { openHome, waitUntilReady } from './engine-home.ts'
import { type EngineCommand, type EngineProcess, startEngineProcess } from './engine-process.ts'

/** Time until Caddy is restarted, like RestartSec in Caddy's systemd unit. */
const RESTART_MS = 100

export interface CaddyService {
  /** Socket of Caddy's admin API; only the owner can enter the socket's folder. */
  readonly socketPath: string
  /** File with the configuration that Caddy starts with. */
  readonly configFile: string
  /** Process id of Caddy's current process. */
  readonly pid: number
  /** Kills Caddy with SIGKILL; Caddy restarts at once, with the configuration in its file. */
  kill(): Promise<void>
  pause(): void
  resume(): void
  /** Stops Caddy until start() is called. */
  stop(): Promise<void>
  start(): Promise<void>
}

export interface CaddyPlace {
  /** Folder of Caddy's state, which survives a power cut. */
  readonly stateFolder: string
  readonly runFolder: string
  /** Runs before each start of Caddy, like ExecStartPre in a systemd unit. */
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
  // After stop() and start(), only the newer restart loop may start Caddy: two processes could share a port unnoticed.
  const supervise = async (mine: typeof watch): Promise<void> => {
    while (mine.wanted) {
      await caddy.exited
      await pause(RESTART_MS, undefined, { ref: false })
      try {
        if (mine.wanted && caddy.hasExited()) caddy = run(place, configFile)
      } catch {
        // Caddy cannot be started because its machine is off, so stop restarting it.
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
  /** Ends Caddy and removes its folder. */
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
