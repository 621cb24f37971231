// Exports all kinds of stored records; each file in records/ describes one subject. COLLECTIONS lists every collection.

import { accessAudit, audit, cancels, events, idempotentAnswers, readAudit } from './records/activity.ts'
import { backupDrafts, backupParts, backups } from './records/backups.ts'
import type { Collection } from './records/collection.ts'
import { archive, deployments, removals, routeClaims } from './records/deployments.ts'
import { jobs } from './records/jobs.ts'
import { networkNames, networkReports, networks } from './records/networks.ts'
import { joinTokens, nodeNames, nodes } from './records/nodes.ts'
import { decisionParts, decisions, observations, placements } from './records/placements.ts'
import { credentials, intents, proofKeys, registryCredentials } from './records/secrets.ts'
import { chains, epochs, formats, serverReplicas, shards } from './records/servers.ts'
import {
  execTickets,
  newMounts,
  platform,
  signIns,
  slots,
  tenantNames,
  tenants,
  tokenIssues,
  tokens,
} from './records/tenants.ts'
import {
  copyReports,
  poolMarks,
  pools,
  volumeNames,
  volumes,
  volumeUse,
  volumeWriters,
} from './records/volumes.ts'

export * from './records/activity.ts'
export * from './records/backups.ts'
export type { Collection } from './records/collection.ts'
export * from './records/deployments.ts'
export * from './records/jobs.ts'
export * from './records/networks.ts'
export * from './records/nodes.ts'
export * from './records/placements.ts'
export * from './records/secrets.ts'
export * from './records/servers.ts'
export * from './records/tenants.ts'
export * from './records/volumes.ts'

export const COLLECTIONS: readonly Collection<unknown>[] = [
  deployments,
  slots,
  routeClaims,
  registryCredentials,
  credentials,
  archive,
  backups,
  backupDrafts,
  backupParts,
  events,
  audit,
  accessAudit,
  readAudit,
  idempotentAnswers,
  tenants,
  tenantNames,
  platform,
  proofKeys,
  tokens,
  tokenIssues,
  removals,
  intents,
  newMounts,
  cancels,
  nodes,
  placements,
  decisions,
  decisionParts,
  observations,
  nodeNames,
  joinTokens,
  execTickets,
  signIns,
  shards,
  serverReplicas,
  formats,
  epochs,
  chains,
  volumes,
  copyReports,
  pools,
  poolMarks,
  volumeNames,
  volumeUse,
  volumeWriters,
  networks,
  networkReports,
  networkNames,
  jobs,
]
