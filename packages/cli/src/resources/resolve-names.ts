// Replaces the names of volumes and of the node by ids in the body of a job or the change of a canary, because the API
// accepts only ids.

import type { Client, Result } from '@holdfast/client'
import { isJsonObject, type Json, type JsonObject } from '@holdfast/contract'
import { volumeReferences, withVolumeIds } from '@holdfast/manifest'
import { findNode } from './find-node.ts'
import { findVolume } from './find-volume.ts'

export async function resolveNames(client: Client, body: JsonObject): Promise<Result<JsonObject>> {
  const volumes = await volumeIds(client, body)
  if (!volumes.ok) return volumes
  const value = withVolumeIds(body, (name) => volumes.value.get(name))
  const resolved = isJsonObject(value) ? value : body
  if (typeof body.nodeId !== 'string') return { ok: true, value: resolved }
  const node = await findNode(client, body.nodeId)
  return node.ok ? { ok: true, value: { ...resolved, nodeId: node.value.id } } : node
}

async function volumeIds(client: Client, body: Json): Promise<Result<Map<string, string>>> {
  const ids = new Map<string, string>()
  for (const { name } of volumeReferences(body)) {
    if (ids.has(name)) continue
    const found = await findVolume(client, name)
    if (!found.ok) return found
    ids.set(name, found.value.id)
  }
  return { ok: true, value: ids }
}
