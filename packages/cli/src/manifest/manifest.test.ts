// The positions and quoted lines of errors in manifests, and the request body that a YAML or JSON file is converted to.

import { type Json, jsonText, parseStrictJson, stepsOf } from '@holdfast/contract'
import {
  checkManifest,
  checkOffline,
  locate,
  manifestTemplate,
  parseSource,
  positionOf,
  secretSpans,
} from '@holdfast/manifest'
import { arbitraryDeployment } from '@holdfast/testkit/arbitrary-deployment'
import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { Terminal } from '../terminal/terminal.ts'
import { orderDocuments } from './order.ts'
import { quoteLine } from './quote-line.ts'
import { manifestSchema } from './schema.ts'
import { printRejections, printSyntaxFault } from './show-faults.ts'

const parse = (text: string, name = 'web.yaml') =>
  parseSource({ name, bytes: new TextEncoder().encode(text) })

function pointAt(text: string, field: string, name = 'web.yaml', at = 0) {
  const manifest = parse(text, name).manifests[at]
  if (manifest === undefined) throw new Error('no document')
  const span = locate(manifest.tree, stepsOf(field))
  const { line, column } = positionOf(manifest.file, span.start)
  return [`${line}:${column}`, ...quoteLine(manifest.file, span, secretSpans(manifest.tree))]
}

describe('the caret of an error is', () => {
  const YAML = 'kind: Deployment\nname: web\nhealthCheck:\n  timeout: 5s # short\n'
  test.each([
    ['under a value', YAML, 'healthCheck.timeout', ['4:12', '4 |   timeout: 5s', '  |            ^^']],
    ['under the key of a missing value', 'name: web\nimage:\n', 'image', ['2:1', '2 | image:', '  | ^^^^^']],
    [
      'under the parent of a missing field',
      YAML,
      'healthCheck.command',
      ['3:1', '3 | healthCheck:', '  | ^^^^^^^^^^^'],
    ],
    [
      'at the start for a missing top-level field',
      YAML,
      'image',
      ['1:1', '1 | kind: Deployment', '  | ^^^^'],
    ],
    [
      'at the start for the whole document',
      YAML,
      '',
      ['1:1', '1 | kind: Deployment', '  | ^^^^^^^^^^^^^^^^'],
    ],
    ['under an element', 'args:\n  - a\n  - 7\n', 'args[1]', ['3:5', '3 |   - 7', '  |     ^']],
    [
      'under an element of a flow sequence',
      'args: [a, 7]\n',
      'args[1]',
      ['1:11', '1 | args: [a, 7]', '  |           ^'],
    ],
    [
      'under the first key of an element that lacks it',
      'routes:\n  - port: 80\n',
      'routes[0].host',
      ['2:5', '2 |   - port: 80', '  |     ^^^^'],
    ],
    [
      'under a quoted key',
      'labels:\n  "a.b/c": 1\n',
      'labels["a.b/c"]',
      ['2:12', '2 |   "a.b/c": 1', '  |            ^'],
    ],
    [
      'at the definition of an anchor',
      'x: &h {timeout: 5s}\nhealthCheck: *h\n',
      'healthCheck.timeout',
      ['1:17', '1 | x: &h {timeout: 5s}', '  |                 ^^'],
    ],
    ['under an alias', 'x: &h 5s\nname: *h\n', 'name', ['2:7', '2 | name: *h', '  |       ^^']],
    ['at the start of a block scalar', 'name: |\n  a\n  b\n', 'name', ['1:7', '1 | name: |', '  |       ^']],
    [
      'at the right column after non-ASCII text',
      'labels: {é: ü, 日本: 7}\n',
      'labels["日本"]',
      ['1:20', '1 | labels: {é: ü, 日本: 7}', '  |                      ^'],
    ],
    [
      'at the right place with CRLF',
      'name: web\r\nimage: x\r\n',
      'image',
      ['2:8', '2 | image: x', '  |        ^'],
    ],
  ])('%s', (_, text, field, quoted) => expect(pointAt(text, field)).toEqual(quoted))

  test('in the part of a long line that fits', () => {
    const text = `{"name": "web", "image": "${'x'.repeat(60)}", "replicas": -1, "labels": {"a": "${'y'.repeat(40)}"}}`
    const [manifest] = parse(text, 'web.json').manifests
    if (manifest === undefined) throw new Error('no document')
    const span = locate(manifest.tree, ['replicas'])
    const [quoted = '', caret = ''] = quoteLine(manifest.file, span, [], 50)
    expect(quoted).toHaveLength(50)
    expect(quoted.slice(caret.indexOf('^'), caret.length)).toBe('-1')
  })

  test('in the second document', () =>
    expect(pointAt('name: a\n---\nname: b\n', 'name', 'web.yaml', 1)[0]).toBe('3:7'))

  test('in JSON with tabs', () =>
    expect(pointAt('{\n\t"name": "web",\n\t"replicas": -1\n}\n', 'replicas', 'web.json')).toEqual([
      '3:14',
      '3 |   "replicas": -1',
      '  |               ^^',
    ]))
})

