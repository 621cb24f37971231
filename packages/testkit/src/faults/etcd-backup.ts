// An etcd of one member and an earlier copy of its disk, to be restored as a backup. etcd does not record that it was
// restored; the only sign is a lower revision.

import { cpSync, rmSync } from 'node:fs'
import type { EtcdCluster } from '@holdfast/testkit'

export interface EtcdBackup {
  /** Restores the backup and discards all later changes; resolves when etcd answers. */
  restore(): Promise<void>
}

export async function backUp({ members }: EtcdCluster): Promise<EtcdBackup> {
  const [member, ...others] = members
  if (member === undefined || others.length > 0)
    throw new Error('a backup needs a cluster of exactly one member')
  const copy = `${member.dataDir}-backup`
  // Stops etcd while the files are copied, so that no process uses them.
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
