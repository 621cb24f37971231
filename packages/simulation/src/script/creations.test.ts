// Single scripts in which a machine can create no containers for a while.

import { AGENT_CAPABILITIES } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { createInvariants } from '../invariants/index.ts'
import { runScript } from './run-script.ts'
import type { Script, Step } from './script.ts'

const NODES = ['n1', 'n2', 'n3']
const START: readonly Step[] = NODES.map((node) => ({
  ...{ at: 500, do: 'agent-version', node },
  capabilities: AGENT_CAPABILITIES,
}))
const apply = (at: number, spec: { readonly [field: string]: unknown }): Step => ({
  ...{ at, do: 'apply', tenant: 't1', deployment: 'web', spec },
})
const FULL: Step = { at: 60_000, do: 'cannot-create', node: 'n2', cause: 'disk', forMs: 20_000 }

async function run(steps: readonly Step[]) {
  const script: Script = {
    cluster: { tenants: [{ name: 't1' }], nodes: NODES.map((name) => ({ name, tenant: 't1' })) },
    steps: [...START, ...steps],
  }
  const { check, checkEnd } = createInvariants(script)
  const { story, violations } = await runScript(script, { seed: 1, check })
  expect([...violations, ...checkEnd()]).toEqual([])
  return story.filter(({ kind }) => kind === 'event')
}

test('a replica that its node cannot create is created elsewhere after three attempts', async () => {
  const story = await run([apply(5_000, { replicas: 2 }), FULL, apply(61_000, { replicas: 6 })])
  const left = story.find(({ message }) => message.includes('could not create a container in three attempts'))
  expect(left?.atMs).toBeLessThan(66_000)
})

test('a node that serves what it could not create before takes the next update of its network', async () => {
  const joined = { networks: ['front'] }
  const story = await run([
    { at: 2_000, do: 'network', tenant: 't1', network: 'front', on: 'n2' },
    apply(5_000, { replicas: 1, ...joined }),
    FULL,
    apply(61_000, { replicas: 2, ...joined }),
    apply(120_000, { replicas: 2, ...joined, environment: { MARK: '2' } }),
  ])
  const refused = story.filter(({ message }) => message.includes('1 that could not create the container'))
  expect(refused.map(({ atMs }) => atMs < 66_000)).toEqual([true])
  expect(story.some(({ message }) => message.includes('Revision 3 was rolled out'))).toBe(true)
})
