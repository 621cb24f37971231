// Rejects a deployment if a key of a stored secret defines a variable that another source defines too, because its
// containers could never be created. The rules on the request body compare only the keys that the body contains.

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

/**
 * Rejects variables that two sources define. Nothing is checked if an update changes no source of variables, so that a
 * newer secret version never blocks scaling.
 */
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

/** The sources of variables in the form of a request body, in which each secret entry lists its known keys. */
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
