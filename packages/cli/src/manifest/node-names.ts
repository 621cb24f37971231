// Replaces the name of a node in a document by its id, because the API accepts only ids.

import { type Client, type Result, readAll } from '@holdfast/client'
import { isJsonObject, isNodeId, type Json, type Rejection } from '@holdfast/contract'
import type { Manifest } from '@holdfast/manifest'

const nodeOf = (value: Json): string | undefined =>
  isJsonObject(value) && typeof value.node === 'string' ? value.node : undefined

/** The ids of the nodes by name; without a request if no document names a node. */
export async function nodesByName(
  client: Client,
  manifests: readonly Manifest[],
): Promise<Result<ReadonlyMap<string, string>>> {
  if (manifests.every(({ value }) => nodeOf(value) === undefined)) return { ok: true, value: new Map() }
  const listed = await readAll((page) => client.nodes.list(page))
  if (!listed.ok) return listed
  return { ok: true, value: new Map(listed.value.map(({ name, id }) => [name, id])) }
}

/** Replaces `node` by `nodeId`. Rejections of `nodeId` are shown at `node`; `fault` rejects an unknown name. */
export function withNodeId(
  manifest: Manifest,
  nodes: ReadonlyMap<string, string>,
  fault: (node: string, expected: string) => Rejection,
): { readonly manifest: Manifest; readonly faults: readonly Rejection[] } {
  const { value, conversions } = manifest
  const node = nodeOf(value)
  if (node === undefined || !isJsonObject(value) || value.nodeId !== undefined)
    return { manifest, faults: [] }
  const nodeId = nodes.get(node) ?? (isNodeId(node) ? node : undefined)
  if (nodeId === undefined)
    return {
      manifest,
      faults: [fault(node, 'the name of a node of this tenant; holdfast node list lists them')],
    }
  const { node: _node, ...others } = value
  const conversion = { field: 'node', sentAs: 'nodeId', written: node, amount: nodeId }
  return {
    manifest: { ...manifest, value: { ...others, nodeId }, conversions: [...conversions, conversion] },
    faults: [],
  }
}
