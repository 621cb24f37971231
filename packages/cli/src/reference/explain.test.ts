// `holdfast explain` knows every field and every word that the platform prints, and prints neither Markdown nor
// placeholders.

import { CODES, EVENT_TYPES, PHASE_TEXTS } from '@holdfast/contract'
import { describeBodies, describeManifest, flattenFields } from '@holdfast/core/admission'
import { describe, expect, test } from 'vitest'
import { explainAll, explainWord } from './explain.ts'
import { WORD_GROUPS } from './words.ts'

const AREA = { columns: 80, colored: false }

function textOf(word: string): string {
  const explained = explainWord(word, AREA)
  return explained.found ? explained.lines.join('\n') : `unknown, nearest: ${explained.nearest.join(' ')}`
}

const FIELDS = flattenFields(describeManifest()).map(({ path }) => path)
const BODIES = describeBodies().flatMap(({ name, fields }) => [
  name,
  ...flattenFields(fields).map(({ path }) => `${name}.${path}`),
])
const WORDS = WORD_GROUPS.flatMap(({ name, words }) => [name, ...Object.keys(words)])

test.each([...FIELDS, ...BODIES, ...WORDS, ...CODES, 'codes', 'resources.cpu', 'limits.memory'])(
  'explains %s without Markdown and placeholders',
  (word) => {
    expect(textOf(word)).not.toMatch(/^unknown|`|\*\*|<[a-z]+>|[^{/]\{[a-z]+\}/)
  },
)

test('a field has meaning, type, default, range, example and codes', () => {
  expect(textOf('update.parallelism')).toBe(
    [
      'update.parallelism',
      '  How many replicas an update replaces at the same time.',
      '',
      'Type:      whole number',
      'Default:   1',
      'Accepted:  a whole number from 1 to 100',
      '',
      'Example:',
      '  update:',
      '    parallelism: 2',
      '',
      'Rejection codes, each with the accepted form:',
      '  field_type_invalid  a whole number',
      '  update_invalid      a whole number from 1 to 100',
    ].join('\n'),
  )
})

describe('a field can be named', () => {
  test.each([
    ['secrets[0].name', 'secrets[].name'],
    ['secrets.name', 'secrets[].name'],
    ['deployment.replicas', 'replicas'],
    ['environment.LOG_LEVEL', 'environment'],
    ['anchor', 'secrets[].anchor'],
    ['degraded', 'Degraded (phase)'],
    ['rolled_back', 'deployment.rolled_back (event)'],
    ['cpu', 'resources.cpu'],
    ['memory', 'resources.memory'],
    ['token.role', 'token: POST /api/v1/tenants/{tenant}/tokens'],
  ])('as %s', (word, title) => expect(textOf(word).split('\n')[0]).toBe(title))
})

test('a word with several meanings is explained once for each', () => {
  const text = textOf('residency_enforcement_off')
  for (const kind of ['reason', 'refusal of a node', 'warning']) expect(text).toContain(`(${kind})`)
})

test.each([
  ['replica', ['replicas']],
  ['healthCheck.timout', ['healthCheck.timeout']],
  ['values', ['secrets[].values', 'placement.constraints[].values']],
  ['admin', ['secrets-admin', 'tenant-admin', 'platform-admin']],
  ['qqqqqq', []],
])('the unknown word %s is answered with the nearest names', (word, nearest) => {
  expect(explainWord(word, AREA)).toEqual({ found: false, nearest })
})

test('the tree lists every field and every group of words', () => {
  const lines = explainAll(AREA).map((line) => line.trim().split(' ')[0])
  for (const path of FIELDS) expect(lines).toContain(path.split('.').at(-1))
  for (const { name } of WORD_GROUPS) expect(lines).toContain(name)
})

test('a word is explained in any letter case, with all its meanings', () => {
  for (const word of ['pending', 'Pending']) {
    const text = textOf(word)
    for (const kind of ['phase', 'state of a replica', 'status of a node'])
      expect(text).toContain(`(${kind})`)
  }
})

test('failed is explained as a word that is not a phase', () =>
  expect(textOf('failed')).toMatch(/^failed \(not a phase\)\n.*no phase.*Degraded/s))

test('the reasons that the phase Degraded names are reasons', () => {
  const reasons = WORD_GROUPS.find(({ name }) => name === 'reasons')?.words ?? {}
  const named = PHASE_TEXTS.Degraded.meaning.match(/(?:unhealthy|exited|rollback|[a-z]+(?:_[a-z]+)+)/g) ?? []
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((each) => !Object.hasOwn(reasons, each))).toEqual([])
})

test('the tree of a deployment lists quantities', () => {
  expect(textOf('deployment')).toMatch(/^ {2}cpu +quantity such as 0\.5$/m)
  expect(textOf('resources')).toMatch(/^ {2}memory +Memory as a quantity/m)
})

test('every event type that is emitted is explained', () => {
  const events = WORD_GROUPS.find(({ name }) => name === 'events')?.words ?? {}
  for (const type of Object.keys(events)) expect(EVENT_TYPES).toContain(type)
})
