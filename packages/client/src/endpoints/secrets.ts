// The endpoints /secrets and the rotation of credentials. Values can be written but never read.

import {
  type GenerateBlock,
  pageShape,
  type RotationStep,
  rotationShape,
  secretConsumerShape,
  secretReferenceShape,
  secretShape,
  secretWrittenShape,
} from '@holdfast/contract'
import type { CallOptions, Calls, ConditionalOptions, IntentOptions } from '../calls.ts'
import type { PageQuery } from '../pages.ts'
import { segment } from '../request.ts'

/** The new values of a secret: given values, generated values, or both. A key may be in only one of the two. */
export interface SentSecret {
  readonly values?: { readonly [key: string]: string }
  readonly generate?: GenerateBlock
}

export interface SentRotation extends SentSecret {
  readonly phase: RotationStep
  /** The name of one credential in the manifest's `secrets`; absent: every credential of the deployment. */
  readonly secret?: string
}

const ALL = '/secrets'
const one = (namespace: string, resource: string): string =>
  `${ALL}/${segment(namespace)}/${segment(resource)}`
const ofDeployment = (name: string): string => `/deployments/${segment(name)}/secrets`

export function secretCalls({ get, post, write }: Calls) {
  return {
    list: (page: PageQuery = {}, options?: CallOptions) =>
      get(ALL, pageShape(secretShape), { ...page }, options),
    references: (page: PageQuery = {}, options?: CallOptions) =>
      get(`${ALL}/resources`, pageShape(secretReferenceShape), { ...page }, options),
    consumers: (label: string, page: PageQuery = {}, options?: CallOptions) =>
      get(
        `${ALL}/resources/${segment(label)}/consumers`,
        pageShape(secretConsumerShape),
        { ...page },
        options,
      ),
    set: (namespace: string, resource: string, sent: SentSecret, options?: ConditionalOptions) =>
      write('PUT', one(namespace, resource), secretWrittenShape, { body: { ...sent } }, options),
    /** Adds or changes keys and keeps the others. */
    add: (namespace: string, resource: string, sent: SentSecret, options?: ConditionalOptions) =>
      write('PATCH', one(namespace, resource), secretWrittenShape, { body: { ...sent } }, options),
    remove: (namespace: string, resource: string, options?: CallOptions) =>
      write('DELETE', one(namespace, resource), secretShape, {}, options),
    rotate: (deployment: string, sent: SentRotation, options?: IntentOptions) =>
      post(`${ofDeployment(deployment)}/rotate`, { ...sent }, rotationShape, options),
    rotation: (deployment: string, options?: CallOptions) =>
      get(`${ofDeployment(deployment)}/rotation`, rotationShape, {}, options),
  }
}
