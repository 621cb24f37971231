// What a deployment's body gives to its credentials, on its way into the secrets store: which versions that takes, and making
// them. Values are generated here, wrapped at once, and never kept. SPEC 2.4, 2.5; SAFETY 4a, step 4.

import { type CredentialFact, generateValues, type SentMaterial } from '@holdfast/core'
import type { IdSource } from '../../../ports/clock.ts'
import { secret } from '../../../ports/secret.ts'
import type { SecretDocument } from '../../../ports/secrets-store.ts'
import { addTaint } from '../../../ports/taint.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import { destroyStaged } from './destroy-staged.ts'
import { type StageDeps, type StagedVersion, stageVersion, storeUnavailable } from './stage-version.ts'

export interface MaterialDeps extends StageDeps {
  readonly ids: Pick<IdSource, 'bytes'>
}

export interface StagedMaterial {
  readonly label: string
  readonly keys: readonly string[]
  readonly version: number
  /** Absent in a dry run: nothing was staged, and the version is the one that would be next. */
  readonly staged?: StagedVersion
}

/**
 * What each credential gets. Material is generated only where a path has none yet (DECISIONS 4); where it has some, the rules
 * on facts say so.
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

/** Whether what is staged is what is wanted now: the world may have changed between. */
export function isStaged(wanted: readonly SentMaterial[], made: readonly StagedMaterial[]): boolean {
  if (wanted.length !== made.length) return false
  return wanted.every((material, at) => {
    const { label, keys = [] } = made[at] ?? {}
    return material.label === label && keysOf(material).join() === keys.join()
  })
}

/** All of it or nothing: what was made goes where another part cannot be. */
export async function stageMaterial(
  deps: MaterialDeps,
  caller: Caller,
  [first, ...others]: readonly SentMaterial[],
): Promise<Outcome<StagedMaterial[]>> {
  if (first === undefined) return done([])
  const leader = await stageOne(deps, caller, first)
  if (!leader.ok) return leader
  // Whoever fails by an exception leaves its own part to the janitor; the others are waited for all the same.
  const outcomes = await Promise.allSettled(
    others.map((material) => stageOne(deps, caller, material, leader.value.staged)),
  )
  const rest = outcomes.flatMap((one) =>
    one.status === 'fulfilled' && one.value.ok ? [one.value.value] : [],
  )
  const made = [leader.value, ...rest]
  if (rest.length === others.length) return done(made)
  await destroyMaterial(deps, caller, made)
  const thrown = outcomes.find((one) => one.status === 'rejected')
  if (thrown !== undefined) throw thrown.reason
  return refused(storeUnavailable())
}

async function stageOne(
  deps: MaterialDeps,
  caller: Caller,
  material: SentMaterial,
  leader?: StagedVersion,
): Promise<Outcome<StagedMaterial>> {
  const { namespace, label } = material
  const document = documentOf(deps, material)
  const staged = await stageVersion(deps, caller, { namespace, label }, document, leader)
  if (!staged.ok) return staged
  const { version } = staged.value
  return done({ label, keys: keysOf(material), version, staged: staged.value })
}

function documentOf({ ids }: MaterialDeps, { values, generate }: SentMaterial): SecretDocument {
  const made = generate === undefined ? [] : [...generateValues(generate, (count) => ids.bytes(count))]
  for (const [, value] of made) addTaint(value)
  return new Map([...values, ...made].map(([key, value]) => [key, secret(value)]))
}

/** For a dry run: the store is asked as in earnest, and nothing is written to it. */
export async function planStagedMaterial(
  { secrets }: Pick<MaterialDeps, 'secrets'>,
  { tenant }: Caller,
  wanted: readonly SentMaterial[],
): Promise<Outcome<StagedMaterial[]>> {
  const found = await Promise.all(
    wanted.map(({ namespace, label }) => secrets.currentVersion(tenant, { namespace, label })),
  )
  const foreseen = wanted.flatMap((material, at): StagedMaterial[] => {
    const current = found[at]
    if (current?.kind !== 'ok' && current?.kind !== 'absent') return []
    const version = current.kind === 'ok' ? current.version + 1 : 1
    return [{ label: material.label, keys: keysOf(material), version }]
  })
  return foreseen.length === wanted.length ? done(foreseen) : refused(storeUnavailable())
}

export async function destroyMaterial(
  deps: Pick<StageDeps, 'store' | 'secrets'>,
  { tenant }: Caller,
  made: readonly StagedMaterial[],
): Promise<void> {
  const staged = made.flatMap((one) => one.staged ?? [])
  if (staged.length > 0) await destroyStaged(deps, tenant, staged)
}
