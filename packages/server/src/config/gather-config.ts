// Reads the configuration file and the files that it names. The one part of this folder that touches the world.

import { readFileSync } from 'node:fs'
import { type Identities, type LoadedConfig, loadConfig } from './load-config.ts'
import type { Environment } from './read-environment.ts'
import type { FileText, ReadFile } from './read-secret-files.ts'

/** `fileName` is what the command line gave; without it HOLDFAST_CONFIG, and without that there is no file. */
export function gatherConfig(
  fileName: string | undefined,
  env: Environment,
  identities: Identities = 'needed',
): LoadedConfig {
  const name = fileName ?? env.HOLDFAST_CONFIG
  if (name === undefined) return loadConfig({ env, readFile: readTextFile, identities })
  const found = readTextFile(name)
  if (found.kind === 'text')
    return loadConfig({ text: found.text, fileName: name, env, readFile: readTextFile, identities })
  const expected = `a readable configuration file: ${found.why}`
  return { ok: false, faults: [{ kind: 'file', where: name, field: '', received: '', expected }] }
}

const WHY: { readonly [code: string]: string } = {
  ENOENT: 'there is none of that name',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
}

export const readTextFile: ReadFile = (path): FileText => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
    return { kind: 'text', text }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return { kind: 'unreadable', why: WHY[code] ?? (error instanceof TypeError ? 'it is no UTF-8' : code) }
  }
}
