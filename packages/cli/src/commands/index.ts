// The list of all commands. Parsing, help, completion and docs/cli are derived from it.

import type { Command } from '../command.ts'
import { apply } from './apply.ts'
import { audit } from './audit.ts'
import { backupCreate } from './backup/backup-create.ts'
import { backupDelete } from './backup/backup-delete.ts'
import { backupDescribe } from './backup/backup-describe.ts'
import { backupList } from './backup/backup-list.ts'
import { backupRestore } from './backup/backup-restore.ts'
import { completion } from './completion.ts'
import { contextList } from './context/context-list.ts'
import { contextUse } from './context/context-use.ts'
import { remove } from './delete.ts'
import { describe } from './describe.ts'
import { diff } from './diff.ts'
import { events } from './events.ts'
import { exec } from './exec.ts'
import { explain } from './explain.ts'
import { get } from './get.ts'
import { importCompose } from './import/import-compose.ts'
import { init } from './init.ts'
import { jobCancel } from './job/job-cancel.ts'
import { jobDescribe } from './job/job-describe.ts'
import { jobList } from './job/job-list.ts'
import { jobLogs } from './job/job-logs.ts'
import { run } from './job/run.ts'
import { login } from './login.ts'
import { logs } from './logs.ts'
import { networkCreate } from './network/network-create.ts'
import { networkDelete } from './network/network-delete.ts'
import { networkDescribe } from './network/network-describe.ts'
import { networkList } from './network/network-list.ts'
import { nodeContainers } from './node/node-containers.ts'
import { nodeCordon } from './node/node-cordon.ts'
import { nodeDrain } from './node/node-drain.ts'
import { nodeJoinToken } from './node/node-join-token.ts'
import { nodeList } from './node/node-list.ts'
import { nodeRelease } from './node/node-release.ts'
import { nodeRemove } from './node/node-remove.ts'
import { nodeUncordon } from './node/node-uncordon.ts'
import { nodeUpgrade } from './node/node-upgrade.ts'
import { ps } from './ps.ts'
import { registryList } from './registry/registry-list.ts'
import { registryLogin } from './registry/registry-login.ts'
import { registryLogout } from './registry/registry-logout.ts'
import { canaryAbort } from './rollout/canary/canary-abort.ts'
import { canaryPromote } from './rollout/canary/canary-promote.ts'
import { canaryStart } from './rollout/canary/canary-start.ts'
import { canaryStatus } from './rollout/canary/canary-status.ts'
import { rolloutHistory } from './rollout/rollout-history.ts'
import { rolloutRestart } from './rollout/rollout-restart.ts'
import { rolloutStatus } from './rollout/rollout-status.ts'
import { rolloutUndo } from './rollout/rollout-undo.ts'
import { routeList } from './route-list.ts'
import { scale } from './scale.ts'
import { scalingDelete } from './scaling/scaling-delete.ts'
import { scalingSet } from './scaling/scaling-set.ts'
import { scalingShow } from './scaling/scaling-show.ts'
import { secretConsumers } from './secret/secret-consumers.ts'
import { secretDelete } from './secret/secret-delete.ts'
import { secretList } from './secret/secret-list.ts'
import { secretRotate } from './secret/secret-rotate.ts'
import { secretRotation } from './secret/secret-rotation.ts'
import { secretSet } from './secret/secret-set.ts'
import { setEnv } from './set/set-env.ts'
import { setImage } from './set/set-image.ts'
import { status } from './status.ts'
import { tenantCreate } from './tenant/tenant-create.ts'
import { tenantQuota } from './tenant/tenant-quota.ts'
import { tenantRemove } from './tenant/tenant-remove.ts'
import { tokenCreate } from './tenant/token-create.ts'
import { tokenList } from './tenant/token-list.ts'
import { tokenRevoke } from './tenant/token-revoke.ts'
import { topDeployments } from './top/top-deployments.ts'
import { topNodes } from './top/top-nodes.ts'
import { topReplicas } from './top/top-replicas.ts'
import { validate } from './validate.ts'
import { version } from './version.ts'
import { volumeCreate } from './volume/volume-create.ts'
import { volumeDelete } from './volume/volume-delete.ts'
import { volumeDescribe } from './volume/volume-describe.ts'
import { volumeDivergences } from './volume/volume-divergences.ts'
import { volumeDivergencesDelete } from './volume/volume-divergences-delete.ts'
import { volumeDivergencesDownload } from './volume/volume-divergences-download.ts'
import { volumeList } from './volume/volume-list.ts'
import { volumePromote } from './volume/volume-promote.ts'
import { volumeRecommendations, volumeRecommendationsApply } from './volume/volume-recommendations.ts'
import { volumeReplicaAdd, volumeReplicaRemove } from './volume/volume-replica.ts'
import { volumeResize } from './volume/volume-resize.ts'
import { whoami } from './whoami.ts'
import { why } from './why.ts'

export const COMMANDS: readonly Command[] = [
  login,
  contextList,
  contextUse,
  whoami,
  init,
  importCompose,
  validate,
  diff,
  apply,
  remove,
  scale,
  scalingSet,
  scalingShow,
  scalingDelete,
  setImage,
  setEnv,
  get,
  ps,
  describe,
  why,
  explain,
  events,
  audit,
  logs,
  exec,
  run,
  jobList,
  jobDescribe,
  jobLogs,
  jobCancel,
  status,
  topNodes,
  topDeployments,
  topReplicas,
  rolloutStatus,
  rolloutHistory,
  rolloutUndo,
  rolloutRestart,
  canaryStart,
  canaryStatus,
  canaryPromote,
  canaryAbort,
  backupList,
  backupCreate,
  backupDescribe,
  backupRestore,
  backupDelete,
  nodeList,
  nodeJoinToken,
  nodeCordon,
  nodeUncordon,
  nodeDrain,
  nodeUpgrade,
  nodeRemove,
  nodeRelease,
  nodeContainers,
  tenantCreate,
  tenantQuota,
  tenantRemove,
  tokenCreate,
  tokenList,
  tokenRevoke,
  routeList,
  registryList,
  registryLogin,
  registryLogout,
  secretList,
  secretSet,
  secretDelete,
  secretConsumers,
  secretRotate,
  secretRotation,
  volumeList,
  volumeCreate,
  volumeDescribe,
  volumeResize,
  volumePromote,
  volumeDelete,
  volumeReplicaAdd,
  volumeReplicaRemove,
  volumeDivergences,
  volumeDivergencesDownload,
  volumeDivergencesDelete,
  volumeRecommendations,
  volumeRecommendationsApply,
  networkList,
  networkCreate,
  networkDescribe,
  networkDelete,
  completion,
  version,
]

export const GROUPS: { readonly [word: string]: string } = {
  context: 'choose the platform that commands use',
  top: 'show how much CPU and memory is used',
  scaling: 'let the usage decide how many replicas a deployment has',
  import: 'translate files of other systems to manifests',
  set: 'change one field of a deployment',
  rollout: 'follow updates, show revisions, roll back, try changes',
  'rollout canary': 'try a change in a few replicas first',
  backup: 'back up deployments and restore them',
  job: 'list jobs, read their logs and cancel them',
  node: 'manage the machines of the tenant',
  route: 'list the routes of deployments',
  registry: 'manage image registries and their credentials',
  secret: 'manage secrets and rotate credentials',
  volume: 'manage volumes, which keep data when containers are replaced',
  'volume replica': 'choose the nodes that hold copies of a volume',
  network: 'manage networks, which connect chosen deployments',
  tenant: 'manage the tenants of the platform',
  token: 'manage the access tokens of a tenant',
}
