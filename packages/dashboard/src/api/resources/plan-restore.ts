// The dry run of a restore, for the revision of the deployment that it would replace.

import type { Client } from '@holdfast/client'
import type { Backup } from '@holdfast/contract'
import { matching } from '../matching.ts'

type Clients = Pick<Client, 'backups' | 'deployments'>

export async function planRestore(
  { backups, deployments }: Clients,
  { id, deploymentName }: Pick<Backup, 'id' | 'deploymentName'>,
  options: { readonly signal: AbortSignal },
) {
  const stored = await deployments.read(deploymentName, options)
  // A deployment that is gone is created again: there is no revision that another change could make.
  const revision = stored.ok ? stored.value.revision : undefined
  const planned = await backups.dryRuns.restore(id, { ...options, ...matching(revision) })
  return planned.ok ? { ...planned, value: { ...planned.value, revision } } : planned
}
