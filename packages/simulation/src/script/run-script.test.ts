// Scripts run through the real controllers in virtual time: equal seeds give equal traces, and faults lead to the right
// events.

import { expect, test } from 'vitest'
import type { Snapshot } from '../cluster/snapshot.ts'
import { type RunOptions, type RunResult, runScript } from './run-script.ts'
import type { Script, ScriptCluster, Step } from './script.ts'

const CLUSTER: ScriptCluster = {
  tenants: [{ name: 'acme' }, { name: 'beta' }],
  nodes: [...['n1', 'n2', 'n3'].map((name) => ({ name, tenant: 'acme' })), { name: 'b1', tenant: 'beta' }],
}
const applied = (at: number, spec: object, deployment = 'web'): Step => ({
  at,
  do: 'apply',
  tenant: 'acme',
  deployment,
  spec: { ...spec },
})
const run = (steps: readonly Step[], options: Partial<RunOptions & Script> = {}): Promise<RunResult> => {
  const { seed = 1, check, settleMs = 180_000 } = options
  return runScript(
    { cluster: CLUSTER, steps, settleMs, pace: 'coarse' },
    { seed, ...(check === undefined ? {} : { check }) },
  )
}
const CHECK = { type: 'exec', command: ['true'], interval: '5s', timeout: '10s' }
const messages = ({ story }: RunResult, subject: string): string[] =>
  story.filter((line) => line.subject === subject && line.kind !== 'step').map(({ message }) => message)

/** Returns a check function that records the newest snapshot, and a function that returns this snapshot. */
function watching() {
  const seen: Snapshot[] = []
  const check = (snapshot: Snapshot) => {
    seen[0] = snapshot
    return []
  }
  return { check, last: () => seen[0] }
}

const LOST: readonly Step[] = [
  applied(1_000, { replicas: 3 }),
  { at: 30_000, do: 'node-lost', node: 'n2' },
  { at: 240_000, do: 'node-back', node: 'n2' },
]

test('replaces the replica of a lost machine elsewhere, and removes the old one when the machine returns', async () => {
  const { check, last } = watching()
  const result = await run(LOST, { check })
  expect(result.violations).toEqual([])
  const lines = messages(result, 'deployment web').join('\n')
  expect(lines).toContain('Node n2 is lost: replica 2 is replaced on')
  expect(lines.indexOf('3 of 3 replicas are ready')).toBeLessThan(lines.indexOf('is lost'))
  expect(lines.lastIndexOf('3 of 3 replicas are ready')).toBeGreaterThan(lines.indexOf('is lost'))
  expect(messages(result, 'node n2')).toContain('Node n2 is ready; it was failed.')
  const machines = new Map(last()?.machines.map(({ name, containers }) => [name, containers]))
  expect(machines.get('n2')).toEqual([])
  const ready = [...machines.values()].flat().filter(({ state }) => state === 'ready')
  expect(ready).toHaveLength(3)
})

test('gives the same trace for the same seed, to the bit, and another one for another seed', async () => {
  const first = await run(LOST)
  // Another script runs in between, because it could fill a cache that changes the second run of the first script.
  await run([applied(500, { replicas: 2 }, 'other')], { seed: 7, settleMs: 20_000 })
  const again = await run(LOST)
  expect(again.traceHash).toBe(first.traceHash)
  expect(again.story).toEqual(first.story)
  expect(again.steps).toBe(first.steps)
  expect((await run(LOST, { seed: 2 })).traceHash).not.toBe(first.traceHash)
})

test('lets the other server continue when the leading one is killed', async () => {
  const { check, last } = watching()
  const result = await run(
    [
      applied(1_000, { replicas: 2 }),
      { at: 20_000, do: 'server-killed', server: 'a' },
      applied(60_000, { replicas: 4 }),
      { at: 90_000, do: 'server-started', server: 'a' },
      { at: 110_000, do: 'server-killed', server: 'b' },
      applied(150_000, { replicas: 1 }),
    ],
    { check },
  )
  expect(result.violations).toEqual([])
  expect(messages(result, 'deployment web').filter((text) => text.startsWith('Done'))).toEqual([
    'Done: revision 1.',
    'Done: revision 2.',
    'Done: revision 3.',
  ])
  const containers = last()?.machines.flatMap((machine) => machine.containers) ?? []
  expect(containers.map(({ state }) => state)).toEqual(['ready'])
  expect(last()?.servers.map(({ alive }) => alive)).toEqual([true, false])
})

