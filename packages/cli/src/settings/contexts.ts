// The content of the contexts file: the known platforms with their tokens, and the name of the current context.

import { carryUnknown, decodeOpen, type Infer, map, object, optional, string } from '@holdfast/contract'

const contextShape = object({
  url: string(),
  token: optional(string()),
  tenant: optional(string()),
  /** Name of the tenant at the time of the login; only shown. */
  tenantName: optional(string()),
  caFile: optional(string()),
})
export type Context = Infer<typeof contextShape>

const contextsShape = object({ current: optional(string()), contexts: map(contextShape) })
export type Contexts = Infer<typeof contextsShape>

export const NO_CONTEXTS: Contexts = { contexts: {} }

/** Decodes the contexts file; undefined if the content has another structure. */
export function readContexts(value: unknown): Contexts | undefined {
  try {
    return value === null ? NO_CONTEXTS : decodeOpen(contextsShape, value)
  } catch {
    return undefined
  }
}

/** Adds or replaces a context. A replaced context keeps members that only a newer version of the command knows. */
export function withContext(contexts: Contexts, name: string, context: Context): Contexts {
  const next = carryUnknown(contexts.contexts[name], context)
  return { ...contexts, current: name, contexts: { ...contexts.contexts, [name]: next } }
}
