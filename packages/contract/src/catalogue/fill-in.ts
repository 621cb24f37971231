// Fills numbers and names of one request into texts of the error catalogue. A placeholder such as `{max}` is a
// lowercase letter, then letters. A `{{secret.<resource>.<key>}}` of a composed variable is left unchanged.

const PLACEHOLDER = /\{([a-z][A-Za-z]*)\}/g

export type FillInParameters = { readonly [placeholder: string]: string | number }

/** Replaces the placeholders of a text; inserted values are not expanded again. Throws if a placeholder has no value. */
export function fillIn(template: string, parameters: FillInParameters = {}): string {
  return template.replace(PLACEHOLDER, (_, name: string) => {
    const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (value === undefined) throw new TypeError(`no parameter for {${name}} in: ${template}`)
    return String(value)
  })
}

/** The names of the placeholders in a catalogue text, each once, in the order of their first use. */
export function placeholdersOf(template: string): string[] {
  return [...new Set(Array.from(template.matchAll(PLACEHOLDER), (found) => found[1] ?? ''))]
}
