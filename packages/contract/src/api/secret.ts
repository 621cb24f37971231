// Secrets in the API: writes, versions, consumers and rotations. Only requests that write a secret can contain secret
// values; no response contains one.

import {
  boolean,
  field,
  type Infer,
  integer,
  list,
  map,
  nullable,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'
import { generateTexts, materialTexts, rotateTexts } from '../texts/secret-texts.ts'
import { warningShape } from './rejection.ts'

export const SECRET_ENCODINGS = ['hex', 'base64', 'base64url'] as const
export type SecretEncoding = (typeof SECRET_ENCODINGS)[number]
export const SECRET_CHARSETS = ['alphanumeric', 'urlsafe', 'ascii'] as const
export type SecretCharset = (typeof SECRET_CHARSETS)[number]

/** How to generate secret values: either random bytes encoded as text, or random characters of an alphabet. */
export const generateShape = object({
  keys: field(generateTexts.keys, list(string())),
  bytes: field(generateTexts.bytes, optional(integer())),
  encoding: field(generateTexts.encoding, optional(string())),
  length: field(generateTexts.length, optional(integer())),
  charset: field(generateTexts.charset, optional(string())),
})
export type GenerateBlock = Infer<typeof generateShape>

/** The body of PUT and PATCH /secrets/{namespace}/{resource}: `values`, `generate` or both, with different keys. */
export const secretWriteShape = object({
  values: field(materialTexts.values, optional(map(string()))),
  generate: field(materialTexts.generate, optional(generateShape)),
})

/** The response to a secret write. The response lists the keys, never the values. */
export const secretWrittenShape = object({
  path: string(),
  namespace: string(),
  resource: string(),
  version: integer(),
  keys: list(string()),
  /** `secret_keys_dropped` if the new version leaves out keys of the version before it. */
  warnings: list(warningShape),
})
export type SecretWritten = Infer<typeof secretWrittenShape>

export const secretVersionShape = object({
  version: integer(),
  createdAt: string(),
  /** Key names of the secret version. Absent if the caller's role may not see key names. */
  keys: optional(list(string())),
  /** True if a rotation has staged this secret version. No deployment uses a staged version before the cutover. */
  staged: boolean(),
  /** Names of the deployments that use this secret version. */
  pinnedBy: list(string()),
})

/** An item of GET /secrets: a secret path that has stored values. */
export const secretShape = object({
  path: string(),
  namespace: string(),
  resource: string(),
  versions: list(secretVersionShape),
  consumers: list(string()),
})
export type SecretSummary = Infer<typeof secretShape>

/** An item of GET /secrets/resources: a secret path that a deployment refers to, with or without stored values. */
export const secretReferenceShape = object({
  path: string(),
  namespace: string(),
  resource: string(),
  hasMaterial: boolean(),
  consumers: integer(),
})
export type SecretReference = Infer<typeof secretReferenceShape>

/** An item of GET /secrets/resources/{name}/consumers: a workload that uses the secret. */
export const secretConsumerShape = object({
  deployment: string({
    description: 'Name of the deployment, or `job/` and the id of a job that has not ended',
  }),
  uid: string({ description: 'Id of the deployment or job' }),
  /** Name of the secret entry, which is the prefix of its variables. */
  secret: string(),
  vault_path: string(),
  anchor: string(),
  /** The secret version that the deployment's containers are created with; null while the secret has no version. */
  version: nullable(integer()),
  /** True for an entry of the deployment's running canary; absent for the others. */
  canary: optional(boolean()),
})
export type SecretConsumer = Infer<typeof secretConsumerShape>

/** The steps of a rotation, in order. A rotation request names one of these steps or `abort`. */
export const ROTATION_STEPS = ['stage', 'overlap', 'cutover', 'retire'] as const
export const ROTATION_PHASES = ['idle', 'stage', 'overlap', 'cutover'] as const
export type RotationPhase = (typeof ROTATION_PHASES)[number]
export type RotationStep = (typeof ROTATION_STEPS)[number] | 'abort'

export const rotateShape = object({
  phase: field(rotateTexts.phase, string()),
  secret: field(rotateTexts.secret, optional(string())),
  values: field(rotateTexts.values, optional(map(string()))),
  generate: field(rotateTexts.generate, optional(generateShape)),
})

export const rotationConsumerShape = object({
  deployment: string(),
  /** True for the running canary of the deployment, which no phase moves; absent for the others. */
  canary: optional(boolean()),
  /** The secret version that the deployment should use. */
  pinned: nullable(integer()),
  /** The secret versions that the deployment's containers have proved to use, with the number of replicas of each. */
  running: list(object({ version: integer(), replicas: integer(), since: string() })),
  /** True if every container of the deployment has proved that it uses the new secret version. */
  proved: boolean(),
})

export const credentialRotationShape = object({
  secret: string(),
  vault_path: string(),
  phase: oneOf(ROTATION_PHASES),
  since: nullable(string()),
  /** The rotation steps that may be requested now. */
  next: list(string()),
  versions: object({ old: nullable(integer()), new: nullable(integer()) }),
  consumers: list(rotationConsumerShape),
  /** Conditions that block the next rotation step, as sentences; empty if the step may be requested now. */
  blockedBy: list(string()),
})
export type CredentialRotation = Infer<typeof credentialRotationShape>

/** The state of a rotation: the response to GET /deployments/{name}/secrets/rotation and to each rotation step. */
export const rotationShape = object({
  deployment: string(),
  secretsVersion: integer(),
  credentials: list(credentialRotationShape),
})
export type Rotation = Infer<typeof rotationShape>
