// The hints for rejections of a manifest, and the recognition of documents of other systems.

import { deploymentBodyShape, type Json } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { foreignFormat } from './foreign.ts'
import { FOREIGN_WORDS } from './foreign-words.ts'
import { fieldsAt, hintFor, receivedText } from './hints.ts'
import { checkOffline, withFaultsBesideKind } from './rules.ts'

const SOUND = { kind: 'Deployment', name: 'web', image: 'registry.example.com/web:1.0.0' }

function hintsOf(text: string) {
  const document: Json = { ...SOUND, ...parse(text) }
  return checkOffline(document).map((each) => [
    each.field,
    hintFor(each, document),
    receivedText(each, document),
  ])
}

describe('a hint names', () => {
  test.each([
    ['healthcheck: {}', 'healthcheck', 'did you mean healthCheck?'],
    ['replica: 2', 'replica', 'did you mean replicas?'],
    ['check_health: {}', 'check_health', 'did you mean healthCheck?'],
    ['env: {A: b}', 'env', 'use environment, a map of variable names to strings'],
    ['routes: [{hots: a.example, port: 80}]', 'routes[0].hots', 'did you mean host?'],
    ['routes: [{host: a.example, targetPort: 80}]', 'routes[0].targetPort', 'use port'],
    ['retries: 3', 'retries', 'retries is a field of healthCheck'],
    ['blockedCountries: [US]', 'blockedCountries', 'blockedCountries is a field of placement.residency'],
    ['nothing_like_it: 1', 'nothing_like_it', undefined],
    [
      'placement: {residency: {countries: [DE]}}',
      'placement.residency.countries',
      'use country for one country, or region for a named list of countries; holdfast get regions lists them',
    ],
    ['kind: deployment', 'kind', 'did you mean Deployment?'],
    ['kind: StatefulSet', 'kind', undefined],
  ])('the field that was meant by %s', (text, field, hint) =>
    expect(hintsOf(text).find(([at]) => at === field)?.[1]).toBe(hint),
  )

  test.each([
    ['replicas: "2"', '"2" (a string)', 'write it without quotes'],
    ['environment: {PORT: 8080}', '<redacted number, 4 bytes>', 'write it in quotes, so that it is a string'],
    ['labels: {tier: 1}', '1 (a number)', 'write it in quotes, so that it is a string'],
    ['stopGracePeriod: 30', '30 (a number)', 'add the unit, as in 30s'],
    ['stopGracePeriod: 900h', '900h', undefined],
    ['resources: {memoryBytes: 256Mi}', '"256Mi" (a string)', 'write memory: 256Mi'],
    ['limits: {cpuMillis: 500m}', '"500m" (a string)', 'write cpu: 500m'],
    [
      'resources: {memoryBytes: lots}',
      '"lots" (a string)',
      'write a whole number, or memory with a unit, as in memory: 256Mi',
    ],
    ['command: serve', '"serve" (a string)', 'write a list of strings, as in ["sh", "-c", "..."]'],
    [
      'environment: [A=b]',
      '<redacted list, 7 bytes>',
      'write a map, one "name: value" in each line, instead of a list',
    ],
  ])('the form that %s needs', (text, received, hint) =>
    expect(hintsOf(text).map(([, ...rest]) => rest)).toEqual([[hint, received]]),
  )
})

describe('beside a kind that is missing or misspelled, the other faults are listed', () => {
  const FAULTY = { name: 'Bad!', image: SOUND.image, replicas: -1 }
  test.each([
    [FAULTY, ['kind', 'name', 'replicas']],
    [{ ...FAULTY, kind: 'deployment' }, ['kind', 'name', 'replicas']],
    [{ ...FAULTY, kind: 'Job' }, ['kind']],
  ])('%j', (document, fields) => expect(checkOffline(document).map(({ field }) => field)).toEqual(fields))

  test('and added to those of the server, which lists the kind only', () => {
    const document = { ...FAULTY, kind: 'deployment' }
    const ofServer = checkOffline(document).slice(0, 1)
    expect(withFaultsBesideKind(ofServer, document).map(({ field }) => field)).toEqual([
      'kind',
      'name',
      'replicas',
    ])
    expect(withFaultsBesideKind([], document)).toEqual([])
  })

  test('with a hint for a missing kind', () => {
    const document = { name: 'web', image: SOUND.image }
    expect(checkOffline(document).map((each) => hintFor(each, document))).toEqual([
      'kind is missing; add kind: Deployment',
    ])
  })
})

test('a foreign word is not a field of its object, and its object exists', () => {
  for (const [object, words] of Object.entries(FOREIGN_WORDS)) {
    const steps = object === '' ? [] : object.split('.')
    const inList = ['routes', 'volumes', 'secrets', 'placement.constraints'].includes(object)
    const fields = fieldsAt(inList ? [...steps, 0] : steps)
    expect(fields.length, object).toBeGreaterThan(0)
    expect(Object.keys(words).filter((word) => fields.includes(word))).toEqual([])
  }
  expect(fieldsAt([])).toEqual(Object.keys(deploymentBodyShape.fields))
})

test.each([
  ['a Kubernetes Deployment', 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n', 'apiVersion'],
  ['a Kubernetes ConfigMap', 'kind: ConfigMap\napiVersion: v1\n', 'apiVersion'],
  ['a Compose file', 'version: "3"\nservices: {web: {image: nginx}}\n', 'services'],
])('recognizes %s', (what, text, key) => expect(foreignFormat(parse(text))).toMatchObject({ what, key }))

test('does not mistake a manifest for a file of another system', () => {
  for (const text of ['kind: Deployment\nname: web\nservices: {}\n', 'kind: Deployment\n', '[]', 'text'])
    expect(foreignFormat(parse(text))).toBeUndefined()
})
