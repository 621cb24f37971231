// Creates or updates the deployment of one document. An update requires that the stored revision is still the one that
// was read, so that the change of another user is not overwritten.

import type { Client, Failure, Result, SentDeployment, Written } from '@holdfast/client'
import { type DeploymentRecord, isJsonObject, type Json } from '@holdfast/contract'
import { nameOf } from './load-manifests.ts'

export type Before = DeploymentRecord | undefined

export type Applied =
  | {
      readonly ok: true
      readonly verb: 'created' | 'configured' | 'unchanged'
      readonly written: Written
      readonly before: Before
    }
  | { readonly ok: false; readonly failure: Failure }

export async function applyDocument(client: Client, value: Json): Promise<Applied> {
  const sent = bodyOf(value)
  const found = await readBefore(client, value)
  if (!found.ok) return found
  const before = found.value
  const written =
    before === undefined
      ? await client.deployments.create(sent)
      : await client.deployments.update(before.name, sent, { ifMatch: String(before.revision) })
  if (!written.ok) return written
  const { revision } = written.value.deployment
  const verb = before === undefined ? 'created' : before.revision === revision ? 'unchanged' : 'configured'
  return { ok: true, verb, written: written.value, before }
}

/**
 * Reads the stored deployment of a document. A document without a usable name is treated as a new deployment, so that
 * the platform rejects the document and names the problem.
 */
export async function readBefore(client: Client, value: Json): Promise<Result<Before>> {
  const name = nameOf(value)
  if (name === undefined) return { ok: true, value: undefined }
  const read = await client.deployments.read(name)
  const isAbsent = !read.ok && read.failure.kind === 'rejected' && read.failure.status === 404
  return isAbsent ? { ok: true, value: undefined } : read
}

/** The request body for a document. A document that is no object becomes an empty body, which the platform rejects. */
const bodyOf = (value: Json): SentDeployment => (isJsonObject(value) ? value : {})

/** Optional deployment fields. An update keeps the stored values of omitted fields (docs/design/admission.md#updates). */
const OPTIONAL_FIELDS = [
  'nodeId',
  'healthCheck',
  'environment',
  'secrets',
  'volumes',
  'placement',
  'dependsOn',
  'limits',
  'composedEnvironment',
  'routes',
  'labels',
  'command',
  'args',
] as const

export function keptFields(value: Json, before: Before): string[] {
  if (before === undefined || !isJsonObject(value)) return []
  return OPTIONAL_FIELDS.filter((field) => isStored(before[field]) && value[field] === undefined)
}

/** Whether an optional field has a stored value. Every record has a `secrets` list, so an empty list means no value. */
const isStored = (stored: DeploymentRecord[(typeof OPTIONAL_FIELDS)[number]]): boolean =>
  stored !== undefined && !(Array.isArray(stored) && stored.length === 0)
