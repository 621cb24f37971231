// Scripts with volumes through the real controllers: handovers keep every write, canceled ones too, and the simulated bytes
// show a lost or mixed write.

import type { AssignmentId, VolumeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import type { Snapshot, Violation } from '../cluster/snapshot.ts'
import { createInvariants } from '../invariants/index.ts'
import { runScript } from '../script/run-script.ts'
import type { Script, Step } from '../script/script.ts'
import { createWriteLog, emptyContent, includesWrite } from './written.ts'

const MIB = 1024 ** 2
const of = { tenant: 'acme', volume: 'data' }
const OPENING: readonly Step[] = [
  {
    at: 1_000,
    do: 'volume',
    ...of,
    on: 'n1',
    spec: { class: 'replicated', sizeBytes: 32 * MIB, replicas: 1 },
  },
  {
    at: 4_000,
    do: 'apply',
    tenant: 'acme',
    deployment: 'db',
    spec: { volumes: [{ volume: 'data', target: '/data', type: 'volume', readOnly: false }] },
  },
]

interface Ended {
  readonly violations: readonly Violation[]
  readonly messages: readonly string[]
  readonly last: Snapshot | undefined
}

async function run(steps: readonly Step[]): Promise<Ended> {
  const script: Script = {
    cluster: {
      tenants: [{ name: 'acme' }],
      nodes: ['n1', 'n2', 'n3'].map((name) => ({ name, tenant: 'acme', poolBytes: 256 * MIB })),
    },
    steps: [...OPENING, ...steps],
    settleMs: 130_000,
  }
  const invariants = createInvariants(script)
  let last: Snapshot | undefined
  const result = await runScript(script, {
    seed: 1,
    check(snapshot) {
      last = snapshot
      return invariants.check(snapshot)
    },
  })
  const violations = result.violations.length > 0 ? result.violations : invariants.checkEnd()
  return { violations, messages: result.story.map(({ message }) => message), last }
}

test('a drain hands a written volume over, and its writer continues on the new primary with every write', async () => {
  const { violations, messages, last } = await run([{ at: 25_000, do: 'drain', node: 'n1' }])
  expect(violations).toEqual([])
  expect(messages.join('\n')).toMatch(/The primary of volume data moved from n1 to n\d; nothing was lost/)
  const [volume] = last?.volumes ?? []
  const newest = volume && last?.writes.newest(volume.record.id).get(2)
  const machine = last?.machines.find(({ nodeId }) => nodeId === volume?.record.primary?.nodeId)
  expect(machine?.containers.map(({ state }) => state)).toEqual(['ready'])
  expect(newest).toBeDefined()
  const live = machine?.copies.find((copy) => copy.volume === volume?.record.id)?.live
  expect(newest && includesWrite(live?.content, newest)).toBe(true)
})

test('an uncordon during a handover cancels it, and the volume is written again where it was', async () => {
  const canceled: readonly Step[] = [
    { at: 25_000, do: 'drain', node: 'n1' },
    { at: 25_800, do: 'uncordon', node: 'n1' },
  ]
  const { violations, messages, last } = await run(canceled)
  expect(violations).toEqual([])
  expect(messages.join('\n')).not.toContain('moved from n1')
  expect(last?.volumes[0]?.record.primary?.epoch).toBe(2)
})

test('a deleted volume leaves the record only when both nodes have deleted their data', async () => {
  const { violations, messages, last } = await run([
    { at: 25_000, do: 'delete', tenant: 'acme', deployment: 'db' },
    { at: 35_000, do: 'volume-deleted', ...of },
  ])
  expect(violations).toEqual([])
  expect(messages.join('\n')).toContain('Volume data was deleted; no node has data of it.')
  expect(last?.volumes).toEqual([])
})

test('a write into content that lacks an earlier write of its epoch is a fork', () => {
  const log = createWriteLog()
  const [volume, by] = ['vol_1' as VolumeId, 'rep_1' as AssignmentId]
  const where = { epoch: 1, on: 'n1', time: undefined }
  const created = emptyContent(1)
  const first = log.write(volume, by, where, created)
  const second = log.write(volume, by, where, first)
  const later = log.write(volume, by, { ...where, epoch: 2 }, first)
  expect([log.forks(volume), later.number]).toEqual([[], 3])
  const apart = log.write(volume, by, where, first)
  expect(log.forks(volume)).toEqual([{ write: apart, lacked: second }])
  expect([includesWrite(second, first), includesWrite(apart, second)]).toEqual([true, false])
})

test('a volume is handed over to a node that stays, if its first target is drained too', async () => {
  const drained = ['n1', 'n2'].map((node, index): Step => ({ at: 25_000 + 400 * index, do: 'drain', node }))
  const raised: Step = { at: 6_000, do: 'volume-replicas', ...of, replicas: 2 }
  const { violations, messages } = await run([raised, ...drained])
  expect(violations).toEqual([])
  expect(messages.join('\n')).toContain('The primary of volume data moved from n1 to n3; nothing was lost.')
})

test('volumes of a revision that was rolled back to are promoted together, although the spec mounts one of them', async () => {
  const apply = (at: number, volumes: readonly string[]): Step => ({
    ...{ at, do: 'apply', tenant: 'acme', deployment: 'db' },
    spec: {
      volumes: volumes.map((volume) => ({ volume, target: `/${volume}`, type: 'volume', readOnly: false })),
    },
  })
  const behave = (at: number, how: { readonly crashAfterMs?: number }): Step => ({
    ...{ at, do: 'behave', tenant: 'acme', deployment: 'db', ...how },
  })
  const { violations, messages } = await run([
    {
      ...{ at: 1_000, do: 'volume', tenant: 'acme', volume: 'wal', on: 'n1' },
      spec: { class: 'replicated', sizeBytes: 32 * MIB, replicas: 2 },
    },
    { at: 2_000, do: 'volume-replicas', ...of, replicas: 2 },
    apply(10_000, ['data', 'wal']),
    behave(59_000, { crashAfterMs: 300 }),
    apply(60_000, ['data']),
    behave(75_000, {}),
    { at: 130_000, do: 'power-cut', node: 'n1', forMs: 60_000 },
  ])
  const story = messages.join('\n')
  expect(violations).toEqual([])
  expect(story).toContain('return to revision 2')
  const targets = ['data', 'wal'].map(
    (name) => story.match(`The copy of volume ${name} on (n.) became its primary`)?.[1],
  )
  expect(targets[0]).toBeDefined()
  expect(targets[1]).toBe(targets[0])
})
