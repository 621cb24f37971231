// Request bodies for hostile requests: valid bodies, corrupted at one or several places, first as a tree and then as
// bytes.

import { hostileJson, hostileKey } from './hostile-values.ts'
import type { Random } from './random.ts'

type Tree = { [key: string]: unknown }

/** A placeholder in the body's tree that is replaced by raw JSON text afterwards. */
const placeholder = (at: number): string => `@@raw-${at}@@`

/** Corrupts a valid body so that it may still be accepted. With `refused`, adds a field that is never accepted. */
export function bendBody(random: Random, sound: Tree, refused: boolean): Buffer {
  const tree = structuredClone(sound)
  const raws: string[] = []
  const bends = 1 + random.below(3)
  for (let bend = 0; bend < bends; bend += 1) bendPlace(random, tree, raws)
  if (refused) tree['zz_unknown'] = 1
  let text = JSON.stringify(tree)
  raws.forEach((raw, at) => {
    text = text.replaceAll(JSON.stringify(placeholder(at)), () => raw)
  })
  return bendBytes(random, text)
}

function bendPlace(random: Random, root: Tree, raws: string[]): void {
  const holder = randomHolder(random, root)
  const put = (key: string) => {
    // Object.defineProperty is used instead of an assignment, so that `__proto__` becomes a normal key.
    const value = placeholder(raws.push(hostileJson(random)) - 1)
    Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true })
  }
  const keys = Object.keys(holder)
  const key = keys[random.below(keys.length)]
  const what = random.below(10)
  if (key === undefined || what < 2) put(Array.isArray(holder) ? String(keys.length) : hostileKey(random))
  else if (what < 3 && !Array.isArray(holder)) delete holder[key]
  else put(key)
}

function randomHolder(random: Random, root: Tree): Tree {
  let holder: Tree = root
  while (random.chance(0.6)) {
    const inner = Object.values(holder).filter((value) => typeof value === 'object' && value !== null)
    const next = inner[random.below(Math.max(1, inner.length))]
    if (next === undefined || next === null) break
    holder = next as Tree
  }
  return holder
}

const ODD_BYTES = [
  0x00, 0x1f, 0x22, 0x2c, 0x5c, 0x7b, 0x7d, 0x80, 0xbf, 0xc0, 0xed, 0xef, 0xf5, 0xff,
] as const

function bendBytes(random: Random, text: string): Buffer {
  const bytes = Buffer.from(text)
  const at = random.below(Math.max(1, bytes.length))
  switch (random.below(60)) {
    case 0:
      return bytes.subarray(0, at)
    case 1:
      bytes[at] = random.pick(ODD_BYTES)
      return bytes
    case 2:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([random.pick(ODD_BYTES)]), bytes.subarray(at)])
    case 3:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])
    case 4:
      return Buffer.concat([
        bytes,
        Buffer.from(random.pick(['}', '\0', ' {}', ',', '//', '\n\n', '\ufeff'] as const)),
      ])
    case 5:
      return Buffer.from(`{"name":"first",${text.slice(1)}`)
    case 6:
      return Buffer.from(text, random.pick(['utf16le', 'latin1'] as const))
    case 7:
      return Buffer.from(`[${text}]`)
    case 8:
      return Buffer.from(hostileJson(random))
    default:
      return bytes
  }
}

const MEBIBYTE = 1024 * 1024

/** A body of about the largest accepted size, in a form that is expensive to parse or check. */
export function hugeBody(random: Random, sound: Tree): Buffer {
  const room = MEBIBYTE - 1000 + random.pick([0, 0, 0, 2000] as const)
  const { image: _image, ...rest } = sound
  const head = JSON.stringify({ ...rest, zz_unknown: 1 }).slice(0, -1)
  const fill = (unit: string, around: (text: string) => string) =>
    Buffer.from(`${head},${around(unit.repeat(Math.floor((room - head.length) / Buffer.byteLength(unit))))}}`)
  const texts = [
    'a',
    '@',
    'a:@',
    'eyJ',
    '://a:',
    '-----BEGIN ',
    '\u00e9',
    '\\u0000',
    '\\n',
    'hf_',
    'password=',
    ' ',
  ] as const
  switch (random.below(8)) {
    case 0:
      return fill('"x",', (text) => `"command":[${text}"x"]`)
    case 1:
      return fill('{},', (text) => `"secrets":[${text}{}]`)
    case 2:
      return fill('[', (text) => `"labels":${text}`)
    case 3:
      return fill('1', (text) => `"replicas":${text}`)
    case 4:
      return manyKeys(
        head,
        room,
        random.pick(['environment', 'labels', 'dependsOn', 'zz', 'status'] as const),
      )
    case 5:
      return fill(random.pick(texts), (text) => `"environment":{"A":"${text}"}`)
    case 6:
      return fill(random.pick(texts), (text) => `"${text}":1`)
    default:
      return fill(random.pick(texts), (text) => `"image":"${text}"`)
  }
}

function manyKeys(head: string, room: number, field: string): Buffer {
  const parts: string[] = []
  for (let at = 0, length = head.length; length < room - 40; at += 1) {
    const part = `"K${at}":"v"`
    parts.push(part)
    length += part.length + 1
  }
  return Buffer.from(`${head},"${field}":{${parts.join(',')}}}`)
}
