import type { Effects } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { scriptTerminal } from '../terminal/scripted-terminal.fixture.ts'
import { printEffects } from './effects.ts'

const NONE: Effects = {
  ...{ moves: [], restarts: [], stops: [], unplaced: [], unrouted: [], lowestReady: [], omitted: [] },
  lostData: [],
}
const printed = (lostData: Effects['lostData']): string[] => {
  const terminal = scriptTerminal()
  printEffects(terminal, { ...NONE, lostData })
  return terminal.printed.out.split('\n').map((line) => line.trim())
}
const last = (volume: string, seconds: number | null) => ({ volume, reason: 'Some writes.', seconds })

test('a volume that is deleted loses its data', () => {
  expect(printed([{ volume: 'a', reason: 'It is deleted.' }])).toEqual([
    'Effects: 1 volume loses its data.',
    'the data of volume a is lost: It is deleted.',
    '',
  ])
})

test('a promotion states the time of the lost writes', () => {
  expect(printed([last('a', 7)])).toEqual([
    'Effects: 1 volume loses at most the last 7 s of writes.',
    'volume a: Some writes.',
    '',
  ])
  expect(printed([last('a', 7), last('b', 9)])[0]).toBe(
    'Effects: 2 volumes lose at most the last 9 s of writes.',
  )
  expect(printed([last('a', null)])[0]).toBe('Effects: 1 volume loses writes of an unknown time.')
  expect(printed([last('a', 0)])[0]).toBe('Effects: nothing that runs is affected.')
})
