// A power cut in a lab with real disks: only synced data survives, in the node's disk and in a pool on it.

import { closeSync, existsSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isAlive } from '../engines/process-record.ts'
import { waitUntil } from '../wait-until.ts'
import { bootClockMs } from './lab-disks.ts'
import { labLeftovers, labProcesses } from './lab-leftovers.ts'
import type { LabNode } from './lab-node.ts'
import { type Lab, startLab } from './start-lab.ts'

const LINE = `${'x'.repeat(63)}\n`
const LINES = 100

let lab: Lab
let node: LabNode
beforeAll(async () => {
  lab = await startLab({ tenants: ['acme'], nodesPerTenant: 1, engine: 'new', losesUnsynced: true })
  const [first] = lab.nodes
  if (first === undefined) throw new Error('the lab has no node')
  node = first
})
afterAll(async () => {
  const prefix = node.namespace.replace(/-.*/, '')
  const folder = join(node.folder, '..')
  await lab.stop()
  expect(labLeftovers({ prefix, folder, pids: [] })).toEqual([])
})

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0)

/** Appends lines to a file; syncs only the first of them, or all. */
function write(path: string, synced: 'first' | 'all'): void {
  const file = openSync(path, 'a')
  for (let line = 0; line < LINES; line += 1) {
    writeSync(file, LINE)
    if (synced === 'all' || line === 0) fsyncSync(file)
  }
  closeSync(file)
}

const poolMount = () => join(node.disk, 'pool')
const mountPool = () => node.exec(['mount', '-o', 'loop', join(node.disk, 'pool.img'), poolMount()])

async function makePool(): Promise<void> {
  const image = join(node.disk, 'pool.img')
  await node.exec(['fallocate', '--length', String(256 * 1024 ** 2), image])
  await node.exec(['mkfs.btrfs', '--quiet', image])
  await node.exec(['mkdir', poolMount()])
  await mountPool()
  await node.exec(['sync', '--file-system', image])
}

const fileSystemId = async (): Promise<string> =>
  (await node.exec(['findmnt', '--noheadings', '--output', 'UUID', poolMount()])).trim()

test('a power cut loses what was not synced, on the disk and in a pool, and keeps the rest', async () => {
  await makePool()
  const idBefore = await fileSystemId()
  const synced = [join(node.disk, 'synced'), join(poolMount(), 'synced')]
  const unsynced = [join(node.disk, 'unsynced'), join(poolMount(), 'unsynced')]
  for (const path of synced) write(path, 'all')
  for (const path of unsynced) write(path, 'first')
  const whole = LINE.length * LINES
  expect([...synced, ...unsynced].map(sizeOf)).toEqual([whole, whole, whole, whole])
  await lab.powerOff(node)
  expect(sizeOf(join(node.disk, 'synced'))).toBe(0)
  await lab.powerOn(node)
  await mountPool()
  expect(synced.map(sizeOf)).toEqual([whole, whole])
  for (const path of synced) expect(readFileSync(path, 'utf8')).toBe(LINE.repeat(LINES))
  for (const path of unsynced) {
    expect(sizeOf(path)).toBeGreaterThanOrEqual(LINE.length)
    expect(sizeOf(path)).toBeLessThan(whole)
  }
  expect(await fileSystemId()).toBe(idBefore)
})

test('all processes of a node end at the cut, and none runs in between', async () => {
  const ticking = join(node.folder, 'ticks')
  const tick = `while :; do read up rest </proc/uptime; echo "$up" >>${ticking}; sleep 0.01; done`
  node.startProcess({ binary: '/bin/sh', args: ['-c', tick], logFile: join(node.folder, 'tick.log') })
  await waitUntil(() => sizeOf(ticking) > 100, { what: 'the process runs' })
  const running = labProcesses(node.namespace)
  const before = bootClockMs()
  const cut = await lab.powerOff(node)
  const took = bootClockMs() - before
  expect(running.length).toBeGreaterThan(2)
  expect(running.filter(isAlive)).toEqual([])
  const last = Number(readFileSync(ticking, 'utf8').trimEnd().split('\n').at(-1)) * 1000
  expect(last).toBeLessThanOrEqual(cut)
  console.log(
    `power cut: ${running.length} processes ended, ${took} ms in all, last tick ${cut - last} ms before`,
  )
  await lab.powerOn(node)
})

test('a frozen node runs nothing until it is thawed', async () => {
  const ticking = join(node.folder, 'ticks-2')
  const tick = `while :; do echo x >>${ticking}; sleep 0.01; done`
  node.startProcess({ binary: '/bin/sh', args: ['-c', tick], logFile: join(node.folder, 'tick.log') })
  await waitUntil(() => sizeOf(ticking) > 4, { what: 'the process runs' })
  lab.freeze(node)
  const size = sizeOf(ticking)
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(sizeOf(ticking)).toBe(size)
  lab.thaw(node)
  await waitUntil(() => sizeOf(ticking) > size, { what: 'the process runs again' })
})
