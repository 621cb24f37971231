import { expect, test } from 'vitest'
import type { DesiredItem } from '../api/placement.ts'
import type { AssignmentId } from '../ids.ts'
import { asOwner } from '../owner.ts'
import { joinTemplates, splitTemplates } from './agent-protocol.ts'

const anItem = (id: string, owner: string, name: string, templateHash = 'h'): DesiredItem => ({
  ...{
    assignmentId: id as AssignmentId,
    owner: asOwner(owner),
    generation: 1,
    templateHash,
  },
  desired: 'running',
  template: { name, image: 'i', environment: {}, labels: {}, stopGracePeriod: '10s' },
})

test('sends each template once and restores it for each item, also if two owners share a hash', () => {
  const desired = [
    anItem('rep_1', 'deployment/dep_1', 'one'),
    anItem('rep_2', 'deployment/dep_1', 'one'),
    anItem('rep_3', 'deployment/dep_2', 'two'),
    anItem('rep_4', 'deployment/dep_2', 'two-later', 'h2'),
  ]
  const sent = splitTemplates(desired)
  expect(Object.values(sent.templates).flatMap((byHash) => Object.keys(byHash))).toEqual(['h', 'h', 'h2'])
  expect(JSON.stringify(sent.items)).not.toContain('template"')
  expect(joinTemplates(JSON.parse(JSON.stringify(sent)))).toEqual(desired)
})

test.each(['h', 'constructor', '__proto__'])(
  'an item whose template %s is not there cannot be joined',
  (hash) => {
    const { items } = splitTemplates([anItem('rep_1', 'deployment/dep_1', 'one', hash)])
    expect(() => joinTemplates({ items, templates: { 'deployment/dep_1': {} } })).toThrow('rep_1')
    expect(() => joinTemplates({ items, templates: {} })).toThrow('rep_1')
  },
)
