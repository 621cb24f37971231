// Decides which secret versions the body of a deployment needs, and writes them to the secrets store. Generated values
// are created here, wrapped at once and never stored in etcd (docs/design/secrets.md#generation).

import { utf8Length } from '@holdfast/contract'
import { type CredentialFact, generateValues, type SentMaterial } from '@holdfast/core'
import type { IdSource } from '../../../ports/clock.ts'
import { secret } from '../../../ports/secret.ts'
import type { SecretDocument } from '../../../ports/secrets-store.ts'
import { addTaint } from '../../../ports/taint.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import { type DestroyDeps, destroyStaged } from './destroy-versions.ts'
import type { StagedVersion } from './intents.ts'
import { type StageDeps, type StageOptions, stageVersion, storeUnavailable } from './stage-version.ts'

export interface MaterialDeps extends StageDeps {
  readonly ids: Pick<IdSource, 'bytes'>
}

export interface StagedMaterial {
  readonly label: string
  readonly keys: readonly string[]
  /** Size of the values sent, rounded up to KiB. */
  readonly bytes: number
  readonly version: number
  readonly stagedVersion: StagedVersion
}

/**
 * The secret values that each credential needs. Values are generated only for a path without any version; for other paths
 * the admission rules report the request to generate.
 */
export function planMaterial(
  sent: readonly SentMaterial[],
  found: ReadonlyMap<string, CredentialFact>,
): SentMaterial[] {
  return sent.flatMap(({ generate, ...material }) => {
    const { newest = null, initial = null } = found.get(material.label) ?? {}
    const generates = generate !== undefined && newest === null && initial === null
    if (material.values.size === 0 && !generates) return []
    return [{ ...material, ...(generates ? { generate } : {}) }]
  })
}

export const keysOf = ({ values, generate }: SentMaterial): string[] => [
  ...values.keys(),
  ...(generate?.keys ?? []),
]

/** Whether the versions already written are the ones needed now; records may have changed since they were written. */
export function isStaged(needed: readonly SentMaterial[], staged: readonly StagedMaterial[]): boolean {
  if (needed.length !== staged.length) return false
  return needed.every((material, at) => {
    const { label, keys = [] } = staged[at] ?? {}
    return material.label === label && keysOf(material).join() === keys.join()
  })
}

/** Writes all versions to the secrets store or none: if one write fails, the versions already written are destroyed. */
export async function stageMaterial(
  deps: MaterialDeps,
  caller: Caller,
  [first, ...others]: readonly SentMaterial[],
): Promise<Outcome<StagedMaterial[]>> {
  if (first === undefined) return done([])
  const leader = await stageOne(deps, caller, first)
  if (!leader.ok) return leader
  // All writes are awaited even if one throws; the intent of the failed write is left to the sweep of intents.
  const outcomes = await Promise.allSettled(
    others.map((material) => stageOne(deps, caller, material, { leader: leader.value.stagedVersion })),
  )
  const followers = outcomes.flatMap((one) =>
    one.status === 'fulfilled' && one.value.ok ? [one.value.value] : [],
  )
  const staged = [leader.value, ...followers]
  if (followers.length === others.length) return done(staged)
  await destroyMaterial(deps, caller, staged)
  const thrown = outcomes.find((one) => one.status === 'rejected')
  if (thrown !== undefined) throw thrown.reason
  return refused(storeUnavailable())
}

export async function stageOne(
  deps: MaterialDeps,
  caller: Caller,
  material: SentMaterial,
  options: StageOptions = {},
): Promise<Outcome<StagedMaterial>> {
  const { namespace, label } = material
  const document = documentOf(deps, material)
  const staged = await stageVersion(deps, caller, { namespace, label }, document, options)
  if (!staged.ok) return staged
  const { version } = staged.value
  return done({
    label,
    keys: keysOf(material),
    bytes: sizeOf(document),
    version,
    stagedVersion: staged.value,
  })
}

function sizeOf(document: SecretDocument): number {
  const bytes = [...document].map(([key, value]) => utf8Length(key) + utf8Length(value.reveal()))
  return roundUp(bytes.reduce((sum, each) => sum + each, 0))
}

const KIB = 1024

/** Rounds the size of a document up to KiB: records keep the size, which must not tell the length of a value. */
export const roundUp = (bytes: number): number => Math.ceil(bytes / KIB) * KIB

function documentOf({ ids }: MaterialDeps, { values, generate }: SentMaterial): SecretDocument {
  const generated = generate === undefined ? [] : [...generateValues(generate, (count) => ids.bytes(count))]
  for (const [, value] of generated) addTaint(value)
  return new Map([...values, ...generated].map(([key, value]) => [key, secret(value)]))
}

export async function destroyMaterial(
  deps: DestroyDeps,
  { tenant }: Caller,
  staged: readonly StagedMaterial[],
): Promise<void> {
  const versions = staged.map(({ stagedVersion }) => stagedVersion)
  if (versions.length > 0) await destroyStaged(deps, tenant, versions)
}
