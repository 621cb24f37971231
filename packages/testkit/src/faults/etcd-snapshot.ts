// A snapshot of an etcd of one member, restored as operators do it: with etcdutl, into an empty data folder.

import { rmSync } from 'node:fs'
import type { EtcdCluster } from '@holdfast/testkit'
import { engineBinary } from '../engines/engine-binaries.ts'
import { runCommandAsync } from '../run-command.ts'

export interface EtcdRestore {
  /** How much the revision is raised, and the history before it marked as compacted; absent: neither. */
  readonly bumpRevision?: number
  /** The cluster token; absent: the one with which the cluster was started, so that its id stays. */
  readonly token?: string
}

export interface EtcdSnapshot {
  /** Restores the snapshot and discards all later changes; resolves when etcd answers. */
  restore(options: EtcdRestore): Promise<void>
}

export async function takeSnapshot({ members }: EtcdCluster): Promise<EtcdSnapshot> {
  const [member, ...others] = members
  if (member === undefined || others.length > 0) throw new Error('a snapshot needs a cluster of one member')
  const { name, endpoint, peerUrl, dataDir } = member
  const file = `${dataDir}-snapshot`
  rmSync(file, { force: true })
  await runCommandAsync(engineBinary('etcdctl'), [`--endpoints=${endpoint}`, 'snapshot', 'save', file])
  return {
    async restore({ bumpRevision, token }) {
      await member.kill()
      rmSync(dataDir, { recursive: true })
      const bump = bumpRevision === undefined ? [] : [`--bump-revision=${bumpRevision}`, '--mark-compacted']
      await runCommandAsync(engineBinary('etcdutl'), [
        ...['snapshot', 'restore', file, `--name=${name}`, `--data-dir=${dataDir}`],
        ...[`--initial-cluster=${name}=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`],
        ...(token === undefined ? [] : [`--initial-cluster-token=${token}`]),
        ...bump,
      ])
      await member.restart()
    },
  }
}
