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

/** Starts a lab with containers in another process. */
async function startElsewhere(): Promise<LabTrace> {
  starter = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (starter.stdout === null) throw new Error('the starter has no stdout')
  const [line] = await once(createInterface(starter.stdout), 'line')
  const [namespace = '', folder = ''] = String(line).split(' ')
  const prefix = namespace.replace(/-.*/, '')
  return { prefix, folder: dirname(folder), pids: await settledProcesses(prefix) }
}

/**
 * Waits until the set of processes is stable: helpers that start or pause a container outlive their command for a moment.
 */
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

test('the next lab removes what a lab leaves behind when its owner is killed with SIGKILL', async () => {
  const trace = await startElsewhere()
  lab = await startLab({ tenants: ['acme'], nodesPerTenant: 1, engine: 'old' })
  expect(lab.nodes[0]?.namespace.startsWith(`${trace.prefix}-`)).toBe(false)
  expect(trace.pids.filter(isAlive)).toEqual(trace.pids)
  const owned = trace.pids.filter(isOfOwner)
  expect(owned).toHaveLength(6)
  await lab.stop()

  starter?.kill('SIGKILL')
  await waitUntil(() => !isAlive(starter?.pid ?? 0), { what: 'the owner has exited' })
  // Engines and routers end with the process that started the lab; the shims and containers of the lab keep running.
  await waitUntil(() => !owned.some(isAlive), { what: 'the engines have exited' })
  const others = trace.pids.filter((pid) => !owned.includes(pid))
  expect(others.filter(isAlive)).toEqual(others)
  expect(labLeftovers(trace).length).toBeGreaterThan(4)
  lab = await startLab({ tenants: ['acme'], nodesPerTenant: 1, engine: 'old' })
  await waitUntil(() => !trace.pids.some(isAlive), { what: 'its processes have exited' })
  expect(lab.nodes[0]?.folder.startsWith(trace.folder)).toBe(false)
  // The new lab reuses the number and thus the names of the killed lab. After stop() nothing with these names may exist.
  await lab.stop()
  expect(labLeftovers(trace)).toEqual([])
})

test('a lab ends with its owner on SIGTERM', async () => {
  const trace = await startElsewhere()
  expect(trace.pids.length).toBeGreaterThan(8)
  starter?.kill('SIGTERM')
  await waitUntil(() => !isAlive(starter?.pid ?? 0), { what: 'the owner has exited' })
  await waitUntil(() => !trace.pids.some(isAlive), { what: 'its processes are reaped' })
  expect(labLeftovers(trace)).toEqual([])
})

test('a lab that fails to start leaves nothing behind', async () => {
  let trace: LabTrace | undefined
  const startAgent: StartAgent = async ({ namespace, folder }) => {
    const prefix = namespace.replace(/-.*/, '')
    trace ??= { prefix, folder: dirname(folder), pids: labProcesses(prefix) }
    throw new Error('This agent does not start.')
  }
  const starting = startLab({ tenants: ['acme'], nodesPerTenant: 2, startAgent })
  await expect(starting).rejects.toThrow('This agent does not start.')
  if (trace === undefined) throw new Error('the agent was never started')
  const { pids } = trace
  expect(pids.length).toBeGreaterThan(1)
  await waitUntil(() => !pids.some(isAlive), { what: 'the processes are reaped' })
  expect(labLeftovers(trace)).toEqual([])
})
