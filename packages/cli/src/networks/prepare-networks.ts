// Prepares documents that concern networks: finds the stored networks, replaces names of nodes by ids, and leaves out of
// deployments the networks that other documents of the same call create.

import type { Client, Result } from '@holdfast/client'
import { isJsonObject, type Json, type JsonObject, type Network, type Rejection } from '@holdfast/contract'
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
import { nodesByName, withNodeId } from '../manifest/node-names.ts'
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
  const manifests = documents.map(({ manifest }) => manifest)
  const nodes = await nodesByName(client, manifests.filter(isNetwork))
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

function prepareNetwork(
  document: Prepared,
  known: ReadonlyMap<string, Network>,
  nodes: ReadonlyMap<string, string>,
): Prepared {
  const { manifest, faults } = withNodeId(document.manifest, nodes, networkNodeFault)
  const before = known.get(nameOf(manifest.value) ?? '')
  const offline = checkNetworkDocument(manifest.value)
  const fixed = before === undefined ? [] : changesOf(networkBody(manifest.value), before)
  const all = [...faults, ...(offline.length > 0 ? offline : fixed)]
  return { manifest, kind: 'Network', judged: manifest.value, awaits: [], faults: all, network: { before } }
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
