// The meaning of the words that a status or an explanation contains: phases, reasons, states, and why a node refuses a
// replica. Types and tests ensure that no word is missing.

import type { DEPLOYMENT_PHASES } from '../api/deployment.ts'
import type { Node } from '../api/node.ts'
import type { ReplicaState } from '../api/placement.ts'

/** The texts of a word that users read and do not write. */
export interface WordText {
  readonly meaning: string
  /** The next step of the reader, with commands in backticks; absent if there is nothing to do. */
  readonly next?: string
}
export type WordTexts = { readonly [word: string]: WordText }

export const PHASE_TEXTS: { readonly [phase in (typeof DEPLOYMENT_PHASES)[number]]: WordText } = {
  Pending: {
    meaning:
      'At least one replica has no node: no node fits, the quota of containers is reached, or no registry has resolved the image yet. Replicas that have a node run. A deployment that was Running before becomes Degraded instead.',
    next: '`holdfast why NAME` lists every node with the reasons and the smallest change that helps.',
  },
  Waiting: {
    meaning:
      'The deployment waits for a deployment in dependsOn, or for a node that satisfies placement.residency. It starts without another request.',
    next: '`holdfast why NAME` names what it waits for.',
  },
  Progressing: {
    meaning: 'Containers are being created, replaced or stopped, and nothing has failed.',
    next: '`holdfast rollout status NAME` follows it.',
  },
  Running: { meaning: 'All desired replicas are ready.' },
  Degraded: {
    meaning:
      'Fewer replicas are ready than desired, an update failed, or a secret cannot be resolved. The reason in parentheses says which. A container fails: unhealthy, exited, oom_killed, image_pull_failed, create_failed, start_failed, volume_not_mounted, volume_not_leased, fenced, not_ready or progress_deadline. A replica has no node: node_lost, unschedulable or quota_reached. A secret is missing: secret_unresolved. An update failed: rollback or update_paused; then all replicas may be ready, because the revision before serves. Ready replicas keep serving.',
    next: '`holdfast describe NAME` shows the replicas, and `holdfast explain REASON` explains the reason.',
  },
  Stopped: { meaning: 'The deployment has 0 desired replicas, and all its containers are gone.' },
  Deleting: {
    meaning:
      'The deployment is being deleted, and its containers are being stopped. It keeps its name and routes until they are gone.',
  },
}

/** Words that look like phases, and the words that are used instead. */
export const NO_PHASE_TEXTS: WordTexts = {
  failed: {
    meaning:
      'There is no phase of this name. A deployment whose containers or update fail has the phase Degraded, with the reason in parentheses. The event deployment.failed reports that a first revision failed.',
    next: '`holdfast explain Degraded` lists the reasons.',
  },
}

