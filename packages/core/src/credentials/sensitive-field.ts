// May this place of a body hold a secret, whatever stands there? DECISIONS 2 "received", SAFETY 2 row 4. Named too widely
// rather than too narrowly: a redacted constant is a nuisance, a quoted password is a leak.

import { namesCredential } from './credential-keys.ts'

export type FieldPath = readonly (string | number)[]

/** Everything below these is material, or was meant to be by whoever misspelt the field. */
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
/** Our own words that only point at a secret. */
const POINTERS = new Set(['secret', 'secrets'])
/** What may be quoted of a secret entry; an unknown field there is most likely a misspelt `values`. */
const QUOTABLE_SECRET_FIELDS = new Set(['name', 'vault_path', 'anchor', 'rotation', 'mount_path', 'generate'])
/** What may be quoted of a generate block, for the same reason. */
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

/** `secrets: "hunter2"`, `secrets: {DB: "hunter2"}`, `secrets[0].vaule: "hunter2"`. In a secret write `generate` comes first. */
function isLooseSecret(path: FieldPath): boolean {
  const at = path.indexOf('secrets')
  if (at < 0) return path[0] === 'generate' && !isQuotable(path[1], QUOTABLE_GENERATE_FIELDS)
  const [place, field, inner] = path.slice(at + 1)
  if (typeof place !== 'number' || !isQuotable(field, QUOTABLE_SECRET_FIELDS)) return true
  return field === 'generate' && !isQuotable(inner, QUOTABLE_GENERATE_FIELDS)
}

const isQuotable = (step: string | number | undefined, known: ReadonlySet<string>): boolean =>
  typeof step === 'string' && known.has(step)
