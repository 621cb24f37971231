// A second server replica in its own process, on the same engines and keys as the server replica in the test process. It
// has its own event loop and memory, so that the work of the test does not affect the measurement.

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { freePort, sharedSecretsStore } from '@holdfast/testkit'
import { provision } from '../platform/set-up.ts'
import type { Platform } from '../platform/start-platform.ts'
import type { FromServer, Health, ToServer } from './server-protocol.ts'

export interface ServerProcess {
  readonly port: number
  readonly baseUrl: string
  health(): Promise<Health>
  stop(): Promise<void>
}

const SCRIPT = new URL('./server-process.ts', import.meta.url)

export async function startServerProcess(platform: Platform): Promise<ServerProcess> {
  const port = await freePort()
  const child = fork(fileURLToPath(SCRIPT), {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const settings = await settingsOf(platform, port)
  const ready = nextMessage(child, 'ready')
  send(child, { kind: 'serve', settings })
  await ready
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}`,
    async health() {
      const answer = nextMessage(child, 'health')
      send(child, { kind: 'health' })
      const message = await answer
      if (message.kind !== 'health') throw new Error('unexpected message from the server process')
      return message
    },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        send(child, { kind: 'stop' })
      }),
  }
}

async function settingsOf({ config, registryHost, root }: Platform, port: number): Promise<string> {
  const { address, rootToken } = await sharedSecretsStore()
  return JSON.stringify({
    listen: { host: '127.0.0.1', port, drainSeconds: 0 },
    publicUrl: `http://127.0.0.1:${port}`,
    etcd: { endpoints: config.etcd.endpoints, root },
    secretsStore: { address, ...(await provision(address, rootToken)) },
    registries: [{ host: registryHost, plainHttp: true, allowAddress: true }],
    rates: config.rates,
  })
}

function send(child: ChildProcess, message: ToServer): void {
  child.send(message)
}

function nextMessage(child: ChildProcess, kind: FromServer['kind']): Promise<FromServer> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: FromServer) => {
      if (message.kind !== kind) return
      child.off('message', onMessage).off('exit', onExit)
      resolve(message)
    }
    const onExit = (code: number | null) => reject(new Error(`the server process exited with ${code}`))
    child.on('message', onMessage).on('exit', onExit)
  })
}
