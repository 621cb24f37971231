// May the agent create containers? On a control-plane node only those of the platform tenant and of deployments that were
// there before the node had this role.

import type { AssignmentId, Owner } from '@holdfast/contract'
import { makeTempFolder } from '@holdfast/testkit'
import pino from 'pino'
import { expect, test } from 'vitest'
import { createNodeRole, type OwnedItem } from './node-role.ts'
import { generateNodeKeys, loadNodeState, saveClosedBut, saveNode } from './node-state.ts'

const itemOf = (id: string, owner: string): OwnedItem => ({
  assignmentId: id as AssignmentId,
  owner: owner as Owner,
})
const BEFORE = itemOf('rep_before', 'deployment/one')
const SUCCESSOR = itemOf('rep_successor', 'deployment/one')
const NEW = itemOf('rep_new', 'deployment/other')
const log = pino({ enabled: false })

async function enrolled(): Promise<string> {
  const { path } = makeTempFolder('role')
  const node = {
    server: 'https://h',
    nodeId: 'node_01JCPZ0000000000000000000A',
    nodeName: 'n1',
    tenant: 't',
    generation: 1,
    labels: { zone: 'a' },
    engine: 'unix:///d',
    capacity: { cpuMillis: 1, memoryBytes: 1 },
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
  ['an ordinary node accepts new assignments', { controlPlane: false, platform: false }, true],
  ['a control-plane node rejects new assignments', { controlPlane: true, platform: false }, false],
  ['a control-plane node rejects new assignments if its tenant is unknown', { controlPlane: true }, false],
  [
    'a control-plane node of the platform accepts new assignments',
    { controlPlane: true, platform: true },
    true,
  ],
  ['a node accepts new assignments if the server sends no role', {}, true],
])('%s', async (_, role, may) => {
  const nodeRole = await roleAt(await enrolled())
  nodeRole.apply(role, [BEFORE])
  expect([nodeRole.mayCreate(BEFORE), nodeRole.mayCreate(NEW)]).toEqual([true, may])
  await nodeRole.settled()
})

test('a saved control-plane role still allows old assignments and rejects new ones, until the role ends', async () => {
  const path = await enrolled()
  const first = await roleAt(path)
  first.apply({ controlPlane: true, platform: false }, [BEFORE])
  // The desired set of the next session contains both assignments, but the rejected one stays rejected.
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
  // The other contents of the node's file are unchanged.
  expect(state?.labels).toEqual({ zone: 'a' })
})

test('a control-plane node recreates a deployment that it had, by a new assignment and after a restart', async () => {
  const path = await enrolled()
  const first = await roleAt(path)
  first.apply({ controlPlane: true, platform: false }, [BEFORE])
  expect([first.mayCreate(SUCCESSOR), first.mayCreate(NEW)]).toEqual([true, false])
  await first.settled()
  const second = await roleAt(path)
  expect([second.mayCreate(SUCCESSOR), second.mayCreate(NEW)]).toEqual([true, false])
})

test('a node whose earlier agent saved assignments only learns their deployments while they are there', async () => {
  const path = await enrolled()
  await saveClosedBut(path, [BEFORE.assignmentId])
  const role = await roleAt(path)
  expect(role.mayCreate(SUCCESSOR)).toBe(false)
  role.apply({ controlPlane: true, platform: false }, [BEFORE, NEW])
  expect([role.mayCreate(SUCCESSOR), role.mayCreate(NEW)]).toEqual([true, false])
  await role.settled()
  expect((await loadNodeState(path))?.closedBut).toEqual([BEFORE.assignmentId, BEFORE.owner])
})
