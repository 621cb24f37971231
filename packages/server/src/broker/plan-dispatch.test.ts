import { type ContainerTemplate, consumerOf, type TemplateSecret } from '@holdfast/contract'
import { expect, test } from 'vitest'
import type { StoredCredential } from '../store/records.ts'
import { planDispatch } from './plan-dispatch.ts'

const entry = (version: number | null, namespace = 'deployments'): TemplateSecret => ({
  name: 'DB',
  namespace,
  label: 'db',
  version,
})
const template = (...secrets: TemplateSecret[]): ContainerTemplate => ({
  name: 'web',
  image: '',
  environment: {},
  labels: {},
  stopGracePeriod: '10s',
  secrets,
})
const credential = (changes: Partial<StoredCredential> = {}): StoredCredential => ({
  v: 1,
  label: 'db',
  namespace: 'deployments',
  consumers: [],
  versions: [],
  initial: 1,
  slot: 0,
  ...changes,
})
const plan = (secret: TemplateSecret, record: StoredCredential | undefined) =>
  planDispatch(template(secret), () => record && { record, modRevision: 7 })

test('a container gets the version of its template, or the initial version of the secret', () => {
  const named = { name: 'DB', namespace: 'deployments', label: 'db', revision: 7 }
  expect(plan(entry(3), credential())).toEqual({
    kind: 'ok',
    entries: [{ ...named, current: 3 }],
    usedVersions: new Map([['db', 3]]),
  })
  expect(plan(entry(null), credential({ initial: 2 }))).toMatchObject({
    entries: [{ current: 2 }],
    usedVersions: new Map([['db', 2]]),
  })
  expect(planDispatch(template(), () => undefined)).toEqual({
    kind: 'ok',
    entries: [],
    usedVersions: new Map(),
  })
})

test('a secret without a version, or in another namespace than its label, is unresolved', () => {
  const unresolved = { kind: 'unresolved', secret: 'DB' }
  expect(plan(entry(null), credential({ initial: null }))).toEqual({ ...unresolved, cause: 'missing' })
  expect(plan(entry(null), undefined)).toEqual({ ...unresolved, cause: 'missing' })
  expect(plan(entry(1, 'resources'), credential())).toEqual({ ...unresolved, cause: 'denied' })
})

test.each([
  ['stage', 1, 1, {}],
  ['stage', 1, 2, {}],
  ['overlap', 1, 1, { next: 2 }],
  ['overlap', 1, 2, {}],
  ['cutover', 1, 1, { next: 2 }],
  ['cutover', 1, 2, { previous: 1 }],
  ['cutover', 1, 5, {}],
] as const)('in %s of %s to 2, a container with %s has %j beside', (phase, old, version, beside) => {
  const rotation = { phase, old, new: 2, since: '', startedBy: consumerOf('deployment', 'web') }
  const planned = plan(entry(version), credential({ rotation }))
  const [first] = planned.kind === 'ok' ? planned.entries : []
  const { name, namespace, label, current, revision, ...other } = first ?? { name: '' }
  expect([name, namespace, label, current, revision]).toEqual(['DB', 'deployments', 'db', version, 7])
  expect(other).toEqual(beside)
})

test('a container keeps the other version while a cutover is aborted', () => {
  const rotation = {
    phase: 'cutover' as const,
    old: 1,
    new: 2,
    since: '',
    startedBy: consumerOf('deployment', 'web'),
    aborting: true,
  }
  expect(plan(entry(1), credential({ rotation }))).toMatchObject({ entries: [{ current: 1, next: 2 }] })
  expect(plan(entry(2), credential({ rotation }))).toMatchObject({ entries: [{ current: 2, previous: 1 }] })
})
