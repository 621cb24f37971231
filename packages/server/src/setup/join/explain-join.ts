// The reasons why this machine cannot have its address, or cannot join the others. Pure.

import type { SetupFacts } from '../facts.ts'
import { layoutBelow, type SetupOptions } from '../layout.ts'
import { etcdPeerUrl, isLoopback, isOwn } from './network.ts'

export function explainAddress(facts: SetupFacts, options: SetupOptions): string[] {
  const { address, joins } = options
  const { hasAddress, configuredAddress, members = [] } = facts
  const isKnown = configuredAddress !== undefined && configuredAddress !== address && members.length > 1
  return [
    ...(hasAddress ? [] : [`This machine has no address ${address}. Pass one that \`ip address\` lists.`]),
    ...(joins === undefined && isKnown
      ? [
          `The other machines know this one by the address ${configuredAddress}. Pass that one, or omit --address.`,
        ]
      : []),
    ...(configuredAddress !== undefined && !isLoopback(configuredAddress) && isLoopback(address)
      ? ['A machine that others may have joined keeps its address. Pass --address.']
      : []),
  ]
}

export function explainJoin(facts: SetupFacts, options: SetupOptions): string[] {
  if (options.joins === undefined) return []
  const { config, etcdData, secretsStoreData } = layoutBelow(options.root)
  if (facts.invited?.isForeign === true)
    return [
      `This machine belongs to another platform: ${config} has the certificate of another authority. Purge the packages to delete that platform, then join.`,
    ]
  const { members, hasEtcdData } = facts
  if (members === undefined && !hasEtcdData)
    return [
      `None of ${options.joins.etcd.join(', ')} answers as a member of etcd with a majority. Check the network and the firewall between the machines, and that etcd runs there.`,
    ]
  if (members !== undefined && hasEtcdData && !members.some((member) => isOwn(member, options)))
    return [
      `etcd has data in ${etcdData}, and no member has the address ${etcdPeerUrl(options)}. If the machine was removed from the platform, empty ${etcdData} and ${secretsStoreData}, then join again.`,
    ]
  const taken = members?.find((member) => member.name === options.name && !isOwn(member, options))
  return taken === undefined
    ? []
    : [`Another machine is the member ${options.name} of etcd. Invite this one under another name.`]
}
