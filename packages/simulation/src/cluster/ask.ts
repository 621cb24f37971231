// Requests of API callers. One live server answers each request through the operation that the API would call, and the
// answer is recorded. If the server dies first, the request stays without an answer.

import {
  type Enrolled,
  isJsonObject,
  isTokenId,
  type Json,
  type NodeId,
  type TenantId,
  type TokenId,
  type VolumeId,
} from '@holdfast/contract'
import type { Caller, Outcome } from '@holdfast/server/operations/caller'
import { getDeployment } from '@holdfast/server/operations/deployments/read/read-deployments'
import { createDeployment } from '@holdfast/server/operations/deployments/write/create-deployment'
import { removeDeployment } from '@holdfast/server/operations/deployments/write/remove-deployment'
import { restartDeployment } from '@holdfast/server/operations/deployments/write/restart-deployment'
import { rollBackDeployment } from '@holdfast/server/operations/deployments/write/rollback-deployment'
import { updateDeployment } from '@holdfast/server/operations/deployments/write/update-deployment'
import type { Written } from '@holdfast/server/operations/deployments/write/written'
import type { Kept } from '@holdfast/server/operations/idempotency'
import { cancelJob } from '@holdfast/server/operations/jobs/cancel-job'
import { createJob } from '@holdfast/server/operations/jobs/create-job'
import { changeNode, setSchedulable } from '@holdfast/server/operations/nodes/change-node'
import { drainNode } from '@holdfast/server/operations/nodes/drain-node'
import { enrollNode } from '@holdfast/server/operations/nodes/enroll-node'
import { issueJoinToken } from '@holdfast/server/operations/nodes/issue-join-token'
import { removeNode } from '@holdfast/server/operations/nodes/release-node'
import { deleteScaling } from '@holdfast/server/operations/scaling/delete-scaling'
import { setScaling } from '@holdfast/server/operations/scaling/set-scaling'
import { initialize } from '@holdfast/server/operations/tenants/initialize'
import { changeTenant, createTenant, removeTenant } from '@holdfast/server/operations/tenants/tenants'
import { createVolume } from '@holdfast/server/operations/volumes/create-volume'
import { deleteVolume } from '@holdfast/server/operations/volumes/delete-volume'
import { resizeVolume } from '@holdfast/server/operations/volumes/resize-volume'
import { addReplica, removeReplica, scaleVolume } from '@holdfast/server/operations/volumes/scale-volume'
import { jobs, volumeNames } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import type { ScriptTenant } from '../script/script.ts'
import { ENGINE, type Identity } from './agent-session.ts'
import { DEFAULT_IMAGE } from './given-world.ts'
import type { Machine } from './machine.ts'
import type { Server } from './server.ts'

export const once = <T extends object>(): Kept<T> => ({
  idempotency: undefined,
  answerOf: (body) => ({ status: 200, body }),
})

/** The error that a caller of the API receives if a request is rejected. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
}

export function required<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value
  const reasons = outcome.rejections.map(({ code, field, why }) => `${code} at ${field}: ${why}`)
  throw new RefusedError(reasons.join('; '))
}

/** A caller with the rights of the platform administrator, inside one tenant. */
export const callerIn = (tenant: TenantId, token: TokenId): Caller => ({
  tenant,
  token,
  role: 'platform-admin',
  onBehalf: true,
  requestId: 'req_simulated',
})

export interface Founded {
  readonly platform: TenantId
  readonly token: TokenId
}

export async function found({ operations }: Server): Promise<Founded> {
  const made = await initialize(operations, { reissue: false })
  if (made.kind !== 'done') throw new Error(`the platform was not made: ${made.kind}`)
  const token = `tok_${made.token.split('_')[1] ?? ''}`
  if (!isTokenId(token)) throw new Error('the first token is none')
  return { platform: made.tenant, token }
}

