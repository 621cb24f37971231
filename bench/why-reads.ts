// A thread of bench/why.ts that reads the deployments of some tenants one after another, and answers each message with the
// milliseconds of the reads since the last one. A thread of its own, because the benchmark itself is busy with its store.

import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

export interface Reads {
  readonly port: number
  readonly tokens: readonly string[]
  readonly pauseMs: number
}

const { port, tokens, pauseMs }: Reads = workerData
let times: number[] = []
parentPort?.on('message', () => {
  parentPort?.postMessage(times)
  times = []
})

for (let turn = 0; ; turn += 1) {
  const began = performance.now()
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/deployments`, {
    headers: { authorization: `Bearer ${tokens[turn % tokens.length]}` },
  })
  if (!response.ok) throw new Error(`the server answers ${response.status}`)
  await response.arrayBuffer()
  times.push(performance.now() - began)
  await sleep(pauseMs)
}
