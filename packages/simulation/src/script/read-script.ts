// Reads a simulation script (YAML, which includes JSON), or reports all its faults at once, each with its position.

import {
  childPath,
  durationMs,
  elementPath,
  findShapeFaults,
  nearestName,
  type ShapeFault,
  stepsOf,
} from '@holdfast/contract'
import { type ConfigFault, quoteReceived } from '@holdfast/server/config/config-fault'
import { type Document, isNode, LineCounter, parseDocument } from 'yaml'
import { serversOf } from '../cluster/given-world.ts'
import { PRIMARY_OF, type Script, type Step } from './script.ts'
import { scriptShape, stepShapes } from './script-shapes.ts'

export type ReadScript =
  | { readonly ok: true; readonly script: Script }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] }

type Fields = { [name: string]: unknown }

/** Fields of a script that hold a duration, such as `90s`, with the name of the same field in milliseconds. */
const DURATIONS: { readonly [name: string]: string } = {
  for: 'forMs',
  delay: 'delayMs',
  settle: 'settleMs',
  start: 'startMs',
  crashAfter: 'crashAfterMs',
  at: 'at',
}
const NAMED: { readonly [name: string]: string } = Object.fromEntries(
  Object.entries(DURATIONS).map(([written, meant]) => [meant, written]),
)

