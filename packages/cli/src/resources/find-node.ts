// Finds a node by name or id. The API accepts only ids.

import { type Client, type Result, readAll } from '@holdfast/client'
import { isNodeId, type Node } from '@holdfast/contract'

/** An unknown name is sent to the API as an id, so that the platform itself returns the rejection. */
export async function findNode(client: Client, nameOrId: string): Promise<Result<Node>> {
  if (isNodeId(nameOrId)) return client.nodes.read(nameOrId)
  const listed = await readAll((page) => client.nodes.list(page))
  if (!listed.ok) return listed
  const found = listed.value.find(({ name }) => name === nameOrId)
  return found === undefined ? client.nodes.read(nameOrId) : { ok: true, value: found }
}
