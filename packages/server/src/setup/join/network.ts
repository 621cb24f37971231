// The addresses of a machine among those of the platform: which URL names what, and what the members of etcd require of the
// files of this machine. Pure.

import type { EtcdMember } from '../../ports/etcd-members.ts'
import { LOOPBACK, type SetupOptions } from '../layout.ts'

type Own = Pick<SetupOptions, 'address' | 'ports'>

export const etcdUrl = ({ address, ports }: Own): string => `https://${authority(address, ports.etcd)}`
export const etcdPeerUrl = ({ address, ports }: Own): string =>
  `https://${authority(address, ports.etcdPeers)}`
export const secretsStoreUrl = ({ address, ports }: Own): string =>
  `https://${authority(address, ports.secretsStore)}`
export const clusterAddress = ({ address, ports }: Own): string =>
  authority(address, ports.secretsStoreCluster)

/** Host and port, with an IPv6 address in brackets. */
export const authority = (host: string, port: number): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

export const isLoopback = (address: string): boolean => address === LOOPBACK

/** The requirements of the members of etcd on the files of this machine. */
export interface Network {
  /** Names and addresses with which etcd starts for the first time; it ignores them afterwards. */
  readonly initialCluster: string
  /** The members that clients on this machine use, its own first; undefined while the members are unknown. */
  readonly endpoints: readonly string[] | undefined
}

export interface NetworkFacts {
  /** The members of etcd; undefined if none answers. */
  readonly members: readonly EtcdMember[] | undefined
  /** Whether etcd has data on this machine. */
  readonly hasEtcdData: boolean
  /** The environment file of etcd on this machine. */
  readonly etcdEnvironment: string | undefined
}

export function planNetwork(facts: NetworkFacts, options: SetupOptions): Network {
  return { initialCluster: initialCluster(facts, options), endpoints: endpointsOf(facts, options) }
}

/** The file of a member that has started is not written again because another machine joined. */
function initialCluster(facts: NetworkFacts, options: SetupOptions): string {
  const own = `${options.name}=${etcdPeerUrl(options)}`
  if (options.joins === undefined) return own
  const started = facts.hasEtcdData ? variableOf(facts.etcdEnvironment, 'ETCD_INITIAL_CLUSTER') : undefined
  if (started !== undefined) return started
  const others = (facts.members ?? []).filter((member) => !isOwn(member, options))
  const named = others.flatMap(({ id, name, peerUrls }) =>
    peerUrls.map((url) => `${name === '' ? `added-${id.toString(16)}` : name}=${url}`),
  )
  return [...named.toSorted(), own].join(',')
}

export const isOwn = ({ peerUrls }: EtcdMember, options: Own): boolean =>
  peerUrls.includes(etcdPeerUrl(options))

/** Learners refuse most requests, so clients do not use them. */
function endpointsOf({ members }: NetworkFacts, options: SetupOptions): readonly string[] | undefined {
  const own = etcdUrl(options)
  if (members === undefined) return undefined
  // While the machine gets an address, its own member still has the one before.
  const isOther = (member: EtcdMember) => member.name !== options.name && !isOwn(member, options)
  const others = members.filter((member) => !member.isLearner && isOther(member))
  const urls = others.flatMap(({ clientUrls }) => clientUrls.slice(0, 1))
  return options.joins === undefined && isLoopback(options.address) ? [own] : [own, ...urls.toSorted()]
}

/** The address that an earlier setup gave etcd; undefined without one. */
export function configuredAddress(etcdEnvironment: string | undefined): string | undefined {
  const url = variableOf(etcdEnvironment, 'ETCD_LISTEN_CLIENT_URLS')
  return url === undefined ? undefined : new URL(url).hostname.replaceAll(/[[\]]/g, '')
}

function variableOf(environment: string | undefined, name: string): string | undefined {
  const line = environment?.split('\n').find((text) => text.startsWith(`${name}=`))
  return line?.slice(name.length + 1)
}
