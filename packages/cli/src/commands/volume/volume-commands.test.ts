// Commands of volumes against scripted API responses. tests/real/cli/volumes.test.ts runs them on a platform.

import { asNodeId } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { aVolume, ME, TENANT } from '../../resources/volume.fixture.ts'
import { invocation, scriptClient, scriptTerminal } from '../../terminal/scripted-terminal.fixture.ts'
import { describe as describeCommand } from '../describe.ts'
import { get } from '../get.ts'
import { why } from '../why.ts'
import { volumeCreate } from './volume-create.ts'
import { volumeDescribe } from './volume-describe.ts'
import { volumePromote } from './volume-promote.ts'
import { volumeRecommendations, volumeRecommendationsApply } from './volume-recommendations.ts'
import { volumeResize } from './volume-resize.ts'

const NO_EVENTS = { items: [], nextCursor: 'x' }

const clientWith = (volume: ReturnType<typeof aVolume>) =>
  scriptClient({
    'GET /me': ME,
    'GET /dvm/volumes?limit=500': { items: [volume], nextCursor: null },
    [`GET /tenants/${TENANT}/volumes/${volume.id}`]: volume,
    'GET /events?subject=data&limit=10': NO_EVENTS,
  })

async function describeVolume(volume: ReturnType<typeof aVolume>): Promise<string> {
  const terminal = scriptTerminal()
  expect(await volumeDescribe.run(invocation(terminal, ['data']), clientWith(volume))).toBe(0)
  return terminal.printed.out
}

describe('describe volume', () => {
  test('shows phase, primary with epoch, copies, use and consumers', async () => {
    const shown = await describeVolume(aVolume())
    expect(shown).toMatch(/^Phase: +Ready$/m)
    expect(shown).toMatch(/^In use: +4GiB of 10GiB \(40%\), measured 10s ago$/m)
    expect(shown).toMatch(/^Primary: +n1, epoch 2, for 1h$/m)
    expect(shown).toMatch(/^Mounted by: +db$/m)
    expect(shown).toMatch(/^ {2}n1 +primary +current +41 +- +-$/m)
    expect(shown).toMatch(/^ {2}n2 +replica +current +40 +7s +yes$/m)
    expect(shown).not.toContain('next:')
  })

  test('says that bytes and ages are unknown while the node has not answered', async () => {
    const copies = aVolume().copies.map((copy) => ({ ...copy, checkpoint: null, checkpointAge: null }))
    const shown = await describeVolume(aVolume({ usedBytes: null, measuredAt: null, copies }))
    expect(shown).toMatch(/^In use: +unknown: the node has not answered$/m)
    expect(shown).toMatch(/^ {2}n2 +replica +current +unknown +unknown +yes$/m)
  })

  test('shows promotions, a fence, an expired promise and what happens if the primary dies', async () => {
    const [first, second] = aVolume().copies
    if (first === undefined || second === undefined) throw new Error('no copies')
    const message = 'If n1 dies now, n2 continues with the data of 7 s ago.'
    const shown = await describeVolume(
      aVolume({
        copies: [first, { ...second, promise: 'expired' }],
        fencedSince: '2026-01-31T11:59:00.000Z',
        ifPrimaryDies: { nodeId: second.nodeId, nodeName: 'n2', dataAge: 7, message, copies: [] },
        promotions: [
          {
            ...{ at: '2026-01-31T11:00:00.000Z', fromEpoch: 1, toEpoch: 2, cause: 'primary_silent' },
            ...{ from: second.nodeId, fromName: 'n2', to: first.nodeId, toName: 'n1' },
            ...{ checkpoint: 12, lossMs: 3_200 },
          },
        ],
      }),
    )
    expect(shown).toMatch(/^Fenced: +for 1m: no container may write$/m)
    expect(shown).toMatch(/^Outlook: +If n1 dies now, n2 continues with the data of 7 s ago\.$/m)
    expect(shown).toMatch(/^ {2}n2 +replica +current +40 +7s +yes, promise expired$/m)
    expect(shown).toMatch(/^ {2}1h +2 +n2 +n1 +primary_silent +at most 4s$/m)
  })

  test.each([
    [
      { phase: 'Lost' },
      'No copy is left, so the data is lost.',
      'holdfast volume delete data frees its name',
    ],
    [{ phase: 'Degraded' }, 'The node of the primary is unreachable', 'holdfast describe node n1'],
    [{ reason: 'replica_lagging' }, 'A copy is more than 15 seconds behind the primary.', ''],
    [{ reason: 'something_new' }, 'The primary has the data', ''],
    [{ consumers: [] }, 'The primary has the data', 'mount it in a deployment: volumes: [{volume: data,'],
  ] as const)('with %j it explains the phase and the next step', async (more, meaning, next) => {
    const shown = await describeVolume(aVolume(more as Parameters<typeof aVolume>[0]))
    expect(shown).toContain(meaning)
    expect(shown).toContain(next)
  })

  test('is the same as describe volume/data', async () => {
    const terminal = scriptTerminal()
    await describeCommand.run(invocation(terminal, ['volume/data']), clientWith(aVolume()))
    expect(terminal.printed.out).toBe(await describeVolume(aVolume()))
  })
})

