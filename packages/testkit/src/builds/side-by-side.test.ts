// Checks of a run of two builds: which log lines are faults, and which records lost a member of the newer build.

import { expect, test } from 'vitest'
import { compareMembers, kindOf } from './kept-members.ts'
import { findLogFaults } from './log-faults.ts'

const line = (level: number, msg: string): string => JSON.stringify({ level, msg })

test.each([
  line(50, 'node status write failed'),
  line(40, 'placement unreadable, sending a delta instead of the complete set'),
  line(30, 'stored record cannot be decoded'),
  line(40, 'invalid message from the server, disconnecting'),
  '    at decode (shape-faults.ts:30:9)',
])('a log with the line %s has a fault', (fault) => {
  expect(findLogFaults(`${line(30, 'serving')}\n${fault}\n`)).toEqual([fault])
})

test('a log of ordinary lines and warnings has no fault', () => {
  expect(findLogFaults(`${line(30, 'serving')}\n${line(40, 'connection to the server failed')}\n`)).toEqual(
    [],
  )
})

test('finds the records that lost a member, among those that were changed', () => {
  const at = (revision: string, value: object, created = '1') => ({
    created,
    revision,
    value: JSON.stringify(value),
  })
  const before = {
    '/r/t/T/node/a/': at('1', { added: '' }),
    '/r/t/T/node/b/': at('1', { added: '' }),
    '/r/g/shard/1/': at('1', { added: '' }),
    '/r/g/shard/2/': at('1', {}),
    '/r/g/shard/3/': at('1', { added: '' }),
    '/r/g/join/1/': at('1', { added: '' }),
  }
  const after = {
    '/r/t/T/node/a/': at('2', { added: '' }),
    '/r/t/T/node/b/': at('2', {}),
    '/r/g/shard/1/': at('1', {}),
    '/r/g/shard/2/': at('2', {}),
    '/r/g/shard/3/': at('3', {}, '3'),
  }
  const { compared, lost } = compareMembers(before, after, 'added')
  expect([...compared]).toEqual([['node', 2]])
  expect(lost).toEqual(['/r/t/T/node/b/'])
})

test('names the kind of a record after its folder', () => {
  expect(['/hf/t/T/dep/web/', '/hf/g/replica/x/'].map(kindOf)).toEqual(['dep', 'replica'])
})
