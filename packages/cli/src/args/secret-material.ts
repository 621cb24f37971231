// Reads the values of a secret from files, stdin or a hidden prompt, or asks the platform to generate them. Values are never
// arguments: the shell history keeps arguments, and every user of the machine can list them.

import { readFile } from 'node:fs/promises'
import type { SentSecret } from '@holdfast/client'
import { defined, type GenerateBlock } from '@holdfast/contract'
import type { ArgumentSpec, Invocation, OptionSpec } from '../command.ts'
import { numberOf, POSITIVE_NUMBER } from './forms.ts'
import { CHARSET_WORDS, ENCODING_WORDS } from './vocabulary.ts'

/** Accepts surplus arguments in order to reject them without printing them, because they may be secret values. */
export const NO_VALUES: ArgumentSpec = {
  name: 'values',
  summary: 'not accepted: see below',
  optional: true,
  many: true,
}

export const MATERIAL_OPTIONS: readonly OptionSpec[] = [
  {
    flags: '--from-file <key=path>',
    summary: 'read a value from a file, byte for byte; repeatable',
    many: true,
  },
  { flags: '--from-stdin <key>', summary: 'read a value from stdin, without the final line break' },
  { flags: '--prompt <key>', summary: 'prompt for a value without echo; repeatable', many: true },
  {
    flags: '--generate <keys>',
    summary: 'comma-separated keys whose values the platform generates; repeatable',
    many: true,
  },
  {
    flags: '--length <number>',
    summary: 'number of characters of each generated value',
    form: POSITIVE_NUMBER,
  },
  { flags: '--charset <name>', summary: 'character set of generated values', choices: CHARSET_WORDS },
  {
    flags: '--bytes <number>',
    summary: 'number of random bytes of each generated value',
    form: POSITIVE_NUMBER,
  },
  { flags: '--encoding <name>', summary: 'encoding of the random bytes', choices: ENCODING_WORDS },
]

export const MATERIAL_DETAILS = [
  'No flag accepts a value, because command lines are kept in the shell history and are visible to other users of the',
  'machine. Values come from --from-file, --from-stdin or --prompt; with --generate the platform generates them. The',
  'API returns no stored value to any role; a command in a container, such as holdfast exec NAME -- env, prints its own.',
].join('\n')

export type ReadMaterial =
  | { readonly ok: true; readonly sent: SentSecret }
  | { readonly ok: false; readonly why: string }

type Value = { readonly key: string; readonly bytes: Uint8Array } | { readonly why: string }

/** Reads the secret values. `expectedArguments`: the number of arguments that the command accepts; more are rejected. */
export async function readMaterial(invocation: Invocation, expectedArguments: number): Promise<ReadMaterial> {
  if (invocation.args.length > expectedArguments)
    return {
      ok: false,
      why: 'values are not accepted as arguments; use --from-file, --from-stdin or --prompt',
    }
  const values = new Map<string, string>()
  for await (const value of givenValues(invocation)) {
    if ('why' in value) return { ok: false, why: value.why }
    const text = textOf(value.bytes)
    if (text === undefined) return { ok: false, why: `the value of ${value.key} is not UTF-8 text` }
    if (values.has(value.key)) return { ok: false, why: `${value.key} is given twice` }
    values.set(value.key, text)
  }
  const generate = generateBlock(invocation)
  if ('why' in generate) return { ok: false, why: generate.why }
  const sent: SentSecret = defined({
    values: values.size === 0 ? undefined : Object.fromEntries(values),
    generate: generate.block,
  })
  return { ok: true, sent }
}

async function* givenValues({ text, texts, terminal }: Invocation): AsyncGenerator<Value> {
  for (const given of texts('from-file')) yield fromFile(given)
  const piped = text('from-stdin')
  if (piped !== undefined) yield { key: piped, bytes: withoutLineBreak(await terminal.readInput()) }
  for (const key of texts('prompt')) {
    const typed = await terminal.askSecret(`${key}: `)
    yield typed === undefined
      ? { why: 'stdin is not a terminal; use --from-file or --from-stdin' }
      : { key, bytes: new TextEncoder().encode(typed) }
  }
}

async function fromFile(given: string): Promise<Value> {
  const at = given.indexOf('=')
  if (at <= 0) return { why: '--from-file expects key=path, for example password=/run/secrets/password' }
  const path = given.slice(at + 1)
  try {
    return { key: given.slice(0, at), bytes: await readFile(path) }
  } catch {
    return { why: `${path} cannot be read` }
  }
}

const NEWLINE = 10
const RETURN = 13

function withoutLineBreak(bytes: Uint8Array): Uint8Array {
  if (bytes.at(-1) !== NEWLINE) return bytes
  return bytes.subarray(0, bytes.at(-2) === RETURN ? -2 : -1)
}

/** Decodes a secret value; undefined if the bytes are not valid UTF-8, because decoding would change the value. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function generateBlock({ text, texts }: Invocation): { block?: GenerateBlock } | { why: string } {
  const keys = texts('generate').flatMap((given) => given.split(','))
  const [length, bytes] = ['length', 'bytes'].map((name) => numberOf(text(name)))
  const [charset, encoding] = ['charset', 'encoding'].map(text)
  const hasOptions = [length, bytes, charset, encoding].some((each) => each !== undefined)
  if (keys.length === 0) return hasOptions ? { why: 'these options need --generate <keys>' } : {}
  return {
    block: {
      keys,
      ...defined({ bytes, encoding, length, charset }),
    },
  }
}