test('reaches the same end with a paused server, one that loses answers and one without the store', async () => {
  const { check, last } = watching()
  const result = await run(
    [
      applied(1_000, { replicas: 3 }),
      { at: 10_000, do: 'server-paused', server: 'a', forMs: 30_000 },
      { at: 60_000, do: 'store-flaky', server: 'b', forMs: 20_000 },
      applied(65_000, { replicas: 2 }),
      { at: 100_000, do: 'store-cut', server: 'a', forMs: 20_000 },
      { at: 130_000, do: 'store-slow', server: 'b', forMs: 20_000, delayMs: 300 },
      { at: 150_000, do: 'node-cut', node: 'n3' },
      { at: 170_000, do: 'node-healed', node: 'n3' },
      { at: 180_000, do: 'agent-restart', node: 'n1' },
      applied(185_000, { replicas: 3 }),
    ],
    { check },
  )
  expect(result.violations).toEqual([])
  const containers = last()?.machines.flatMap((machine) => machine.containers) ?? []
  expect(containers.map(({ state }) => state)).toEqual(['ready', 'ready', 'ready'])
})

test('reports rejections, and leaves nothing of a deleted deployment', async () => {
  const { check, last } = watching()
  const result = await run(
    [
      applied(1_000, { replicas: -1 }),
      applied(2_000, { replicas: 1 }),
      { at: 30_000, do: 'delete', tenant: 'acme', deployment: 'web' },
    ],
    { check, settleMs: 60_000 },
  )
  const lines = messages(result, 'deployment web')
  expect(lines[0]).toMatch(/^Refused: \w+ at replicas/)
  expect(lines).toContain('Deployment web was deleted.')
  expect(last()?.deployments).toEqual([])
  expect(last()?.machines.flatMap((machine) => machine.containers)).toEqual([])
})

test('shows containers that never become healthy or crash repeatedly', async () => {
  const result = await run([
    { at: 0, do: 'behave', tenant: 'acme', deployment: 'web', crashAfterMs: 2_000 },
    applied(1_000, { replicas: 1, healthCheck: CHECK }),
  ])
  expect(messages(result, 'deployment web').join('\n')).toContain('0 of 1')
})

test('ends the run at the first violation and reports it', async () => {
  const violation = { invariant: 'none', subject: 'web', message: 'seen' }
  const result = await run(LOST, {
    check: ({ deployments }) => (deployments.length > 0 ? [violation] : []),
  })
  expect(result.violations).toEqual([violation])
  expect(result.story.at(-1)?.atMs).toBeLessThan(2_000)
})

test('gives a node that re-enrolls with other keys one session, under its new generation', async () => {
  const { check, last } = watching()
  await run([applied(1_000, { replicas: 3 }), { at: 20_000, do: 're-enroll', node: 'n1' }], { check })
  const node = last()?.nodes.find(({ record }) => record.name === 'n1')?.record
  expect([node?.generation, node?.status]).toEqual([2, 'ready'])
  expect(last()?.machines.find(({ name }) => name === 'n1')?.containers).toHaveLength(1)
})

test('opens no session for a node that was removed by force until it enrolls under another id', async () => {
  const { check, last } = watching()
  const result = await run(
    [
      applied(1_000, { replicas: 3 }),
      { at: 20_000, do: 'node-removed', node: 'n1', force: true },
      { at: 60_000, do: 're-enroll', node: 'n1' },
    ],
    { check },
  )
  expect(result.violations).toEqual([])
  const nodes = last()?.nodes.filter(({ record }) => record.name === 'n1') ?? []
  expect(nodes.map(({ record }) => record.generation)).toEqual([1])
  expect(nodes[0]?.id).toBe(last()?.machines.find(({ name }) => name === 'n1')?.nodeId)
  expect(messages(result, 'node n1').filter((text) => text.includes('was enrolled'))).toHaveLength(2)
})

test('does not enroll a machine without power, and ends an action once that was requested twice', async () => {
  const result = await run(
    [
      { at: 1_000, do: 'node-lost', node: 'n1' },
      { at: 2_000, do: 're-enroll', node: 'n1' },
      { at: 3_000, do: 'server-paused', server: 'a', forMs: 10_000 },
      { at: 4_000, do: 'server-paused', server: 'a', forMs: 20_000 },
    ],
    { settleMs: 30_000 },
  )
  expect(messages(result, 'node n1')).toContain('Refused: the machine is off or without a network')
  const lines = result.story.filter(({ subject }) => subject === 'server a').map(({ atMs }) => atMs)
  expect(lines).toEqual([3_000, 4_000, 24_000])
})

