// Waiting until volumes are Ready.

import { expect, test } from 'vitest'
import { aVolume, ME, TENANT } from '../resources/volume.fixture.ts'
import { scriptClient, scriptTerminal } from '../terminal/scripted-terminal.fixture.ts'
import { waitForVolumes } from './wait-for-volumes.ts'

/** Waits for a volume that stays as it is, with a clock that moves by a second at each reading. */
async function waitFor(volume: ReturnType<typeof aVolume>, more: { [request: string]: unknown } = {}) {
  const path = `GET /tenants/${TENANT}/volumes/${volume.id}`
  const client = scriptClient({ 'GET /me': ME, [path]: volume, ...more })
  let now = 0
  const clock = () => {
    now += 1000
    return now
  }
  const terminal = { ...scriptTerminal(), now: clock }
  const exitCode = await waitForVolumes(terminal, client, [volume], { longestMs: 9_000, announce: true })
  return { exitCode, ...terminal.printed }
}

test('a Ready volume ends the wait, whether or not all copies are current', async () => {
  expect(await waitFor(aVolume({ reason: 'under_replicated' }))).toEqual({
    exitCode: 0,
    out: 'volume/data ready\n',
    err: 'data: Ready (under_replicated), primary on n1, 2 of 2 copies current\n',
  })
})

test('a lost volume ends the wait at once, with the reason', async () => {
  const { exitCode, out, err } = await waitFor(aVolume({ phase: 'Lost', primary: null, copies: [] }))
  expect([exitCode, out]).toEqual([4, 'volume/data not ready\n'])
  expect(err).toContain(
    'data: Lost: No copy is left, so the data is lost.\nnext: holdfast describe volume data',
  )
})

test('a volume that no node accepts ends the wait early, with every node', async () => {
  const volume = aVolume({ phase: 'Pending', reason: 'unschedulable', primary: null, copies: [] })
  const candidate = {
    ...{ nodeId: 'node_1', nodeName: 'n1', accepted: false },
    refusals: [
      {
        ...{ filter: 'storage', code: 'storage_pool_missing', fix: 'Add a pool.' },
        ...{ required: 'a pool', reported: null },
      },
    ],
  }
  const why = {
    ...{ phase: 'Pending', decidedAt: null, summary: '0 of 1 nodes fit', nextCursor: null },
    ...{ candidates: [candidate], cure: ['Enroll another node.'] },
  }
  const path = `GET /tenants/${TENANT}/volumes/${volume.id}/why`
  const { exitCode, err } = await waitFor(volume, { [path]: why })
  expect(exitCode).toBe(4)
  expect(err).toMatch(/^ {2}n1 +storage_pool_missing/m)
  expect(err).toContain('To place it:\n    - Enroll another node.')
})

test('a volume that is not Ready in time is explained', async () => {
  const { exitCode, err } = await waitFor(aVolume({ phase: 'Materializing' }))
  expect(exitCode).toBe(4)
  expect(err).toContain('data: Materializing: The primary is being created on its node.')
})
