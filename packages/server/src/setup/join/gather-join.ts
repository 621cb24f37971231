// Observes what concerns several machines: the members of etcd, the vote of the secrets store, the addresses of this machine,
// and the certificates of the invitation. Changes nothing.

import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { connectMembersAt, readSecretsMembers } from '../../connect-engines.ts'
import type { EtcdMember, EtcdMembers } from '../../ports/etcd-members.ts'
import { gatherServiceConfig } from '../engines.ts'
import type { InvitedFacts, SetupFacts } from '../facts.ts'
import { readIfPresent } from '../files.ts'
import { CERTIFICATE_NAMES, type Layout, type SetupOptions } from '../layout.ts'
import type { Invitation } from './invitation.ts'
import { etcdUrl } from './network.ts'

type JoinFacts = Pick<SetupFacts, 'members' | 'hasEtcdData' | 'hasAddress' | 'voter' | 'invited'>

export async function gatherJoin(
  options: SetupOptions,
  layout: Layout,
  invitation: Invitation | undefined,
): Promise<JoinFacts> {
  const members = await gatherMembers(options, layout, invitation)
  const voter = options.joins === undefined ? 'unknown' : await gatherVoter(options, layout)
  return {
    members,
    voter,
    // A member that only failed to join has a folder, and no log of its own.
    hasEtcdData: existsSync(join(layout.etcdData, 'member/wal')),
    hasAddress: hasAddress(options.address),
    ...(invitation === undefined ? {} : { invited: readInvited(layout, invitation) }),
  }
}

export async function gatherMembers(
  options: SetupOptions,
  layout: Layout,
  invitation: Invitation | undefined,
): Promise<readonly EtcdMember[] | undefined> {
  const members = connectToMembers(options, layout, invitation)
  if (members === undefined) return undefined
  try {
    return await members.list()
  } catch {
    return undefined
  } finally {
    members.close()
  }
}

/** Connects with the certificate of this machine, or with that of the invitation while this machine has none. */
export function connectToMembers(
  options: SetupOptions,
  layout: Layout,
  invitation: Invitation | undefined,
): EtcdMembers | undefined {
  const files = layout.certificate('etcd-client-server')
  const ca = readIfPresent(layout.authority.cert) ?? invitation?.files['ca']
  const cert = readIfPresent(files.cert) ?? invitation?.files['etcd-client-server.pem']
  const key = readIfPresent(files.key) ?? invitation?.files['etcd-client-server-key.pem']
  if (ca === undefined || cert === undefined || key === undefined) return undefined
  const configured = gatherServiceConfig(layout, 'server')?.etcd.endpoints ?? []
  const endpoints = [etcdUrl(options), ...configured, ...(options.joins?.etcd ?? [])]
  return connectMembersAt([...new Set(endpoints)], { ca, cert, key })
}

export async function gatherVoter({ name }: SetupOptions, layout: Layout): Promise<SetupFacts['voter']> {
  const config = gatherServiceConfig(layout, 'server')
  if (config === undefined) return 'unknown'
  const read = await readSecretsMembers(config)
  if (read.kind === 'denied') return 'hidden'
  if (read.kind !== 'members') return 'unknown'
  return read.members.some((member) => member.name === name && member.isVoter) ? 'yes' : 'no'
}

const hasAddress = (address: string): boolean =>
  address.startsWith('127.') ||
  Object.values(networkInterfaces()).some((found) => found?.some((entry) => entry.address === address))

function readInvited(layout: Layout, { files }: Invitation): InvitedFacts {
  const notAfterMs = new Map<string, number>()
  for (const name of CERTIFICATE_NAMES) {
    const text = files[`${name}.pem`]
    if (text !== undefined)
      notAfterMs.set(layout.certificate(name).cert, new X509Certificate(text).validToDate.getTime())
  }
  const own = readIfPresent(layout.authority.cert)
  return { isForeign: own !== undefined && own !== files['ca'], notAfterMs }
}
