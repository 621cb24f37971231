// Runs the server in its own process for tests, and measures stalls of its event loop and its memory from inside; the
// product does not expose these. Communicates by IPC with start-server-process.ts.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { composeServer } from '@holdfast/server/compose'
import { loadConfig } from '@holdfast/server/config/load-config'
import { listenAt } from '@holdfast/server/net/limit-connections'
import pino from 'pino'
import type { Health, ToServer } from './server-protocol.ts'

const SAMPLE_MS = 5
const errors: string[] = []
const delays = monitorEventLoopDelay({ resolution: SAMPLE_MS })
const stalls = watchStalls()

/**
 * Measures stalls of the event loop. On a busy machine a process also stalls because other processes run, so a stall is
 * the CPU time of the thread between two iterations of its event loop. The wall-clock delay is reported separately.
 */
function watchStalls(): { worst(): number; reset(): void } {
  let worst = 0
  let lastWall = performance.now()
  let lastCpu = cpuMs()
  setInterval(() => {
    const wall = performance.now()
    const cpu = cpuMs()
    worst = Math.max(worst, Math.min(wall - lastWall, cpu - lastCpu) - SAMPLE_MS)
    lastWall = wall
    lastCpu = cpu
  }, SAMPLE_MS).unref()
  return {
    worst: () => worst,
    reset() {
      worst = 0
      lastWall = performance.now()
      lastCpu = cpuMs()
    },
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function health(): Health {
  const worstStallMs = stalls.worst()
  const worstDelayMs = delays.max / 1e6
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  const answer = { kind: 'health', worstStallMs, worstDelayMs, heapUsed, rss, errors: [...errors] } as const
  stalls.reset()
  delays.reset()
  return answer
}

async function serve(settings: string): Promise<void> {
  const loaded = loadConfig({ text: settings, env: {} })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.faults))
  const log = pino({ level: 'info', base: null }, { write: keepErrors })
  const server = await composeServer(loaded.config, log)
  await server.http.listen(listenAt(loaded.config.listen))
  delays.enable()
  stalls.reset()
  process.send?.({ kind: 'ready' })
  process.on('message', (message: ToServer) => {
    if (message.kind === 'health') process.send?.(health())
    if (message.kind === 'stop') void server.close().then(() => process.exit(0))
  })
}

function keepErrors(line: string): void {
  if (/^\{"level":[56]0/.test(line) && errors.length < 20) errors.push(line)
}

process.once('message', (message: ToServer) => {
  if (message.kind === 'serve') void serve(message.settings)
})
process.on('disconnect', () => process.exit(0))
