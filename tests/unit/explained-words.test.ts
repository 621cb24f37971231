// Every reason and refusal that the code can produce is explained in packages/contract/src/texts/status-texts.ts.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REASON_TEXTS, REFUSAL_TEXTS } from '@holdfast/contract'
import { PLACEMENT_FILTERS } from '@holdfast/core/scheduling/filters/index'
import { expect, test } from 'vitest'

/** The files that state the reasons of replicas and deployments. */
const SOURCES = [
  'agent/src/converge/perform.ts',
  'core/src/node/observe-replica.ts',
  'core/src/placement/next-placement.ts',
  'core/src/rollout/derive-status.ts',
  'core/src/rollout/plan-rollout-state.ts',
  'core/src/rollout/replica-health.ts',
]

const STATED = [
  /reason: '([a-z_]+)'/g,
  /failAs\(\s*'([a-z_]+)'/g,
  /observed\('[a-z]+', '([a-z_]+)'\)/g,
  /\b[A-Z_]+ = '([a-z]+_[a-z_]+)'/g,
  /^ {2}([a-z]+(?:_[a-z]+)*): '[a-z ]+',$/gm,
]

test('every reason is explained', () => {
  const texts = SOURCES.map((file) => readFileSync(join(import.meta.dirname, '../../packages', file), 'utf8'))
  const reasons = texts.flatMap((text) =>
    STATED.flatMap((form) => Array.from(text.matchAll(form), ([, reason = '']) => reason)),
  )
  expect(reasons.length).toBeGreaterThan(20)
  expect([...new Set(reasons)].filter((reason) => !Object.hasOwn(REASON_TEXTS, reason))).toEqual([])
})

test('every refusal of a node is explained, and no other', () => {
  const codes = PLACEMENT_FILTERS.flatMap(({ phrases }) => Object.keys(phrases))
  expect(Object.keys(REFUSAL_TEXTS).sort()).toEqual(codes.sort())
})
