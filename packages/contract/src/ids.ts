// Branded identifiers: strings that are validated once on entry; afterwards the type shows that they are valid. A
// tenant id is a UUID; every other id is a prefix and a ULID.

declare const brand: unique symbol
export type Brand<Name extends string> = string & { readonly [brand]: Name }

export type TenantId = Brand<'TenantId'>
export type TokenId = Brand<'TokenId'>
export type DeploymentUid = Brand<'DeploymentUid'>
export type NodeId = Brand<'NodeId'>
export type VolumeId = Brand<'VolumeId'>
export type BackupId = Brand<'BackupId'>
export type NetworkId = Brand<'NetworkId'>
export type JobId = Brand<'JobId'>
/** Id of one container on one node: `rep_` and a ULID. A replacement container gets a new id. */
export type AssignmentId = Brand<'AssignmentId'>
/** A ULID that names one store transaction; its audit entry carries the same id. */
export type TransactionId = Brand<'TransactionId'>

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const ULID = '[0-9A-HJKMNP-TV-Z]{26}'
const DEPLOYMENT_UID = new RegExp(`^dep_${ULID}$`)
const NODE_ID = new RegExp(`^node_${ULID}$`)
const VOLUME_ID = new RegExp(`^vol_${ULID}$`)
const BACKUP_ID = new RegExp(`^bak_${ULID}$`)
const NETWORK_ID = new RegExp(`^net_${ULID}$`)
const JOB_ID = new RegExp(`^job_${ULID}$`)
const TOKEN_ID = new RegExp(`^tok_${ULID}$`)

export const isTenantId = (text: string): text is TenantId => UUID.test(text)
export const isDeploymentUid = (text: string): text is DeploymentUid => DEPLOYMENT_UID.test(text)
export const isNodeId = (text: string): text is NodeId => NODE_ID.test(text)
export const isVolumeId = (text: string): text is VolumeId => VOLUME_ID.test(text)
export const isBackupId = (text: string): text is BackupId => BACKUP_ID.test(text)
export const isNetworkId = (text: string): text is NetworkId => NETWORK_ID.test(text)
export const isJobId = (text: string): text is JobId => JOB_ID.test(text)
export const isTokenId = (text: string): text is TokenId => TOKEN_ID.test(text)

/** Casts an id that the platform generated, such as one in a store key, to its type. Never for unchecked client input. */
export const asTenantId = (text: string): TenantId => text as TenantId
export const asTokenId = (text: string): TokenId => text as TokenId
export const asDeploymentUid = (text: string): DeploymentUid => text as DeploymentUid
export const asNodeId = (text: string): NodeId => text as NodeId
export const asVolumeId = (text: string): VolumeId => text as VolumeId
export const asBackupId = (text: string): BackupId => text as BackupId
export const asNetworkId = (text: string): NetworkId => text as NetworkId
export const asJobId = (text: string): JobId => text as JobId
export const asAssignmentId = (text: string): AssignmentId => text as AssignmentId
export const asTransactionId = (text: string): TransactionId => text as TransactionId

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A ULID: 26 characters that sort by time, from 48 bits of milliseconds and 80 random bits given by the caller. */
export function ulid(nowMs: number, random: Uint8Array): string {
  if (nowMs !== lastMs) {
    lastMs = nowMs
    lastTime = timePart(nowMs)
  }
  return lastTime + base32(random)
}

// Cache of the last time prefix, because ids are often generated in bursts within one millisecond.
let lastMs = Number.NaN
let lastTime = ''

function timePart(nowMs: number): string {
  let text = ''
  for (let shift = 45; shift >= 0; shift -= 5) text += CROCKFORD[Math.floor(nowMs / 2 ** shift) % 32]
  return text
}

/** Encodes ten bytes as sixteen base32 characters of five bits each. */
function base32(random: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of random.subarray(0, 10)) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += CROCKFORD[(held >>> bits) & 31]
    }
    held &= (1 << bits) - 1
  }
  return text
}
