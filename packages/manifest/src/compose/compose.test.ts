// Ten Compose files of different kinds, with the manifests and the report that are expected of each. After an intended
// change, `npx vitest run -u` writes the expected files again.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, type Json, type JsonObject } from '@holdfast/contract'
import { admissionContext, admitDeployment, orderByNeed } from '@holdfast/core/admission'
import { describe, expect, test } from 'vitest'
import { checkManifest, mountedVolumes, parseSource, withVolumeIds } from '../index.ts'
import {
  type Imported,
  type ImportOptions,
  readComposeSource,
  translateCompose,
  writeDocuments,
} from './index.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/compose')
const FILES = readdirSync(FOLDER).filter((name) => /^[0-9]{2}-[a-z-]+\.yaml$/.test(name))
const WITHOUT_VARIABLES: ImportOptions = { lookup: () => undefined, files: new Map(), volumeSize: '10Gi' }
/** Files with ports that become routes, so that both forms of ports have an expected file. */
const WITH_DOMAIN = new Set(['05-ports-and-volumes.yaml', '06-networks.yaml'])
/** Values in the files that are credentials. */
const CREDENTIALS = [
  ...['Str0ng-example-passphrase', 'S3cret-value-9', '0c1b7e3f9d2a4c5e6f708192a3b4c5d6'],
  ...['Another-example-1', 'Cache-example-22'],
]

function importText(text: string, options: Partial<ImportOptions> = {}): Imported {
  const all = { ...WITHOUT_VARIABLES, ...options }
  const source = readComposeSource(text, all.lookup)
  if (!source.ok) throw new Error(source.why)
  return translateCompose(source, all)
}

const importFile = (name: string): Imported =>
  importText(readFileSync(join(FOLDER, name), 'utf8'), WITH_DOMAIN.has(name) ? { domain: 'example.com' } : {})

const VOLUME_ID = `vol_${'0'.repeat(26)}`
const ANY: ReadonlySet<string> = Object.assign(new Set<string>(), { has: () => true })
const CONTEXT = admissionContext({ registries: ANY, regions: ANY, volumesEnabled: true })

const objectOf = (value: Json | undefined): JsonObject =>
  value !== undefined && isJsonObject(value) ? value : {}

/** The deployments of a text as they are sent: quantities are numbers of the API. */
function parsedDeployments(text: string): JsonObject[] {
  const { manifests } = parseSource({ name: 'imported', bytes: new TextEncoder().encode(text) })
  return manifests.map(({ value }) => objectOf(value)).filter(({ kind }) => kind === 'Deployment')
}

test('there are ten Compose files', () => expect(FILES).toHaveLength(10))

describe.each(FILES)('%s', (name) => {
  const imported = importFile(name)
  const yaml = writeDocuments(imported.documents)
  const { documents: _documents, ...report } = imported
  const json = `${JSON.stringify(report, null, 2)}\n`

  test('gives the expected manifests', async () => {
    await expect(yaml).toMatchFileSnapshot(join(FOLDER, name.replace('.yaml', '.expected.yaml')))
  })

  test('gives the expected report', async () => {
    await expect(json).toMatchFileSnapshot(join(FOLDER, name.replace('.yaml', '.golden.json')))
  })

  test('gives manifests that the rules of the platform accept', () => {
    const { manifests, faults } = parseSource({ name, bytes: new TextEncoder().encode(yaml) })
    expect(faults).toEqual([])
    expect(manifests).toHaveLength(imported.documents.length)
    expect(manifests.flatMap((manifest) => checkManifest(manifest))).toEqual([])
  })

  test('gives deployments that admission accepts together', () => {
    const named = (kind: string) => imported.documents.filter((document) => document.kind === kind)
    const deployments = new Map(named('Deployment').map((document) => [document.name, document]))
    const external = new Set(
      imported.findings.filter(({ what }) => what.startsWith('no document')).map(({ path }) => path),
    )
    for (const document of parsedDeployments(yaml)) {
      const verdict = admitDeployment(
        withVolumeIds(document, () => VOLUME_ID),
        CONTEXT,
      )
      expect(verdict).toMatchObject({ accepted: true })
      for (const [other, condition] of Object.entries(objectOf(document.dependsOn)))
        expect([
          deployments.has(other),
          condition === 'started' || deployments.get(other)?.healthCheck !== undefined,
        ]).toEqual([true, true])
      for (const volume of mountedVolumes(document))
        expect(
          named('Volume').some((each) => each.name === volume) || external.has(`volumes.${volume}`),
        ).toBe(true)
    }
    expect(orderByNeed([...deployments.values()])).toHaveLength(deployments.size)
  })

  test('shows no credential', () => {
    for (const value of CREDENTIALS) expect(yaml + json).not.toContain(value)
  })
})

