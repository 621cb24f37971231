import { consumerOf } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { aJob, someTenant } from '../../../store/records.fixture.ts'
import type { StoredCredential } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { currentPins } from './job-pins.ts'

const secrets = [{ name: 'DB', vault_path: 'deployments/db', anchor: 'external', rotation: 'restart' }]

function pinAfter(pin: number | undefined, rotation: object | undefined) {
  const credential = { label: 'db', namespace: 'deployments', initial: 1, rotation }
  const store = { get: () => ({ record: credential, modRevision: 1 }) } as unknown as Pick<Store, 'get'>
  const job = aJob({ secrets }, pin === undefined ? {} : { pins: { db: pin } })
  return currentPins(store, someTenant(), job)?.['db']
}

const rotation = (
  phase: NonNullable<StoredCredential['rotation']>['phase'],
  aborting: boolean,
): StoredCredential['rotation'] => ({
  ...{ phase, old: 1, new: 2, since: '', startedBy: consumerOf('deployment', 'web'), aborting },
})

test.each([
  ['keeps its version without a rotation', 1, undefined, 1],
  ['keeps its version before the cutover', 1, rotation('overlap', false), 1],
  ['uses the new version after the cutover', 1, rotation('cutover', false), 2],
  ['uses the new version if none is pinned', undefined, rotation('cutover', false), 2],
  ['keeps the new version after the cutover', 2, rotation('cutover', false), 2],
  ['returns to the old version of an aborted cutover', 2, rotation('cutover', true), 1],
  ['keeps the old version of an aborted cutover', 1, rotation('cutover', true), 1],
  ['keeps a version that the rotation does not concern', 5, rotation('cutover', true), 5],
] as const)('the next attempt of a job %s', (_about, pin, given, expected) => {
  expect(pinAfter(pin, given)).toBe(expected)
})
