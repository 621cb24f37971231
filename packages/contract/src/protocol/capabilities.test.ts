import { expect, test } from 'vitest'
import {
  AGENT_CAPABILITIES,
  capabilitiesNeeded,
  capabilitiesOf,
  lackedCapabilities,
  type TemplateOptions,
} from './capabilities.ts'

const FIRST = ['command', 'args', 'secrets', 'composed_environment', 'health_check', 'limits']
const HEALTH_CHECK = { type: 'exec', command: ['true'], interval: '10s', startPeriod: '0s' }

test.each<[string, TemplateOptions, string[]]>([
  ['no optional member', {}, []],
  ['a command', { command: ['run'] }, ['command']],
  ['a health check', { healthCheck: HEALTH_CHECK }, ['health_check']],
  ['a health check with retries', { healthCheck: { ...HEALTH_CHECK, retries: 3 } }, ['health_check']],
  ['networks', { networks: ['front'] }, ['networks']],
  ['a container that runs once', { runs: 'once' }, ['jobs']],
  ['secrets and limits', { limits: { cpuMillis: 1 }, secrets: [] }, ['secrets', 'limits']],
  [
    'every optional member',
    {
      command: [],
      args: [],
      secrets: [],
      composedEnvironment: {},
      healthCheck: HEALTH_CHECK,
      limits: {},
    },
    FIRST,
  ],
])('a template with %s needs exactly its capabilities', (_what, template, needed) => {
  expect(capabilitiesNeeded(template)).toEqual(needed)
})

test('an agent that states no capabilities has those of version 0.1.0, whatever is added later', () => {
  expect(capabilitiesOf({ version: '0.1.0' })).toEqual(FIRST)
  expect(capabilitiesOf(undefined)).toEqual(FIRST)
  expect(capabilitiesOf({ version: '0.1.0', capabilities: [] })).toEqual([])
})

test('an agent of this version has every capability of version 0.1.0', () => {
  expect(lackedCapabilities(FIRST, AGENT_CAPABILITIES)).toEqual([])
})

test('lists exactly the capabilities that are lacking', () => {
  expect(lackedCapabilities(['limits', 'volumes', 'args'], ['args'])).toEqual(['limits', 'volumes'])
  expect(lackedCapabilities(undefined, [])).toEqual([])
})