/** The reasons of a phase. Several of them are also the reason of a replica or of a failed update. */
export const REASON_TEXTS = {
  unhealthy: {
    meaning:
      'The health check of a container failed as often in a row as healthCheck.retries allows. The container keeps running.',
    next: '`holdfast logs NAME` shows its output. Run the check by hand with `holdfast exec NAME`.',
  },
  exited: {
    meaning:
      'The main process of a container ended. The engine starts the container again, also after exit code 0; a deployment is for programs that keep running.',
    next: '`holdfast logs NAME` shows the last output. Check command, args and environment.',
  },
  oom_killed: {
    meaning: 'The kernel killed the container because it used more memory than limits.memoryBytes.',
    next: 'Raise limits.memoryBytes, or make the program use less memory.',
  },
  image_pull_failed: {
    meaning: 'The node could not pull the image.',
    next: 'Check that the image exists and that the registry credential is valid: `holdfast registry list`.',
  },
  image_unresolved: {
    meaning: 'No registry has resolved the image to a digest yet, so no container can be created.',
    next: 'The registry is asked again. Check that it is reachable and that the tag exists. A job fails if the image is not resolved within its timeout or 15 minutes, whichever is longer.',
  },
  create_failed: {
    meaning: 'The engine of the node could not create the container.',
    next: '`holdfast describe NAME` shows the error of the engine.',
  },
  start_failed: {
    meaning:
      'The engine created the container and could not start it, for example because the program in command does not exist in the image.',
    next: 'Check command and args.',
  },
  volume_not_mounted: {
    meaning:
      'A volume of the container cannot be mounted on the node now: its copy there is not ready, is being handed over, or has another writer. The container is started as soon as it can be.',
    next: '`holdfast describe NAME` names the volume.',
  },
  volume_not_leased: {
    meaning:
      'The node must not write a volume of the container now. Either nodes with promotable copies of the volume have not confirmed its lease, or the fencer of the node does not run. The container is started as soon as both are in order.',
    next: '`holdfast describe NAME` names the volume and the cause. Check the connections between the nodes and, on the node, `systemctl status holdfast-fencer`.',
  },
  fenced: {
    meaning:
      "The fencer of the node killed the container, because the node's lease of a volume ended. This is no restart and no failure of the deployment. The container is started again under the next lease, or on the node of a promoted copy.",
    next: '`holdfast volume describe NAME` names the nodes whose promises are missing.',
  },
  stop_failed: { meaning: 'The engine could not stop a container. The agent tries again.' },
  remove_failed: { meaning: 'The engine could not remove a container. The agent tries again.' },
  network_failed: {
    meaning: 'The engine could not prepare the network of the tenant on the node. The agent tries again.',
  },
  removed: { meaning: 'Something other than Holdfast removed the container. The agent creates it again.' },
  paused: {
    meaning: 'Something other than Holdfast paused the container, so it does not serve.',
    next: 'Resume it on the machine: `docker unpause`.',
  },
  not_ready: {
    meaning: 'A replica was ready before and is not ready now.',
    next: '`holdfast describe NAME` shows its state.',
  },
  refused_by_agent: {
    meaning:
      'The agent refused to create the container, because its settings would have given it privileges on the machine.',
    next: 'Ask the operator; this should not happen.',
  },
  agent_version: {
    meaning: 'The agent on the node is too old for this container.',
    next: 'Upgrade the agent on the node.',
  },
  secret_unresolved: {
    meaning:
      'A secret of the deployment has no version, lacks a key, or could not be read. Running containers stay as they are.',
    next: 'The message names the secret. Write it with `holdfast secret set`.',
  },
  container_lost: {
    meaning:
      'The end of the container of a job was not seen, so its exit code is unknown: another program removed the container, or its engine lost it or was away when it ended, as in a power cut. The attempt counts as failed.',
    next: 'Check what the job has done, then run it again, or set retries.',
  },
  timed_out: {
    meaning:
      'An attempt of the job took longer than its timeout, so its container was stopped, or its container did not start within the timeout or 15 minutes, whichever is longer.',
    next: 'Raise timeout, or find out with `holdfast job logs` why it takes so long.',
  },
  backoff: {
    meaning:
      'An attempt of the job failed or was lost with its node. The next one starts after a delay that grows from 1 to 60 seconds.',
  },
  cancelling: { meaning: 'The job was cancelled, and its container is being stopped.' },
  unconfirmed: {
    meaning:
      'The job was cancelled, and its node was lost or removed before the end of the container was reported. The container may still run.',
    next: 'Check the machine before the same work is started again.',
  },
  node_removed: {
    meaning:
      'The node was removed before the end of the container was reported. The job counts as failed, and the container may still run.',
    next: 'Check what the job has done, then run it again.',
  },
  node_lost: {
    meaning:
      'The node has failed. A replica of a deployment is being replaced on another node. A job waits, because its container may still run, until the node returns or is removed by force; with onNodeLoss: retry it starts elsewhere.',
    next: 'Repair the machine, or remove the node with `holdfast node remove NODE --force`.',
  },
  unschedulable: {
    meaning: 'No node accepts a replica.',
    next: '`holdfast why NAME` lists every node with the reasons.',
  },
  unscheduled: {
    meaning: 'The scheduler has not looked at this revision yet. This usually takes less than a second.',
  },
  quota_reached: {
    meaning: 'The tenant has as many containers as its quota allows.',
    next: 'Scale something down, or ask the operator to raise the quota of containers.',
  },
  dependency_unhealthy: {
    meaning:
      'A deployment in dependsOn is not healthy or not started yet. Containers are created as soon as it is.',
    next: 'Look at the deployment that the message names.',
  },
  residency_no_match: {
    meaning: 'No reachable node satisfies placement.residency. The deployment is placed as soon as one does.',
    next: '`holdfast why NAME` shows the location of every node.',
  },
  residency_enforcement_off: {
    meaning:
      'The operator switched residency enforcement off, so deployments with placement.residency are not placed at all. Running replicas stay.',
    next: 'Ask the operator, or remove placement.residency.',
  },
  rollout: {
    meaning: 'An update replaces the containers by those of another revision.',
    next: '`holdfast rollout status NAME` follows it.',
  },
  stopping: {
    meaning:
      'Of a deployment: it has 0 desired replicas, and its last containers are being stopped. Of a job: the container of the previous attempt is being removed, and the next attempt starts after that.',
  },
  update_paused: {
    meaning:
      'An update failed, and update.failureAction is pause. The failed replica is kept for inspection, and the old replicas keep serving.',
    next: 'Apply a corrected manifest, or return with `holdfast rollout undo NAME`.',
  },
  rollback: {
    meaning:
      'An update failed, and the last revision that worked runs instead. The stored manifest is still the failed one.',
    next: 'Correct the manifest and apply it again.',
  },
  progress_deadline: {
    meaning: 'No further replica became ready within update.progressDeadline.',
    next: '`holdfast describe NAME` shows the replica that is not ready.',
  },
  failed: { meaning: 'A replica failed, and its node reported no further reason.' },
  lost: { meaning: 'The container of a replica is lost together with its node.' },
} satisfies WordTexts

