// Starts a measured process of a build, and asks it for turns.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import type { Cost } from '@holdfast/testkit/load/judge-costs'
import type { StandIn } from './stand-in.ts'
import type { TurnRequest } from './worker.ts'

export interface MeasuredProcess {
  turn(request: TurnRequest): Promise<Cost>
  stop(): void
}

/**
 * One thread, because CPU time that helper threads spend waiting for each other depends on the load of the machine. A young
 * generation of fixed size, because V8 would resize it according to the time that a process was idle.
 */
const FLAGS = [
  '--expose-gc',
  '--single-threaded',
  '--no-memory-reducer',
  '--min-semi-space-size=16',
  '--max-semi-space-size=16',
]

/**
 * All measured processes share one core, because what runs on the other cores makes cores unequal; they never work at the same
 * time. `folder`: of a build. Rejects if the process ends early; its error is printed.
 */
export async function startMeasured(folder: string, { port, image }: StandIn): Promise<MeasuredProcess> {
  const state = makeTempFolder('cost')
  const words = [String(port), image, state.path]
  const worker = join(folder, 'bench/lib/cost/worker.ts')
  const child = spawn('taskset', ['--cpu-list', '0', process.execPath, ...FLAGS, worker, ...words], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Each build has a cache of its own, so that its later starts do not compile the sources again.
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compile-cache') },
  })
  const answers = readAnswers(child)
  await answers.next()
  return {
    async turn(request) {
      child.send(request)
      return Object(await answers.next())
    },
    stop() {
      child.disconnect()
      state.remove()
    },
  }
}

function readAnswers(child: ChildProcess) {
  return {
    next: (): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const ended = (code: number | null): void =>
          reject(new Error(`a measured process ended with ${code}`))
        child.once('exit', ended)
        child.once('message', (answer) => {
          child.off('exit', ended)
          resolve(answer)
        })
      }),
  }
}