describe('a file with a syntax error', () => {
  test.each([
    ['a tab as indentation', 'a:\n\tb: 1\n', 'web.yaml', '2:1', 'Tabs are not allowed'],
    ['a duplicate key', 'a: 1\na: 2\n', 'web.yaml', '2:1', 'must be unique'],
    ['a tag', 'a: !!js/function 1\n', 'web.yaml', '1:4', 'Unresolved tag'],
    ['a comma at the end of JSON', '{"é": 1,}', 'web.json', '1:9', 'expected'],
    ['a NaN', 'a: .nan\n', 'web.yaml', '1:1', 'a number that JSON does not support'],
    ['an alias bomb', bomb(), 'web.yaml', '1:1', 'too many aliases'],
  ])('%s is rejected with its position', (_, text, name, place, message) => {
    const { manifests, faults } = parse(text, name)
    expect(manifests).toEqual([])
    const [fault] = faults
    if (fault === undefined) throw new Error('no fault')
    const { line, column } = positionOf(fault.file, fault.offset)
    expect([`${line}:${column}`, fault.message]).toEqual([place, expect.stringContaining(message)])
  })

  test('an empty file has no documents', () => {
    for (const text of ['', '---\n---\n', '# only words\n']) expect(parse(text).manifests).toEqual([])
  })

  test.each([
    'password: hunter2: x\n',
    'password: *hunter2\n',
    'password: !hunter2 x\n',
    'password: "hunter2\n',
    'password: "\\qhunter2"\n',
    '- hunter2 "x": [\n',
    'a: 1\nhunter2\n',
    'password: @hunter2\n',
  ])('a syntax error quotes no value: %j', (text) => {
    const lines: string[] = []
    const { faults } = parse(text)
    expect(faults.length).toBeGreaterThan(0)
    for (const fault of faults) printSyntaxFault(recordingTerminal(lines), fault)
    expect(lines.join('')).toContain('web.yaml:')
    expect(lines.join('')).not.toContain('hunter2')
  })
})

function bomb(): string {
  const levels = ['a: &a [x, x, x, x, x, x, x, x, x, x]']
  for (const [before, name] of ['ab', 'bc', 'cd', 'de'].map((pair) => [pair[0], pair[1]]))
    levels.push(`${name}: &${name} [${Array(10).fill(`*${before}`).join(', ')}]`)
  return `${levels.join('\n')}\n`
}

const recordingTerminal = (lines: string[]): Terminal => ({
  out: (text) => void lines.push(String(text)),
  err: (text) => void lines.push(String(text)),
  outIsTerminal: false,
  errIsTerminal: false,
  inIsTerminal: false,
  color: false,
  columns: () => 80,
  rows: () => 24,
  now: () => 0,
  readInput: async () => new Uint8Array(),
  askSecret: async () => undefined,
  ask: async () => undefined,
  interrupted: new AbortController().signal,
})

