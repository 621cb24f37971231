// The import of any Compose file does not crash, writes only documents that the rules accept, accounts for every member
// of every service, and shows no credential.

import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { checkManifest, parseSource } from '../index.ts'
import { type Imported, readComposeSource, translateCompose, writeDocuments } from './index.ts'
import { REFUSED_IF_TRUE, REFUSED_MEMBERS } from './service/refused-members.ts'
import { pathOf } from './source/written.ts'

const OPTIONS = {
  lookup: () => undefined,
  files: new Map<string, string>(),
  volumeSize: '10Gi',
  domain: 'example.com',
}

function importText(text: string): Imported | undefined {
  const source = readComposeSource(text, OPTIONS.lookup)
  return source.ok ? translateCompose(source, OPTIONS) : undefined
}

function expectValid({ documents }: Imported): void {
  const bytes = new TextEncoder().encode(writeDocuments(documents))
  const { manifests, faults } = parseSource({ name: 'imported', bytes })
  expect([faults, manifests.flatMap((manifest) => checkManifest(manifest))]).toEqual([[], []])
  expect(manifests.map(({ value }) => value)).toHaveLength(documents.length)
}

const CREDENTIALS = [
  `ghp_${'a1B2c3D4e5F6'.repeat(3)}`,
  'postgres://app:Tr0ub4dor-and-3@db:5432/app',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
]
const SECRET_TEXTS = [...CREDENTIALS, 'Tr0ub4dor-and-3']

const service = fc.constantFrom('web', 'db', 'My_Service', '9lives', 'etcd', 'a'.repeat(80))
const word = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      '',
      'a',
      '/data',
      'data:/data',
      'data:/x:ro',
      './x:/y',
      '80:80',
      '10s',
      '512m',
      '0.5',
      '3',
      'true',
      'none',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'registry.example.com/a:1',
      'nginx',
      `\${A}`,
      `\${A:-b}`,
      '$$x',
      `\${`,
      'CMD',
      'NONE',
      'service_healthy',
    ),
  },
  { weight: 2, arbitrary: service },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  { weight: 2, arbitrary: fc.constantFrom(...CREDENTIALS) },
  { weight: 1, arbitrary: fc.constantFrom(...CREDENTIALS).map((text) => `--password=${text}`) },
)
const scalar = fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null))
const key = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      'test',
      'interval',
      'source',
      'target',
      'type',
      'condition',
      'path',
      'limits',
      'memory',
      'replicas',
      'resources',
      'external',
      'name',
      'file',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('KEY', 'DB_PASSWORD', 'x-a', 'bad.key', '__proto__', 'constructor'),
  },
  { weight: 1, arbitrary: word },
)
const value = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: 4 }, { weight: 3, arbitrary: scalar }, tie('list'), tie('map')),
  list: fc.array(tie('any'), { maxLength: 4 }),
  map: fc.array(fc.tuple(key, tie('any')), { maxLength: 4 }).map((pairs) => new Map(pairs)),
})).any

const MEMBERS = [
  ...[
    'image',
    'command',
    'entrypoint',
    'environment',
    'env_file',
    'ports',
    'expose',
    'volumes',
    'tmpfs',
    'depends_on',
  ],
  ...[
    'links',
    'deploy',
    'healthcheck',
    'labels',
    'secrets',
    'networks',
    'network_mode',
    'restart',
    'scale',
    'cpus',
  ],
  ...['mem_limit', 'mem_reservation', 'stop_grace_period', 'build', 'profiles', 'extends', 'unknown', 'x-y'],
  ...Object.keys(REFUSED_MEMBERS),
  ...Object.keys(REFUSED_IF_TRUE),
]
const oneService = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom(...MEMBERS), value), { maxLength: 8 }),
    fc.option(fc.constant('registry.example.com/app:1.0.0')),
  )
  .map(
    ([members, image]) =>
      new Map<string, unknown>([...members, ...(image === null ? [] : [['image', image] as const])]),
  )
