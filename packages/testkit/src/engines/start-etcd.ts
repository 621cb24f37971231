// Starts a real etcd cluster on free loopback ports. The cluster is ready on return and ends with this process.

import { freePorts } from '../free-port.ts'
import type { TempFolder } from '../temp-folder.ts'
import { waitUntil } from '../wait-until.ts'
import { type EngineHome, openHome, retryPortClash, subfolder } from './engine-home.ts'
import { readEtcdStatus } from './etcd-admin.ts'
import { type EtcdMember, launchMember, type MemberPlan } from './etcd-member.ts'

export interface EtcdOptions extends EngineHome {
  readonly members?: number
  /** Database size in bytes at which etcd rejects writes. */
  readonly quotaBytes?: number
  /** Number of Raft entries between two snapshots. A small number makes members really catch up from snapshots. */
  readonly snapshotCount?: number
  /** Further command-line flags of etcd. */
  readonly flags?: readonly string[]
}

export interface EtcdCluster {
  readonly endpoints: string[]
  readonly members: EtcdMember[]
  /** The current leader of the cluster; waits while the cluster has no leader. */
  findLeader(): Promise<EtcdMember>
  /** Kills every member of the cluster and removes the temporary folder. */
  stop(): Promise<void>
}

const GIBIBYTE = 1024 ** 3

/**
 * Starts a cluster. Auto-compaction is off, because the product compacts. fsync is on, so that a killed member loses no
 * acknowledged write.
 */
export function startEtcd(options: EtcdOptions = {}): Promise<EtcdCluster> {
  return retryPortClash(async () => {
    const folder = openHome('etcd', options)
    const launched = (await planMembers(folder, options)).map(launchMember)
    const stop = async () => {
      await Promise.all(launched.map((one) => one.kill()))
      folder.remove()
    }
    try {
      await Promise.all(launched.map((one) => one.ready()))
    } catch (error) {
      await stop()
      throw error
    }
    const endpoints = launched.map((one) => one.endpoint)
    return { endpoints, members: launched, findLeader: () => findLeader(launched), stop }
  })
}

async function planMembers(folder: TempFolder, options: EtcdOptions): Promise<MemberPlan[]> {
  const count = options.members ?? 1
  const ports = await freePorts(count * 2)
  const cluster: MemberPlan[] = []
  for (let index = 0; index < count; index += 1) {
    const name = `etcd-${index + 1}`
    const [clientPort = 0, peerPort = 0] = ports.slice(index * 2)
    const detached = options.detached === true
    cluster.push({
      name,
      clientPort,
      peerPort,
      detached,
      cluster,
      folder: subfolder(folder, name),
      flags: serverFlags(count, options),
    })
  }
  return cluster
}

function serverFlags(members: number, options: EtcdOptions): string[] {
  // A single member needs no votes of other members, so short timeouts make it ready sooner.
  const election = members === 1 ? ['--heartbeat-interval=10', '--election-timeout=100'] : []
  return [
    `--quota-backend-bytes=${options.quotaBytes ?? 4 * GIBIBYTE}`,
    `--snapshot-count=${options.snapshotCount ?? 5_000}`,
    '--log-level=error',
    ...election,
    ...(options.flags ?? []),
  ]
}

function findLeader(members: readonly EtcdMember[]): Promise<EtcdMember> {
  return waitUntil(
    async () => {
      const statuses = await Promise.allSettled(members.map((one) => readEtcdStatus(one.endpoint)))
      const leaderIndex = statuses.findIndex(
        (one) => one.status === 'fulfilled' && one.value.leaderId === one.value.memberId,
      )
      return members[leaderIndex]
    },
    { what: 'etcd has a leader' },
  )
}
