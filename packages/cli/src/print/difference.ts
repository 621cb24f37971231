// The fields that differ between two versions of a deployment, and the lines that show the old and the new values.

import type { Json, JsonObject } from '@holdfast/contract'
import type { quantityText } from '@holdfast/manifest'
import { paint } from './color.ts'
import { yamlText } from './output.ts'
import { plainLines } from './plain.ts'

export interface FieldDifference {
  readonly field: string
  /** The old value; null if the field was absent. */
  readonly from: Json
  /** The new value; null if the field is absent. */
  readonly to: Json
}

export function differencesOf(before: JsonObject, after: JsonObject): FieldDifference[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((field) => ({ field, from: before[field] ?? null, to: after[field] ?? null }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to))
}

export interface LineStyle {
  readonly colored: boolean
  /** Precedes each line, such as the sign of a comment. */
  readonly prefix?: string
}

/** `- replicas: 1` and `+ replicas: 2` for each field. */
export async function differenceLines(
  differences: readonly FieldDifference[],
  style: LineStyle,
): Promise<string[]> {
  const lines: string[] = []
  for (const { field, from, to } of differences) {
    if (from !== null) lines.push(...(await signedLines('-', { [field]: from }, style)))
    if (to !== null) lines.push(...(await signedLines('+', { [field]: to }, style)))
  }
  return lines
}

export async function signedLines(
  sign: '+' | '-',
  part: unknown,
  { colored, prefix = '' }: LineStyle,
): Promise<string[]> {
  // The manifest package loads slowly, and most commands print no difference.
  const manifest = await import('@holdfast/manifest')
  const text = plainLines(await yamlText(part)).trimEnd()
  const color = sign === '+' ? 'green' : 'red'
  return text
    .split('\n')
    .map((line) => paint(`${prefix}${sign} ${withQuantity(line, manifest.quantityText)}`, color, colored))
}

/** Adds the quantity to a number of CPU, memory or size: `memoryBytes: 268435456 # 256Mi`. */
function withQuantity(line: string, textOf: typeof quantityText): string {
  const [, name = '', amount = ''] = /^\s*(cpuMillis|memoryBytes|sizeBytes): (\d+)$/.exec(line) ?? []
  const quantity = name === '' ? undefined : textOf(name, Number(amount))
  return quantity === undefined ? line : `${line} # ${quantity}`
}
