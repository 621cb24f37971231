// Measures what samples of usage cost: the CPU time of a round, the size of a heartbeat and that of a refill, with many
// containers. bench/README.md explains how to run and read it.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { createUsageReader } from '@holdfast/agent/adapters/kernel/usage-files'
import { startSampler } from '@holdfast/agent/usage/sample-node'
import { type AssignmentId, encodeOpen, ulid } from '@holdfast/contract'
import { realIds } from '@holdfast/server/system-clock'

const { values } = parseArgs({
  options: { containers: { type: 'string', default: '100' }, rounds: { type: 'string', default: '50' } },
})
const CONTAINERS = Number(values.containers)
const ROUNDS = Number(values.rounds)
const ROOT = '/sys/fs/cgroup'
const CONTROLLERS = ['cpu', 'cpuacct', 'memory', 'pids']
const NAME = 'holdfast-bench'

/** A process in cgroups of its own, as in a container. All controllers of v2 share one folder. */
function startMember(containerId: string): { readonly child: ChildProcess; readonly folders: string[] } {
  const isUnified = existsSync(join(ROOT, 'cgroup.controllers'))
  const folders = (isUnified ? ['.'] : CONTROLLERS).map((controller) =>
    join(ROOT, controller, NAME, containerId),
  )
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'cgroup.procs'), String(child.pid))
  }
  return { child, folders }
}

const members = Array.from({ length: CONTAINERS }, (_, index) => {
  const containerId = index.toString(16).padStart(64, 'c')
  const id = `rep_${ulid(Date.now(), realIds.bytes(10))}` as AssignmentId
  return { id, containerId, ...startMember(containerId) }
})
// The clock jumps by a step for each round, because a sampler takes none before a step has passed.
let aheadMs = 0
const sampler = startSampler({
  reader: createUsageReader('/tmp'),
  running: () => members.map(({ id, containerId, child }) => ({ id, containerId, pid: child.pid })),
  monotonicMs: () => performance.now() + aheadMs,
})
try {
  await sampler.sample()
  const before = process.cpuUsage()
  for (let round = 0; round < ROUNDS; round += 1) {
    aheadMs += 10_000
    await sampler.sample()
  }
  const { user, system } = process.cpuUsage(before)
  const usage = sampler.history.latest(sampler.now())
  const parts = sampler.history.parts(0, ROUNDS).map((part) => encodeOpen(part(sampler.now())).length)
  const lines = [
    `containers read        ${usage?.containers.length} of ${CONTAINERS}, unread ${usage?.unread}`,
    `CPU time of a round    ${((user + system) / 1000 / ROUNDS).toFixed(2)} ms`,
    `size of a heartbeat    ${encodeOpen({ type: 'heartbeat', session: 1, usage }).length} bytes`,
    `refill of ${ROUNDS} rounds    ${parts.length} messages, ${parts.reduce((sum, size) => sum + size, 0)} bytes`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
} finally {
  sampler.close()
  await Promise.all(
    members.map(async ({ child, folders }) => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
      for (const folder of folders) rmdirSync(folder)
    }),
  )
  for (const folder of new Set(members.flatMap(({ folders }) => folders.map(dirname)))) rmdirSync(folder)
}
