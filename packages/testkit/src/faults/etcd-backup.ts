// An etcd of one member and a copy of its disk from earlier: as a backup that is put back. Nothing of etcd's own tells the
// restored one from the one before, its revision is only lower.

import { cpSync, rmSync } from 'node:fs'
import type { EtcdCluster } from '@holdfast/testkit'

export interface EtcdBackup {
  /** Everything since then is gone; returns when etcd answers. */
  restore(): Promise<void>
}

export async function backUp({ members }: EtcdCluster): Promise<EtcdBackup> {
  const [member, ...others] = members
  if (member === undefined || others.length > 0) throw new Error('Only a lone member is backed up.')
  const copy = `${member.dataDir}-backup`
  // Between two processes: what is copied is at rest.
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
