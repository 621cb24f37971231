// Values are found where responses carry them, and members with the same names elsewhere are ignored.

import { expect, test } from 'vitest'
import { findValues } from './find-values.ts'

const event = (data: object) => ({ type: 'deployment.unschedulable', severity: 'warning', data })
const refusal = { filter: 'resources', code: 'insufficient', required: 1, reported: 0, fix: 'Free memory.' }

test.each([
  ['the type of an event in a list', { items: [event({})] }, ['event type deployment.unschedulable']],
  [
    'the filters in the data of an event',
    event({ candidates: [{ nodeName: 'a', refusals: [refusal] }] }),
    ['event type deployment.unschedulable', 'filter resources'],
  ],
  [
    'alterations and warnings of a write',
    { alterations: [{ code: 'default_applied' }], warnings: [{ code: 'list_shortened' }] },
    ['alteration default_applied', 'warning list_shortened'],
  ],
  ['not the type of a mount', { volumes: [{ type: 'volume' }] }, []],
  ['not a filter without a refusal', { filter: 'quota' }, []],
  ['not the code of a rejection', { code: 'image_required', rejections: [{ code: 'image_required' }] }, []],
  ['not a text', 'default_applied', []],
])('finds %s', (_, body, expected) =>
  expect(findValues(body).map(({ vocabulary, value }) => `${vocabulary} ${value}`)).toEqual(expected),
)
