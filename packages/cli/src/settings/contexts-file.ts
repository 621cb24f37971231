// Reads and writes the contexts file. Only its owner may read it, because it contains tokens. Each write is atomic.

import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { pid } from 'node:process'
import { showUnknown } from '@holdfast/contract'
import { type Contexts, NO_CONTEXTS, readContexts } from './contexts.ts'

type Env = { readonly [name: string]: string | undefined }

export function contextsPath(env: Env): string {
  const base = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config')
  return env.HOLDFAST_CONTEXTS_FILE || join(base, 'holdfast', 'config.yaml')
}

export type ReadFile =
  | { readonly ok: true; readonly contexts: Contexts; readonly warning?: string }
  | { readonly ok: false; readonly why: string }

export async function readContextsFile(path: string): Promise<ReadFile> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => error)
  if (text instanceof Error) {
    if (text.code === 'ENOENT') return { ok: true, contexts: NO_CONTEXTS }
    return { ok: false, why: `${path} cannot be read: ${text.code}` }
  }
  const { parseDocument } = await import('yaml')
  const document = parseDocument(text, { logLevel: 'silent' })
  const contexts = document.errors.length > 0 ? undefined : readContexts(document.toJS())
  if (contexts === undefined) return { ok: false, why: `${path} is not a valid contexts file` }
  const open = ((await stat(path)).mode & 0o077) !== 0
  return {
    ok: true,
    contexts,
    ...(open ? { warning: `${path} is readable by other users; run chmod 600 ${path}` } : {}),
  }
}

export async function writeContextsFile(path: string, contexts: Contexts): Promise<void> {
  const { stringify } = await import('yaml')
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${pid}`
  await writeFile(draft, stringify(showUnknown(contexts)), { mode: 0o600 })
  await chmod(draft, 0o600)
  await rename(draft, path)
}
