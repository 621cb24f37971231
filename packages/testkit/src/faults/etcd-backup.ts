// An etcd of one member and an earlier copy of its disk, as a restored backup. etcd itself has no mark of a restore; only its
// revision is lower.

import { cpSync, rmSync } from 'node:fs'
import type { EtcdCluster } from '@holdfast/testkit'

export interface EtcdBackup {
  /** Discards everything since the backup; resolves when etcd answers. */
  restore(): Promise<void>
}

export async function backUp({ members }: EtcdCluster): Promise<EtcdBackup> {
  const [member, ...others] = members
  if (member === undefined || others.length > 0)
    throw new Error('a backup needs a cluster of exactly one member')
  const copy = `${member.dataDir}-backup`
  // The files are copied while no process uses them.
  const whileDown = async (change: () => void): Promise<void> => {
    await member.kill()
    change()
    await member.restart()
  }
  await whileDown(() => cpSync(member.dataDir, copy, { recursive: true }))
  return {
    restore: () =>
      whileDown(() => {
        rmSync(member.dataDir, { recursive: true })
        cpSync(copy, member.dataDir, { recursive: true })
      }),
  }
}
