import { expect, test } from 'vitest'
import { fieldsNote } from './fields-note.ts'

test('a plan without changed fields is explained', () => {
  expect(fieldsNote({ action: 'update' }, 0)).toBe('No field changes.')
  expect(fieldsNote({ action: 'create' }, 0)).toBe('Everything in the manifest is new.')
  expect(fieldsNote({ action: 'update' }, 2)).toBeUndefined()
})

test('a plan of a canary names the replicas whose fields change', () => {
  expect(fieldsNote({ action: 'update', canary: 'start' }, 1)).toMatch(/^Only the replicas of the canary/)
  expect(fieldsNote({ action: 'update', canary: 'abort' }, 0)).toMatch(/^The replicas of the canary stop/)
})
