// Fills numbers and names of one request into the catalogue's texts. A placeholder is `{max}`: a lowercase letter, then
// letters. The `{{secret.<resource>.<key>}}` of a composed variable is not a placeholder and stays.

const PLACEHOLDER = /\{([a-z][A-Za-z]*)\}/g

export type FillInParameters = { readonly [placeholder: string]: string | number }

/** Braces inside a parameter are text. A missing parameter is a bug of the caller, so it throws. */
export function fillIn(template: string, parameters: FillInParameters = {}): string {
  return template.replace(PLACEHOLDER, (_, name: string) => {
    const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (value === undefined) throw new TypeError(`no parameter for {${name}} in: ${template}`)
    return String(value)
  })
}

/** The names of the placeholders in a template, each once, in the order of their first use. */
export function placeholdersOf(template: string): string[] {
  return [...new Set(Array.from(template.matchAll(PLACEHOLDER), (found) => found[1] ?? ''))]
}
