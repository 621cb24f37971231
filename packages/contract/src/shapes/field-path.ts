// The path by which a rejection names a field: `secrets[0].vault_path`, `environment.KEY`, `labels["a.b/c"]`.

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/

export function childPath(parent: string, key: string): string {
  if (!IDENTIFIER.test(key)) return `${parent}[${JSON.stringify(key)}]`
  return parent === '' ? key : `${parent}.${key}`
}

export function elementPath(parent: string, index: number): string {
  return `${parent}[${index}]`
}

export type PathStep = string | number

const STEP = /\["((?:[^"\\]|\\.)*)"\]|\[([0-9]{1,15})\]|([^.[\]]+)/g

/** Splits a path such as `secrets[0].values["a b"]` into steps: the inverse of childPath and elementPath. */
export function stepsOf(field: string): PathStep[] {
  return Array.from(field.matchAll(STEP), ([whole, quoted, index, bare]) => {
    if (index !== undefined) return Number(index)
    return quoted === undefined ? (bare ?? whole) : unquote(quoted)
  })
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(`"${quoted}"`))
  } catch {
    return quoted
  }
}