describe('variables of an import', () => {
  const text = `services:\n  web:\n    image: registry.example.com/web:\${TAG:-1.0.0}\n    env_file: app.env\n    environment: {MODE: a}\n`

  test('come from the environment', () => {
    const { documents } = importText(text, { lookup: (name) => (name === 'TAG' ? '2.0.0' : undefined) })
    expect(documents[0]?.image).toBe('registry.example.com/web:2.0.0')
  })

  test('come from the files that a service names, and environment overrides them', () => {
    const files = new Map([['app.env', 'MODE=b\nLEVEL=info\nAPI_TOKEN=Very-secret-0001\n']])
    const { documents, secrets, findings } = importText(text, { files })
    expect(documents[0]?.environment).toEqual({ MODE: 'a', LEVEL: 'info' })
    expect(secrets.map(({ command }) => command)).toEqual([
      'holdfast secret set deployments/web --prompt API_TOKEN',
    ])
    expect(JSON.stringify([documents, findings])).not.toContain('Very-secret')
  })

  test('that are missing leave a service out if its image needs them', () => {
    const { documents, findings } = importText(`services: {web: {image: "web:\${TAG}"}}`)
    expect(documents).toEqual([])
    expect(findings[0]).toMatchObject({
      outcome: 'refused',
      path: 'services.web.image',
      line: 1,
      service: 'web',
    })
  })
})

test('one node for everything sets nodeId and needs no affinity', () => {
  const nodeId = `node_${'0'.repeat(26)}`
  const { documents } = importText(readFileSync(join(FOLDER, '01-web-and-database.yaml'), 'utf8'), { nodeId })
  expect(documents.map((document) => document.nodeId)).toEqual([nodeId, nodeId, nodeId])
  expect(documents.some(({ placement }) => placement !== undefined)).toBe(false)
})

test.each([
  ['a service', (key: string) => `{${key}: {image: "a:1"}}`],
  ['a variable', (key: string) => `{web: {image: "a:1", environment: {${key}: x}}}`],
  ['an unset variable', (key: string) => `{web: {image: "a:1", environment: {MODE: "\${${key}}"}}}`],
  ['a label', (key: string) => `{web: {image: "a:1", labels: {${key}: x}}}`],
  ['a dependency', (key: string) => `{web: {image: "a:1", depends_on: [${key}]}}`],
  ['a member', (key: string) => `{web: {image: "a:1", ${key}: x}}`],
])('the name of %s is not shown if it is a credential', (_, services) => {
  const key = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
  const imported = importText(`services: ${services(key)}\n`)
  expect(imported.documents).toHaveLength(1)
  expect(writeDocuments(imported.documents) + JSON.stringify(imported)).not.toMatch(/a1b2c3d4/i)
})

test.each([
  ['no content', '', 'no content'],
  ['a list', '- a\n', 'no map'],
  ['bad YAML', 'services: [\n', 'not valid YAML'],
  ['two documents', 'services: {}\n---\nservices: {}\n', 'several documents'],
  ['a tag of another kind', 'services: !reset null\n', 'not valid YAML'],
  ['aliases that expand without end', bomb(), 'more than'],
])('a file with %s is not read', (_, text, why) => {
  expect(readComposeSource(text, () => undefined)).toMatchObject({
    ok: false,
    why: expect.stringContaining(why),
  })
})

function bomb(): string {
  const levels = Array.from(
    { length: 9 },
    (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(', ')}]`,
  )
  return `l0: &l0 x\n${levels.join('\n')}\n`
}