export async function makeTenant(
  { operations }: Server,
  { platform, token }: Founded,
  { name, platform: isPlatform = false, quotas = {} }: ScriptTenant,
): Promise<TenantId> {
  const make = async () =>
    required(await createTenant(operations, callerIn(platform, token), { name }, once())).id
  const id = isPlatform ? platform : await make()
  if (Object.keys(quotas).length > 0) await setQuotas({ operations }, callerIn(id, token), quotas)
  return id
}

type Asked = Pick<Server, 'operations'>

export async function setQuotas(
  { operations }: Asked,
  caller: Caller,
  quotas: { readonly [kind: string]: number },
): Promise<void> {
  required(await changeTenant(operations, caller, { quotas: { ...quotas } }, undefined))
}

export interface Enrolling {
  readonly machine: Machine
  readonly keys: Pick<Identity, 'publicKey' | 'encryptionKey'>
  readonly attested: { readonly country?: string; readonly region?: string }
}

export async function enroll(
  { operations }: Asked,
  caller: Caller,
  { machine, keys, attested }: Enrolling,
): Promise<Enrolled> {
  const nodeName = machine.name
  const asked = { nodeName, residency: { ...attested } }
  const { token = '' } = required(
    await issueJoinToken({ ...operations, caPin: () => undefined }, caller, asked, once()),
  )
  const { labels, capacity } = machine
  const { publicKey, encryptionKey } = keys
  const facts = { labels: { ...labels }, capacity: { ...capacity }, engine: ENGINE }
  const sent: Json = { nodeName, joinToken: token, publicKey, encryptionKey, ...facts }
  return required(await enrollNode(operations, sent, 'req_simulated'))
}

/** Creates or updates a deployment, like a client that first reads whether it exists. Returns the new revision. */
/** The spec with the ids of the volumes that its mounts name, as the CLI resolves them before it sends a manifest. */
function withVolumeIds(
  store: Server['store'],
  tenant: TenantId,
  spec: { readonly [field: string]: unknown },
): Json {
  const sent: Json = JSON.parse(JSON.stringify(spec))
  if (!isJsonObject(sent) || !Array.isArray(sent['volumes'])) return sent
  const resolved = sent['volumes'].map((mount) =>
    isJsonObject(mount) ? { ...mount, volume: volumeIdOf(store, tenant, String(mount['volume'])) } : mount,
  )
  return { ...sent, volumes: resolved }
}

function volumeIdOf(store: Server['store'], tenant: TenantId, name: string): VolumeId {
  const id = store.get(inTenant(tenant, volumeNames, name))?.record.id
  if (id === undefined) throw new RefusedError(`the tenant has no volume ${name}`)
  return id
}

export async function apply(
  { operations, store }: Pick<Server, 'operations' | 'store'>,
  caller: Caller,
  name: string,
  spec: { readonly [field: string]: unknown },
): Promise<number> {
  const sent = withVolumeIds(store, caller.tenant, spec)
  const known = await getDeployment(store, caller.tenant, name)
  if (known.ok && isJsonObject(sent)) {
    const updated = await updateDeployment(operations, caller, name, sent, { ifMatch: undefined })
    return required(updated).deployment.revision
  }
  const fresh = { kind: 'Deployment', name, image: DEFAULT_IMAGE, ...(isJsonObject(sent) ? sent : {}) }
  const created = await createDeployment(operations, caller, fresh, once())
  return required(created).deployment.revision
}

/** Sets the policy of a deployment, or deletes it. */
export async function changePolicy(
  { operations }: Asked,
  caller: Caller,
  name: string,
  policy: { readonly [field: string]: unknown } | undefined,
): Promise<void> {
  if (policy === undefined) {
    required(await deleteScaling(operations, caller, name, undefined))
    return
  }
  const body: Json = JSON.parse(JSON.stringify(policy))
  required(await setScaling(operations, caller, { path: name, body, ifMatch: undefined }))
}

