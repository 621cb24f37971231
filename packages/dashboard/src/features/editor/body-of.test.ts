import { expect, test } from 'vitest'
import { changedBody, updateBody } from './body-of.ts'

const LOADED = { kind: 'Deployment', name: 'shop', replicas: 3, environment: { A: '1' }, command: ['run'] }

test('a field that was removed from the text is cleared', () => {
  const { environment: _environment, ...rest } = LOADED
  expect(updateBody(LOADED, rest)).toEqual({ ...LOADED, environment: null })
})

test('a field that was never in the text is not sent, so the stored one stays', () =>
  expect(updateBody(LOADED, LOADED)).toEqual(LOADED))

test('a canary has the changed and the removed fields only', () => {
  const { command: _command, ...rest } = LOADED
  expect(changedBody(LOADED, { ...rest, replicas: 4 })).toEqual({ replicas: 4, command: null })
})
