// The command line is ready when the platform is: a context for each tenant, the first one current. dev:down takes them
// away again and leaves no context current: a command that was meant for this platform must not reach another one.

import { type Contexts, withContext } from '@holdfast/cli/settings/contexts'
import { readContextsFile, writeContextsFile } from '@holdfast/cli/settings/contexts-file'
import type { DevTenant } from './create-tenants.ts'

export interface CliContexts {
  readonly file: string
  /** Which context was current, unless it was one of ours. */
  readonly before: string | null
}

export const contextOf = (tenant: string): string => `dev-${tenant}`

export async function addContexts(
  file: string,
  url: string,
  tenants: readonly DevTenant[],
): Promise<CliContexts> {
  const kept = await readKept(file)
  const ours = tenants.map(({ name }) => contextOf(name))
  // The last one that is added is the current one.
  const added = tenants.toReversed().reduce<Contexts>((contexts, { name, token }) => {
    return withContext(contexts, contextOf(name), { url, token })
  }, kept)
  await writeContextsFile(file, added)
  const before = kept.current === undefined || ours.includes(kept.current) ? null : kept.current
  return { file, before }
}

/** Those that lead to this platform, whatever they are called. */
export async function removeContexts(file: string, url: string): Promise<void> {
  const { current, contexts } = await readKept(file)
  const others = Object.entries(contexts).filter(([, context]) => context.url !== url)
  if (others.length === Object.keys(contexts).length) return
  const stays = others.some(([name]) => name === current)
  await writeContextsFile(file, {
    ...(stays && current !== undefined ? { current } : {}),
    contexts: Object.fromEntries(others),
  })
}

async function readKept(file: string): Promise<Contexts> {
  const read = await readContextsFile(file)
  if (!read.ok) throw new Error(read.why)
  return read.contexts
}
