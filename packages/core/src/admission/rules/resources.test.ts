import { expect, test } from 'vitest'
import { aBody, forCreate, type Row, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'

const AMOUNTS: Row[] = [
  'resources.cpuMillis',
  'resources.memoryBytes',
  'limits.cpuMillis',
  'limits.memoryBytes',
].flatMap((field) => {
  const [part = '', key = ''] = field.split('.')
  return [0.5, -1, -0.5, 2 ** 53].map(
    (amount): Row => [`${field} ${amount}`, { [part]: { [key]: amount } }, `resources_invalid ${field}`],
  )
})

const ROWS: Row[] = [
  ...AMOUNTS,
  ['requests and limits', { resources: { cpuMillis: 500 }, limits: { memoryBytes: 268435456 } }],
  ['zero', { resources: { cpuMillis: 0, memoryBytes: 0 }, limits: {} }],
  ['the smallest limit of memory', { limits: { memoryBytes: 6 * 1024 * 1024 } }],
  ['no limit of memory', { limits: { memoryBytes: 0 } }],
  [
    'a limit of memory that the engine refuses',
    { limits: { memoryBytes: 6 * 1024 * 1024 - 1 } },
    'resources_invalid limits.memoryBytes',
  ],
  ['a small request', { resources: { memoryBytes: 1 } }],
  ['a fraction', { resources: { cpuMillis: 0.5 } }, 'resources_invalid resources.cpuMillis'],
  ['below 0', { limits: { memoryBytes: -1 } }, 'resources_invalid limits.memoryBytes'],
  ['beyond 2^53', { limits: { memoryBytes: 2 ** 60 } }, 'resources_invalid limits.memoryBytes'],
  ['a text', { resources: { memoryBytes: '256Mi' } }, 'field_type_invalid resources.memoryBytes'],
  [
    'all of update',
    { update: { order: 'stop-first', parallelism: 100, failureAction: 'pause', progressDeadline: '1ms' } },
  ],
  ['another order', { update: { order: 'both' } }, 'update_invalid update.order'],
  ['parallelism 0', { update: { parallelism: 0 } }, 'update_invalid update.parallelism'],
  ['parallelism 101', { update: { parallelism: 101 } }, 'update_invalid update.parallelism'],
  ['parallelism 1.5', { update: { parallelism: 1.5 } }, 'field_type_invalid update.parallelism'],
  ['another failureAction', { update: { failureAction: 'continue' } }, 'update_invalid update.failureAction'],
  ['progressDeadline 0s', { update: { progressDeadline: '0s' } }, 'update_invalid update.progressDeadline'],
  ['progressDeadline 25h', { update: { progressDeadline: '25h' } }, 'update_invalid update.progressDeadline'],
  [
    'progressDeadline soon',
    { update: { progressDeadline: 'soon' } },
    'field_type_invalid update.progressDeadline',
  ],
  ['stopGracePeriod 1h', { stopGracePeriod: '1h' }],
  ['stopGracePeriod 61m', { stopGracePeriod: '61m' }, 'field_type_invalid stopGracePeriod'],
  ['stopGracePeriod as a number', { stopGracePeriod: 10 }, 'field_type_invalid stopGracePeriod'],
  ['command and args', { command: ['/bin/app'], args: ['', 'ü'] }],
  ['command as text', { command: 'app' }, 'field_type_invalid command'],
  ['NUL in a command', { command: ['\0'] }, 'field_type_invalid command[0]'],
  ['NUL in args', { args: ['a', '\0'] }, 'field_type_invalid args[1]'],
  ['257 args', { args: Array(257).fill('a') }, 'list_too_long args'],
  ['257 words of a command', { command: Array(257).fill('a') }, 'list_too_long command'],
  [
    '257 words of a check',
    { healthCheck: { type: 'exec', command: Array(257).fill('a') } },
    'list_too_long healthCheck.command',
  ],
]

test.each(ROWS)('rules of resources: %s', (_about, parts, ...expected) => {
  expect(summary(checkBody(aBody(parts), forCreate()))).toEqual(expected)
})
