// Changes of a stored volume by a document, and the fields that never change.

import type { Volume } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { aVolume } from '../resources/volume.fixture.ts'
import { planVolume } from './plan-volume.ts'

const STORED = aVolume({ residency: { country: 'DE', blockedCountries: ['US', 'CN'] } })
const SAME = { name: 'data', class: 'replicated', sizeBytes: STORED.sizeBytes }

test('a volume that does not exist is created', () =>
  expect(planVolume(SAME, undefined)).toEqual({ action: 'create', changes: [], faults: [] }))

test.each([
  ['nothing that differs', {}],
  ['the same number of copies', { replicas: 1 }],
  ['the node of the primary', { nodeId: STORED.primary?.nodeId ?? '' }],
  ['the residency in another order', { residency: { blockedCountries: ['CN', 'US'], country: 'DE' } }],
])('with %s nothing changes', (_, more) =>
  expect(planVolume({ ...SAME, ...more }, STORED)).toEqual({ action: 'none', changes: [], faults: [] }),
)

test('another size and another number of copies are changes', () =>
  expect(planVolume({ ...SAME, sizeBytes: 1, replicas: 3 }, STORED)).toEqual({
    action: 'update',
    sizeBytes: 1,
    replicas: 3,
    changes: [
      { field: 'sizeBytes', from: STORED.sizeBytes, to: 1 },
      { field: 'replicas', from: 1, to: 3 },
    ],
    faults: [],
  }))

test.each([
  ['class', { class: 'ephemeral' }, 'replicated, the class of the stored volume'],
  ['nodeId', { nodeId: 'node_other' }, 'n1, or no node'],
  ['residency', { residency: { country: 'FR' } }, 'blockedCountries: [CN, US], country: DE, as stored'],
  ['residency', { residency: null }, 'blockedCountries: [CN, US], country: DE, as stored'],
])('another %s is a fault that says what to do', (field, more, expected) => {
  const [fault, ...others] = planVolume({ ...SAME, ...more }, STORED).faults
  expect(others).toEqual([])
  expect(fault).toMatchObject({ code: 'volume_spec_invalid', field, expected })
  expect(fault?.why).toMatch(/cannot be changed\. Create|is chosen when it is created\. Leave it out/)
})

test('a volume that waits for a node keeps the one that was demanded', () => {
  const waiting: Volume = { ...STORED, primary: null, nodeId: 'node_a' as Volume['nodeId'] & string }
  expect(planVolume({ ...SAME, nodeId: 'node_a' }, waiting).faults).toEqual([])
  expect(planVolume({ ...SAME, nodeId: 'node_b' }, waiting).faults).toMatchObject([{ field: 'nodeId' }])
})
