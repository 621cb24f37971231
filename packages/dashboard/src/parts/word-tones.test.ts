import {
  ATTENTION_SEVERITIES,
  DEPLOYMENT_PHASES,
  JOB_PHASES,
  NETWORK_PHASES,
  REPLICA_STATES,
  SHOWN_NODE_STATUSES,
  VOLUME_PHASES,
} from '@holdfast/contract'
import { expect, test } from 'vitest'
import { toneOf } from './word-tones.ts'

test('every phase, status and state has a shape', () => {
  const phases = [DEPLOYMENT_PHASES, JOB_PHASES, NETWORK_PHASES, VOLUME_PHASES]
  const states = [SHOWN_NODE_STATUSES, REPLICA_STATES, ATTENTION_SEVERITIES]
  for (const word of [...phases, ...states].flat()) expect(toneOf(word).icon, word).not.toBe('circle')
})

test('a word of a newer server has the neutral shape', () => {
  expect(toneOf('Hibernating')).toEqual({ tone: 'idle', icon: 'circle' })
  expect(toneOf('constructor')).toEqual({ tone: 'idle', icon: 'circle' })
})