test('holds a deployment until its dependency is ready, and keeps it running when that goes', async () => {
  const { check, last } = watching()
  const result = await run(
    [
      { at: 0, do: 'behave', tenant: 'acme', deployment: 'db', startMs: 20_000 },
      applied(1_000, { replicas: 1, healthCheck: CHECK }, 'db'),
      applied(2_000, { replicas: 2, dependsOn: { db: 'healthy' } }),
      { at: 60_000, do: 'delete', tenant: 'acme', deployment: 'db' },
      applied(80_000, { replicas: 3 }),
    ],
    { check, settleMs: 60_000 },
  )
  expect(result.violations).toEqual([])
  const startedAt = result.story
    .filter(({ subject, message }) => subject === 'deployment web' && message.includes('is started on'))
    .map(({ atMs }) => atMs)
  expect(startedAt).toHaveLength(1)
  expect(startedAt[0]).toBeGreaterThan(20_000)
  const containers = last()?.machines.flatMap((machine) => machine.containers) ?? []
  expect(containers.map(({ state }) => state)).toEqual(['ready', 'ready'])
})

test('ends a script early once the cluster was settled for long enough, and not before its last step', async () => {
  const steps = [applied(1_000, { replicas: 1 }), applied(40_000, { replicas: 2 })]
  const untilSettled = (restMs: number, isSettled: () => boolean) => {
    const script: Script = { cluster: CLUSTER, steps, settleMs: 180_000, pace: 'coarse' }
    return runScript({ ...script, restMs }, { seed: 1, isSettled })
  }
  const whole = await untilSettled(30_000, () => false)
  const early = await untilSettled(30_000, () => true)
  expect(early.story).toEqual(whole.story)
  expect(early.steps).toBeLessThan(whole.steps * 0.6)
  let turns = 0
  const later = await untilSettled(30_000, () => {
    turns += 1
    return turns !== 10
  })
  expect(later.steps).toBeGreaterThan(early.steps)
  expect(later.steps).toBeLessThan(whole.steps)
})

test('places only work of the platform on a control-plane node, and keeps the containers it has', async () => {
  const { check, last } = watching()
  const isTaken = (name: string) => last()?.machines.find((each) => each.name === name)?.containers.length
  const cluster: ScriptCluster = {
    tenants: [{ name: 'acme' }, { name: 'own', platform: true }],
    nodes: [
      { name: 'n1', tenant: 'acme' },
      { name: 'p1', tenant: 'own' },
    ],
  }
  const steps: readonly Step[] = [
    applied(1_000, { replicas: 1 }),
    { at: 10_000, do: 'node-role', node: 'n1', controlPlane: true },
    { at: 10_000, do: 'node-role', node: 'p1', controlPlane: true },
    applied(20_000, { replicas: 2 }),
    { at: 20_000, do: 'apply', tenant: 'own', deployment: 'web', spec: { replicas: 2 } },
  ]
  await runScript({ cluster, steps, settleMs: 60_000, pace: 'coarse' }, { seed: 1, check })
  expect([isTaken('n1'), isTaken('p1')]).toEqual([1, 2])
  const back: Step = { at: 90_000, do: 'node-role', node: 'n1', controlPlane: false }
  await runScript({ cluster, steps: [...steps, back], settleMs: 60_000, pace: 'coarse' }, { seed: 1, check })
  expect([isTaken('n1'), isTaken('p1')]).toEqual([2, 2])
})

test('rebuilds the view of a server that missed compacted history', async () => {
  const { check, last } = watching()
  const steps: readonly Step[] = [
    { at: 1_000, do: 'store-cut', server: 'b', forMs: 8_000 },
    applied(2_000, { replicas: 3 }),
    { at: 6_000, do: 'store-compacted' },
    { at: 6_000, do: 'store-compacted' },
    { at: 30_000, do: 'server-killed', server: 'a' },
    { at: 90_000, do: 'node-cut', node: 'n1' },
  ]
  const result = await run(steps, { check })
  expect(result.violations).toEqual([])
  const lines = messages(result, 'deployment web').join('\n')
  expect(lines).toContain('Node n1 is lost: replica')
  const elsewhere = last()?.machines.filter(({ name }) => name !== 'n1') ?? []
  expect(elsewhere.flatMap((machine) => machine.containers)).toHaveLength(3)
})

test('reports an exception of product code and ends the run', async () => {
  const result = await run([
    { at: 1_000, do: 'node-lost', node: 'nowhere' },
    { at: 2_000, do: 'node-lost', node: 'n1' },
  ])
  expect(result.violations.map(({ invariant, message }) => [invariant, message.split('\n')[0]])).toEqual([
    ['no-crash', 'Error: the script has no node nowhere'],
  ])
  expect(result.story.filter(({ kind }) => kind === 'step')).toEqual([])
})
