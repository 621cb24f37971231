// Decides from the path of a field whether the field may contain a secret. The rules are broad on purpose: a redacted
// constant is a nuisance, a quoted password is a leak.

import { namesCredential } from './credential-keys.ts'

export type FieldPath = readonly (string | number)[]

/** Names of fields whose whole content is treated as secret, including common misspellings. */
const MATERIAL = new Set([
  ...[
    'values',
    'value',
    'environment',
    'composedenvironment',
    'env',
    'envs',
    'environmentvariables',
    'variables',
  ],
  ...['data', 'stringdata', 'authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'ticket'],
])
/** Names of API fields that only refer to a secret, although the names look like those of credentials. */
const POINTERS = new Set(['secret', 'secrets'])
/** Fields of a secret entry that may be quoted. An unknown field may be a misspelled `values`. */
const QUOTABLE_SECRET_FIELDS = new Set(['name', 'vault_path', 'anchor', 'rotation', 'mount_path', 'generate'])
/** Fields of a `generate` block that may be quoted. An unknown field may contain a misplaced secret. */
const QUOTABLE_GENERATE_FIELDS = new Set(['keys', 'bytes', 'encoding', 'length', 'charset'])

export function isSensitivePath(path: FieldPath): boolean {
  if (path[0] === 'dependsOn') return false
  return (
    path.some((step, at) => typeof step === 'string' && isMaterial(path, step, at)) || isLooseSecret(path)
  )
}

function isMaterial(path: FieldPath, step: string, at: number): boolean {
  const name = step.toLowerCase()
  if (name === 'values') return !path.slice(0, at).includes('constraints')
  return MATERIAL.has(name) || (!POINTERS.has(name) && namesCredential(step))
}

/** Whether a value at the path is a misplaced secret, as in `secrets: "hunter2"` or `secrets[0].vaule: "hunter2"`. */
function isLooseSecret(path: FieldPath): boolean {
  const at = path.indexOf('secrets')
  if (at < 0) return path[0] === 'generate' && !isQuotable(path[1], QUOTABLE_GENERATE_FIELDS)
  const [place, field, inner] = path.slice(at + 1)
  if (typeof place !== 'number' || !isQuotable(field, QUOTABLE_SECRET_FIELDS)) return true
  return field === 'generate' && !isQuotable(inner, QUOTABLE_GENERATE_FIELDS)
}

const isQuotable = (step: string | number | undefined, known: ReadonlySet<string>): boolean =>
  typeof step === 'string' && known.has(step)