export const REPLICA_STATE_TEXTS: { readonly [state in ReplicaState]: WordText } = {
  pending: { meaning: 'The replica has no node yet.' },
  assigned: { meaning: 'The replica has a node, whose agent has not begun yet.' },
  pulling: { meaning: 'The node pulls the image.' },
  starting: { meaning: 'The node creates and starts the container.' },
  running: {
    meaning:
      'The container runs and is not ready yet: its health check has not passed. With the reason exited it has ended and is restarted, which tables show as restarting.',
  },
  ready: {
    meaning:
      'The health check has passed, or the container has run for 5 seconds without one. The replica serves, unless a reason is shown beside the state.',
  },
  stopping: { meaning: 'The container got its stop signal and may finish within stopGracePeriod.' },
  stopped: { meaning: 'The container has ended because it should.' },
  failed: { meaning: 'The node cannot run this container, and it does not try again.' },
  lost: { meaning: 'The node has failed. The container may still run there, but it no longer counts.' },
}

export const NODE_STATUS_TEXTS: { readonly [status in Node['status']]: WordText } = {
  pending: {
    meaning: 'The node is enrolled, and its agent has not opened a session yet.',
    next: 'Start the agent on the machine.',
  },
  ready: { meaning: 'The agent sends heartbeats. The node accepts replicas unless it is cordoned.' },
  degraded: {
    meaning:
      'The agent sends heartbeats, but a part of the machine does not work; the reason says which. engine_silent: the container engine does not answer, so the node gets no new work, and replicas that mount no volume are replaced on other nodes if it stays silent. disk_pressure: the disk of the container engine is nearly full, so the node gets no new work until it is down to 80 %; its replicas stay. pool_changed: the storage pool is another one than before, so the node gets no new volume work.',
    next: 'engine_silent: restart the container engine of the machine. disk_pressure: free space or inodes on that disk; `holdfast describe node` shows its use. pool_changed: restore the former pool and restart the agent; if it is lost, enroll the node again, and it uses the new pool.',
  },
  unreachable: {
    meaning: 'The agent has sent no heartbeat for a while. Containers of the node are presumed to run.',
    next: 'Check the machine and its network.',
  },
  failed: {
    meaning: 'The node was silent for so long that its replicas are replaced on other nodes.',
    next: 'Repair the machine, or remove the node with `holdfast node remove`.',
  },
}

