// Starts the process that attacks a server for one tenant.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { FromNoise, Noise, NoiseReport, ToNoise } from './noise-protocol.ts'

export interface RunningNoise {
  report(): Promise<NoiseReport>
  /** Ends the attack with all its connections. */
  stop(): Promise<void>
}

const SCRIPT = fileURLToPath(new URL('./noise-process.ts', import.meta.url))

export async function startNoise(noise: Noise): Promise<RunningNoise> {
  const child = fork(SCRIPT, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const ended = once(child, 'exit')
  const ask = (message: ToNoise, kind: FromNoise['kind']): Promise<FromNoise> =>
    new Promise((resolve, reject) => {
      const onMessage = (answer: FromNoise): void => {
        if (answer.kind !== kind) return
        child.off('message', onMessage)
        resolve(answer)
      }
      child.on('message', onMessage)
      child.once('exit', () => reject(new Error('the attacking process has ended')))
      child.send(message)
    })
  await ask({ kind: 'begin', noise }, 'begun')
  return {
    async report() {
      const answer = await ask({ kind: 'report' }, 'report')
      if (answer.kind !== 'report') throw new Error('unexpected message from the attacking process')
      return answer
    },
    async stop() {
      child.disconnect()
      await ended
    },
  }
}
