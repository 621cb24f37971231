// Generates manifests with known faults: in block, flow or JSON layout, with comments, and among other documents. Each
// fault is put in place of a marker in the text, so that its expected position does not come from the code under test.

import {
  childPath,
  deploymentBodyShape,
  elementPath,
  isJsonObject,
  type Json,
  type JsonObject,
  type ShapeNode,
} from '@holdfast/contract'
import fc from 'fast-check'
import { Document, isMap } from 'yaml'

interface ExpectedFault {
  /** The field that a rejection must name. */
  readonly field: string
  /** The text under the caret, and its offset in the file. */
  readonly under: string
  readonly offset: number
  /** For a misspelled field: the name that was meant. */
  readonly meant: string | undefined
}

export interface WrongManifest {
  readonly name: string
  readonly text: string
  /** Index of the document with the faults. */
  readonly document: number
  readonly faults: readonly ExpectedFault[]
}

/** A valid document that has every field which a manifest can have without a platform. */
const WHOLE: JsonObject = {
  kind: 'Deployment',
  name: 'web',
  image: 'registry.example.com/web:1.0.0',
  replicas: 2,
  healthCheck: {
    ...{ type: 'exec', command: ['wget', '-q', 'http://127.0.0.1:8080/'], retries: 3 },
    ...{ timeout: '10s', interval: '30s', startPeriod: '5s' },
  },
  environment: { LOG_LEVEL: 'info', GREETING: 'hello, world: "hi"', LINES: 'one\ntwo\n' },
  secrets: [{ name: 'DB', vault_path: 'deployments/web', anchor: 'process', rotation: 'restart' }],
  placement: {
    ...{ residency: { region: 'eu', blockedCountries: ['US', 'CN'] }, affinity: ['db'], spread: 'zone' },
    constraints: [{ label: 'disk', operator: 'in', values: ['ssd', 'nvme'] }],
  },
  dependsOn: { db: 'healthy' },
  resources: { cpu: '500m', memory: '256Mi' },
  limits: { cpuMillis: 1000, memory: '1.5Gi' },
  composedEnvironment: { DATABASE_URL: 'postgres://app:{{secret.web.password}}@db:5432/app' },
  update: { order: 'start-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '300s' },
  routes: [{ host: 'web.example.com', path: '/', port: 8080 }],
  labels: { team: 'shop', 'example.com/tier': 'front' },
  command: ['serve'],
  args: ['--port', '8080'],
  stopGracePeriod: '30s',
}

interface Fault {
  readonly path: readonly (string | number)[]
  /** `value` replaces the value; `key` renames the last key; `add` adds an entry to the map or object at the path. */
  readonly kind: 'value' | 'key' | 'add'
  /** The JSON text of the value, or the new key. */
  readonly text: string
}

const value = (path: string, text: string): Fault => ({ path: splitPath(path), kind: 'value', text })
const added = (path: string, text: string): Fault => ({ path: splitPath(path), kind: 'add', text })
const splitPath = (path: string) =>
  path === '' ? [] : path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step))

/** Values of the right type that a rule rejects, and keys that a rule rejects. */
const INVALID: readonly Fault[] = [
  ...[
    value('name', '"Bad_Name"'),
    value('image', '"registry.example.com/web:latest"'),
    value('replicas', '-5'),
  ],
  ...[
    value('healthCheck.type', '"http"'),
    value('healthCheck.retries', '1'),
    value('healthCheck.timeout', '"1s"'),
  ],
  ...[value('healthCheck.interval', '"1s"'), value('secrets.0.vault_path', '"/abs/x"')],
  ...[value('secrets.0.anchor', '"soon"'), value('placement.residency.blockedCountries.0', '"de"')],
  ...[value('placement.constraints.0.operator', '"like"'), value('dependsOn.db', '"sometime"')],
  ...[value('resources.cpu', '"5x"'), value('resources.memory', '256'), value('limits.cpuMillis', '-5')],
  ...[
    value('limits.memory', '"256mb"'),
    value('update.order', '"sideways"'),
    value('update.parallelism', '0'),
  ],
  ...[
    value('routes.0.host', '"Bad_Host"'),
    value('routes.0.path', '"nopath"'),
    value('routes.0.port', '99999'),
  ],
  ...[value('stopGracePeriod', '"900h"'), value('composedEnvironment.DATABASE_URL', '"constant"')],
  ...[added('environment', '1BAD'), added('labels', 'caddy.port'), added('dependsOn', 'Bad_Name')],
  ...[added('', 'uid'), added('secrets.0', 'mount_path')],
]

