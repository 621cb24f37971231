// Starts two nodes of the replication benchmark, each pinned to a core of its own if the machine has two.

import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Peer } from '@holdfast/contract'
import { makeTempFolder } from '@holdfast/testkit'
import type { PeerRequest } from './peer-process.ts'

const PROGRAM = join(import.meta.dirname, 'peer-process.ts')

interface PeerProcess {
  readonly peer: Peer
  /** The mount point of its pool. */
  readonly root: string
  ask(request: PeerRequest): Promise<unknown>
}

export interface Pair {
  readonly primary: PeerProcess
  readonly replica: PeerProcess
  /** Folder for files of the benchmark. */
  readonly folder: string
  stop(): Promise<void>
}

/** Starts the process. Its first message describes the node; each later one answers the request with the same id. */
async function startProcess(folder: string, poolBytes: number, core: number): Promise<PeerProcess> {
  mkdirSync(folder)
  const words = ['-c', String(core), process.execPath, PROGRAM, folder, String(poolBytes)]
  const child = spawn('taskset', words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const answer = (id: number): Promise<unknown> => {
    const pending = Promise.withResolvers<unknown>()
    waiting.set(id, pending)
    return pending.promise
  }
  child.on('message', (message) => {
    const { id, value, error } = Object(message)
    if (error === undefined) waiting.get(id)?.resolve(value)
    else waiting.get(id)?.reject(new Error(error))
    waiting.delete(id)
  })
  child.once('exit', () => {
    for (const pending of waiting.values()) pending.reject(new Error('a node of the benchmark ended'))
  })
  const { root, peer } = Object(await answer(0))
  let last = 0
  return {
    root,
    peer,
    async ask(request) {
      last += 1
      const pending = answer(last)
      child.send({ id: last, request })
      const value = await pending
      if (request.kind === 'close') child.disconnect()
      return value
    },
  }
}

export async function startPair(poolBytes: number): Promise<Pair> {
  const folder = makeTempFolder('bench-replication')
  const other = availableParallelism() > 1 ? 1 : 0
  const [primary, replica] = await Promise.all([
    startProcess(join(folder.path, 'primary'), poolBytes, 0),
    startProcess(join(folder.path, 'replica'), poolBytes, other),
  ])
  return {
    primary,
    replica,
    folder: folder.path,
    async stop() {
      await primary.ask({ kind: 'close' })
      await replica.ask({ kind: 'close' })
      folder.remove()
    },
  }
}
