import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, expect, test } from 'vitest'
import { isAlive } from '../engines/process-record.ts'
import { waitUntil } from '../wait-until.ts'
import { type LabTrace, labLeftovers, labProcesses } from './lab-leftovers.ts'
import type { StartAgent } from './lab-node.ts'
import { type Lab, startLab } from './start-lab.ts'

let starter: ChildProcess | undefined
let lab: Lab | undefined
afterEach(async () => {
  starter?.kill('SIGKILL')
  await lab?.stop()
})

const SCRIPT = `
  import { startLab } from ${JSON.stringify(join(import.meta.dirname, '../index.ts'))}
  const lab = await startLab({ tenants: ['acme'], nodesPerTenant: 2 })
  const { reference } = await lab.registry.pushBusyboxImage('acme/web', '1.0')
  for (const node of lab.nodes) await node.exec(['docker', 'run', '-d', '--name', 'web', reference])
  await lab.nodes[0].exec(['docker', 'pause', 'web'])
  const { namespace, folder } = lab.nodes[0]
  console.log(namespace, folder)
  setInterval(() => {}, 1000)`

/** A lab of another process, with containers in it. */
async function startElsewhere(): Promise<LabTrace> {
  starter = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (starter.stdout === null) throw new Error('The starter has no output.')
  const [line] = await once(createInterface(starter.stdout), 'line')
  const [namespace = '', folder = ''] = String(line).split(' ')
  const prefix = namespace.replace(/-.*/, '')
  return { prefix, folder: dirname(folder), pids: await settledProcesses(prefix) }
}

/** What only started or paused a container is there for a moment longer than its command. */
async function settledProcesses(prefix: string): Promise<number[]> {
  let pids: number[] = []
  const areTheSame = (): boolean => {
    const before = pids.join()
    pids = labProcesses(prefix)
    return pids.length > 0 && pids.join() === before
  }
  await waitUntil(areTheSame, { what: 'its processes have settled', intervalMs: 500 })
  return pids
}

const nameOf = (pid: number): string => readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
const isOfOwner = (pid: number): boolean => ['dockerd', 'containerd', 'caddy'].includes(nameOf(pid))

test('what a lab leaves behind when its owner is killed with -9, the next lab removes', async () => {
  const trace = await startElsewhere()
  lab = await startLab({ tenants: ['acme'], nodesPerTenant: 1, engine: 'old' })
  expect(lab.nodes[0]?.namespace.startsWith(`${trace.prefix}-`)).toBe(false)
  expect(trace.pids.filter(isAlive)).toEqual(trace.pids)
  const owned = trace.pids.filter(isOfOwner)
  expect(owned).toHaveLength(6)
  await lab.stop()

  starter?.kill('SIGKILL')
  await waitUntil(() => !isAlive(starter?.pid ?? 0), { what: 'the owner is gone' })
  // Engines and routers go with their owner; the shims and the containers do not.
  await waitUntil(() => !owned.some(isAlive), { what: 'the engines are gone' })
  const others = trace.pids.filter((pid) => !owned.includes(pid))
  expect(others.filter(isAlive)).toEqual(others)
  expect(labLeftovers(trace).length).toBeGreaterThan(4)
  lab = await startLab({ tenants: ['acme'], nodesPerTenant: 1, engine: 'old' })
  await waitUntil(() => !trace.pids.some(isAlive), { what: 'its processes are gone' })
  expect(lab.nodes[0]?.folder.startsWith(trace.folder)).toBe(false)
  // The slot is given out anew: only what is in use by the new lab may bear its names.
  await lab.stop()
  expect(labLeftovers(trace)).toEqual([])
})

test('a process that is told to end takes its lab along', async () => {
  const trace = await startElsewhere()
  expect(trace.pids.length).toBeGreaterThan(8)
  starter?.kill('SIGTERM')
  await waitUntil(() => !isAlive(starter?.pid ?? 0), { what: 'the owner is gone' })
  await waitUntil(() => !trace.pids.some(isAlive), { what: 'its processes are reaped' })
  expect(labLeftovers(trace)).toEqual([])
})

test('a lab that does not come up leaves nothing', async () => {
  let trace: LabTrace | undefined
  const startAgent: StartAgent = async ({ namespace, folder }) => {
    const prefix = namespace.replace(/-.*/, '')
    trace ??= { prefix, folder: dirname(folder), pids: labProcesses(prefix) }
    throw new Error('This agent does not start.')
  }
  const asked = startLab({ tenants: ['acme'], nodesPerTenant: 2, startAgent })
  await expect(asked).rejects.toThrow('This agent does not start.')
  if (trace === undefined) throw new Error('No agent was to be started.')
  const { pids } = trace
  expect(pids.length).toBeGreaterThan(1)
  await waitUntil(() => !pids.some(isAlive), { what: 'the processes are reaped' })
  expect(labLeftovers(trace)).toEqual([])
})
