// An agent with copies of volumes across restarts, without an engine: storage does not depend on it.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder, waitUntil } from '@holdfast/testkit'
import { afterEach, expect, test } from 'vitest'
import { startPool, type TestPool, unmountBelow } from '../adapters/btrfs/pool.fixture.ts'
import { createWriterFreezer } from '../adapters/kernel/freeze-writers.ts'
import { createTestNode } from '../fixtures/agent.fixture.ts'
import { desiredCopy, newVolume } from './copies.fixture.ts'

let home: TestPool | undefined
afterEach(() => {
  home?.remove()
  home = undefined
})

test('mounts its saved copies after a boot without a server, and creates none of them', async () => {
  const pool = await startPool()
  home = pool
  const node = createTestNode('/nonexistent/docker.sock')
  node.openPool = () => pool.open()
  const newest = (volume: string) => node.copyReports.findLast((one) => one.volume === volume)
  const copy = desiredCopy()
  const first = await node.start()
  node.send([], { copies: [copy] })
  await waitUntil(() => newest(copy.volume)?.state === 'present', { what: 'the copy is present' })
  await waitUntil(() => node.measure().length === 1, { what: 'the copy is measured' })
  const path = join(pool.folder, 'volumes', copy.volume, 'x')
  writeFileSync(path, 'data')
  await first.close()

  unmountBelow(pool.folder)
  const saved = join(node.folder, 'desired.json')
  const set = JSON.parse(readFileSync(saved, 'utf8'))
  const never = desiredCopy()
  writeFileSync(saved, JSON.stringify({ ...set, copies: [...set.copies, never] }))
  node.copyReports.length = 0
  const second = await node.start()
  await waitUntil(() => newest(never.volume) !== undefined, { what: 'the second copy is reported' })
  expect(newest(copy.volume)?.state).toBe('present')
  expect(newest(never.volume)?.state).toBe('pending')
  expect(readFileSync(path, 'utf8')).toBe('data')
  node.send([], { copies: [copy, never] })
  await waitUntil(() => newest(never.volume)?.state === 'present', { what: 'the second copy is present' })
  await second.close()
})

test('reports copies as failed on a node without a pool', async () => {
  const node = createTestNode('/nonexistent/docker.sock')
  const agent = await node.start()
  const copy = desiredCopy()
  node.send([], { copies: [copy] })
  await waitUntil(() => node.copyReports.length > 0, { what: 'the copy is reported' })
  expect(node.copyReports).toMatchObject([{ volume: copy.volume, state: 'failed', reason: 'no_pool' }])
  await agent.close()
})

test('thaws writers at its start that an agent with other settings has left frozen', async () => {
  const { path: root } = makeTempFolder('cgroups')
  const writer = join(root, 'freezer', 'holdfast', newVolume())
  mkdirSync(writer, { recursive: true })
  writeFileSync(join(writer, 'freezer.state'), 'FROZEN')
  const node = createTestNode('/nonexistent/docker.sock')
  node.volumes = { freezer: createWriterFreezer('holdfast', root) }
  const agent = await node.start()
  expect(readFileSync(join(writer, 'freezer.state'), 'utf8')).toBe('THAWED')
  await agent.close()
})