describe('possible secrets', () => {
  test('are masked in the quoted line, in keys, values and comments', () => {
    const text = [
      'kind: Deployment',
      'environment: {DB_PASSWORD: hunter2, LOG: hunter3} # hunter4',
      'image: user:hunter5@registry.example/web:latest',
      'labels: {ghp_0123456789abcdefghijABCDEFGHIJ012345: 7}',
      'tokne: "hunter 6" # hunter7',
      'secrets: [{name: A, values: {k: hunter8}, x: 1}]',
      'composedEnvironment: {URL: "postgres://app:hunter9@db", A: hunter10}',
      '',
    ].join('\n')
    const lines: string[] = []
    const [manifest] = parse(text).manifests
    if (manifest === undefined) throw new Error('no document')
    const rejections = checkOffline(manifest.value)
    expect(rejections.length).toBeGreaterThan(4)
    printRejections(recordingTerminal(lines), manifest, rejections)
    const shown = lines.join('')
    expect(shown).toContain('environment: {DB_PASSWORD: *******, LOG: *******}')
    for (const secret of [
      'hunter2',
      'hunter3',
      'hunter4',
      'hunter5',
      'ghp_',
      'hunter7',
      'hunter8',
      'hunter9',
      'hunter10',
    ])
      expect(shown).not.toContain(secret)
  })

  test('are masked even if the error is about them', () => {
    const text = [
      'kind: Deployment',
      'name: web',
      'image: registry.example.com/web:1.0.0',
      'secrets:',
      '  - name: DB',
      '    vault_path: resources/DB',
      '    anchor: soon',
      '    values:',
      '      api-key: hunter2',
      '      password: ""',
      '    generate: {keys: [a], length: 21}',
      'composedEnvironment:',
      '  URL: hunter3',
      '',
    ].join('\n')
    const [manifest] = parse(text).manifests
    const rejections = checkOffline(manifest?.value ?? null)
    const shown = rejections.map(({ code, field }) => [code, ...pointAt(text, field).slice(1)])
    expect(shown).toEqual([
      ['secret_path_name', '6 |     vault_path: resources/DB', '  |                 ^^^^^^^^^^^^'],
      ['secret_anchor_invalid', '7 |     anchor: soon', '  |             ^^^^'],
      ['secret_key_invalid', '9 |       api-key: *******', '  |                ^^^^^^^'],
      ['secret_value_empty', '10 |       password: **', '   |                 ^^'],
      [
        'secret_generate_below_entropy_floor',
        '11 |     generate: {keys: [a], length: 21}',
        '   |                                   ^^',
      ],
      ['secret_compose_no_reference', '13 |   URL: *******', '   |        ^^^^^^^'],
    ])
  })

  test('an unknown field is pointed at, and the accepted names are listed once', () => {
    const lines: string[] = []
    const [manifest] = parse(
      'kind: Deployment\nname: web\nreplica: 2\nenv: {}\nimage: a.example/b:1\n',
    ).manifests
    if (manifest === undefined) throw new Error('no document')
    printRejections(recordingTerminal(lines), manifest, checkOffline(manifest.value))
    const shown = lines.join('')
    expect(shown).toContain('web.yaml:3:1: field_unknown at replica\n  3 | replica: 2\n    | ^^^^^^^\n')
    expect(shown).toContain('hint:     did you mean replicas?')
    expect(shown).toContain('hint:     use environment')
    expect(shown.match(/accepted:/g)).toHaveLength(1)
  })

  test('a rejected quantity is pointed at where it is written', () => {
    const text = 'kind: Deployment\nname: web\nimage: a.example/b:1\nlimits: {cpu: 2, memory: 99999999Ti}\n'
    const lines: string[] = []
    const [manifest] = parse(text).manifests
    if (manifest === undefined) throw new Error('no document')
    printRejections(recordingTerminal(lines), manifest, checkManifest(manifest))
    expect(lines.join('')).toContain('web.yaml:4:26: resources_invalid at limits.memory\n')
  })

  test('rejections are printed in file order', () => {
    const lines: string[] = []
    const [manifest] = parse('replicas: -1\nkind: Deployment\nimage: x\nname: A\n').manifests
    if (manifest === undefined) throw new Error('no document')
    printRejections(recordingTerminal(lines), manifest, checkOffline(manifest.value))
    const places = lines.filter((line) => line.startsWith('web.yaml:')).map((line) => line.split(':')[1])
    expect(places).toEqual(['1', '3', '4'])
  })
})

describe('a manifest file', () => {
  const KEYS = [
    'kind',
    'name',
    'image',
    'replicas',
    'healthCheck',
    'environment',
    'placement',
    'update',
    'routes',
    'x',
  ]
  const arbitraryBody: fc.Arbitrary<Json> = fc
    .tuple(
      arbitraryDeployment({ images: ['registry.example/web:1'], dependencies: ['db'] }),
      fc.array(fc.tuple(fc.constantFrom(...KEYS), fc.jsonValue({ maxDepth: 2 })), { maxLength: 3 }),
    )
    // A JSON round trip removes values that no request can contain, such as minus zero.
    .map(([body, broken]) => JSON.parse(JSON.stringify({ ...body, ...Object.fromEntries(broken) })))

  test('in YAML or JSON gets the same codes in the same order as the request body', () =>
    fc.assert(
      fc.property(arbitraryBody, (body) => {
        const sent = parseStrictJson(new TextEncoder().encode(jsonText(body)))
        if (!sent.ok) return
        const expected = checkOffline(sent.value)
        for (const [text, name] of [
          [stringify(body, { lineWidth: 0 }), 'web.yaml'],
          [jsonText(body), 'web.json'],
        ] as const) {
          const { manifests, faults } = parse(text, name)
          expect(faults).toEqual([])
          expect(manifests[0]?.value).toEqual(sent.value)
          expect(checkOffline(manifests[0]?.value ?? null)).toEqual(expected)
        }
      }),
      { numRuns: inRun(120, 5000) },
    ))

  test('has a position for every rejection', () =>
    fc.assert(
      fc.property(arbitraryBody, (body) => {
        const [manifest] = parse(stringify(body, { lineWidth: 0 })).manifests
        if (manifest === undefined) return
        for (const { field } of checkOffline(manifest.value)) {
          const { start, end } = locate(manifest.tree, stepsOf(field))
          expect(end).toBeGreaterThan(start)
          expect(end).toBeLessThanOrEqual(manifest.file.text.length)
        }
      }),
      { numRuns: inRun(100, 2000) },
    ))

  test('keeps large integers exact', () =>
    expect(parse('a: 9007199254740993\nb: 7\n').manifests[0]?.value).toEqual({ a: 9007199254740993n, b: 7 }))
})

