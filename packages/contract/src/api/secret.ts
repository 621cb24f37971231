// Secrets of a tenant as the API speaks of them: what is written, never read back; which versions there are, who reads them,
// and how far a rotation is. SPEC 2.4, 2.5; DECISIONS 1, 2 and 5. No shape here has room for a value but those of a write.

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
import { triedShape } from './rejection.ts'

export const SECRET_ENCODINGS = ['hex', 'base64', 'base64url'] as const
export type SecretEncoding = (typeof SECRET_ENCODINGS)[number]
export const SECRET_CHARSETS = ['alphanumeric', 'urlsafe', 'ascii'] as const
export type SecretCharset = (typeof SECRET_CHARSETS)[number]

/** Random material: bytes rendered as text, or characters of an alphabet, never both. SPEC 2.5. */
export const generateShape = object({
  keys: described('Keys to generate a value for', list(string())),
  bytes: optional(integer({ description: 'Random bytes of each value; 32 if neither pair is sent' })),
  encoding: optional(string({ description: `Text form of the bytes: ${SECRET_ENCODINGS.join(', ')}` })),
  length: optional(integer({ description: 'Characters of each value' })),
  charset: optional(string({ description: `Alphabet of the characters: ${SECRET_CHARSETS.join(', ')}` })),
})
export type GenerateBlock = Infer<typeof generateShape>

/** The body of PUT /secrets/{namespace}/{resource}: at least one of both, with keys of their own. */
export const secretWriteShape = object({ values: optional(map(string())), generate: optional(generateShape) })

/** What a write answers: which keys, never what they hold. */
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
  /** Absent for who may not see the names of keys. */
  keys: optional(list(string())),
  /** A rotation has staged it: no deployment takes it until the cutover. */
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
  /** The version that its containers are made with; null while the path has none. */
  version: nullable(integer()),
})
export type SecretConsumer = Infer<typeof secretConsumerShape>

/** In their order. What is asked for is one of these, or `abort`. DECISIONS 5. */
export const ROTATION_STEPS = ['stage', 'overlap', 'cutover', 'retire'] as const
export const ROTATION_PHASES = ['idle', 'stage', 'overlap', 'cutover'] as const
export type RotationPhase = (typeof ROTATION_PHASES)[number]
export type RotationStep = (typeof ROTATION_STEPS)[number] | 'abort'

export const rotateShape = object({
  phase: string({ description: [...ROTATION_STEPS, 'abort'].join(', ') }),
  /** The name of an entry; absent: every credential of the deployment. */
  secret: optional(string()),
  values: optional(map(string())),
  generate: optional(generateShape),
})

export const rotationConsumerShape = object({
  deployment: string(),
  /** The version that it is to run. */
  pinned: nullable(integer()),
  /** The versions that its containers have proved to run, with how many replicas each. */
  running: list(object({ version: integer(), replicas: integer(), since: string() })),
  /** Every container of it runs the new version and has proved it. */
  proved: boolean(),
})

export const credentialRotationShape = object({
  secret: string(),
  vault_path: string(),
  phase: oneOf(ROTATION_PHASES),
  since: nullable(string()),
  /** What may be asked for now. */
  next: list(string()),
  versions: object({ old: nullable(integer()), new: nullable(integer()) }),
  consumers: list(rotationConsumerShape),
  /** What the next phase waits for, in sentences; empty: it may be asked for now. */
  blockedBy: list(string()),
})
export type CredentialRotation = Infer<typeof credentialRotationShape>

/** GET /deployments/{name}/secrets/rotation, and the answer to each step. */
export const rotationShape = object({
  deployment: string(),
  secretsVersion: integer(),
  credentials: list(credentialRotationShape),
})
export type Rotation = Infer<typeof rotationShape>

/** The plan is the rotation as the step would have left it. */
export const rotationDryRunShape = triedShape(
  object({
    ...rotationShape.fields,
    /** The deployments whose containers the step would make anew, one deployment after another. */
    restarts: list(string()),
  }),
)
