// When each type of event is emitted and what its `data` holds. The reference docs/reference/events.md is generated from
// this table, so every event type needs a row in the table.

import { CANARY_EVENT_DESCRIPTIONS } from '../texts/canary-event-texts.ts'
import type { EventType } from './event.ts'
import { JOB_EVENT_DESCRIPTIONS } from './job-event-descriptions.ts'
import { NETWORK_EVENT_DESCRIPTIONS } from './network-event-descriptions.ts'
import { type EventDescription, VOLUME_EVENT_DESCRIPTIONS } from './volume-event-descriptions.ts'

export type { EventDescription } from './volume-event-descriptions.ts'

const REPLICA_COUNTS = 'desired, placed and ready replicas'
const CAUSE = 'why the container failed, in words and at most 1 KiB; absent if it is not known'
const NODE_ID = 'id of the node'
const NODE_NAME = 'name of the node'
const DEPLOYMENT_NAME = 'name of the deployment'

/** A description of `null` marks an event type that is reserved for a future feature and never emitted. */
export const EVENT_DESCRIPTIONS: { readonly [type in EventType]: EventDescription | null } = {
  'deployment.created': {
    when: 'a deployment is created; `reason` is `created`, or `restored` if it was created from a backup',
    severity: ['info'],
    subjects: ['Deployment'],
    data: {
      revision: 'the first revision, 1',
      specHash: 'hash of the stored spec',
      backup: 'id of the backup; only of a restore',
    },
  },
  'deployment.updated': {
    when: 'a client stores another revision; `reason` is `updated`, `restarted`, `rolled_back`, `restored`, `promoted` or `rotated`',
    severity: ['info'],
    subjects: ['Deployment'],
    data: {
      revision: 'the new revision',
      specHash: 'hash of the stored spec',
      restored: 'the revision whose spec was restored; only of a rollback',
      backup: 'id of the backup; only of a restore',
    },
  },
  'deployment.scheduled': {
    when: 'the scheduler assigns replicas to nodes',
    severity: ['info'],
    subjects: ['Deployment'],
    data: {
      revision: 'the revision of the replicas',
      replicas: 'list of `{replica, nodeId, nodeName}`, one for each assigned replica',
    },
  },
  'deployment.unschedulable': {
    when: 'a replica fits on no node, and no replica of the deployment was ever assigned',
    severity: ['warning'],
    subjects: ['Deployment'],
    data: {
      summary: 'the refusals in one sentence',
      candidates: 'every node with its refusals and, if there is one, its remedy; absent if there are groups',
      groups:
        'nodes with equal reasons, their number and the first names, if the nodes are too many to list each',
    },
  },
  'deployment.displaced': {
    when: 'replicas leave a node that no longer meets the requirements of the deployment, failed or could not create a container; `reason` is `labels_changed`, `demands_changed`, `node_lost` or `creation_failed`',
    severity: ['warning'],
    subjects: ['Deployment'],
    data: {
      nodeId: NODE_ID,
      nodeName: NODE_NAME,
      filter: 'the filter that refuses the node; absent when the node failed',
      cause: 'why the container could not be created; absent otherwise',
      label: 'the label at fault, or null; absent when the node failed',
      required: 'what the deployment requires; absent when the node failed',
      reported: 'what the node reports; absent when the node failed',
      replicas: 'the replicas that leave, with their new node if they have one',
    },
  },
  'deployment.progressing': {
    when: 'an update starts or completes a step, the deployment waits for a dependency, or its deletion begins',
    severity: ['info'],
    subjects: ['Deployment'],
    data: {
      from: 'the revision that is replaced; when an update starts',
      to: 'the revision that is rolled out; when an update starts',
      changed: 'the changed fields; when an update starts',
      order: '`start-first` or `stop-first`; when an update starts',
      parallelism: 'replicas replaced at once; when an update starts',
      revision: 'the stored revision; otherwise',
      replicas:
        'the number of replicas when an update starts, the replicas that leave in a step, otherwise their counts',
    },
  },
  'deployment.running': {
    when: 'all desired replicas are ready',
    severity: ['info'],
    subjects: ['Deployment'],
    data: { revision: 'the stored revision', replicas: REPLICA_COUNTS },
  },
  'deployment.degraded': {
    when: 'fewer replicas are ready than desired, and no update explains it',
    severity: ['warning'],
    subjects: ['Deployment'],
    data: {
      revision: 'the stored revision',
      replicas: REPLICA_COUNTS,
      replica: 'number of the first replica whose container fails; absent if none does',
      cause: CAUSE,
    },
  },
  'deployment.stalled': {
    when: 'a replica of a deployment that ran before fits on no node, or a failed update is paused (`reason` is `update_paused`)',
    severity: ['warning', 'error'],
    subjects: ['Deployment'],
    data: {
      summary: 'the refusals in one sentence; of an unplaced replica',
      candidates: 'every node with its refusals; of an unplaced replica',
      revision: 'the failed revision; of a paused update',
      replica: 'number of the failed replica; of a paused update',
      failure: 'the reason as one word; of a paused update',
      cause: `${CAUSE}; of a paused update`,
      ready: 'replicas of the revision that were ready; of a paused update',
    },
  },
  'deployment.stopped': {
    when: 'a deployment with 0 desired replicas has no replica left',
    severity: ['info'],
    subjects: ['Deployment'],
    data: { revision: 'the stored revision', replicas: REPLICA_COUNTS },
  },
  'deployment.deleted': {
    when: 'the last container of a deleted deployment is gone and its record was removed',
    severity: ['info'],
    subjects: ['Deployment'],
    data: {},
  },
  'deployment.rolled_back': {
    when: 'an update failed and `update.failureAction` is `rollback`: the server returns to the last good revision, and the stored manifest stays the failed one',
    next: 'Read the cause in the event, then correct the manifest and apply it again, or store the one before it again with `holdfast rollout undo NAME`.',
    severity: ['error'],
    subjects: ['Deployment'],
    data: {
      revision: 'the failed revision',
      replica: 'number of the failed replica',
      failure: 'the reason as one word',
      cause: CAUSE,
      ready: 'replicas of the failed revision that were ready',
      nodeId: NODE_ID,
      nodeName: NODE_NAME,
      to: 'the revision that is restored',
    },
  },
  'deployment.failed': {
    when: 'a first revision fails: a replica exits three times, cannot be created or started in three attempts, becomes unhealthy or misses `update.progressDeadline`; once for each revision, and its containers are retried',
    next: 'Read the cause in the event, correct the manifest and apply it again. `holdfast logs NAME --previous` prints the last output.',
    severity: ['error'],
    subjects: ['Deployment'],
    data: {
      revision: 'the failed revision',
      replica: 'number of the failed replica',
      failure: 'the reason as one word, as in `reason`',
      cause: CAUSE,
      ready: 'replicas of the revision that were ready',
      nodeId: NODE_ID,
      nodeName: NODE_NAME,
    },
  },
  'deployment.scaled': {
    when: 'a scaling policy changes the desired number of replicas; `reason` is `scale_up` or `scale_down`, `policy_set` if a new policy has other bounds, or `policy_deleted`',
    severity: ['info'],
    subjects: ['Deployment'],
    data: {
      from: 'desired replicas before',
      to: 'desired replicas now',
      wanted: 'the number for the measured usage; of the first two reasons',
      measuredPercent: 'usage of the ready replicas in percent of the request; of the first two reasons',
      targetPercent: 'the target of the policy; of the first two reasons',
      ready: 'ready replicas; of the first two reasons',
    },
  },
  ...CANARY_EVENT_DESCRIPTIONS,
  'image.unreachable': {
    when: 'a deployment is stored although its registry did not answer; its replicas wait for the digest',
    severity: ['warning'],
    subjects: ['Deployment'],
    data: { image: 'the image reference', revision: 'the stored revision' },
  },
  'image.digest_missing': {
    when: 'the registry answers later that it does not have the image',
    severity: ['warning'],
    subjects: ['Deployment'],
    data: { image: 'the image reference' },
  },
  'image.digest_fixed': {
    when: 'the registry answers later and the image is pinned to its digest',
    severity: ['info'],
    subjects: ['Deployment'],
    data: { image: 'the image reference', digest: 'the digest that every replica runs' },
  },
  'secret.written': {
    when: 'a version of a secret is written or generated',
    severity: ['info'],
    subjects: ['Secret'],
    data: { path: '`<namespace>/<label>`', version: 'number of the new version' },
  },
  'secret.rotation_advanced': {
    when: 'a rotation enters its next phase; `reason` is the phase',
    severity: ['info'],
    subjects: ['Deployment'],
    data: {
      phase: 'the new phase',
      credentials: 'list of `{secret, path, old, new}` with the versions, one for each credential',
    },
  },
  'secret.rotation_aborted': {
    when: 'a rotation is aborted by a client, or by the server because no container uses the new version',
    severity: ['warning', 'info'],
    subjects: ['Deployment', 'Secret'],
    data: {
      phase: '`abort`; when a client aborts',
      credentials: 'as in `secret.rotation_advanced`; when a client aborts',
      path: '`<namespace>/<label>`; when the server aborts',
      destroyed: 'the versions that are destroyed; when the server aborts',
    },
  },
  'secret.unresolved': {
    when: 'a container cannot be created because one of its secrets is unavailable; once for each revision, secret and cause',
    severity: ['warning'],
    subjects: ['Deployment'],
    data: {
      revision: 'the revision of the container',
      secret: 'name of the entry, or null',
      cause: 'why it is unavailable',
      vault_path: 'path of the entry, or null',
    },
  },
  ...VOLUME_EVENT_DESCRIPTIONS,
  ...NETWORK_EVENT_DESCRIPTIONS,
  'node.enrolled': {
    when: 'a machine enrolls as a node, for the first time or again',
    severity: ['info'],
    subjects: ['Node'],
    data: {
      generation: 'how many times the node has enrolled',
      labels: 'the labels of the node',
      controlPlane: 'whether the control plane runs on it',
    },
  },
  'node.ready': {
    when: 'a node that was unreachable or failed opens a session again',
    severity: ['info'],
    subjects: ['Node'],
    data: { was: 'the previous status' },
  },
  'node.unreachable': {
    when: 'a node has sent no heartbeat for the configured time',
    severity: ['warning'],
    subjects: ['Node'],
    data: { was: 'the previous status' },
  },
  'node.failed': {
    when: 'an unreachable node is declared failed and its replicas are replaced',
    severity: ['error'],
    subjects: ['Node'],
    data: { was: 'the previous status' },
  },
  'node.degraded': {
    when: 'a part of a node does not work; `reason` is `engine_silent` if its container engine does not answer, published again as an error when its replicas are replaced, `disk_pressure` if the disk of its engine is nearly full, and `pool_changed` if its storage pool is another one than before',
    severity: ['warning', 'error'],
    subjects: ['Node'],
    data: {
      since: 'since when the part does not work; with `engine_silent` and `disk_pressure`',
      failed: 'whether the replicas of the node are replaced on other nodes; with `engine_silent`',
      usedPercent: 'the used part of the disk; with `disk_pressure`',
      poolId: 'the pool that the node had; with `pool_changed`',
      found: 'the pool that its agent found, null if it is unknown; with `pool_changed`',
    },
  },
  'node.recovered': {
    when: 'a part of a node works again; `reason` is that of the event `node.degraded` before',
    severity: ['info'],
    subjects: ['Node'],
    data: { since: 'since when the part did not work' },
  },
  'node.cordoned': {
    when: 'a node is cordoned, uncordoned or starts to drain; `reason` is `cordoned`, `uncordoned` or `draining`',
    severity: ['info'],
    subjects: ['Node'],
    data: { schedulable: 'whether it accepts new replicas', draining: 'true; only while it drains' },
  },
  'node.drained': {
    when: 'the last replica has left a node that drains',
    severity: ['info'],
    subjects: ['Node'],
    data: {},
  },
  'node.claim_released': {
    when: 'a node leaves the tenant; `reason` is `released`, `removed` or `forced`',
    severity: ['info', 'warning'],
    subjects: ['Node'],
    data: {
      pool: '`wiped`: the agent has confirmed that no data of volumes is left; `unknown`: it has not; `none`: the node has no storage pool',
    },
  },
  'node.labels_changed': {
    when: 'a node opens a session with other labels than before',
    severity: ['info'],
    subjects: ['Node'],
    data: { before: 'the labels before', after: 'the labels now' },
  },
  'node.labels_refused': {
    when: 'a node reports residency labels that its join token does not attest; they are ignored',
    severity: ['warning'],
    subjects: ['Node'],
    data: { refused: 'the ignored labels' },
  },
  'node.address_refused': {
    when: 'a node opens a session with addresses for other nodes at which none can reach it; they are ignored',
    severity: ['warning'],
    subjects: ['Node'],
    data: { refused: 'each address with the option that sets it and the kind of address', fix: 'what to do' },
  },
  'node.orphans_found': {
    when: 'more than half of the containers on a node belong to no assignment, so the agent removes none of them',
    severity: ['warning'],
    subjects: ['Node'],
    data: {
      count: 'number of these containers',
      containers: 'the first 20 container names',
      fix: 'what to do',
    },
  },
  ...JOB_EVENT_DESCRIPTIONS,
  'backup.created': {
    when: 'a backup of a deployment is complete and can be restored',
    severity: ['info'],
    subjects: ['Backup'],
    data: {
      deploymentName: DEPLOYMENT_NAME,
      deploymentRevision: 'the revision of the deployment that the backup contains',
      revisionCount: 'how many archived revisions it contains',
      sizeBytes: 'its size',
    },
  },
  'backup.restored': {
    when: 'a backup was restored; `reason` is `created` if the deployment was gone, else `updated`',
    severity: ['info'],
    subjects: ['Backup'],
    data: {
      deploymentName: DEPLOYMENT_NAME,
      deploymentRevision: 'the revision of the deployment that the backup contains',
      revision: 'the new revision of the deployment',
    },
  },
  'backup.deleted': {
    when: 'a backup is deleted',
    severity: ['info'],
    subjects: ['Backup'],
    data: { deploymentName: DEPLOYMENT_NAME, deploymentRevision: 'the revision that the backup contained' },
  },
  'quota.reached': {
    when: 'the quota of containers prevents a replica, or makes an update stop the old replica before it starts the new one',
    severity: ['warning'],
    subjects: ['Deployment'],
    data: { kind: '`containers`', replicas: 'numbers of the replicas that are stopped first' },
  },
  'tenant.created': { when: 'a tenant is created', severity: ['info'], subjects: ['Tenant'], data: {} },
}
