import { describe, expect, test } from 'vitest'
import { aDeployment, someTenant } from '../../../store/records.fixture.ts'
import type { StoredDeployment, StoredPlacement } from '../../../store/records.ts'
import type { Transaction } from '../../../store/transaction.ts'
import { judgeCanary } from './stage-canary.ts'

const caller = { tenant: someTenant(), token: 'tok_1', role: 'developer', onBehalf: false, requestId: 'r' }
const stored = aDeployment('web', { revision: 2 })

/** The reasons against a canary of a deployment with the given placement. */
function refusedFor(placement: object | undefined, next: StoredDeployment = { ...stored }): unknown[] {
  const transaction = { get: () => placement } as unknown as Transaction
  const found = judgeCanary(transaction, caller as Parameters<typeof judgeCanary>[1], stored, next, {
    replicas: 1,
  })
  return found.map(({ expected }) => expected.replace('one of these steps: ', ''))
}

const rollout = (state: NonNullable<StoredPlacement['rollout']>['state']) => ({
  revision: 2,
  rollout: { state },
})

describe('a canary', () => {
  test.each([
    ['of a deployment that is rolled out', { revision: 2 }, []],
    ['before the first placement', undefined, ['start, after the rollout']],
    ['of a revision that no controller has seen', { revision: 1 }, ['start, after the rollout']],
    ['during a rollout', rollout('progressing'), ['start, after the rollout']],
    ['after a rollback', rollout('rolling_back'), ['start, after a revision that runs']],
    ['of a paused update', rollout('paused'), ['start, after a revision that runs']],
  ])('%s', (_about, placement, expected) => {
    expect(refusedFor(placement)).toEqual(expected)
  })

  test('that changes nothing', () => {
    expect(refusedFor({ revision: 2 }, stored)).toEqual(['start, with another change'])
  })
})
