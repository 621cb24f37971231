// Where the values of a secret come from on the command line: files, stdin, a hidden question, or the platform itself. Never
// an argument: those stand in the shell's history, and everybody on the machine can list them while the command runs.

import { readFile } from 'node:fs/promises'
import type { SentSecret } from '@holdfast/client'
import type { GenerateBlock } from '@holdfast/contract'
import type { ArgumentSpec, Invocation, OptionSpec } from '../command.ts'
import { POSITIVE_NUMBER } from './forms.ts'
import { CHARSET_WORDS, ENCODING_WORDS } from './vocabulary.ts'

/** Taken so that a value typed here by habit is refused without being printed, as an argument too many would be. */
export const NO_VALUES: ArgumentSpec = {
  ...{ name: 'values', summary: 'not here: see below', optional: true, many: true },
}

export const MATERIAL_OPTIONS: readonly OptionSpec[] = [
  { flags: '--from-file <key=path>', summary: 'a value from a file, byte for byte; repeatable', many: true },
  { flags: '--from-stdin <key>', summary: 'a value from stdin, without the line break at its end' },
  { flags: '--prompt <key>', summary: 'ask for a value without showing it; repeatable', many: true },
  {
    flags: '--generate <keys>',
    summary: 'let the platform make values: keys, with commas; repeatable',
    many: true,
  },
  { flags: '--length <number>', summary: 'characters of each generated value', form: POSITIVE_NUMBER },
  { flags: '--charset <name>', summary: 'what they are drawn from', choices: CHARSET_WORDS },
  { flags: '--bytes <number>', summary: 'random bytes of each generated value', form: POSITIVE_NUMBER },
  { flags: '--encoding <name>', summary: 'how the bytes are written', choices: ENCODING_WORDS },
]

export const MATERIAL_DETAILS = [
  'There is no flag that takes a value: what is typed on a command line stays in the history of the shell, and others on',
  'the machine can see it. Values come from --from-file, --from-stdin or --prompt; those of --generate are made by the',
  'platform and shown to nobody. No command shows a value again.',
].join('\n')

export type ReadMaterial =
  | { readonly ok: true; readonly sent: SentSecret }
  | { readonly ok: false; readonly why: string }

type Value = { readonly key: string; readonly bytes: Uint8Array } | { readonly why: string }

/** `named`: how many arguments are no values. */
export async function readMaterial(invocation: Invocation, named: number): Promise<ReadMaterial> {
  if (invocation.args.length > named)
    return { ok: false, why: 'a value is never typed as an argument: --from-file, --from-stdin or --prompt' }
  const values = new Map<string, string>()
  for await (const value of givenValues(invocation)) {
    if ('why' in value) return { ok: false, why: value.why }
    const text = textOf(value.bytes)
    if (text === undefined) return { ok: false, why: `the value of ${value.key} is no UTF-8 text` }
    if (values.has(value.key)) return { ok: false, why: `${value.key} is given twice` }
    values.set(value.key, text)
  }
  const generate = generateBlock(invocation)
  if ('why' in generate) return { ok: false, why: generate.why }
  const sent: SentSecret = {
    ...(values.size === 0 ? {} : { values: Object.fromEntries(values) }),
    ...(generate.block === undefined ? {} : { generate: generate.block }),
  }
  return { ok: true, sent }
}

async function* givenValues({ text, texts, terminal }: Invocation): AsyncGenerator<Value> {
  for (const given of texts('from-file')) yield fromFile(given)
  const piped = text('from-stdin')
  if (piped !== undefined) yield { key: piped, bytes: withoutLineBreak(await terminal.readInput()) }
  for (const key of texts('prompt')) {
    const typed = await terminal.askSecret(`${key}: `)
    yield typed === undefined
      ? { why: 'nobody can be asked off a terminal: --from-file or --from-stdin' }
      : { key, bytes: new TextEncoder().encode(typed) }
  }
}

async function fromFile(given: string): Promise<Value> {
  const at = given.indexOf('=')
  if (at <= 0) return { why: '--from-file takes a key and a path: password=/run/secrets/password' }
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

/** A value that is no text would arrive as another one. */
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
  const shaped = [length, bytes, charset, encoding].some((each) => each !== undefined)
  if (keys.length === 0) return shaped ? { why: 'nothing is generated: --generate <keys>' } : {}
  return {
    block: {
      keys,
      ...(bytes === undefined ? {} : { bytes }),
      ...(encoding === undefined ? {} : { encoding }),
      ...(length === undefined ? {} : { length }),
      ...(charset === undefined ? {} : { charset }),
    },
  }
}

const numberOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text)
