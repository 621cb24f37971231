// Answers `holdfast __complete` for shells. Names come from the platform; if the platform does not respond in time, no
// names are offered, so that the shell never hangs.

import type { Client } from '@holdfast/client'
import { defined } from '@holdfast/contract'
import { GLOBAL_OPTIONS } from '../args/global-options.ts'
import type { Command, LiveNames, Settings } from '../command.ts'
import { readContextsFile } from '../settings/contexts-file.ts'
import { candidatesFor } from './candidates.ts'

const DEADLINE_MS = 2_000

export interface CompletionContext {
  readonly contextsFile: string
  settings(): Promise<Settings | undefined>
}

export async function complete(
  commands: readonly Command[],
  typed: readonly string[],
  context: CompletionContext,
): Promise<string[]> {
  const { words, live } = candidatesFor(commands, GLOBAL_OPTIONS, typed)
  const names = live === undefined ? [] : await liveNames(live, context).catch(() => [])
  const current = typed.at(-1) ?? ''
  return [...words, ...names].filter((word) => word.startsWith(current))
}

async function liveNames(live: LiveNames, { contextsFile, settings }: CompletionContext): Promise<string[]> {
  if (live === 'contexts') {
    const file = await readContextsFile(contextsFile)
    return file.ok ? Object.keys(file.contexts.contexts) : []
  }
  const chosen = await settings()
  if (chosen?.url === undefined) return []
  const { createClient } = await import('@holdfast/client')
  const { url, token, tenant, caFile } = chosen
  if (caFile !== undefined) {
    const { trustOnly } = await import('../trust.ts')
    if ((await trustOnly(caFile)) !== undefined) return []
  }
  const client = createClient({
    baseUrl: url,
    deadlineMs: DEADLINE_MS,
    ...defined({ token, tenant }),
  })
  return namesOf(client, live)
}

async function namesOf(client: Client, live: Exclude<LiveNames, 'contexts'>): Promise<string[]> {
  if (live === 'registries') {
    const listed = await client.registries.list()
    return listed.ok ? listed.value.items.map(({ host }) => host) : []
  }
  const { readAll } = await import('@holdfast/client')
  // A backup has no name, and the name of a job does not identify it.
  if (live === 'backups' || live === 'jobs') {
    const listed = await readAll<{ readonly id: string }>((page) => client[live].list(page))
    return listed.ok ? listed.value.map(({ id }) => id) : []
  }
  const named = await readAll<{ readonly name: string }>((page) => client[live].list(page))
  return named.ok ? named.value.map(({ name }) => name) : []
}
