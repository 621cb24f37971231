// How a rejection names a field: `secrets[0].vault_path`, `environment.KEY`, `labels["a.b/c"]`. DECISIONS 2.

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/

export function childPath(parent: string, key: string): string {
  if (!IDENTIFIER.test(key)) return `${parent}[${JSON.stringify(key)}]`
  return parent === '' ? key : `${parent}.${key}`
}

export function elementPath(parent: string, index: number): string {
  return `${parent}[${index}]`
}
