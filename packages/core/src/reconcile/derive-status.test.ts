import { expect, test } from 'vitest'
import { aRecord, DIGEST, IMAGE } from '../admission/fixture.ts'
import { deriveStatus } from './derive-status.ts'

const spec = aRecord()
const fresh = { deleting: false, imageDigest: null }

test('a new deployment waits for a node', () => {
  expect(deriveStatus({ ...spec, replicas: 2 }, fresh)).toEqual({
    phase: 'Pending',
    reason: 'unschedulable',
    message: expect.stringContaining('No node'),
    replicas: { desired: 2, placed: 0, ready: 0 },
    image: { reference: IMAGE, digest: null },
    runningRevision: null,
  })
})

test('0 replicas are stopped, not deleted', () => {
  expect(deriveStatus({ ...spec, replicas: 0 }, fresh)).toMatchObject({ phase: 'Stopped', reason: '' })
})

test('being deleted wins, whatever was asked for', () => {
  for (const replicas of [0, 3]) {
    expect(deriveStatus({ ...spec, replicas }, { deleting: true, imageDigest: DIGEST })).toMatchObject({
      phase: 'Deleting',
      replicas: { desired: 0, placed: 0, ready: 0 },
      image: { digest: DIGEST },
    })
  }
})
