// How the numbers and names of one request get into the catalogue's texts. A placeholder is `{max}`: a lowercase letter,
// then letters. The `{{secret.<resource>.<key>}}` of a composed value is no placeholder of ours and stays as it is.

const PLACEHOLDER = /\{([a-z][A-Za-z]*)\}/g

export type FillInParameters = { readonly [placeholder: string]: string | number }

/** One pass: braces inside a parameter are text. Throws on a missing parameter, because that is a fault of ours. */
export function fillIn(template: string, parameters: FillInParameters = {}): string {
  return template.replace(PLACEHOLDER, (_, name: string) => {
    const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (value === undefined) throw new TypeError(`no parameter for {${name}} in: ${template}`)
    return String(value)
  })
}

/** The names a template asks for, each once, in the order in which they appear. */
export function placeholdersOf(template: string): string[] {
  return [...new Set(Array.from(template.matchAll(PLACEHOLDER), (found) => found[1] ?? ''))]
}
