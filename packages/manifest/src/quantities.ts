// Quantities with units, which manifests may use and the API does not: `resources.cpu: 500m` is sent as `cpuMillis: 500`,
// `resources.memory: 256Mi` as `memoryBytes: 268435456`, and `size: 10Gi` of a volume as `sizeBytes: 10737418240`. An
// ambiguous quantity is rejected and never guessed.

import { type Code, isJsonObject, type Json, type JsonObject, type Rejection } from '@holdfast/contract'
import { reject } from '@holdfast/core/admission'
import { kindOf } from './volume-document.ts'

/** The objects of a manifest whose fields may be quantities. */
export const QUANTITY_BLOCKS = ['resources', 'limits'] as const

export interface QuantityField {
  /** The name in a manifest. */
  readonly name: 'cpu' | 'memory' | 'size'
  /** The field of the API that the quantity is converted to. */
  readonly sentAs: 'cpuMillis' | 'memoryBytes' | 'sizeBytes'
  readonly meaning: string
  /** The accepted form, in words. */
  readonly accepted: string
  readonly examples: readonly string[]
  /** The form as a JSON Schema, for editors. */
  readonly schema: JsonObject
}

/** The quantities that a manifest may use in `resources` and `limits`, instead of the fields of the API. */
export const QUANTITY_FIELDS: readonly QuantityField[] = [
  {
    name: 'cpu',
    sentAs: 'cpuMillis',
    meaning:
      'CPU as a quantity, in manifest files only. It is converted to cpuMillis before the manifest is sent.',
    accepted:
      'a number of cores with at most three decimals, for example 0.5, or thousandths of a core, for example 500m',
    examples: ['0.5', '500m', '2'],
    schema: { type: ['number', 'string'], minimum: 0, pattern: '^([0-9]+m|[0-9]+(\\.[0-9]{1,3})?)$' },
  },
  {
    name: 'memory',
    sentAs: 'memoryBytes',
    meaning:
      'Memory as a quantity, in manifest files only. It is converted to memoryBytes before the manifest is sent.',
    accepted:
      'a number with a unit: Ki, Mi, Gi, Ti (powers of 1024) or k, M, G, T (powers of 1000), for example 256Mi',
    examples: ['256Mi', '1.5Gi', '500M'],
    schema: { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?(Ki|Mi|Gi|Ti|k|M|G|T)$' },
  },
]

const BYTES = QUANTITY_FIELDS.filter(({ name }) => name === 'memory')

/** The quantity that a volume may use instead of `sizeBytes`. */
const SIZE_FIELDS: readonly QuantityField[] = BYTES.map((bytes) => ({
  ...bytes,
  name: 'size',
  sentAs: 'sizeBytes',
  accepted: bytes.accepted.replace('256Mi', '10Gi'),
}))

/** The number of bytes of a size such as `10Gi`, or the reason why the text is none. */
export const sizeBytesOf = (text: string): number | string => amountOf({ name: 'size' }, text)

/** A quantity of the manifest and the number that is sent for it. */
export interface Conversion {
  /** The field in the manifest, such as `resources.cpu`. */
  readonly field: string
  readonly sentAs: string
  readonly written: string
  readonly amount: number | string
}

export interface Converted {
  readonly value: Json
  readonly conversions: readonly Conversion[]
  readonly rejections: readonly Rejection[]
}

/** Replaces the quantities of a document by the numbers of the API. A rejected quantity is left out of the value. */
export function convertQuantities(value: Json): Converted {
  if (!isJsonObject(value)) return { value, conversions: [], rejections: [] }
  const converted: JsonObject = { ...value }
  const conversions: Conversion[] = []
  const rejections: Rejection[] = []
  if (kindOf(value) === 'Volume') {
    const block = { name: 'the volume', path: '', fields: SIZE_FIELDS, code: 'volume_spec_invalid' } as const
    return { value: convertBlock(block, value, conversions, rejections), conversions, rejections }
  }
  for (const name of QUANTITY_BLOCKS) {
    const written = value[name]
    const block = { name, path: `${name}.`, fields: QUANTITY_FIELDS, code: 'resources_invalid' } as const
    if (isJsonObject(written)) converted[name] = convertBlock(block, written, conversions, rejections)
  }
  return { value: converted, conversions, rejections }
}

/** An object of a manifest with quantities. */
interface Block {
  readonly name: string
  /** The path of the object with a final dot; empty for the document. */
  readonly path: string
  readonly fields: readonly QuantityField[]
  /** The code of a rejected quantity. */
  readonly code: Code
}

function convertBlock(
  { name: block, path, fields, code }: Block,
  written: JsonObject,
  conversions: Conversion[],
  rejections: Rejection[],
): JsonObject {
  const members = Object.entries(written).flatMap(([name, member]): [string, Json][] => {
    const quantity = fields.find((each) => each.name === name)
    if (quantity === undefined || member === undefined) return [[name, member ?? null]]
    const { sentAs } = quantity
    const field = `${path}${name}`
    const amount = Object.hasOwn(written, sentAs)
      ? `${block} has both ${name} and ${sentAs}; keep one of them.`
      : amountOf(quantity, member)
    if (typeof amount === 'number') {
      conversions.push({ field, sentAs: `${path}${sentAs}`, written: String(member), amount })
      return [[sentAs, amount]]
    }
    const { accepted } = quantity
    rejections.push({ ...reject(code, field, member, { accepted }), expected: accepted, why: amount })
    return []
  })
  return Object.fromEntries(members)
}

const UNITS: { readonly [unit: string]: bigint } = {
  k: 1000n,
  M: 1000n ** 2n,
  G: 1000n ** 3n,
  T: 1000n ** 4n,
  Ki: 1024n,
  Mi: 1024n ** 2n,
  Gi: 1024n ** 3n,
  Ti: 1024n ** 4n,
}
const QUANTITY = /^([0-9]{1,15})(?:\.([0-9]{1,15}))?([A-Za-z]{0,3})$/

/** The amount in the unit of the API, or the reason why the quantity is rejected. */
function amountOf({ name }: Pick<QuantityField, 'name'>, written: Json): number | string {
  const text = typeof written === 'number' ? String(written) : written
  const [, whole = '', decimals = '', unit = ''] = typeof text === 'string' ? (QUANTITY.exec(text) ?? []) : []
  if (whole === '') return 'This is not a quantity.'
  if (name === 'cpu') return cpuMillis(whole, decimals, unit)
  return name === 'size'
    ? bytes({ whole, decimals, unit }, { what: 'A size', sentAs: 'sizeBytes' })
    : bytes({ whole, decimals, unit }, { what: 'Memory', sentAs: 'memoryBytes' })
}

function cpuMillis(whole: string, decimals: string, unit: string): number | string {
  if (unit !== '' && unit !== 'm')
    return `CPU has the unit m, for thousandths of a core, or none; not ${unit}.`
  return (
    scaled(whole, decimals, unit === 'm' ? 1n : 1000n) ??
    'CPU is counted in whole thousandths of a core, so this amount would be rounded.'
  )
}

interface Parts {
  readonly whole: string
  readonly decimals: string
  readonly unit: string
}

function bytes(
  { whole, decimals, unit }: Parts,
  { what, sentAs }: { readonly what: string; readonly sentAs: string },
): number | string {
  if (unit === '') return `The unit is missing. To give a number of bytes, use ${sentAs}.`
  const scale = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined
  if (scale === undefined)
    return `${unit} is not a unit of ${what === 'Memory' ? 'memory' : 'sizes'} here${suggestUnit(unit)}.`
  return (
    scaled(whole, decimals, scale) ?? `${what} is counted in whole bytes, so this amount would be rounded.`
  )
}

/** Other systems read `256m`, `256MB` and `256mb` differently, so the message asks for the unit that is meant. */
function suggestUnit(unit: string): string {
  const [letter = ''] = unit
  const prefix = letter.toUpperCase()
  if (!'KMGT'.includes(prefix)) return ''
  return `: write ${prefix}i for powers of 1024, or ${prefix === 'K' ? 'k' : prefix} for powers of 1000`
}

/** The number times the scale; undefined if the result is a fraction. */
function scaled(whole: string, decimals: string, scale: bigint): number | undefined {
  const divisor = 10n ** BigInt(decimals.length)
  const product = BigInt(whole + decimals) * scale
  return product % divisor === 0n ? Number(product / divisor) : undefined
}

const MEMORY_UNITS = ['Ki', 'Mi', 'Gi', 'Ti'] as const

/** An amount of the API as a manifest would write it: `500m`, `256Mi`; undefined for amounts that need no unit. */
export function quantityText(sentAs: string, amount: Json | undefined): string | undefined {
  if (typeof amount !== 'number' || amount < 0) return undefined
  if (sentAs === 'cpuMillis') return amount % 1000 === 0 ? String(amount / 1000) : `${amount}m`
  if ((sentAs !== 'memoryBytes' && sentAs !== 'sizeBytes') || amount === 0) return undefined
  const power = MEMORY_UNITS.findLastIndex((_, at) => amount % 1024 ** (at + 1) === 0)
  return power === -1 ? undefined : `${amount / 1024 ** (power + 1)}${MEMORY_UNITS[power]}`
}
