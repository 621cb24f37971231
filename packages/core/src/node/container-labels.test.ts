// Containers are identified by their labels, in the current form and in the form of older agents.

import { expect, test } from 'vitest'
import { containerLabels, readOwnLabels } from './container-labels.ts'
import { anItem, OWNER, TENANT } from './node-items.fixture.ts'

const item = anItem('A')
const labels = containerLabels(item, TENANT)
const { 'holdfast.io/owner': owner, 'holdfast.io/name': _name, ...unowned } = labels

test('reads the labels of a container that it labelled', () => {
  expect(owner).toBe(OWNER)
  expect(readOwnLabels(labels, TENANT)).toEqual({ assignmentId: 'rep_A', generation: 7, owner: OWNER })
})

test('reads the label of an older agent as a deployment', () => {
  const former = { ...unowned, 'holdfast.io/deployment': 'dep_01JCPZ0000000000000000000A' }
  expect(readOwnLabels(former, TENANT)).toEqual(readOwnLabels(labels, TENANT))
})

test('prefers the owner label to the label of an older agent', () => {
  const both = { ...labels, 'holdfast.io/deployment': 'dep_1', 'holdfast.io/owner': 'job/j1' }
  expect(readOwnLabels(both, TENANT)?.owner).toBe('job/j1')
})

test('reads a container without an owner label as own, without an owner', () => {
  expect(readOwnLabels(unowned, TENANT)).toEqual({ assignmentId: 'rep_A', generation: 7, owner: undefined })
})
