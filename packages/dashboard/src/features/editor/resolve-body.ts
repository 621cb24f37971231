// Replaces the names of volumes in a manifest by ids, because the API accepts ids only. An unknown name stays, so that the
// server rejects it at its field.

import { type Client, type Result, readAll } from '@holdfast/client'
import { isJsonObject, type JsonObject } from '@holdfast/contract'
import { volumeReferences, withVolumeIds } from '@holdfast/manifest'

export async function resolveBody(client: Client, body: JsonObject): Promise<Result<JsonObject>> {
  if (volumeReferences(body).length === 0) return { ok: true, value: body }
  const volumes = await readAll((page) => client.volumes.list(page))
  if (!volumes.ok) return volumes
  const ids = new Map(volumes.value.map(({ name, id }) => [name, id]))
  const resolved = withVolumeIds(body, (name) => ids.get(name))
  return { ok: true, value: isJsonObject(resolved) ? resolved : body }
}
