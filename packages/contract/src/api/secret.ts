// Secrets in the API: writes, versions, consumers and rotations. Only the shapes of a write can hold a value; nothing
// returns one.

import {
  boolean,
  described,
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
import { dryRunResultShape } from './rejection.ts'

export const SECRET_ENCODINGS = ['hex', 'base64', 'base64url'] as const
export type SecretEncoding = (typeof SECRET_ENCODINGS)[number]
export const SECRET_CHARSETS = ['alphanumeric', 'urlsafe', 'ascii'] as const
export type SecretCharset = (typeof SECRET_CHARSETS)[number]

/** Generated material: random bytes as text, or random characters of an alphabet, never both. */
export const generateShape = object({
  keys: described('Keys to generate a value for', list(string())),
  bytes: optional(integer({ description: 'Random bytes of each value; 32 if neither pair is sent' })),
  encoding: optional(string({ description: `Text form of the bytes: ${SECRET_ENCODINGS.join(', ')}` })),
  length: optional(integer({ description: 'Characters of each value' })),
  charset: optional(string({ description: `Alphabet of the characters: ${SECRET_CHARSETS.join(', ')}` })),
})
export type GenerateBlock = Infer<typeof generateShape>

/** The body of PUT /secrets/{namespace}/{resource}: at least one of the two, with different keys. */
export const secretWriteShape = object({ values: optional(map(string())), generate: optional(generateShape) })

/** The response to a write. It lists the keys, never the values. */
export const secretWrittenShape = object({
  path: string(),
  namespace: string(),
  resource: string(),
  version: integer(),
  keys: list(string()),
})
export type SecretWritten = Infer<typeof secretWrittenShape>

export const secretVersionShape = object({
  version: integer(),
  createdAt: string(),
  /** Absent for roles that may not see key names. */
  keys: optional(list(string())),
  /** Staged by a rotation. No deployment uses it before the cutover. */
  staged: boolean(),
  /** Names of the deployments that use it. */
  pinnedBy: list(string()),
})

/** An item of GET /secrets: a path with material. */
export const secretShape = object({
  path: string(),
  namespace: string(),
  resource: string(),
  versions: list(secretVersionShape),
  consumers: list(string()),
})
export type SecretSummary = Infer<typeof secretShape>

/** An item of GET /secrets/resources: a path that is referenced, with or without material. */
export const secretReferenceShape = object({
  path: string(),
  namespace: string(),
  resource: string(),
  hasMaterial: boolean(),
  consumers: integer(),
})
export type SecretReference = Infer<typeof secretReferenceShape>

/** An item of GET /secrets/resources/{name}/consumers. */
export const secretConsumerShape = object({
  deployment: string(),
  uid: string(),
  /** The entry's name: the prefix of its variables. */
  secret: string(),
  vault_path: string(),
  anchor: string(),
  /** The version its containers are created with; null while the path has none. */
  version: nullable(integer()),
})
export type SecretConsumer = Infer<typeof secretConsumerShape>

/** In this order. A rotation request names one of these or `abort`. */
export const ROTATION_STEPS = ['stage', 'overlap', 'cutover', 'retire'] as const
export const ROTATION_PHASES = ['idle', 'stage', 'overlap', 'cutover'] as const
export type RotationPhase = (typeof ROTATION_PHASES)[number]
export type RotationStep = (typeof ROTATION_STEPS)[number] | 'abort'

export const rotateShape = object({
  phase: string({ description: [...ROTATION_STEPS, 'abort'].join(', ') }),
  /** The name of an entry; if absent, every credential of the deployment. */
  secret: optional(string()),
  values: optional(map(string())),
  generate: optional(generateShape),
})

export const rotationConsumerShape = object({
  deployment: string(),
  /** The version it should run. */
  pinned: nullable(integer()),
  /** The versions its containers have proved to run, with the number of replicas of each. */
  running: list(object({ version: integer(), replicas: integer(), since: string() })),
  /** Every container runs the new version and has proved it. */
  proved: boolean(),
})

export const credentialRotationShape = object({
  secret: string(),
  vault_path: string(),
  phase: oneOf(ROTATION_PHASES),
  since: nullable(string()),
  /** The steps that may be requested now. */
  next: list(string()),
  versions: object({ old: nullable(integer()), new: nullable(integer()) }),
  consumers: list(rotationConsumerShape),
  /** Conditions that block the next phase, as sentences; empty if it may be requested now. */
  blockedBy: list(string()),
})
export type CredentialRotation = Infer<typeof credentialRotationShape>

/** GET /deployments/{name}/secrets/rotation, and the response to each step. */
export const rotationShape = object({
  deployment: string(),
  secretsVersion: integer(),
  credentials: list(credentialRotationShape),
})
export type Rotation = Infer<typeof rotationShape>

/** The plan is the state of the rotation after the step. */
export const rotationDryRunShape = dryRunResultShape(
  object({
    ...rotationShape.fields,
    /** Deployments whose containers the step would recreate, one deployment after another. */
    restarts: list(string()),
  }),
)
