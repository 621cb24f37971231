// Splits a composed template into text and placeholders {{secret.<resource>.<key>}}. Double braces are allowed in
// placeholders only, so that a typo is found at the write and not at the start of a container.

/** A placeholder in a template. It names one key of a declared secret document. */
export interface Placeholder {
  /** The label of the secret, which is the last part of its vault_path. */
  readonly resource: string
  readonly key: string
}

const PLACEHOLDER = /\{\{secret\.([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)\.([A-Za-z_][A-Za-z0-9_]*)\}\}/g
const STRAY = /\{\{|\}\}/

/** Parses a template. Undefined if double braces appear outside a well-formed placeholder. */
export function parseTemplate(text: string): readonly (string | Placeholder)[] | undefined {
  const parts: (string | Placeholder)[] = []
  let end = 0
  for (const found of text.matchAll(PLACEHOLDER)) {
    const [whole, resource = '', key = ''] = found
    const between = text.slice(end, found.index)
    if (STRAY.test(between)) return undefined
    parts.push(between, { resource, key })
    end = found.index + whole.length
  }
  const rest = text.slice(end)
  if (STRAY.test(rest)) return undefined
  return [...parts, rest].filter((part) => part !== '')
}
