// A machine for tests of setup: units are child processes on the files that setup wrote, and owners are not tracked.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { type EngineProcess, engineBinary, startEngineProcess } from '@holdfast/testkit'
import { layoutBelow, UNITS, type Unit } from './layout.ts'
import type { Machine } from './machine.ts'

export interface ProcessMachine extends Machine {
  pidOf(unit: Unit): number | undefined
  /** Ends all processes. */
  stop(): Promise<void>
}

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))

export function createProcessMachine(root: string): ProcessMachine {
  const running = new Map<Unit, EngineProcess>()
  const isRunning = (unit: Unit): boolean => running.get(unit)?.hasExited() === false
  const start = async (unit: Unit) => {
    if (!isRunning(unit)) running.set(unit, startEngineProcess(commandOf(unit, root)))
  }
  return {
    isRunning: async (unit) => isRunning(unit),
    start,
    restart: async (unit) => {
      await running.get(unit)?.terminate()
      await start(unit)
    },
    readLog: async (unit) => running.get(unit)?.logTail() ?? '',
    hasUser: () => true,
    nameOwner: () => undefined,
    giveTo: () => {},
    pidOf: (unit) => running.get(unit)?.pid,
    stop: async () => {
      await Promise.all([...running.values()].map((process) => process.kill()))
    },
  }
}

function commandOf(unit: Unit, root: string) {
  const layout = layoutBelow(root)
  const logFile = join(root, `${unit}.log`)
  const serve = (config: string) => ({
    binary: execPath,
    args: [MAIN, 'serve', '--config', config],
    logFile,
  })
  if (unit === UNITS.server) return serve(layout.serverConfig)
  if (unit === UNITS.broker) return serve(layout.brokerConfig)
  if (unit === UNITS.etcd) {
    const env = readEnvironment(layout.etcdEnvironment)
    return { binary: engineBinary('etcd'), args: [], env, logFile }
  }
  const args = ['server', `-config=${layout.secretsStoreConfig}`, '-log-level=warn']
  // This version of Vault bundles a certificate with a negative serial number, which current Go rejects by default.
  return { binary: engineBinary('vault'), args, env: { GODEBUG: 'x509negativeserial=1' }, logFile }
}

/** The variables of an environment file of systemd, without quotes. */
function readEnvironment(path: string): { [name: string]: string } {
  const lines = readFileSync(path, 'utf8').split('\n')
  return Object.fromEntries(
    lines.flatMap((line) => {
      const at = line.indexOf('=')
      return line.startsWith('#') || at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1)]]
    }),
  )
}
