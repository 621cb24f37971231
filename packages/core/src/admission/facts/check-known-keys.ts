// Does a key of a document that is stored already give a variable that something else gives too? The rules on the body compare
// the keys that came with it; those of the store are known as well, and a container that can never be made is refused while
// somebody is there to read why. DECISIONS 3, environment_key_conflict; SAFETY 2 row 8.

import {
  canonicalJson,
  type DeploymentSpec,
  type Json,
  type JsonObject,
  type Rejection,
} from '@holdfast/contract'
import type { Limits } from '../../limits.ts'
import type { SentMaterial } from '../../secrets/material.ts'
import { credentialPath } from '../../secrets/vault-path.ts'
import { admissionContext } from '../context.ts'
import { applyCrossRules } from '../rule-engine/cross-rule.ts'
import { newFaultList } from '../rule-engine/fault-list.ts'
import { constantConflictsRules, templateConflictsRules } from '../rules/variable-conflicts.ts'
import type { Facts } from './facts.ts'

type Sources = Pick<DeploymentSpec, 'environment' | 'composedEnvironment' | 'secrets'>

export interface KnownKeys {
  readonly credentials: Facts['credentials']
  readonly material: readonly SentMaterial[]
  readonly limits: Limits
}

/** `before`: what an update leaves as it was is not judged again, so that a later version keeps nobody from scaling. */
export function checkKnownKeys(spec: Sources, before: Sources | undefined, known: KnownKeys): Rejection[] {
  if (spec.secrets.length === 0 || (before !== undefined && sourcesOf(before) === sourcesOf(spec))) return []
  const merged = withKeys(spec, known)
  const faults = newFaultList(known.limits.rejections)
  const context = admissionContext({ limits: known.limits })
  applyCrossRules([...constantConflictsRules, ...templateConflictsRules], merged, merged, context, faults)
  return faults.rejections.filter(({ code }) => code === 'environment_key_conflict')
}

const sourcesOf = ({ environment, composedEnvironment = {}, secrets }: Sources): string =>
  canonicalJson([{ ...environment }, { ...composedEnvironment }, secrets.map((entry) => ({ ...entry }))])

/** As the rules on the body see it: each entry with its keys, wherever they are known from. */
function withKeys({ environment, composedEnvironment = {}, secrets }: Sources, known: KnownKeys): JsonObject {
  const keysOf = (label: string): readonly string[] =>
    known.credentials?.get(label)?.keys ?? sentKeys(label, known)
  const entries = secrets.map(({ name, vault_path }): Json => {
    const { label } = credentialPath(vault_path)
    return { name, vault_path, generate: { keys: [...keysOf(label)] } }
  })
  return {
    environment: { ...environment },
    composedEnvironment: { ...composedEnvironment },
    secrets: entries,
  }
}

function sentKeys(label: string, { material }: KnownKeys): string[] {
  const sent = material.find((one) => one.label === label)
  return [...(sent?.values.keys() ?? []), ...(sent?.generate?.keys ?? [])]
}
