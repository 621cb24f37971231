// Nodes are called by name here and by id on the interface.

import { type Client, type Result, readAll } from '@holdfast/client'
import { isNodeId, type Node } from '@holdfast/contract'

/** A name that nobody has is asked for as it is, so that the platform itself says no. */
export async function findNode(client: Client, nameOrId: string): Promise<Result<Node>> {
  if (isNodeId(nameOrId)) return client.nodes.read(nameOrId)
  const listed = await readAll((page) => client.nodes.list(page))
  if (!listed.ok) return listed
  const found = listed.value.find(({ name }) => name === nameOrId)
  return found === undefined ? client.nodes.read(nameOrId) : { ok: true, value: found }
}
