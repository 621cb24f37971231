import { expect, test } from 'vitest'
import { aCanary, aDeployment, aSpec } from '../../../store/records.fixture.ts'
import type { StoredCredential } from '../../../store/records.ts'
import { leftVersions } from './end-canary.ts'

const credential = (newest: number): StoredCredential => ({
  ...{ v: 1, label: 'db', namespace: 'deployments', consumers: [], initial: 1, slot: 0 },
  versions: [1, newest].map((version) => ({ version, keys: ['password'], createdAt: '' })),
})

/** The warnings about a canary that has pinned version 2 of a secret of its deployment. */
function warned(anchor: string, newest: number): string[] {
  const secrets = [{ name: 'DB', vault_path: 'deployments/db', anchor, rotation: 'restart' }]
  const web = aDeployment('web', { spec: { ...aSpec('web'), secrets }, pins: { db: 1 } })
  const left = leftVersions(web, aCanary({}, { pins: { db: 2 } }), () => credential(newest))
  return left.map(({ field, why }) => `${field}: ${why}`)
}

test('the end of a canary names the version of a secret that the next revision will use', () => {
  expect(warned('process', 2)).toEqual([
    'secrets[0].vault_path: Version 2 of deployments/db, which the canary used, stays the newest one. The next revision of web uses it; write other values before if it must not.',
  ])
})

test('the end of a canary is silent about a version that no later revision uses', () => {
  expect(warned('process', 3)).toEqual([])
  expect(warned('volume(vol_01JCPZ0000000000000000000A)', 2)).toEqual([])
})
