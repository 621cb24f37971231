// The agent's port to the machine for containers with volumes.

import type { HostVolumes } from '../ports/host-volumes.ts'
import { createSeedFolder } from './btrfs/seed-folder.ts'
import { createMountTable } from './kernel/mount-table.ts'
import { createWriterCgroups } from './kernel/writer-cgroups.ts'

export const createHostVolumes = (cgroup: string): HostVolumes => ({
  ...createMountTable(),
  ...createSeedFolder(),
  ...createWriterCgroups(cgroup),
})
