import { expect, test } from 'vitest'
import { aBody, forCreate, type Row, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'

const check = { type: 'exec', command: ['curl -f localhost'] }

const ROWS: Row[] = [
  ['shell form', { healthCheck: check }],
  ['argv form', { healthCheck: { type: 'exec', command: ['curl', '-f', 'localhost'] } }],
  ['no type', { healthCheck: { command: ['x'] } }, 'healthcheck_type_inert healthCheck.type'],
  ['nothing in it', { healthCheck: {} }, 'healthcheck_type_inert healthCheck.type'],
  ['an empty type', { healthCheck: { type: '', command: ['x'] } }, 'healthcheck_type_inert healthCheck.type'],
  ['type none', { healthCheck: { type: 'none' } }, 'healthcheck_type_inert healthCheck.type'],
  [
    'NONE first',
    { healthCheck: { type: 'exec', command: ['NONE'] } },
    'healthcheck_type_inert healthCheck.type',
  ],
  [
    'NONE first of http',
    { healthCheck: { type: 'http', command: ['NONE'] } },
    'healthcheck_type_inert healthCheck.type',
  ],
  ['type http', { healthCheck: { type: 'http' } }, 'healthcheck_type_unsupported healthCheck.type'],
  [
    'type EXEC',
    { healthCheck: { type: 'EXEC', command: [] } },
    'healthcheck_type_unsupported healthCheck.type',
  ],
  ['a number as type', { healthCheck: { type: 5 } }, 'field_type_invalid healthCheck.type'],
  ['no command', { healthCheck: { type: 'exec' } }, 'healthcheck_command_missing healthCheck.command'],
  [
    'an empty command',
    { healthCheck: { type: 'exec', command: [] } },
    'healthcheck_command_missing healthCheck.command',
  ],
  [
    'a blank command',
    { healthCheck: { type: 'exec', command: [' \t'] } },
    'healthcheck_command_missing healthCheck.command',
  ],
  [
    'a null command',
    { healthCheck: { type: 'exec', command: null } },
    'healthcheck_command_missing healthCheck.command',
  ],
  [
    'a text command',
    { healthCheck: { type: 'exec', command: 'curl' } },
    'field_type_invalid healthCheck.command',
  ],
  [
    'a number in it',
    { healthCheck: { type: 'exec', command: ['a', 5] } },
    'field_type_invalid healthCheck.command[1]',
  ],
  [
    'NUL in it',
    { healthCheck: { type: 'exec', command: ['a\0b'] } },
    'field_type_invalid healthCheck.command[0]',
  ],
  ['retries at the floor', { healthCheck: { ...check, retries: 3 } }],
  [
    'retries below it',
    { healthCheck: { ...check, retries: 2 } },
    'healthcheck_retries_below_floor healthCheck.retries',
  ],
  [
    'retries beyond 32 bits',
    { healthCheck: { ...check, retries: 2 ** 31 } },
    'field_type_invalid healthCheck.retries',
  ],
  ['retries null', { healthCheck: { ...check, retries: null } }, 'field_type_invalid healthCheck.retries'],
  ['timeout at the floor', { healthCheck: { ...check, timeout: '10s' } }],
  ['timeout at the floor in ms', { healthCheck: { ...check, timeout: '10000ms' } }],
  [
    'timeout below it',
    { healthCheck: { ...check, timeout: '9999ms' } },
    'healthcheck_timeout_below_floor healthCheck.timeout',
  ],
  [
    'timeout without a unit',
    { healthCheck: { ...check, timeout: '10' } },
    'field_type_invalid healthCheck.timeout',
  ],
  [
    'timeout in fractions',
    { healthCheck: { ...check, timeout: '10.5s' } },
    'field_type_invalid healthCheck.timeout',
  ],
  [
    'timeout as a number',
    { healthCheck: { ...check, timeout: 10 } },
    'field_type_invalid healthCheck.timeout',
  ],
  [
    'timeout beyond a day',
    { healthCheck: { ...check, timeout: '25h' } },
    'field_type_invalid healthCheck.timeout',
  ],
  ['interval at the floor', { healthCheck: { ...check, interval: '5s' } }],
  [
    'interval below it',
    { healthCheck: { ...check, interval: '4s' } },
    'healthcheck_interval_below_floor healthCheck.interval',
  ],
  [
    'interval beyond a day',
    { healthCheck: { ...check, interval: '25h' } },
    'field_type_invalid healthCheck.interval',
  ],
  ['startPeriod 0s', { healthCheck: { ...check, startPeriod: '0s' } }],
  [
    'startPeriod beyond a day',
    { healthCheck: { ...check, startPeriod: '999h' } },
    'field_type_invalid healthCheck.startPeriod',
  ],
  ['a list as healthCheck', { healthCheck: [] }, 'field_type_invalid healthCheck'],
]

test.each(ROWS)('rules of healthCheck: %s', (_about, parts, ...expected) => {
  expect(summary(checkBody(aBody(parts), forCreate()))).toEqual(expected)
})
