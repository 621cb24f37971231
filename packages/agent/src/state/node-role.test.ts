// May something new be made here? Only what the platform desiredSet, once the control plane runs on the node.

import type { AssignmentId } from '@holdfast/contract'
import { makeTempFolder } from '@holdfast/testkit'
import pino from 'pino'
import { expect, test } from 'vitest'
import { createNodeRole } from './node-role.ts'
import { generateNodeKeys, loadNodeState, saveNode } from './node-state.ts'

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
  await saveNode(path, JSON.parse(JSON.stringify(node)), generateNodeKeys())
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
  role.apply(said, [BEFORE])
  expect([role.mayCreate(BEFORE), role.mayCreate(NEW)]).toEqual([true, may])
  await role.settled()
})

test('it is kept: what was there before stays allowed, what was refused stays refused, until the role ends', async () => {
  const path = await enrolled()
  const first = await roleAt(path)
  first.apply({ controlPlane: true, platform: false }, [BEFORE])
  // The next session finds both in the node\'s set: the refused one is no older for that.
  first.apply({ controlPlane: true, platform: false }, [BEFORE, NEW])
  await first.settled()
  const second = await roleAt(path)
  second.apply({}, [BEFORE, NEW])
  expect([second.mayCreate(BEFORE), second.mayCreate(NEW)]).toEqual([true, false])
  second.apply({ controlPlane: false, platform: false }, [])
  expect(second.mayCreate(NEW)).toBe(true)
  await second.settled()
  const state = await loadNodeState(path)
  expect(state?.closedBut).toBeUndefined()
  // What an operator wrote into the file meanwhile is his.
  expect(state?.labels).toEqual({ zone: 'a' })
})
