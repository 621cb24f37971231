// May something new be made here? Only what the platform wishes, once the control plane runs on the node.

import type { AssignmentId } from '@holdfast/contract'
import { makeTempFolder } from '@holdfast/testkit'
import pino from 'pino'
import { expect, test } from 'vitest'
import { createNodeRole } from './node-role.ts'
import { loadNodeState, makeNodeKeys, saveNode } from './node-state.ts'

const [BEFORE, NEW] = ['rep_before', 'rep_new'] as [AssignmentId, AssignmentId]
const log = pino({ enabled: false })

async function enrolled(): Promise<string> {
  const { path } = makeTempFolder('role')
  const node = {
    ...{ server: 'https://h', nodeId: 'node_01JCPZ0000000000000000000A', nodeName: 'n1', tenant: 't' },
    ...{
      generation: 1,
      labels: { zone: 'a' },
      engine: 'unix:///d',
      capacity: { cpuMillis: 1, memoryBytes: 1 },
    },
    engineVersion: { version: '29.8.0', apiVersion: '1.56' },
  }
  await saveNode(path, JSON.parse(JSON.stringify(node)), makeNodeKeys())
  return path
}
async function roleAt(path: string) {
  const state = await loadNodeState(path)
  if (state === undefined) throw new Error('no node')
  return createNodeRole(path, state, log)
}

test.each([
  ['an ordinary node', { controlPlane: false, platform: false }, true],
  ['a node of the control plane', { controlPlane: true, platform: false }, false],
  ['a node of the control plane whose tenant nobody names', { controlPlane: true }, false],
  ["a node of the control plane that is the platform's", { controlPlane: true, platform: true }, true],
  ['a server that says nothing of it', {}, true],
])('%s', async (_, said, may) => {
  const role = await roleAt(await enrolled())
  role.take(said, [BEFORE])
  expect([role.mayMake(BEFORE), role.mayMake(NEW)]).toEqual([true, may])
  await role.settled()
})

test('it is kept: what was there before stays allowed, what was refused stays refused, until the role ends', async () => {
  const path = await enrolled()
  const first = await roleAt(path)
  first.take({ controlPlane: true, platform: false }, [BEFORE])
  // The next session finds both in the node\'s set: the refused one is no older for that.
  first.take({ controlPlane: true, platform: false }, [BEFORE, NEW])
  await first.settled()
  const second = await roleAt(path)
  second.take({}, [BEFORE, NEW])
  expect([second.mayMake(BEFORE), second.mayMake(NEW)]).toEqual([true, false])
  second.take({ controlPlane: false, platform: false }, [])
  expect(second.mayMake(NEW)).toBe(true)
  await second.settled()
  const state = await loadNodeState(path)
  expect(state?.closedBut).toBeUndefined()
  // What an operator wrote into the file meanwhile is his.
  expect(state?.labels).toEqual({ zone: 'a' })
})
