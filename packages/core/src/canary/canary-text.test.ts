import type { CanaryFailure, CanaryProgress } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { canaryText } from './canary-text.ts'

const AT = '2026-01-01T00:00:00.000Z'
const canary = (over: Partial<CanaryProgress>): CanaryProgress => ({
  phase: 'progressing',
  reason: '',
  since: AT,
  replicas: 1,
  weight: 10,
  observe: '10m',
  failures: [],
  ...over,
})
const failed = (over: Partial<CanaryFailure> & Pick<CanaryFailure, 'reason'>) =>
  canary({ phase: 'aborted', reason: over.reason, failures: [{ replica: 1, at: AT, ...over }] })
const STARTING = 'A canary with 1 replica and 10 % of the requests is starting.'

describe('a canary in words', () => {
  test.each([
    ['starts', canary({}), STARTING],
    [
      'waits for its image',
      canary({ reason: 'image_unresolved' }),
      `${STARTING} No registry resolved its image when it was started. Abort the canary and start it again once the registry answers.`,
    ],
    [
      'has no image',
      failed({ reason: 'image_unresolved' }),
      'The canary was aborted because no registry resolved its image; start it again once the registry answers.',
    ],
    [
      'has a replica that exited',
      failed({ reason: 'exited', cause: 'exit code 1' }),
      'The canary was aborted because its replica 1 exited (exit code 1).',
    ],
    [
      'has a replica without a node',
      failed({ reason: 'unschedulable' }),
      'The canary was aborted because its replica 1 found no node.',
    ],
    [
      'was superseded',
      canary({ phase: 'aborted', reason: 'superseded' }),
      'The canary was aborted by a new revision.',
    ],
  ])('that %s', (_name, state, text) => {
    expect(canaryText(state)).toBe(text)
  })
})
