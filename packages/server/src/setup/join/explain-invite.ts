// The reasons why this machine cannot invite another one. Pure.

import type { EtcdMember } from '../../ports/etcd-members.ts'
import { isLoopback } from './network.ts'

export interface InviteFacts {
  /** Files that the invitation needs and that are missing. */
  readonly missing: readonly string[]
  readonly authorityKey: string
  /** The address of etcd on this machine. */
  readonly ownAddress: string | undefined
  readonly members: readonly EtcdMember[] | undefined
}

interface Guest {
  readonly name: string
  readonly address: string
}

export function explainInvite(facts: InviteFacts, guest: Guest): string[] {
  const { missing, authorityKey, ownAddress, members } = facts
  if (ownAddress === undefined) return ['This machine has no platform. Run setup --single first.']
  if (isLoopback(ownAddress))
    return [
      'etcd and the secrets store listen on loopback. Run setup --single again with --address and the address at which other machines reach this one.',
    ]
  const files = missing.map((path) =>
    path === authorityKey
      ? `The key of the authority is not at ${path}, and signs the certificates of the new machine. Copy it there for this run, or run this on the machine that has it.`
      : `${path} is missing. Run setup again.`,
  )
  if (members === undefined) return [...files, 'etcd does not answer. Run setup again, or the doctor.']
  return [...files, ...explainGuest(members, guest)]
}

/** A member may be invited again, which renews its certificates. */
function explainGuest(members: readonly EtcdMember[], guest: Guest): string[] {
  const hostsOf = ({ peerUrls }: EtcdMember) =>
    peerUrls.map((url) => new URL(url).hostname.replaceAll(/[[\]]/g, ''))
  const named = members.find(({ name }) => name === guest.name)
  if (named !== undefined && !hostsOf(named).includes(guest.address))
    return [`${guest.name} is a member with the address ${hostsOf(named).join(', ')}. Choose another name.`]
  const placed = members.find((member) => hostsOf(member).includes(guest.address))
  if (placed !== undefined && placed.name !== '' && placed.name !== guest.name)
    return [`${guest.address} is the address of the member ${placed.name}. Invite it under that name.`]
  return []
}