const composeFile = fc
  .record({
    services: fc
      .array(fc.tuple(fc.oneof(service, word), fc.oneof({ weight: 9, arbitrary: oneService }, value)), {
        maxLength: 4,
      })
      .map((pairs) => new Map<string, unknown>(pairs)),
    volumes: fc.option(fc.constant({ data: null, other: { external: true } })),
    secrets: fc.option(value),
    networks: fc.option(value),
  })
  .map((file) => ({ file, text: stringify(file, { aliasDuplicateObjects: false }) }))

const rounds = { numRuns: inRun(300, 20_000) }

test('no text crashes the import, and what it writes is valid', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.string({ unit: 'grapheme' }),
        fc.constant('services:').chain((top) => fc.string().map((rest) => `${top} ${rest}`)),
      ),
      (text) => {
        const imported = importText(text)
        if (imported !== undefined) expectValid(imported)
      },
    ),
    rounds,
  )
})

test('no Compose file crashes the import, and what it writes is valid', () => {
  fc.assert(
    fc.property(composeFile, ({ text }) => {
      const imported = importText(text)
      if (imported !== undefined) expectValid(imported)
    }),
    rounds,
  )
})

test('no credential is shown, wherever it is in the file', () => {
  fc.assert(
    fc.property(composeFile, ({ text }) => {
      const imported = importText(text)
      const shown =
        imported === undefined ? '' : writeDocuments(imported.documents) + JSON.stringify(imported)
      for (const secret of SECRET_TEXTS) expect(shown).not.toContain(secret)
    }),
    rounds,
  )
})

test('no password is shown, wherever the file repeats it', () => {
  const password = fc.stringMatching(/^[A-Za-z]{3,8}[0-9!_-][A-Za-z0-9!_]{4,12}$/)
  fc.assert(
    fc.property(password, fc.constantFrom('DB_PASSWORD', 'API_TOKEN', 'app_secret'), (secret, name) => {
      const image = 'registry.example.com/app:1.0.0'
      const repeated = {
        command: ['run', secret],
        labels: { note: secret },
        environment: { NOTE: `x ${secret}` },
      }
      const services = {
        web: { image, environment: { [name]: secret } },
        other: { image, ...repeated },
        check: {
          image,
          labels: repeated.labels,
          healthcheck: { test: `check ${secret}` },
          environment: [`NOTE=${secret}`],
        },
        mounts: { image, volumes: [`/data/${secret}`], tmpfs: [`/run/${secret}`] },
      }
      const imported = importText(stringify({ services }))
      if (imported === undefined) throw new Error('the file was not read')
      expect(writeDocuments(imported.documents) + JSON.stringify(imported)).not.toContain(secret)
    }),
    rounds,
  )
})

const isInside = (path: string, around: string): boolean =>
  path === around || path.startsWith(`${around}.`) || path.startsWith(`${around}[`)

/** Members that no manifest can express, and one that Compose does not have. */
const NEVER_CARRIED = new Set(['unknown', ...Object.keys(REFUSED_MEMBERS)])

test('every member of every service is carried over or has a finding', () => {
  fc.assert(
    fc.property(composeFile, ({ file, text }) => {
      const imported = importText(text)
      if (imported === undefined) return
      const { carried, findings } = imported
      for (const [name, members] of file.services) {
        const around = pathOf(['services', name])
        const isLeftOut = findings.some(({ path, why }) => isInside(path, around) && why.includes('left out'))
        if (isLeftOut || !(members instanceof Map)) continue
        for (const member of members.keys()) {
          const own = pathOf(['services', name, String(member)])
          const found = NEVER_CARRIED.has(String(member)) ? findings : [...carried, ...findings]
          expect(found.some(({ path }) => isInside(path, own))).toBe(true)
        }
      }
    }),
    rounds,
  )
})