const isAt = (shape: ShapeNode | undefined): ShapeNode | undefined =>
  shape?.kind === 'optional' || shape?.kind === 'nullable' ? isAt(shape.inner) : shape

/** Every place of the document with its shape, and whether its key is the field of an object. */
function* places(
  shape: ShapeNode | undefined,
  body: Json,
  path: Fault['path'] = [],
): Generator<{ path: Fault['path']; shape: ShapeNode; isField: boolean }> {
  const here = isAt(shape)
  if (Array.isArray(body) && here?.kind === 'list') {
    for (const [index, element] of body.entries())
      yield* placesAt(here.element, element, [...path, index], false)
  }
  if (!isJsonObject(body)) return
  for (const [key, member] of Object.entries(body)) {
    const inner = here?.kind === 'object' ? here.fields[key] : here?.kind === 'map' ? here.value : undefined
    if (inner !== undefined) yield* placesAt(inner, member ?? null, [...path, key], here?.kind === 'object')
  }
}

function* placesAt(
  shape: ShapeNode,
  body: Json,
  path: Fault['path'],
  isField: boolean,
): ReturnType<typeof places> {
  const here = isAt(shape)
  if (here !== undefined) yield { path, shape: here, isField }
  yield* places(here, body, path)
}

const PLACES = [...places(deploymentBodyShape, WHOLE)].filter(({ path }) => path[0] !== 'kind')
const FIELDS = PLACES.filter(({ isField }) => isField)

/** JSON text of another type than the shape accepts. */
const wrongType = (shape: ShapeNode): string =>
  shape.kind === 'string' || shape.kind === 'duration' ? '731' : '"seven"'

/** Misspellings as people make them: another case or separator, plural, word order, or one wrong letter. */
const arbitraryMisspelling = (name: string): fc.Arbitrary<string> => {
  const words = name.split(/_|(?=[A-Z])/)
  const whole = [
    name.toLowerCase(),
    name.toUpperCase(),
    words.join('_').toLowerCase(),
    words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join(''),
    [...words].reverse().join('_').toLowerCase(),
    name.endsWith('s') ? name.slice(0, -1) : `${name}s`,
  ]
  const letters = fc
    .tuple(fc.nat({ max: name.length - 1 }), fc.constantFrom(...'aeiorst'))
    .chain(([at, letter]) =>
      fc.constantFrom(
        name.slice(0, at) + name.slice(at + 1),
        name.slice(0, at) + letter + name.slice(at),
        name.slice(0, at) + letter + name.slice(at + 1),
        name.slice(0, at) +
          name
            .slice(at, at + 2)
            .split('')
            .reverse()
            .join('') +
          name.slice(at + 2),
      ),
    )
  return fc.oneof(fc.constantFrom(...whole), letters).filter((text) => /^[A-Za-z]\w+$/.test(text))
}

export const arbitraryRename: fc.Arbitrary<Fault> = fc
  .constantFrom(...FIELDS)
  .chain(({ path }) =>
    arbitraryMisspelling(String(path.at(-1))).map((text): Fault => ({ path, kind: 'key', text })),
  )
  .filter(({ path, text }) => !FIELDS.some((other) => other.path.at(-1) === text) && path.at(-1) !== text)

const arbitraryFault: fc.Arbitrary<Fault> = fc.oneof(
  arbitraryRename,
  fc
    .constantFrom(...PLACES)
    .map(({ path, shape }): Fault => ({ path, kind: 'value', text: wrongType(shape) })),
  fc.constantFrom(...INVALID),
)

