// The next step for a rejection of a manifest: the name that was probably meant, what another system's field is called
// here, or the form that YAML needs.

import {
  deploymentBodyShape,
  isJsonObject,
  isOfType,
  type Json,
  nearestName,
  type PathStep,
  type Rejection,
  type ShapeNode,
  stepsOf,
} from '@holdfast/contract'
import { FOREIGN_WORDS } from './foreign-words.ts'
import { jobDocumentShape } from './job-document.ts'
import { networkDocumentShape } from './network-document.ts'
import { convertQuantities, QUANTITY_BLOCKS, QUANTITY_FIELDS } from './quantities.ts'
import { type DocumentKind, kindOf, volumeDocumentShape } from './volume-document.ts'

/** The next step for a rejection of a document; undefined if the rejection says all there is to say. */
export function hintFor({ code, field }: Rejection, document: Json): string | undefined {
  const steps = stepsOf(field)
  const kind = kindOf(document)
  if (code === 'field_unknown') return hintForName(steps, kind)
  const value = valueAt(document, steps)
  if (code === 'manifest_wrong_kind') return hintForKind(value)
  if (code === 'field_type_invalid' && value !== undefined) return hintForType(steps, value, kind)
  if (kind === 'Volume' && field === 'sizeBytes' && value === undefined)
    return 'add size with a unit, as in size: 10Gi'
  return code === 'volume_mount_shape' && /\.volume$/.test(field)
    ? 'write the name of a volume, or its id'
    : undefined
}

function hintForKind(kind: Json | undefined): string | undefined {
  if (kind === undefined) return 'kind is missing; add kind: Deployment'
  const nearest =
    typeof kind === 'string' ? nearestName(kind, ['Deployment', 'Volume', 'Network', 'Job']) : undefined
  if (nearest !== undefined && nearest !== 'Deployment') return `did you mean ${nearest}?`
  return isMissingOrMisspelled(kind) ? 'did you mean Deployment?' : undefined
}

/** Whether a document without this kind is probably a deployment. Another kind has other fields. */
export const isMissingOrMisspelled = (kind: Json | undefined): boolean =>
  kind === undefined || (typeof kind === 'string' && nearestName(kind, ['Deployment']) !== undefined)

/** The fields that a manifest accepts in an object, quantities included; empty if the path leads to no object. */
export function fieldsAt(steps: readonly PathStep[], kind: DocumentKind = 'Deployment'): string[] {
  const shape = shapeAt(steps, kind)
  const fields = shape?.kind === 'object' ? Object.keys(shape.fields) : []
  const hasQuantities =
    (kind === 'Deployment' || kind === 'Job') &&
    steps.length === 1 &&
    QUANTITY_BLOCKS.some((block) => block === steps[0])
  return [...fields.filter((name) => name !== NEVER_ACCEPTED), ...(hasQuantities ? QUANTITY_NAMES : [])]
}

const QUANTITY_NAMES = QUANTITY_FIELDS.map(({ name }) => name)
/** A field of a secret entry that only exists to be rejected with a specific code. */
const NEVER_ACCEPTED = 'mount_path'

const SHAPES: { readonly [kind in DocumentKind]: ShapeNode } = {
  Deployment: deploymentBodyShape,
  Volume: volumeDocumentShape,
  Network: networkDocumentShape,
  Job: jobDocumentShape,
}

const shapeAt = (steps: readonly PathStep[], kind: DocumentKind): ShapeNode | undefined =>
  steps.reduce<ShapeNode | undefined>(stepInto, SHAPES[kind])

function stepInto(shape: ShapeNode | undefined, step: PathStep): ShapeNode | undefined {
  const inner = innerOf(shape)
  if (inner?.kind === 'list') return typeof step === 'number' ? innerOf(inner.element) : undefined
  if (inner?.kind === 'map') return innerOf(inner.value)
  return inner?.kind === 'object' && Object.hasOwn(inner.fields, step)
    ? innerOf(inner.fields[step])
    : undefined
}

const innerOf = (shape: ShapeNode | undefined): ShapeNode | undefined =>
  shape?.kind === 'optional' || shape?.kind === 'nullable' ? innerOf(shape.inner) : shape

function hintForName(steps: readonly PathStep[], kind: DocumentKind): string | undefined {
  const parent = steps.slice(0, -1)
  const name = String(steps.at(-1))
  if (kind === 'Volume') return hintForVolumeField(parent, name)
  const words = FOREIGN_WORDS[parent.filter((step) => typeof step === 'string').join('.')]
  if (words !== undefined && Object.hasOwn(words, name)) return words[name]
  const nearest = nearestName(name, fieldsAt(parent, kind === 'Job' ? kind : 'Deployment'))
  if (nearest !== undefined) return `did you mean ${nearest}?`
  if (kind === 'Job' && parent.length === 0 && Object.hasOwn(deploymentBodyShape.fields, name))
    return `${name} is a field of deployments; a job has none`
  const elsewhere = ELSEWHERE.get(name)
  return elsewhere === undefined ? undefined : `${name} is a field of ${elsewhere}`
}