export function readScript(text: string, fileName: string): ReadScript {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  const where = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${fileName}:${Math.max(line, 1)}:${Math.max(col, 1)}`
  }
  if (document.errors.length > 0)
    return {
      ok: false,
      faults: document.errors.map(({ code, pos }) => ({
        kind: 'syntax',
        where: where(pos[0]),
        field: '',
        received: '',
        expected: `YAML: ${code.toLowerCase().replaceAll('_', ' ')}`,
      })),
    }
  const faults = findFaults(document)
    .map((fault) => ({ fault, offset: offsetOf(document, fault.field) }))
    .sort((left, right) => left.offset - right.offset)
  if (faults.length > 0)
    return { ok: false, faults: faults.map(({ fault, offset }) => ({ ...fault, where: where(offset) })) }
  // The cast to a script is safe, because the checks above found no fault.
  return { ok: true, script: withMilliseconds(toPlain(document)) as unknown as Script }
}

type Unplaced = Omit<ConfigFault, 'where'>

function findFaults(document: Document): Unplaced[] {
  const plain = toPlain(document)
  const durations = findDurationFaults(plain, '')
  const value = withMilliseconds(plain)
  const whole = findShapeFaults(scriptShape, value).map(explain)
  const steps: readonly unknown[] = Array.isArray(value['steps']) ? value['steps'] : []
  const ofSteps = steps.map((step, index) => findStepFaults(step, elementPath('steps', index)))
  const faults = [...durations, ...whole, ...ofSteps.flat()]
  // Names of nodes and servers in steps are checked only if the cluster part is valid, and only in valid steps.
  if (whole.length > 0) return faults
  const isValid = (index: number) => ofSteps[index]?.length === 0
  return [...faults, ...findNameFaults(value as unknown as Script, isValid)]
}

function toPlain(document: Document): Fields {
  const value: unknown = document.toJS({ maxAliasCount: 0 })
  return isFields(value) ? value : {}
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function findDurationFaults(value: unknown, path: string): Unplaced[] {
  if (Array.isArray(value))
    return value.flatMap((one, index) => findDurationFaults(one, elementPath(path, index)))
  if (!isFields(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = childPath(path, name)
    // Durations inside a deployment's spec are left to admission, which validates the spec as for any client.
    if (name === 'spec') return []
    if (DURATIONS[name] === undefined) return findDurationFaults(inner, field)
    if (millisecondsOf(name, inner) !== undefined) return []
    const expected = 'a time: a whole number and ms, s, m or h, for example 90s'
    return [{ kind: 'type' as const, field, received: quoteReceived(field, inner), expected }]
  })
}

function millisecondsOf(name: string, written: unknown): number | undefined {
  if (name === 'at' && typeof written === 'number') return written >= 0 ? written : undefined
  return durationMs(String(written))
}

/** Converts the durations of a script to milliseconds. A duration that cannot be parsed becomes 0. */
function withMilliseconds(value: Fields): Fields {
  const change = (inner: unknown): unknown => {
    if (Array.isArray(inner)) return inner.map(change)
    return isFields(inner) ? withMilliseconds(inner) : inner
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const meant = DURATIONS[name]
      if (name === 'spec' || meant === undefined) return [name, name === 'spec' ? inner : change(inner)]
      return [meant, millisecondsOf(name, inner) ?? 0]
    }),
  )
}

function findStepFaults(step: unknown, path: string): Unplaced[] {
  const kinds = Object.keys(stepShapes)
  const kind = isFields(step) ? step['do'] : undefined
  const shape = Object.entries(stepShapes).find(([name]) => name === kind)?.[1]
  if (shape !== undefined) return findShapeFaults(shape, step, path).map(explain)
  const field = childPath(path, 'do')
  const meant = nearestName(String(kind), kinds)
  return [
    {
      ...{
        kind: 'form',
        field,
        received: quoteReceived(field, kind),
        expected: `one of ${kinds.join(', ')}`,
      },
      ...(meant === undefined ? {} : { suggestion: meant }),
    },
  ]
}

function explain({ kind, path, value, expected }: ShapeFault): Unplaced {
  const name = String(stepsOf(path).at(-1) ?? '')
  const written = NAMED[name]
  const shown = written === undefined ? expected : `${expected}, or ${written} with a time such as 90s`
  const meant =
    kind === 'unknown' ? nearestName(name, expected.replace(/^one of /, '').split(', ')) : undefined
  return {
    kind,
    field: path,
    received: kind === 'unknown' ? '' : quoteReceived(path, value),
    expected: shown,
    ...(meant === undefined ? {} : { suggestion: meant }),
  }
}

/** Finds steps that name a node or server that does not exist, and names that are used twice. */
function findNameFaults(script: Script, isValid: (step: number) => boolean): Unplaced[] {
  const { tenants, nodes } = script.cluster
  const known = {
    tenant: tenants.map(({ name }) => name),
    node: nodes.map(({ name }) => name),
    server: [...serversOf(script)],
  }
  const missing = (kind: keyof typeof known, name: string, field: string): Unplaced[] => {
    if (known[kind].includes(name) || (kind === 'node' && name.startsWith(PRIMARY_OF))) return []
    const expected = `a ${kind} of the cluster: ${known[kind].join(', ')}`
    return [{ kind: 'conflict', field, received: name, expected }]
  }
  const named = (step: Step, index: number): Unplaced[] => {
    if (!isValid(index)) return []
    const at = elementPath('steps', index)
    return [
      ...('tenant' in step ? missing('tenant', step.tenant, `${at}.tenant`) : []),
      ...('node' in step ? missing('node', step.node, `${at}.node`) : []),
      ...('to' in step ? missing('node', step.to, `${at}.to`) : []),
      ...('on' in step && step.on !== undefined ? missing('node', step.on, `${at}.on`) : []),
      ...('server' in step ? missing('server', step.server, `${at}.server`) : []),
    ]
  }
  return [
    ...repeated(known.tenant, 'cluster.tenants'),
    ...repeated(known.node, 'cluster.nodes'),
    ...nodes.flatMap(({ tenant }, index) => missing('tenant', tenant, `cluster.nodes[${index}].tenant`)),
    ...script.steps.flatMap(named),
  ]
}

function repeated(names: readonly string[], path: string): Unplaced[] {
  return names.flatMap((name, index) => {
    const field = `${elementPath(path, index)}.name`
    const expected = 'each name once'
    return names.indexOf(name) === index
      ? []
      : [{ kind: 'duplicate' as const, field, received: name, expected }]
  })
}

/** Position of a field's value in the text, or of its nearest parent. */
function offsetOf(document: Document, field: string): number {
  const steps = stepsOf(field)
  for (let depth = steps.length; depth >= 0; depth -= 1) {
    const path = steps.slice(0, depth)
    const written = path.map((step) => (typeof step === 'string' ? (NAMED[step] ?? step) : step))
    for (const one of [path, written]) {
      const node: unknown = depth === 0 ? document.contents : document.getIn(one, true)
      if (isNode(node) && node.range) return node.range[0]
    }
  }
  return 0
}
