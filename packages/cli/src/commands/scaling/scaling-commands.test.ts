// Commands of scaling policies against scripted API responses.

import type { Scaling } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { invocation, scriptClient, scriptTerminal } from '../../terminal/scripted-terminal.fixture.ts'
import { scalingDelete } from './scaling-delete.ts'
import { scalingSet } from './scaling-set.ts'
import { scalingShow } from './scaling-show.ts'

const SCALING: Scaling = {
  deploymentName: 'web',
  min: 2,
  max: 10,
  metric: 'cpu',
  targetPercent: 60,
  scaleDownDelay: '300s',
  revision: 1,
  createdAt: '2026-01-31T11:00:00.000Z',
  updatedAt: '2026-01-31T11:00:00.000Z',
  status: {
    desired: 4,
    wanted: 6,
    measuredPercent: 90,
    ready: 4,
    measured: 4,
    unreachable: [],
    reason: 'quota',
    message: 'No replica is added.',
    scaledAt: '2026-01-31T11:58:00.000Z',
  },
}
const PATH = '/deployments/web/scaling'

test('scaling show prints the policy, the wanted number and why it does not act', async () => {
  const terminal = scriptTerminal()
  const client = scriptClient({ [`GET ${PATH}`]: SCALING })
  expect(await scalingShow.run(invocation(terminal, ['deployment/web']), client)).toBe(0)
  const { out } = terminal.printed
  expect(out).toMatch(/^Policy: +2 to 10 replicas at 60 % of the requested CPU, removed after 300s$/m)
  expect(out).toMatch(/^Replicas: +4 desired, 4 ready, 4 measured$/m)
  expect(out).toMatch(/^Wanted: +6$/m)
  expect(out).toMatch(/^State: +quota: No replica is added\.$/m)
  expect(out).toMatch(/^Last scaled: .*\(2m ago\)$/m)
  expect(out).not.toContain('Unknown nodes')
})

test('scaling show prints the policy as JSON', async () => {
  const terminal = scriptTerminal()
  const client = scriptClient({ [`GET ${PATH}`]: SCALING })
  expect(await scalingShow.run(invocation(terminal, ['web'], { output: 'json' }), client)).toBe(0)
  expect(JSON.parse(terminal.printed.out)).toEqual(SCALING)
})

test('scaling set and delete print one line each', async () => {
  const terminal = scriptTerminal()
  const client = scriptClient({
    [`PUT ${PATH}`]: { scaling: SCALING, alterations: [], warnings: [] },
    [`DELETE ${PATH}`]: { ...SCALING, status: { ...SCALING.status, desired: 1 } },
  })
  const typed = { min: '2', max: '10', cpu: '60' }
  expect(await scalingSet.run(invocation(terminal, ['web'], typed), client)).toBe(0)
  expect(await scalingDelete.run(invocation(terminal, ['web']), client)).toBe(0)
  expect(terminal.printed.out).toBe(
    'deployment/web is scaled by a policy: 2 to 10 replicas at 60 % of the requested CPU, removed after 300s\ndeployment/web has no scaling policy; 1 replica is desired\n',
  )
})

test('scaling set rejects two metrics without a request', async () => {
  const terminal = scriptTerminal()
  const typed = { cpu: '60', memory: '60' }
  expect(await scalingSet.run(invocation(terminal, ['web'], typed), scriptClient({}))).toBe(2)
  expect(terminal.printed.err).toContain('give --cpu or --memory, not both')
})
