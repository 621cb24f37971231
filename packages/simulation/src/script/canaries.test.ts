// Single scripts with a canary: the containers of the deployment are watched at every moment.

import { expect, test } from 'vitest'
import type { Snapshot } from '../cluster/snapshot.ts'
import { createInvariants } from '../invariants/index.ts'
import { runScript } from './run-script.ts'
import type { Script, Step } from './script.ts'

const WEB = { tenant: 't1', deployment: 'web' }
const REPLICAS = 3
const FIRST: Step = { at: 1_000, do: 'apply', ...WEB, spec: { replicas: REPLICAS } }
const CHANGE = { change: { environment: { MARK: '1' } }, replicas: 2, observe: '5s' }
/** By then the first rollout and its watch window are over. */
const STARTED_AT_MS = 30_000

const scriptOf = (steps: readonly Step[]): Script => ({
  cluster: {
    tenants: [{ name: 't1' }],
    nodes: ['n1', 'n2', 'n3', 'n4'].map((name) => ({ name, tenant: 't1' })),
  },
  steps: [FIRST, ...steps],
})

/** The containers that run the template of the first revision, each with its start. */
const containersOf = ({ machines, placements }: Snapshot): string[] => {
  const hash = placements[0]?.record.lastGood?.templateHash
  const all = machines.flatMap(({ containers }) => containers)
  return all
    .filter((each) => each.templateHash === hash && each.state === 'ready')
    .map(({ id, startedAt }) => `${id} since ${startedAt}`)
    .toSorted()
}

async function run(steps: readonly Step[]) {
  const script = scriptOf(steps)
  const { check, checkEnd } = createInvariants(script)
  const seen = new Set<string>()
  let last: Snapshot | undefined
  const result = await runScript(script, {
    seed: 1,
    check(snapshot) {
      last = snapshot
      const hasCanary = snapshot.deployments[0]?.record.canary !== undefined
      if (hasCanary) seen.add(containersOf(snapshot).join(', '))
      return check(snapshot)
    },
  })
  expect([...result.violations, ...checkEnd()]).toEqual([])
  return { seen, last, events: result.events, story: result.story.map(({ message }) => message) }
}

test('a canary whose containers exit is aborted, and no container of the deployment is touched', async () => {
  const { seen, last, events } = await run([
    { at: STARTED_AT_MS, do: 'canary', ...WEB, ...CHANGE, crashAfterMs: 8_000 },
  ])
  expect(events.get('deployment.canary_aborted')).toBe(1)
  expect(last?.deployments[0]?.record.canary).toMatchObject({ phase: 'aborted', reason: 'exited' })
  expect(last?.machines.flatMap(({ containers }) => containers)).toHaveLength(REPLICAS)
  expect([...seen].map((each) => each.split(', ').length)).toEqual([REPLICAS])
})

test('a canary that is ready is promoted as an update after all its nodes were lost', async () => {
  const at = STARTED_AT_MS
  const pinned = { ...CHANGE, change: { ...CHANGE.change, placement: { constraints: [onN4] } } }
  const { last, story } = await run([
    { at: 500, do: 'labels', node: 'n4', labels: { zone: 'far' } },
    { at, do: 'canary', ...WEB, ...pinned },
    { at: at + 20_000, do: 'node-lost', node: 'n4' },
    { at: at + 160_000, do: 'canary-promoted', ...WEB },
    { at: at + 220_000, do: 'node-back', node: 'n4' },
  ])
  expect(story).toContain('Done: revision 2.')
  expect(last?.deployments[0]?.record).toMatchObject({ revision: 2 })
  const running = last?.placements[0]?.record.assignments ?? []
  expect(running.map(({ revision, canary }) => [revision, canary])).toEqual(
    Array.from({ length: REPLICAS }, () => [2, undefined]),
  )
})

const onN4 = { label: 'zone', operator: 'in', values: ['far'] }