test('why volume shows which copy continues if the primary dies, and why the others do not', async () => {
  const volume = aVolume()
  const nodeId = volume.copies[1]?.nodeId ?? null
  const copies = [
    { nodeId, nodeName: 'n2', obstacle: 'none', message: 'n2 fits' },
    {
      nodeId: volume.copies[0]?.nodeId,
      nodeName: 'n3',
      obstacle: 'lagging',
      message: 'n3 is too far behind',
    },
  ]
  const ifPrimaryDies = { nodeId, nodeName: 'n2', dataAge: 7, message: 'n2 continues.', copies }
  const explained = {
    decidedAt: null,
    phase: 'Ready',
    summary: 'Every copy has a node.',
    candidates: [],
    cure: [],
  }
  const terminal = scriptTerminal()
  const client = scriptClient({
    'GET /me': ME,
    'GET /dvm/volumes?limit=500': { items: [volume], nextCursor: null },
    [`GET /tenants/${TENANT}/volumes/${volume.id}/why?limit=500`]: { ...explained, ifPrimaryDies },
  })
  expect(await why.run(invocation(terminal, ['volume', 'data']), client)).toBe(0)
  expect(terminal.printed.out).toContain('Every copy has a node.\n\nn2 continues.\nn3 is too far behind\n')
})

test('get volumes shows the use and the copies', async () => {
  const terminal = scriptTerminal()
  await get.run(invocation(terminal, ['volumes']), clientWith(aVolume()))
  expect(terminal.printed.out).toMatch(/^data +Ready +replicated +10GiB +4GiB \(40%\) +2\/2 +n1 +db +1d +-$/m)
})

test.each([
  [volumeCreate, ['data'], {}, 'no size given, for example: holdfast volume create data --size 10Gi'],
  [volumeCreate, ['data'], { size: '10' }, '"10" is not a size. The unit is missing.'],
  [volumeResize, ['data', '1GB'], {}, '"1GB" is not a size. GB is not a unit of sizes here: write Gi'],
])('a size without a unit is a usage error', async (command, args, typed, message) => {
  const terminal = scriptTerminal()
  expect(await command.run(invocation(terminal, args, typed), scriptClient({}))).toBe(2)
  expect(terminal.printed.err).toContain(message)
})

describe('volume promote', () => {
  const volume = aVolume()
  const path = `/tenants/${TENANT}/volumes/${volume.id}/promote`
  const promoted = aVolume({
    primary: {
      nodeId: volume.copies[1]?.nodeId ?? asNodeId(''),
      nodeName: 'n2',
      epoch: 3,
      since: '2026-01-31T12:00:00.000Z',
    },
  })
  const client = () =>
    scriptClient({
      'GET /me': ME,
      'GET /dvm/volumes?limit=500': { items: [volume], nextCursor: null },
      [`POST ${path}`]: promoted,
    })

  test('asks for the name, and promotes once it was typed', async () => {
    const terminal = scriptTerminal({ typed: 'data' })
    expect(await volumePromote.run(invocation(terminal, ['data']), client())).toBe(0)
    expect(terminal.printed.err).toContain('Type its name to confirm')
    expect(terminal.printed.out).toBe('volume/data promoted from n1 to n2\n')
  })

  test.each([
    ['dat', 1, 'volume data was not promoted: the name does not match'],
    [undefined, 2, 'stdin is not a terminal; use --yes to promote a copy of volume data'],
  ])('with the answer %s it promotes nothing', async (typed, exitCode, message) => {
    const terminal = scriptTerminal(typed === undefined ? {} : { typed })
    expect(await volumePromote.run(invocation(terminal, ['data']), scriptClient({}))).toBe(exitCode)
    expect(terminal.printed.err).toContain(message)
  })
})

describe('volume recommendations', () => {
  const recommendation = {
    id: 'rec_1',
    type: 'capacity_low',
    priority: 'critical',
    volume_id: aVolume().id,
    volume_name: 'data',
    applicable: true,
    why: '96 % of the volume is in use.',
    parameters: { action: 'resize', target_size_bytes: 16 * 1024 ** 3 },
    measured: { sizeBytes: 10 * 1024 ** 3, replicas: 1, enrolledNodes: 3 },
  }

  test('lists the change, whether it can be applied, and why', async () => {
    const terminal = scriptTerminal()
    const client = scriptClient({
      'GET /me': ME,
      'GET /dvm/recommendations?limit=500&priority=critical': { items: [recommendation], nextCursor: null },
    })
    const typed = invocation(terminal, [], { priority: 'critical' })
    expect(await volumeRecommendations.run(typed, client)).toBe(0)
    expect(terminal.printed.out).toMatch(
      /^rec_1 +critical +data +capacity_low +resize to 16GiB +yes +96 % of the volume is in use\.$/m,
    )
  })

  test('applies one by its id', async () => {
    const terminal = scriptTerminal()
    const client = scriptClient({
      'POST /dvm/recommendations/rec_1/apply': aVolume({ sizeBytes: 16 * 1024 ** 3 }),
    })
    expect(await volumeRecommendationsApply.run(invocation(terminal, ['rec_1']), client)).toBe(0)
    expect(terminal.printed.out).toBe('volume/data changed: 16GiB, 1 replica\n')
  })
})