/** Why a node refuses a replica, as `holdfast why` lists it. */
export const REFUSAL_TEXTS = {
  node_not_ready: {
    meaning: 'The agent of the node is not connected, or the node has failed.',
    next: 'Start the agent, or repair the machine.',
  },
  engine_silent: {
    meaning: 'The container engine of the node does not answer.',
    next: 'Restart the container engine of the machine, for example with `systemctl restart docker`.',
  },
  creation_failed: {
    meaning:
      'The node could not create a container of the deployment in three attempts, for a cause of its own, such as a full disk or a network that cannot be set up. It gets no further replica of the deployment for ten minutes after that, or until one serves that it has created since.',
    next: 'Repair the container engine of the machine. The reported cause says what failed.',
  },
  disk_pressure: {
    meaning: 'The disk of the container engine of the node is nearly full, in bytes or inodes.',
    next: 'Free space on the machine: remove container logs, volumes of the engine and images of others that are not needed. The agent removes its own unused images.',
  },
  node_cordoned: {
    meaning: 'The node is closed for new work, by cordon or drain.',
    next: '`holdfast node uncordon NODE` opens it.',
  },
  control_plane_node: {
    meaning: 'The control plane runs on the node, which therefore accepts no work of tenants.',
  },
  node_claims_releasing: { meaning: 'The tenant is releasing the node.' },
  node_claims_shared: { meaning: 'Another tenant has to release the node first.' },
  agent_lacks_capability: {
    meaning: 'The agent on the node is too old for this container.',
    next: 'Upgrade the agent on the node.',
  },
  not_the_named_node: { meaning: 'nodeId names another node.', next: 'Remove nodeId, or name this node.' },
  residency_enforcement_off: REASON_TEXTS.residency_enforcement_off,
  residency_country_mismatch: {
    meaning: 'The attested country of the node is not placement.residency.country.',
  },
  residency_region_mismatch: { meaning: 'The node is not in placement.residency.region.' },
  residency_country_blocked: {
    meaning: 'The country of the node is in placement.residency.blockedCountries.',
  },
  label_mismatch: {
    meaning: 'The labels of the node do not satisfy placement.constraints.',
    next: 'Change the constraint, or set the label on the node.',
  },
  affinity_unmet: { meaning: 'No replica of a deployment in placement.affinity runs on the node.' },
  anti_affinity_conflict: {
    meaning:
      'A replica of a deployment in placement.antiAffinity runs on the node. The own name in the list allows one replica per node.',
    next: 'Add a node, lower replicas, or remove the name from placement.antiAffinity.',
  },
  insufficient_cpu: {
    meaning: 'The node has less free CPU than resources.cpuMillis requests.',
    next: 'Lower the request, or free CPU on the node.',
  },
  insufficient_memory: {
    meaning: 'The node has less free memory than resources.memoryBytes requests.',
    next: 'Lower the request, or free memory on the node.',
  },
  insufficient_resources: {
    meaning: 'The node has less free CPU and memory than resources requests.',
    next: 'Lower the requests, or free capacity on the node.',
  },
  volume_without_primary: {
    meaning: 'A volume that the deployment mounts is on no node, or all of its copies are lost.',
    next: '`holdfast describe volume NAME` shows its phase and what it waits for.',
  },
  not_the_volume_primary: {
    meaning: 'Containers run where the primary of their volume is, and this node does not hold it.',
    next: 'Remove what keeps the replica from the node of the primary.',
  },
  volume_handed_over: {
    meaning: 'A volume that the deployment mounts is being handed over to another node.',
    next: 'Wait: the replica starts on that node.',
  },
  volume_primary_residency: {
    meaning:
      'The node holds the primary of a volume that the deployment mounts, but violates placement.residency.',
    next: 'Change placement.residency, or use a volume on a node that satisfies it.',
  },
  network_missing: {
    meaning: 'A network that the deployment names does not exist any longer.',
    next: 'Create the network, or remove its name from networks.',
  },
  not_the_network_node: {
    meaning: 'A network that the deployment names is on another node, and networks exist on one node only.',
    next: 'Remove what keeps the replica from the node of the network, or remove its name from networks.',
  },
  storage_pool_missing: {
    meaning: 'The node has no storage pool, so it cannot hold a copy of a volume.',
    next: 'Give the machine a pool, or enroll a node that has one.',
  },
  storage_pool_unusable: {
    meaning:
      'The storage pool of the node is missing, was replaced, has data of another tenant, or cannot be read.',
    next: '`holdfast describe node NODE` shows the fault. Repair the pool, or use another node.',
  },
  insufficient_storage: {
    meaning: 'The storage pool of the node has less free space than a copy of the volume claims.',
    next: 'Delete volumes on the node, choose a smaller size, or enroll a node with a larger pool.',
  },
  containers_quota_reached: {
    meaning: 'The tenant has as many containers as its quota allows, so no node accepts another one.',
    next: 'Scale something down, or ask the operator to raise the quota.',
  },
} satisfies WordTexts
