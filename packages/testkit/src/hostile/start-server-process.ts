// A second server replica beside the one of the test's own process, on the same engines and keys, whose event loop and
// memory are its own: what the test computes does not count.

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
  tell(child, { kind: 'serve', settings })
  await ready
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}`,
    async health() {
      const answer = nextMessage(child, 'health')
      tell(child, { kind: 'health' })
      const message = await answer
      if (message.kind !== 'health') throw new Error('the server answered something else')
      return message
    },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        tell(child, { kind: 'stop' })
      }),
  }
}

async function settingsOf({ config, registryHost, root }: Platform, port: number): Promise<string> {
  const { address, rootToken } = await sharedSecretsStore()
  return JSON.stringify({
    listen: { host: '127.0.0.1', port },
    publicUrl: `http://127.0.0.1:${port}`,
    etcd: { endpoints: config.etcd.endpoints, root },
    secretsStore: { address, ...(await provision(address, rootToken)) },
    registries: [{ host: registryHost, plainHttp: true, allowAddress: true }],
    rates: config.rates,
  })
}

function tell(child: ChildProcess, message: ToServer): void {
  child.send(message)
}

function nextMessage(child: ChildProcess, kind: FromServer['kind']): Promise<FromServer> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: FromServer) => {
      if (message.kind !== kind) return
      child.off('message', onMessage).off('exit', onExit)
      resolve(message)
    }
    const onExit = (code: number | null) => reject(new Error(`the server process ended: ${code}`))
    child.on('message', onMessage).on('exit', onExit)
  })
}