describe('the apply order', () => {
  const names = (documents: readonly { value: Json }[]) => documents.map(({ value }) => Object(value).name)
  const doc = (name: string, ...on: string[]) => ({
    value: { name, dependsOn: Object.fromEntries(on.map((each) => [each, 'healthy'])) },
  })

  test('puts dependencies first and otherwise keeps the order', () =>
    expect(names(orderDocuments([doc('c', 'b'), doc('z'), doc('b', 'a', 'gone'), doc('a')]))).toEqual([
      'a',
      'b',
      'c',
      'z',
    ]))
  const ofKind = (kind: string, name: string) => ({ value: { kind, name } })
  test('puts volumes and networks before all deployments, and jobs after them', () =>
    expect(
      names(
        orderDocuments([
          ofKind('Job', 'j'),
          doc('b', 'a'),
          ofKind('Network', 'n'),
          doc('a'),
          ofKind('Volume', 'v'),
        ]),
      ),
    ).toEqual(['n', 'v', 'a', 'b', 'j']))
  test('ends on a dependency cycle', () =>
    expect(names(orderDocuments([doc('a', 'b'), doc('b', 'a')])).sort()).toEqual(['a', 'b']))
})

test('offline validation accepts any region name', () => {
  const judge = (residency: string) =>
    checkOffline(
      parse(`kind: Deployment\nname: web\nimage: a.example/b:1\nplacement: {residency: ${residency}}\n`)
        .manifests[0]?.value ?? null,
    ).map(({ code }) => code)
  expect(judge('{region: ours}')).toEqual([])
  expect(judge('{region: ""}')).toEqual(['placement_invalid'])
})

describe('the files of init', () => {
  test('the manifest is valid, also with every comment enabled', () => {
    const text = manifestTemplate('web', 'registry.example.com/web:1.0.0', 's.json')
    const uncommented = text.replaceAll(/^# (?=[a-z][A-Za-z]*:| {2})/gm, '')
    for (const each of [text, uncommented])
      expect(checkOffline(parse(each).manifests[0]?.value ?? null)).toEqual([])
    expect(parse(uncommented).manifests[0]?.value).toHaveProperty('update.failureAction', 'rollback')
  })

  test('the schema requires the required fields and rejects unknown ones', () =>
    expect(manifestSchema()).toMatchObject({
      $schema: 'http://json-schema.org/draft-07/schema#',
      // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema.
      else: { else: { then: WORKLOAD, else: WORKLOAD } },
    }))
  const WORKLOAD = {
    required: ['kind', 'name', 'image'],
    additionalProperties: false,
    properties: { limits: { properties: { cpu: { examples: ['0.5', '500m', '2'] }, cpuMillis: {} } } },
  }

  test('the schema of a network accepts a node by name', () =>
    expect(manifestSchema()).toMatchObject({
      else: {
        if: { properties: { kind: { const: 'Network' } } },
        // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema.
        then: {
          required: ['kind', 'name'],
          additionalProperties: false,
          properties: { node: {}, internal: {} },
        },
      },
    }))

  test('the schema of a volume accepts a size as a quantity and a node by name', () =>
    expect(manifestSchema()).toMatchObject({
      if: { properties: { kind: { const: 'Volume' } } },
      // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema.
      then: {
        required: ['kind', 'name', 'class'],
        additionalProperties: false,
        properties: { size: { examples: ['10Gi'] }, node: {}, sizeBytes: {} },
      },
    }))
})