type Layout = 'block' | 'flow' | 'json' | 'compact'

export const arbitraryWrong = (fault = arbitraryFault, most = 3): fc.Arbitrary<WrongManifest> =>
  fc
    .record({
      faults: fc.uniqueArray(fault, { minLength: 1, maxLength: most, selector: ({ path }) => path[0] }),
      layout: fc.constantFrom<Layout>('block', 'block', 'flow', 'json', 'compact'),
      hasComments: fc.boolean(),
      before: fc.nat({ max: 2 }),
      after: fc.nat({ max: 1 }),
    })
    .map(({ faults, layout, hasComments, before, after }) => {
      const written = writeWrong(faults, layout, hasComments)
      if (layout === 'json' || layout === 'compact') return { name: 'web.json', document: 0, ...written }
      const others = (count: number): string =>
        `${yamlOf({ ...WHOLE, name: 'other' }, layout)}---\n`.repeat(count)
      const start = others(before)
      return {
        name: 'web.yaml',
        document: before,
        text: start + written.text + (after === 0 ? '' : `---\n${yamlOf(WHOLE, layout)}`),
        faults: written.faults.map((each) => ({ ...each, offset: each.offset + start.length })),
      }
    })

const marker = (index: number): string => `zq${index}marker${index}qz`

function writeWrong(faults: readonly Fault[], layout: Layout, hasComments: boolean) {
  const body = structuredClone(WHOLE)
  for (const [index, fault] of faults.entries()) placeMarker(body, fault, marker(index))
  const isJson = layout === 'json' || layout === 'compact'
  const marked = isJson ? JSON.stringify(body, null, layout === 'json' ? 2 : 0) : yamlOf(body, layout)
  const isCommented = hasComments && layout === 'block'
  const source = isCommented ? marked.replaceAll(/^(?=[a-z])/gm, '# about: the "next" field\n') : marked
  const expected: ExpectedFault[] = []
  let text = ''
  let read = 0
  for (const found of source.matchAll(/"?zq(\d)marker\1qz"?/g)) {
    const fault = faults[Number(found[1])]
    if (fault === undefined) throw new Error(`no fault for ${found[0]}`)
    const under = fault.kind === 'value' ? fault.text : isJson ? `"${fault.text}"` : fault.text
    text += source.slice(read, found.index)
    expected.push({ field: fieldOf(fault), under, offset: text.length, meant: meantBy(fault) })
    text += under
    read = found.index + found[0].length
    if (isCommented && source[read] === '\n') text += ` # ${under}: a comment`
  }
  return { text: text + source.slice(read), faults: expected }
}

const meantBy = ({ path, kind }: Fault): string | undefined =>
  kind === 'key' ? String(path.at(-1)) : undefined

function fieldOf({ path, kind, text }: Fault): string {
  const steps = kind === 'value' ? path : [...(kind === 'key' ? path.slice(0, -1) : path), text]
  return steps.reduce<string>(
    (parent, step) => (typeof step === 'number' ? elementPath(parent, step) : childPath(parent, step)),
    '',
  )
}

/** Puts a marker in the place of a fault. A renamed key keeps its position among the keys of its object. */
function placeMarker(body: JsonObject, { path, kind }: Fault, text: string): void {
  const holderPath = kind === 'add' ? path : path.slice(0, -1)
  const holder = holderPath.reduce<unknown>((parent, step) => Object(parent)[step], body)
  const last = path.at(-1) ?? ''
  if (kind === 'value') Object.assign(Object(holder), { [last]: text })
  else if (kind === 'add') Object.assign(Object(holder), { [text]: 'healthy' })
  else {
    const entries = Object.entries(Object(holder))
    for (const [name] of entries) delete Object(holder)[name]
    for (const [name, member] of entries) Object(holder)[name === last ? text : name] = member
  }
}

function yamlOf(body: JsonObject, layout: Layout): string {
  const document = new Document(body)
  if (layout === 'flow' && isMap(document.contents)) document.contents.flow = true
  return document.toString({ lineWidth: 0 })
}
