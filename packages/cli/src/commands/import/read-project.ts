// Reads a Compose file with everything that its translation needs: variables of the environment and of --env-file, and the
// files of variables that its services name.

import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import {
  envFilePaths,
  type ImportOptions,
  parseEnvFile,
  type ReadSource,
  readComposeSource,
} from '@holdfast/manifest/compose'
import type { Env, Invocation } from '../../command.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'

export type Project =
  | {
      readonly ok: true
      /** The name of the file in messages. */
      readonly name: string
      readonly source: Extract<ReadSource, { readonly ok: true }>
      readonly around: Pick<ImportOptions, 'lookup' | 'files'>
    }
  | { readonly ok: false; readonly why: string; readonly exitCode: ExitCode }

const STDIN = '-'
const MOST_BYTES = 1024 * 1024

export async function readProject({ args: [path = ''], texts, terminal, env }: Invocation): Promise<Project> {
  const name = path === STDIN ? 'stdin' : path
  const bytes = path === STDIN ? await terminal.readInput() : await readBounded(path)
  if (typeof bytes === 'string') return { ok: false, why: bytes, exitCode: EXIT.error }
  const text = textOf(bytes)
  if (text === undefined)
    return { ok: false, why: `${name} is not UTF-8 text, or is larger than 1 MiB`, exitCode: EXIT.rejected }
  const variables = await readVariableFiles(texts('env-file'), env)
  if (typeof variables === 'string') return { ok: false, why: variables, exitCode: EXIT.error }
  const lookup = (variable: string): string | undefined => env[variable] ?? variables.get(variable)
  const source = readComposeSource(text, lookup)
  if (!source.ok) return { ok: false, why: `${name}:${source.line}: ${source.why}`, exitCode: EXIT.rejected }
  const folder = path === STDIN ? '.' : dirname(path)
  return {
    ok: true,
    name,
    source,
    around: { lookup, files: await readEnvFiles(envFilePaths(source.root), folder) },
  }
}

/** The variables of files, of which the last one decides; or the reason why a file cannot be read. */
async function readVariableFiles(
  paths: readonly string[],
  env: Env,
): Promise<Map<string, string | undefined> | string> {
  const found = new Map<string, string | undefined>()
  for (const path of paths) {
    const bytes = await readBounded(path)
    if (typeof bytes === 'string') return bytes
    const text = textOf(bytes)
    if (text === undefined) return `${path} is not UTF-8 text, or is larger than 1 MiB`
    const lookup = (variable: string): string | undefined => env[variable] ?? found.get(variable)
    for (const [key, value] of parseEnvFile(text, { lookup })) found.set(key, value)
  }
  return found
}

/** The files that services name. A file that cannot be read is left out, and the report names it. */
async function readEnvFiles(paths: readonly string[], folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const path of new Set(paths)) {
    const bytes = await readBounded(resolve(folder, path))
    const text = typeof bytes === 'string' ? undefined : textOf(bytes)
    if (text !== undefined) found.set(path, text)
  }
  return found
}

/** The content of a file, or the reason why it cannot be read. Devices and pipes are not read. */
async function readBounded(path: string): Promise<Uint8Array | string> {
  try {
    const found = await stat(path)
    if (!found.isFile()) return `${path} is not a file`
    return found.size > MOST_BYTES ? `${path} is larger than 1 MiB` : await readFile(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    return `${path} cannot be read: ${code === 'ENOENT' ? 'no such file' : code}`
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > MOST_BYTES) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