/** Words of other systems for the fields of a volume. */
const VOLUME_WORDS: { readonly [name: string]: string } = {
  capacity: 'use size',
  storage: 'use size',
  storageClass: 'use class',
  storageClassName: 'use class',
  copies: 'use replicas',
  nodeName: 'use node',
  spec: 'write its fields at the top level',
}

function hintForVolumeField(parent: readonly PathStep[], name: string): string | undefined {
  if (parent.length === 0 && Object.hasOwn(VOLUME_WORDS, name)) return VOLUME_WORDS[name]
  const nearest = nearestName(name, fieldsAt(parent, 'Volume'))
  return nearest === undefined ? undefined : `did you mean ${nearest}?`
}

/** For each field name that exists at one place only, the object that has it; '' is the top level. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map(
  [...Map.groupBy(namesIn(deploymentBodyShape, ''), ({ name }) => name)]
    .filter(([, places]) => places.length === 1)
    .map(([name, places]) => [name, places[0]?.object || 'the top level']),
)

function namesIn(shape: ShapeNode | undefined, object: string): { name: string; object: string }[] {
  const inner = innerOf(shape)
  if (inner?.kind === 'list') return namesIn(inner.element, object)
  if (inner?.kind !== 'object') return []
  return Object.entries(inner.fields).flatMap(([name, field]) => [
    { name, object },
    ...namesIn(field, object === '' ? name : `${object}.${name}`),
  ])
}

/** The hint for a value of the wrong type: quotes, units, or the list or map that is needed. */
function hintForType(steps: readonly PathStep[], value: Json, kind: DocumentKind): string | undefined {
  const shape = shapeAt(steps, kind)
  switch (shape?.kind) {
    case 'string':
      return isPlain(value) ? 'write it in quotes, so that it is a string' : undefined
    case 'integer':
      return typeof value === 'string' && /^[0-9]+$/.test(value)
        ? 'write it without quotes'
        : hintForQuantity(steps, value, kind)
    case 'boolean':
      return value === 'true' || value === 'false' ? 'write it without quotes' : undefined
    case 'duration':
      return typeof value === 'number' || /^[0-9]+$/.test(String(value))
        ? 'add the unit, as in 30s'
        : undefined
    case 'list':
      return hintForList(shape.element, value)
    case 'map':
      return Array.isArray(value)
        ? 'write a map, one "name: value" in each line, instead of a list'
        : undefined
    case 'object':
      return typeof value === 'string'
        ? `write an object with ${Object.keys(shape.fields).join(', ')}`
        : undefined
    default:
      return undefined
  }
}

/** For a quantity with a unit in a field of the API, such as `memoryBytes: 256Mi`: the field that accepts it. */
function hintForQuantity(
  [block = '', field, ...deeper]: readonly PathStep[],
  value: Json,
  kind: DocumentKind,
): string | undefined {
  if (kind === 'Network') return undefined
  if (kind === 'Volume')
    return block === 'sizeBytes' ? 'write a whole number, or size with a unit, as in size: 10Gi' : undefined
  const quantity = QUANTITY_FIELDS.find(({ sentAs }) => sentAs === field)
  if (quantity === undefined || deeper.length > 0) return undefined
  const { rejections } = convertQuantities({ [block]: { [quantity.name]: value } })
  return rejections.length === 0
    ? `write ${quantity.name}: ${String(value)}`
    : `write a whole number, or ${quantity.name} with a unit, as in ${quantity.name}: ${quantity.examples[0]}`
}

function hintForList(element: ShapeNode, value: Json): string | undefined {
  if (isJsonObject(value)) return 'write a list: each element begins with a hyphen'
  if (typeof value !== 'string' || innerOf(element)?.kind !== 'string') return undefined
  return 'write a list of strings, as in ["sh", "-c", "..."]'
}

const isPlain = (value: Json): boolean => ['number', 'bigint', 'boolean'].includes(typeof value)

const TYPES: { readonly [type: string]: string } = {
  string: 'a string',
  number: 'a number',
  bigint: 'a number',
  boolean: 'a boolean',
}

/** The received value of a rejection with its type, such as `"2" (a string)`, if the type is what was wrong. */
export function receivedText({ code, field, received }: Rejection, document: Json): string {
  if (code !== 'field_type_invalid') return received
  const steps = stepsOf(field)
  const value = valueAt(document, steps)
  const shape = shapeAt(steps, kindOf(document))
  // A redacted value differs from the received text, and is not quoted here either.
  if (value === undefined || shape === undefined || isOfType(shape, value) || received !== String(value))
    return received
  const type = TYPES[typeof value]
  return type === undefined
    ? received
    : `${typeof value === 'string' ? JSON.stringify(value) : received} (${type})`
}

function valueAt(document: Json, steps: readonly PathStep[]): Json | undefined {
  return steps.reduce<Json | undefined>((value, step) => {
    if (Array.isArray(value)) return typeof step === 'number' ? value[step] : undefined
    return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
  }, document)
}
