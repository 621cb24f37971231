// Plans what the router serves: each routed deployment with its ready replicas on this node, and the other nodes with
// ready replicas. A replica whose readiness is not verified yet stays in the router if it was there. Pure.
// See docs/design/routing.md#upstreams.

import {
  type AssignmentId,
  MAX_CANARY_WEIGHT,
  type Owner,
  ownerOf,
  type Route,
  type RoutedDeployment,
} from '@holdfast/contract'
import { hostOfPeer, unusablePeerHost } from '@holdfast/core/node'
import { type Backend, type Pool, poolNames, type Upstreams } from '../ports/router.ts'

export interface LocalReplica {
  readonly owner: Owner
  readonly assignmentId: AssignmentId
  /** Identifies the current run of the replica's container; undefined until a container was seen. */
  readonly run: string | undefined
  readonly address: string | undefined
  readonly state: 'serves' | 'unverified' | 'out'
}

/**
 * Identifies one run of a container, from start to end. A withdrawn container that starts again is a new run, so it is
 * routed.
 */
export const runOf = ({
  id,
  startedAt,
}: {
  readonly id: string
  readonly startedAt: string | null
}): string => `${id} ${startedAt}`

/** Addresses for one deployment. Without secure ones, or while none of them can be dialed, the plain ones are used. */
export interface ChosenPeers {
  readonly peers: readonly string[]
  readonly securePeers: readonly string[]
}

export interface RoutingFacts {
  readonly table: readonly RoutedDeployment[]
  readonly replicas: readonly LocalReplica[]
  /** The router's current upstreams, by the name of their pool. */
  readonly upstreams: ReadonlyMap<string, readonly string[]>
  /** Addresses withdrawn from the router, each with the container run that had the address. */
  readonly withdrawn: ReadonlyMap<string, string>
  /** Chooses between plain HTTP and mutual TLS; without it, peers are reached by plain HTTP. */
  choose?(peers: readonly string[]): ChosenPeers
}

export function planBackends(facts: RoutingFacts): Backend[] {
  const { choose = (peers: readonly string[]) => ({ peers }) } = facts
  const replicas = Map.groupBy(facts.replicas, ({ owner }) => owner)
  const holders = new Map(facts.replicas.map(({ address, owner }) => [address, owner]))
  const poolOf = (
    owner: Owner,
    name: string,
    own: readonly LocalReplica[],
    given: readonly string[],
    isLost: boolean,
  ): Pool => {
    const peers = given.filter(isPeerAddress)
    // A lost replica may still run. It gets requests only while no other node has a replica.
    const local = isLost && peers.length > 0 ? [] : localAddresses(owner, name, own, facts, holders)
    return { local, ...choose(peers) }
  }
  return oneOfEachName(facts.table).map(({ deployment, name, routes, peers, canary, lost = false }) => {
    const owner = ownerOf('deployment', deployment)
    const all = replicas.get(owner) ?? []
    const backend = { name, routes: routes.filter(isValid) }
    if (canary === undefined) return { ...backend, ...poolOf(owner, name, all, peers, lost) }
    const marked = new Set(canary.replicas)
    const [own = [], others = []] = [true, false].map((isCanary) =>
      all.filter(({ assignmentId }) => marked.has(assignmentId) === isCanary),
    )
    const pools = poolNames(name)
    const weight = Math.min(Math.max(0, Math.trunc(canary.weight)), MAX_CANARY_WEIGHT)
    return {
      ...backend,
      ...poolOf(owner, pools.stable, others, peers, lost),
      // Replicas of a canary that is over receive nothing.
      ...(weight === 0
        ? {}
        : { canary: { weight, ...poolOf(owner, pools.canary, own, canary.peers, lost) } }),
    }
  })
}

/** The addresses that the router sends requests to, by pool. */
export const upstreamsOf = (backends: readonly Backend[]): Upstreams =>
  new Map(
    backends.flatMap(({ name, local, canary }) => {
      const { stable, canary: other } = poolNames(name)
      return [[stable, local] as const, ...(canary === undefined ? [] : [[other, canary.local] as const])]
    }),
  )

/**
 * Keeps one deployment per name. A deployment that was deleted and created again may be listed twice; the newer one is
 * kept.
 */
function oneOfEachName(table: readonly RoutedDeployment[]): RoutedDeployment[] {
  const byName = new Map<string, RoutedDeployment>()
  const inOrder = table.toSorted((a, b) => (a.deployment < b.deployment ? -1 : 1))
  for (const entry of inOrder) if (NAME.test(entry.name)) byName.set(entry.name, entry)
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function localAddresses(
  owner: Owner,
  name: string,
  replicas: readonly LocalReplica[],
  { upstreams, withdrawn }: RoutingFacts,
  holders: ReadonlyMap<string | undefined, Owner>,
): string[] {
  const current = upstreams.get(name) ?? []
  const serving = replicas.filter(
    ({ state, address, run }) =>
      state === 'serves' && address !== undefined && withdrawn.get(address) !== run,
  )
  const unverified = replicas.filter(({ state }) => state === 'unverified')
  const out = new Set(replicas.flatMap(({ state, address }) => (state === 'out' ? (address ?? []) : [])))
  const isKept = (address: string): boolean =>
    !withdrawn.has(address) &&
    !out.has(address) &&
    (holders.get(address) ?? owner) === owner &&
    unverified.some((one) => one.address === undefined || one.address === address)
  const addresses = [...serving.flatMap(({ address }) => address ?? []), ...current.filter(isKept)]
  return [...new Set(addresses)].filter((address) => ADDRESS.test(address)).toSorted()
}

// The agent does not trust the control plane blindly: a name or address that admission would not accept is left out,
// because a router might interpret special characters in it.
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const HOST = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/
const PATH = /^\/$|^(\/[A-Za-z0-9._~-]+)+$/
const PEER = /^([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]):[0-9]{1,5}$/
const ADDRESS = /^[0-9]{1,3}(\.[0-9]{1,3}){3}$/
const MAX_PORT = 65_535

export const isPeerAddress = (text: string): boolean =>
  PEER.test(text) && unusablePeerHost(hostOfPeer(text)) === undefined

const isValid = ({ host, path, port }: Route): boolean =>
  HOST.test(host) && PATH.test(path) && Number.isInteger(port) && port > 0 && port <= MAX_PORT
