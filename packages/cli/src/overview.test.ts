// The overview of `status`: its order, what it folds, and how it shares a small screen.

import type { DeploymentRecord, Node } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { type Overview, overviewLines, shareRows } from './overview.ts'

const deployment = (name: string, phase: string, ready = 1) =>
  ({
    name,
    image: 'registry.example.com/shop/web:1',
    revision: 1,
    createdAt: '2026-01-31T11:00:00Z',
    status: { phase, reason: '', replicas: { desired: 1, placed: 1, ready } },
  }) as unknown as DeploymentRecord
const node = (name: string, status = 'ready') =>
  ({
    ...{ name, status, schedulable: true, controlPlane: false, claims: [], labels: {} },
    ...{ capacity: { cpuMillis: 1000, memoryBytes: 1024 }, engine: { version: '29.1.3' } },
  }) as unknown as Node

const overview: Overview = {
  deployments: [
    ...Array.from({ length: 40 }, (_, at) => deployment(`ok-${at}`, 'Running')),
    ...Array.from({ length: 20 }, (_, at) => deployment(`off-${at}`, 'Stopped', 0)),
    deployment('short', 'Running', 0),
    deployment('zz', 'Pending', 0),
    deployment('down', 'Degraded', 0),
  ],
  nodes: [node('n1'), node('n2', 'unreachable')],
  quotas: [{ kind: 'stored_bytes', used: 2048, limit: 16 * 1024 ** 2 }],
  events: [],
}
const firstWords = (lines: readonly string[]) => lines.map((line) => line.split(' ')[0])

test('shows trouble first and folds stopped deployments into a number', () => {
  const lines = overviewLines(overview, { nowMs: 0 })
  expect(lines[0]).toBe('41 of 43 deployments running, 20 stopped; 1 of 2 nodes ready')
  expect(firstWords(lines).slice(3, 9)).toEqual(['NAME', 'down', 'zz', 'short', 'ok-0', 'ok-1'])
  expect(lines.filter((line) => line.startsWith('ok-'))).toHaveLength(40)
  expect(lines).toContain('20 stopped')
  expect(firstWords(lines).slice(-5, -2)).toEqual(['NAME', 'n2', 'n1'])
})

test('says how many more there are, and nodes and events keep their rows', () => {
  const lines = overviewLines(overview, { nowMs: 0, rows: 20 })
  expect(lines).toHaveLength(20)
  expect(lines[13]).toBe('34 more, 20 stopped: holdfast get deployments')
  expect(firstWords(lines).slice(15, 18)).toEqual(['NAME', 'n2', 'n1'])
  expect(lines.at(-1)).toBe('no events yet')
})

test('on a very short screen each list still shows its worst item', () => {
  const lines = overviewLines(overview, { nowMs: 0, rows: 8 })
  expect(firstWords(lines)).toEqual(['41', 'NAME', 'down', 'zz', '41', 'n2', '1', 'no'])
})

test('each list keeps some rows, and the first ones get the rest', () => {
  expect(shareRows(40, [60, 3, 11])).toEqual([32, 3, 5])
  expect(shareRows(100, [60, 3, 11])).toEqual([60, 3, 11])
  expect(shareRows(13, [60, 30, 11])).toEqual([5, 4, 4])
  expect(shareRows(4, [60, 30, 11])).toEqual([2, 2, 2])
})
