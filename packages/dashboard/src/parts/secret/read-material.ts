// The body of a secret write, from the fields of a form. Key names are plain data; values are read from the form at the moment
// of sending and are kept nowhere else.

import { texts } from '../../texts/en.ts'

export const SECRET_SOURCES = ['generate', 'file', 'typed'] as const
export type SecretSource = (typeof SECRET_SOURCES)[number]

export interface KeyRow {
  /** Names the field of the value in the form. */
  readonly id: string
  readonly key: string
  readonly source: SecretSource
}

/** The body of a write: given values, generated values, or both. */
export interface Material {
  readonly values?: { readonly [key: string]: string }
  readonly generate?: { readonly keys: string[] }
}

export type ReadMaterial =
  | { readonly ok: true; readonly material: Material }
  | { readonly ok: false; readonly why: string }

const KEY = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The first fault of the key names; undefined if there is none. */
export function checkKeys(rows: readonly KeyRow[]): string | undefined {
  const { form } = texts.secrets
  const names = rows.map(({ key }) => key)
  if (names.length === 0 || names.every((name) => name === '')) return form.noKey
  const wrong = names.find((name) => !KEY.test(name))
  if (wrong !== undefined) return form.badKey(wrong)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  return twice === undefined ? undefined : form.twice(twice)
}

/** Reads the values of the rows out of the data of the form, where each has the name of its row's id. */
export async function readMaterial(
  rows: readonly KeyRow[],
  data: Pick<FormData, 'get'>,
): Promise<ReadMaterial> {
  const wrong = checkKeys(rows)
  if (wrong !== undefined) return { ok: false, why: wrong }
  const given: [string, string][] = []
  for (const { id, key, source } of rows) {
    if (source === 'generate') continue
    const value = await textOf(data.get(id))
    if (value === undefined) return { ok: false, why: texts.secrets.form.notText(key) }
    if (value === '') return { ok: false, why: texts.secrets.form.noValue(key) }
    given.push([key, value])
  }
  const keys = rows.flatMap(({ key, source }) => (source === 'generate' ? [key] : []))
  return {
    ok: true,
    material: {
      ...(given.length === 0 ? {} : { values: Object.fromEntries(given) }),
      ...(keys.length === 0 ? {} : { generate: { keys } }),
    },
  }
}

/** The text of a field or file; undefined if a file is not UTF-8, because decoding would change the value. */
async function textOf(value: File | string | null): Promise<string | undefined> {
  if (value === null || typeof value === 'string') return value ?? ''
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await value.arrayBuffer())
  } catch {
    return undefined
  }
}
