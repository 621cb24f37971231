// One document on its way to the platform: created where its name is free, else changed on condition that nobody changed
// it since it was read. What is wrong with it the platform says.

import type { Client, Failure, Result, SentDeployment, Written } from '@holdfast/client'
import { type DeploymentRecord, type DryRun, isJsonObject, type Json } from '@holdfast/contract'
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

export type Planned =
  | { readonly ok: true; readonly plan: DryRun; readonly before: Before }
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

export async function planDocument(client: Client, value: Json): Promise<Planned> {
  const sent = bodyOf(value)
  const found = await readBefore(client, value)
  if (!found.ok) return found
  const before = found.value
  const planned =
    before === undefined
      ? await client.deployments.dryRunCreate(sent)
      : await client.deployments.dryRunUpdate(before.name, sent, { ifMatch: String(before.revision) })
  return planned.ok ? { ok: true, plan: planned.value, before } : planned
}

/** A document without a usable name is sent as a new one: the answer names what it lacks. */
async function readBefore(client: Client, value: Json): Promise<Result<Before>> {
  const name = nameOf(value)
  if (name === undefined) return { ok: true, value: undefined }
  const read = await client.deployments.read(name)
  const isAbsent = !read.ok && read.failure.kind === 'rejected' && read.failure.status === 404
  return isAbsent ? { ok: true, value: undefined } : read
}

/** What is no object cannot be sent as it is; the empty one is refused for all that it lacks. */
const bodyOf = (value: Json): SentDeployment => (isJsonObject(value) ? value : {})

/** Fields that are stored, are not in the document, and stay: PUT keeps what is not sent. DECISIONS 2. */
const OPTIONAL_FIELDS = [
  ...(['nodeId', 'healthCheck', 'environment', 'secrets', 'volumes', 'placement', 'dependsOn'] as const),
  ...(['limits', 'composedEnvironment', 'routes', 'labels', 'command', 'args'] as const),
]

export function keptFields(value: Json, before: Before): string[] {
  if (before === undefined || !isJsonObject(value)) return []
  return OPTIONAL_FIELDS.filter((field) => isThere(before[field]) && value[field] === undefined)
}

/** A record has `secrets` always, empty where there are none. */
const isThere = (stored: DeploymentRecord[(typeof OPTIONAL_FIELDS)[number]]): boolean =>
  stored !== undefined && !(Array.isArray(stored) && stored.length === 0)
