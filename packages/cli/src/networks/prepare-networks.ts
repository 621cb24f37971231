// Prepares documents that concern networks: finds the stored networks, replaces names of nodes by ids, and leaves out of
// deployments the networks that other documents of the same call create.

import { type Client, type Failure, type Result, readAll } from '@holdfast/client'
import {
  isJsonObject,
  isNodeId,
  type Json,
  type JsonObject,
  type Network,
  type Rejection,
} from '@holdfast/contract'
import { reject } from '@holdfast/core/admission'
import {
  checkNetworkDocument,
  kindOf,
  type Manifest,
  networkBody,
  networkNodeFault,
  withoutNetworks,
} from '@holdfast/manifest'
import { nameOf } from '../manifest/load-manifests.ts'
import { listNetworks } from '../resources/find-network.ts'
import type { Prepared } from '../volumes/prepared.ts'

const isNetwork = ({ value }: Manifest): boolean => kindOf(value) === 'Network'

export async function prepareNetworks(
  client: Client,
  documents: readonly Prepared[],
): Promise<Result<readonly Prepared[]>> {
  if (!documents.some(({ manifest }) => isNetwork(manifest))) return { ok: true, value: documents }
  const stored = await listNetworks(client)
  if (!stored.ok) return stored
  const nodes = await nodesByName(client, documents)
  if (!nodes.ok) return nodes
  const known = new Map(stored.value.map((network) => [network.name, network]))
  const declared = new Set(
    documents.flatMap(({ manifest }) => (isNetwork(manifest) ? (nameOf(manifest.value) ?? []) : [])),
  )
  const isLeftOut = (name: string): boolean => declared.has(name) && !known.has(name)
  const value = documents.map((document) =>
    isNetwork(document.manifest)
      ? prepareNetwork(document, known, nodes.value)
      : { ...document, judged: withoutNetworks(document.judged, isLeftOut) },
  )
  return { ok: true, value }
}

const nodeOf = (value: Json): string | undefined =>
  isJsonObject(value) && typeof value.node === 'string' ? value.node : undefined

/** The ids of the nodes by name; without a request if no document names a node. */
async function nodesByName(
  client: Client,
  documents: readonly Prepared[],
): Promise<
  | { readonly ok: true; readonly value: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly failure: Failure }
> {
  const isNaming = ({ manifest }: Prepared): boolean =>
    isNetwork(manifest) && nodeOf(manifest.value) !== undefined
  if (!documents.some(isNaming)) return { ok: true, value: new Map() }
  const listed = await readAll((page) => client.nodes.list(page))
  if (!listed.ok) return listed
  return { ok: true, value: new Map(listed.value.map(({ name, id }) => [name, id])) }
}

function prepareNetwork(
  document: Prepared,
  known: ReadonlyMap<string, Network>,
  nodes: ReadonlyMap<string, string>,
): Prepared {
  const { manifest, faults } = withNodeId(document.manifest, nodes)
  const before = known.get(nameOf(manifest.value) ?? '')
  const offline = checkNetworkDocument(manifest.value)
  const fixed = before === undefined ? [] : changesOf(networkBody(manifest.value), before)
  const all = [...faults, ...(offline.length > 0 ? offline : fixed)]
  return { manifest, kind: 'Network', judged: manifest.value, awaits: [], faults: all, network: { before } }
}

/** Replaces `node` by `nodeId`. Rejections of `nodeId` are shown at `node`. */
function withNodeId(
  manifest: Manifest,
  nodes: ReadonlyMap<string, string>,
): { readonly manifest: Manifest; readonly faults: readonly Rejection[] } {
  const { value, conversions } = manifest
  const node = nodeOf(value)
  if (node === undefined || !isJsonObject(value) || value.nodeId !== undefined)
    return { manifest, faults: [] }
  const nodeId = nodes.get(node) ?? (isNodeId(node) ? node : undefined)
  if (nodeId === undefined) {
    const expected = 'the name of a node of this tenant; holdfast node list lists them'
    return { manifest, faults: [networkNodeFault(node, expected)] }
  }
  const { node: _node, ...others } = value
  const conversion = { field: 'node', sentAs: 'nodeId', written: node, amount: nodeId }
  return {
    manifest: { ...manifest, value: { ...others, nodeId }, conversions: [...conversions, conversion] },
    faults: [],
  }
}

/** The options of a network never change, so a document that states another value has a fault. */
function changesOf(body: JsonObject, before: Network): Rejection[] {
  const { driver, labels, internal, nodeId } = before
  return Object.entries({ driver, labels, internal, nodeId }).flatMap(([option, stored]) => {
    const sent = body[option]
    if (sent === undefined || sent === null || textOf(sent) === textOf(stored)) return []
    return [
      {
        ...reject('network_exists', option, sent),
        expected: `${textOf(stored)}, as the stored network has it`,
        why: `The options of a network cannot be changed. Create a network with another name, or delete ${before.name} first.`,
      },
    ]
  })
}

/** A value as text that does not depend on the order of labels. */
const textOf = (value: Json): string =>
  isJsonObject(value) ? JSON.stringify(Object.entries(value).sort()) : JSON.stringify(value)
