// Every field that users write has all its texts, and the texts agree with the rules that check the field.

import {
  deploymentBodyShape,
  isJsonObject,
  type Json,
  type JsonObject,
  type ShapeNode,
} from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../limits.ts'
import { aBody, forCreate } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'
import { describeBodies } from './bodies.ts'
import { type DescribedField, describeManifest, exampleDocument, flattenFields } from './describe-body.ts'
import { contextOf, DEPLOYMENT_BODY, isRequired } from './field-rejections.ts'

const FIELDS = flattenFields(describeManifest())
const rows = FIELDS.map((field) => [field.path, field] as const)
const context = forCreate({ volumesEnabled: true })

/** A valid body with a value for one field and with the required neighbors of the field. Templates refer to `secrets`. */
function bodyWith(path: string, value: Json): JsonObject {
  const secrets = [{ name: 'DB', vault_path: 'deployments/web' }]
  return aBody({ secrets, ...fillNeighbors(exampleDocument({ path, example: value }), path) })
}

/** Adds the examples of the parent's other fields, so that the parent is complete. */
function fillNeighbors(document: JsonObject, path: string): JsonObject {
  const parent = FIELDS.find(({ fields }) => fields.some((each) => each.path === path))
  if (parent === undefined) return document
  const last = path.slice(path.lastIndexOf('.') + 1)
  const known = Array.isArray(parent.example) ? parent.example[0] : parent.example
  const beside = Object.fromEntries(
    Object.entries(isJsonObject(known) ? known : {}).filter(([name]) => name !== last),
  )
  return fillNeighbors(withBeside(document, parent.path, beside), parent.path)
}

/** Adds members to the object at a path. */
function withBeside(document: JsonObject, path: string, members: JsonObject): JsonObject {
  const [step = '', ...rest] = path.split('.')
  const name = step.replace('[]', '')
  const at = document[name]
  const inner = Array.isArray(at) ? at[0] : at
  if (!isJsonObject(inner)) return document
  const changed = rest.length === 0 ? { ...members, ...inner } : withBeside(inner, rest.join('.'), members)
  return { ...document, [name]: Array.isArray(at) ? [changed] : changed }
}

function expectTexts({ meaning, range, rejections, absent, default: value }: DescribedField): void {
  expect(meaning).toMatch(/^[A-Z].*\.$/)
  expect(range).toMatch(/^[^.].*[^.]$/)
  expect(rejections.length).toBeGreaterThan(0)
  expect(absent ?? 'the field is required').toMatch(/^[a-zA-Z].*[^.]$/)
  expect(absent === undefined || value === undefined).toBe(true)
  expect(`${meaning} ${range} ${absent}`).not.toMatch(/[`*]|<\w+>/)
}

describe.each(rows)('the field %s', (path, field) => {
  test('has a meaning, a range, an example, codes, and a default or a text about its absence', () => {
    expectTexts(field)
  })

  test('is required exactly if a rule requires it', () => {
    const at = path.replaceAll('[]', '[*]')
    const isConditional = path === 'placement.constraints[].values'
    expect(field.required || isConditional).toBe(isRequired(at, DEPLOYMENT_BODY, contextOf(DEFAULT_LIMITS)))
  })

  test('states only numbers that its rules state', () => {
    const stated = JSON.stringify(field.rejections)
    const units = new Set(['0', '1', '1000', String(DEFAULT_LIMITS.generateEntropyBits)])
    for (const [number] of field.range.matchAll(/\d+/g))
      expect(units.has(number) || stated.includes(number), `${number} in "${field.range}"`).toBe(true)
  })

  test('accepts its example and its default', () => {
    if (path === 'secrets[].mount_path') return
    for (const value of [field.example, ...(field.default === undefined ? [] : [field.default])])
      expect(checkBody(bodyWith(path, value), context)).toEqual([])
  })

  test('rejects a value of another type with a listed code', () => {
    const codes = field.rejections.map(({ code }) => code)
    const wrong = field.type === 'true or false' ? 'x' : true
    const [first] = checkBody(bodyWith(path, wrong), context)
    expect(codes).toContain(first?.code)
  })
})

test('every field of the shape is described', () => {
  const paths = (shape: ShapeNode, at: string): string[] => {
    if (shape.kind === 'optional') return paths(shape.inner, at)
    if (shape.kind === 'list') return paths(shape.element, `${at}[]`)
    if (shape.kind !== 'object') return []
    return Object.entries(shape.fields).flatMap(([name, each]) => {
      const path = at === '' ? name : `${at}.${name}`
      return [path, ...paths(each, path)]
    })
  }
  expect(FIELDS.map(({ path }) => path)).toEqual(paths(deploymentBodyShape, ''))
})

describe.each(describeBodies().map((body) => [body.name, body] as const))(
  'the body %s',
  (_name, { fields }) => {
    test.each(flattenFields(fields).map((field) => [field.path, field] as const))(
      'has all texts of %s',
      (_path, field) => {
        expectTexts(field)
      },
    )
  },
)
