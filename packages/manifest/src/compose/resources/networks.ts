// Plans the networks of an import, and the networks that each service joins. Services without networks stay on the network
// that all containers of the tenant share, unless the file uses the network `default` by name.

import type { JsonObject } from '@holdfast/contract'
import type { KnownCredentials } from '../credentials.ts'
import type { Draft } from '../draft.ts'
import { mapOf, type Refusals, visitMembers } from '../members.ts'
import { createNamePool, type NamePool } from '../names.ts'
import type { Report } from '../report.ts'
import { labelsOf } from '../service/labels.ts'
import { booleanOf } from '../source/scalars.ts'
import { isEmpty, memberOf, textOf, type Written, type WrittenMap } from '../source/written.ts'

export interface NetworkParts {
  readonly report: Report
  readonly credentials: KnownCredentials
  readonly defined: Written | undefined
  /** The id of the node of all networks. */
  readonly nodeId: string | undefined
}

interface Planner extends NetworkParts {
  readonly map: WrittenMap | undefined
  readonly names: NamePool
  readonly documents: JsonObject[]
  /** Names of the networks of the Compose file, by their keys. */
  readonly known: Map<string, string>
}

/** The network that Compose creates for services without networks. */
const DEFAULT = 'default'

export function planNetworks(parts: NetworkParts, drafts: readonly Draft[]): JsonObject[] {
  const { report, defined } = parts
  const map = defined === undefined ? undefined : mapOf(report, defined)
  const planner: Planner = {
    ...parts,
    map,
    names: createNamePool('network'),
    documents: [],
    known: new Map(),
  }
  const joined = drafts.map((draft) => ({
    draft,
    networks: readNetworks(report, memberOf(draft.node, 'networks')),
  }))
  const hasDefault =
    map?.members.has(DEFAULT) === true ||
    joined.some(({ networks }) => networks.some(({ key }) => key === DEFAULT))
  for (const { draft, networks } of joined) {
    const implied = networks.length === 0 && hasDefault ? [{ key: DEFAULT, node: draft.node }] : networks
    const names = implied.flatMap((network) => joinNetwork(planner, network) ?? [])
    reportSurplus(report, implied, names)
    if (names.length > 0) draft.fields.networks = names.slice(0, MOST_NETWORKS)
  }
  for (const [key, node] of map?.members ?? [])
    if (!planner.known.has(key)) report.ignored(node, 'No imported service joins the network.')
  return planner.documents
}

/** The most networks that a deployment may join. */
const MOST_NETWORKS = 4

function reportSurplus(report: Report, joined: readonly JoinedNetwork[], names: readonly string[]): void {
  if (names.length > MOST_NETWORKS)
    for (const { node } of joined.slice(MOST_NETWORKS))
      report.refused(node, `A deployment joins at most ${MOST_NETWORKS} networks.`)
}

interface JoinedNetwork {
  readonly key: string
  readonly node: Written
}

const ADDRESS = [
  'Addresses and interfaces are those that the engine chooses.',
  'Use names of deployments.',
] as const

const JOIN_REFUSALS: Refusals = {
  aliases: ['Containers have the name of their deployment only.', 'Use that name as the host.'],
  ...Object.fromEntries(
    ['ipv4_address', 'ipv6_address', 'link_local_ips', 'mac_address', 'interface_name'].map((key) => [
      key,
      ADDRESS,
    ]),
  ),
  ...Object.fromEntries(['driver_opts', 'priority', 'gw_priority'].map((key) => [key, ADDRESS])),
}

/** The networks that a service names, as a list or as a map with settings. */
function readNetworks(report: Report, node: Written | undefined): JoinedNetwork[] {
  if (node === undefined || isEmpty(node)) return []
  if (node.kind === 'scalar') {
    report.refused(node, 'It is neither a list nor a map of networks.')
    return []
  }
  if (node.kind === 'list')
    return node.items.flatMap((item) => {
      const key = textOf(item)
      if (key === undefined) report.refused(item, 'It is not the name of a network.')
      return key === undefined ? [] : [{ key, node: item }]
    })
  return [...node.members].map(([key, member]) => {
    const map = mapOf(report, member)
    if (map !== undefined) visitMembers(map, { report, handlers: {}, refusals: JOIN_REFUSALS })
    return { key, node: member }
  })
}

/** The name of the network; undefined if the file does not define it. */
function joinNetwork(planner: Planner, { key, node }: JoinedNetwork): string | undefined {
  const defined = planner.map?.members.get(key)
  if (defined === undefined && key !== DEFAULT) {
    planner.report.refused(node, 'The file defines no such network.')
    return undefined
  }
  planner.report.carried(node)
  const name = planner.known.get(key) ?? defineNetwork(planner, key, defined)
  planner.known.set(key, name)
  return name
}

const EXTERNAL = 'The file refers to a network that exists, and the platform does not have it.'

function defineNetwork(planner: Planner, key: string, node: Written | undefined): string {
  const { report, names, documents, nodeId } = planner
  const wanted = textOf(memberOf(node, 'name')) ?? key
  const name = names.claim(wanted)
  if (node !== undefined && name !== wanted)
    report.changed(node, `its name is ${name}`, 'Names have lowercase letters, digits and hyphens.')
  const map = node === undefined ? undefined : mapOf(report, node)
  const labels = map === undefined ? {} : visitNetwork(planner, map)
  const external = memberOf(map, 'external')
  if (node !== undefined && (external?.kind === 'map' || booleanOf(textOf(external)) === true)) {
    report.changed(
      node,
      'no document is written for the network',
      EXTERNAL,
      `Create it: holdfast network create ${name}`,
    )
    return name
  }
  const internal = booleanOf(textOf(memberOf(map, 'internal'))) === true
  const place: JsonObject = nodeId === undefined ? {} : { nodeId }
  documents.push({ kind: 'Network', name, driver: 'bridge', ...labels, internal, ...place })
  return name
}

const OPTION = ['A network has a name, a driver, labels and internal, and no other option.'] as const
const ONE_NODE = 'A network is a bridge on one node.'

/** Visits the members of a network, and returns its labels. */
function visitNetwork({ report, credentials }: Planner, map: WrittenMap): JsonObject {
  let labels: JsonObject = {}
  visitMembers(map, {
    report,
    handlers: {
      ...{ name: () => {}, external: () => {}, internal: () => {} },
      driver(member) {
        if (textOf(member) !== 'bridge')
          report.changed(member, 'the driver is bridge', ONE_NODE, 'Use routes between nodes.')
      },
      labels(member) {
        const found = labelsOf({ report, credentials }, member)
        if (Object.keys(found).length > 0) labels = { labels: found }
      },
    },
    refusals: {
      ...{ attachable: OPTION, ipam: OPTION, driver_opts: OPTION },
      ...{ enable_ipv4: OPTION, enable_ipv6: OPTION },
    },
  })
  return labels
}
