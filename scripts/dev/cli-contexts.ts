// dev:up adds a CLI context for each tenant and makes the first one current. dev:down removes these contexts and leaves
// no context current, so that a command meant for this platform cannot reach another platform.

import { type Contexts, withContext } from '@holdfast/cli/settings/contexts'
import { readContextsFile, writeContextsFile } from '@holdfast/cli/settings/contexts-file'
import type { DevTenant } from './create-tenants.ts'

export interface CliContexts {
  readonly file: string
  /** Name of the CLI context that was current before dev:up; null if there was none or dev:up had created it. */
  readonly before: string | null
}

export const contextOf = (tenant: string): string => `dev-${tenant}`

export async function addContexts(
  file: string,
  url: string,
  tenants: readonly DevTenant[],
): Promise<CliContexts> {
  const existing = await readContexts(file)
  const own = tenants.map(({ name }) => contextOf(name))
  // The tenants are added in reverse order, because the context added last becomes the current one.
  const added = tenants.toReversed().reduce<Contexts>((contexts, { name, token }) => {
    return withContext(contexts, contextOf(name), { url, token })
  }, existing)
  await writeContextsFile(file, added)
  const before = existing.current === undefined || own.includes(existing.current) ? null : existing.current
  return { file, before }
}

/** Removes every CLI context with the address of this platform. */
export async function removeContexts(file: string, url: string): Promise<void> {
  const { current, contexts } = await readContexts(file)
  const others = Object.entries(contexts).filter(([, context]) => context.url !== url)
  if (others.length === Object.keys(contexts).length) return
  const isKept = others.some(([name]) => name === current)
  await writeContextsFile(file, {
    ...(isKept && current !== undefined ? { current } : {}),
    contexts: Object.fromEntries(others),
  })
}

async function readContexts(file: string): Promise<Contexts> {
  const read = await readContextsFile(file)
  if (!read.ok) throw new Error(read.why)
  return read.contexts
}
