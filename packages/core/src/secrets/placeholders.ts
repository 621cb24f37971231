// A composed template as its parts: text, and placeholders {{secret.<resource>.<key>}}. SPEC 2.4. `{{` and `}}` stand for
// nothing but a placeholder, so that a slip is found when it is written and not when a container starts.

/** Of a document that the deployment declares. */
export interface Placeholder {
  /** The label of a vault_path. */
  readonly resource: string
  readonly key: string
}

const PLACEHOLDER = /\{\{secret\.([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)\.([A-Za-z_][A-Za-z0-9_]*)\}\}/g
const STRAY = /\{\{|\}\}/

/** Undefined where a brace pair is outside a well-formed placeholder. */
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
