// The lab's network: a bridge in its own namespace, unaffected by the host's packet filter, with one veth to the host and
// one to the namespace of each node and each machine of servers. A network cut is a packet filter rule in a node's namespace; the host has no such rule.

import { existsSync, readdirSync } from 'node:fs'
import { engineBinary } from '../engines/engine-binaries.ts'
import type { EngineCommand } from '../engines/engine-process.ts'
import { runCommand } from '../run-command.ts'

/** Addresses of all labs. Nodes use a registry at these addresses over plain HTTP. */
export const LAB_ADDRESSES = '10.99.0.0/16'
const NAMESPACES = '/run/netns'

export interface Wire {
  readonly number: number
  readonly prefix: string
  /** The host's address on the lab's network, where the control plane and the registry listen. */
  readonly hostAddress: string
}
export interface WireEnd {
  readonly namespace: string
  readonly address: string
}
/** A network cut: packets from one address to the other are dropped. */
export interface Cut {
  readonly from: string
  readonly to: string
}

const ip = (text: string): string => runCommand(engineBinary('ip'), text.split(' '))
const bridgeNamespace = (prefix: string): string => `${prefix}-lan`

export const namespaceFile = (namespace: string): string => `${NAMESPACES}/${namespace}`

export function layWire(slot: { readonly number: number; readonly prefix: string }): Wire {
  const { prefix, number } = slot
  const lan = bridgeNamespace(prefix)
  const hostAddress = `10.99.${number}.1`
  ip(`netns add ${lan}`)
  ip(`-n ${lan} link add lan type bridge`)
  ip(`-n ${lan} link set lan up`)
  ip(`link add ${prefix} type veth peer name host netns ${lan}`)
  ip(`-n ${lan} link set host master lan up`)
  ip(`addr add ${hostAddress}/24 dev ${prefix}`)
  ip(`link set ${prefix} up`)
  return { number, prefix, hostAddress }
}

/** Namespace and address of the machine with number `index`, counted from 1. */
export function wireEnd(wire: Wire, index: number): WireEnd {
  return { namespace: `${wire.prefix}-n${index}`, address: `10.99.${wire.number}.${10 + index}` }
}

/** Numbers of the machines of servers follow those of all nodes: 10.99.N.241 and up. */
const BEFORE_SERVERS = 230

/** Creates the machines of servers on the lab's network. They are removed with the lab. */
export function plugInServers(wire: Wire, count: number): WireEnd[] {
  return Array.from({ length: count }, (_, at) => {
    const index = BEFORE_SERVERS + at + 1
    plugIn(wire, index)
    return wireEnd(wire, index)
  })
}

/** A command that runs in the network namespace of a machine, as the process that was started. */
export function inNamespace(namespace: string, command: EngineCommand): EngineCommand {
  const args = [`--net=${namespaceFile(namespace)}`, command.binary, ...command.args]
  return { ...command, binary: engineBinary('nsenter'), args }
}

/** Creates the network namespace of a machine, with eth0 connected to the lab's bridge. */
export function plugIn(wire: Wire, index: number): void {
  const end = wireEnd(wire, index)
  const lan = bridgeNamespace(wire.prefix)
  ip(`netns add ${end.namespace}`)
  ip(`-n ${lan} link add n${index} type veth peer name eth0 netns ${end.namespace}`)
  ip(`-n ${lan} link set n${index} master lan up`)
  // The node's hardware address stays the same after a power cut, because other nodes have cached it.
  ip(`-n ${end.namespace} link set eth0 address ${hardwareAddress(index)}`)
  ip(`-n ${end.namespace} addr add ${end.address}/24 dev eth0`)
  ip(`-n ${end.namespace} link set eth0 up`)
  ip(`-n ${end.namespace} link set lo up`)
  ip(`-n ${end.namespace} route add default via ${wire.hostAddress}`)
}

const hardwareAddress = (index: number): string => `02:00:00:00:00:${index.toString(16).padStart(2, '0')}`

/**
 * Removes the node's network. Deletes the veth first: the namespace exists a moment longer than its name and would keep
 * the bridge port in use.
 */
export function unplug(wire: Wire, index: number): void {
  ip(`-n ${bridgeNamespace(wire.prefix)} link del n${index}`)
  ip(`netns del ${wire.prefix}-n${index}`)
}

/** Disconnects the node from the lab's bridge at once. Its processes notice nothing and close no connection. */
export function disconnect(wire: Wire, index: number): void {
  ip(`-n ${bridgeNamespace(wire.prefix)} link set n${index} down`)
}

export function removeLabNetwork(prefix: string): void {
  if (existsSync(`/sys/class/net/${prefix}`)) ip(`link del ${prefix}`)
  if (!existsSync(NAMESPACES)) return
  for (const name of readdirSync(NAMESPACES)) if (name.startsWith(`${prefix}-`)) ip(`netns del ${name}`)
}

/**
 * Adds a packet filter rule that cuts off a node. The receiver drops packets, so that the sender notices nothing; if the
 * receiver is the host, the sender's last hook drops them. The rules apply before and after routing, so that containers
 * are cut off like the node itself.
 */
export function cutRule(end: WireEnd, { from, to }: Cut): void {
  if (to === end.address) mangle(end, ['-A', 'PREROUTING', '-s', from, '-j', 'DROP'])
  else mangle(end, ['-A', 'POSTROUTING', '-d', to, '-j', 'DROP'])
}

export function removeCuts(end: WireEnd): void {
  mangle(end, ['-F', 'PREROUTING'])
  mangle(end, ['-F', 'POSTROUTING'])
}

/**
 * Makes the kernel move pending connection requests of a closing listener to a new listener at the same address, so that
 * a router's reload breaks no connection.
 */
export function migrateRequests({ namespace }: WireEnd): void {
  const set = 'echo 1 > /proc/sys/net/ipv4/tcp_migrate_req'
  runCommand(engineBinary('nsenter'), [`--net=${namespaceFile(namespace)}`, '/bin/sh', '-c', set])
}

function mangle(end: WireEnd, rule: readonly string[]): void {
  const enter = [`--net=${namespaceFile(end.namespace)}`, engineBinary('iptables'), '--wait', '-t', 'mangle']
  runCommand(engineBinary('nsenter'), [...enter, ...rule])
}