export async function addJob(
  { operations }: Asked,
  caller: Caller,
  name: string,
  spec: { readonly [field: string]: unknown },
): Promise<void> {
  const sent: Json = JSON.parse(JSON.stringify({ kind: 'Job', name, image: DEFAULT_IMAGE, ...spec }))
  required(await createJob(operations, caller, sent, once()))
}

/** Cancels the job with the name, of which a script has one. One that has ended is removed. */
export async function cancelJobNamed(
  { operations, store }: Pick<Server, 'operations' | 'store'>,
  caller: Caller,
  name: string,
): Promise<void> {
  const found = store.list(jobs, caller.tenant).find(({ record }) => record.spec.name === name)
  if (found === undefined) throw new RefusedError(`the tenant has no job ${name}`)
  required(await cancelJob(operations, caller, found.record.id, undefined))
}

export async function remove({ operations }: Asked, caller: Caller, name: string): Promise<void> {
  required(await removeDeployment(operations, caller, name, undefined))
}

export async function restart({ operations }: Asked, caller: Caller, name: string): Promise<void> {
  required(await restartDeployment(operations, caller, name, { ifMatch: undefined, ...once() }))
}

export async function rollBack(
  { operations }: Asked,
  caller: Caller,
  name: string,
  revision: number,
): Promise<void> {
  const options = { ifMatch: undefined, ...once<Written>() }
  required(await rollBackDeployment(operations, caller, name, { revision }, options))
}

export async function deleteTenant({ operations }: Asked, caller: Caller): Promise<void> {
  required(await removeTenant(operations, caller, undefined))
}

export async function cordon(
  { operations }: Asked,
  caller: Caller,
  id: string,
  open: boolean,
): Promise<void> {
  required(await setSchedulable(operations, caller, id, open, { ifMatch: undefined, ...once() }))
}

export async function drain({ operations }: Asked, caller: Caller, id: string): Promise<void> {
  required(await drainNode(operations, caller, id, { ifMatch: undefined, ...once() }))
}

export async function setRole(
  { operations }: Asked,
  caller: Caller,
  id: string,
  controlPlane: boolean,
): Promise<void> {
  required(await changeNode(operations, caller, id, { controlPlane }, undefined))
}

export async function release(
  { operations }: Asked,
  caller: Caller,
  id: string,
  force: boolean,
): Promise<void> {
  required(await removeNode(operations, caller, id, { force, ifMatch: undefined }))
}

/** A change of a volume that a script requests, by the volume's name. */
export type VolumeChange =
  | { readonly kind: 'create'; readonly spec: { readonly [field: string]: unknown } }
  | { readonly kind: 'resize'; readonly sizeBytes: number }
  | { readonly kind: 'scale'; readonly replicas: number }
  | { readonly kind: 'add-replica' | 'remove-replica'; readonly nodeId: NodeId }
  | { readonly kind: 'delete' }

export async function changeVolume(
  { operations, store }: Pick<Server, 'operations' | 'store'>,
  caller: Caller,
  name: string,
  change: VolumeChange,
): Promise<void> {
  if (change.kind === 'create') {
    const sent: Json = JSON.parse(JSON.stringify({ name, ...change.spec }))
    required(await createVolume(operations, caller, sent, once()))
    return
  }
  const id = volumeIdOf(store, caller.tenant, name)
  switch (change.kind) {
    case 'resize':
      required(await resizeVolume(operations, caller, id, { sizeBytes: change.sizeBytes }, once()))
      break
    case 'scale':
      required(await scaleVolume(operations, caller, id, { replicas: change.replicas }, undefined))
      break
    case 'add-replica':
      required(await addReplica(operations, caller, id, { node_id: change.nodeId }, once()))
      break
    case 'remove-replica':
      required(await removeReplica(operations, caller, id, change.nodeId, undefined))
      break
    case 'delete':
      required(await deleteVolume(operations, caller, id, undefined))
      break
  }
}
