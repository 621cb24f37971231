// A deployment while it is translated: the fields that are known, and what depends on other services.

import type { JsonObject } from '@holdfast/contract'
import type { KnownCredentials } from './credentials.ts'
import type { Report } from './report.ts'
import type { Written, WrittenMap } from './source/written.ts'

export interface Draft {
  /** The name of the service in the Compose file. */
  readonly service: string
  /** The name of the deployment. */
  readonly name: string
  readonly node: WrittenMap
  /** The fields of the manifest that are known so far. */
  readonly fields: JsonObject
  readonly mounts: RequestedMount[]
  readonly dependencies: RequestedDependency[]
  /** The member that sets the number of replicas, if there is one. */
  replicasAt?: Written
}

export interface RequestedMount {
  readonly node: Written
  readonly kind: 'volume' | 'anonymous' | 'tmpfs'
  /** The key of the volume in the Compose file; empty without one. */
  readonly source: string
  readonly target: string
  readonly readOnly: boolean
  /** Whether the content of the image is copied into an empty volume. */
  readonly copies: boolean
  readonly sizeBytes?: number
}

export interface RequestedDependency {
  readonly node: Written
  readonly service: string
  readonly condition: 'healthy' | 'started'
}

/** The parts that the translation of every member needs. */
export interface Translation {
  readonly report: Report
  readonly credentials: KnownCredentials
  readonly draft: Draft
}

export const replicasOf = ({ fields }: Draft): number =>
  typeof fields.replicas === 'number' ? fields.replicas : 1
