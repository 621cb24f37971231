// Finds a node by its name or id, because the API accepts only ids.

import { type Client, type Result, readAll } from '@holdfast/client'
import { isNodeId, type Node } from '@holdfast/contract'

/** Finds a node. An unknown name is sent to the API as an id, so that the error message comes from the platform. */
export async function findNode(client: Client, nameOrId: string): Promise<Result<Node>> {
  if (isNodeId(nameOrId)) return client.nodes.read(nameOrId)
  const listed = await readAll((page) => client.nodes.list(page))
  if (!listed.ok) return listed
  const found = listed.value.find(({ name }) => name === nameOrId)
  return found === undefined ? client.nodes.read(nameOrId) : { ok: true, value: found }
}
