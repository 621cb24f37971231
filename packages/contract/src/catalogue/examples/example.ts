// The examples of error codes: a request that is rejected with the code, and a similar one that is accepted. The reference
// page of the code shows both, and tests/real/api/catalogue.test.ts sends both.

import type { Json, JsonObject } from '../../json/json.ts'

export interface ExampleRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly headers?: { readonly [name: string]: string }
  readonly body?: Json
  /** The token that is sent: one with this role, or none. By default it has the role tenant-admin. */
  readonly role?: 'viewer' | 'developer' | 'platform-admin' | 'none'
}

export interface CodeExample {
  /** The state that both requests need, in one sentence. */
  readonly given?: string
  readonly fails: ExampleRequest
  /** Absent if the same request is accepted once the platform is well again. */
  readonly passes?: ExampleRequest
  /** The field that the rejection names. */
  readonly field: string
  /** The values of the placeholders in the texts, for codes that no rule of a deployment body raises. */
  readonly params?: { readonly [placeholder: string]: string | number }
}

/** A name that stands for something of the reader's platform. The tests replace it by the real thing. */
export const EXAMPLE = {
  registry: 'registry.example.com',
  image: 'registry.example.com/shop/web:1.4.2',
  node: 'node_01JD7Q4ZJ8V5T2M0K3X9R6B1CA',
  primaryNode: 'node_01JD7Q8D5R9Z1S7T3W6X0Y2A4B',
  volume: 'vol_01JD7Q6B3N7X9P5R1T4V8W0Y2Z',
  mountedVolume: 'vol_01JD7Q7C4P8Y0R6S2V5W9X1Z3A',
  copiesRecommendation: 'rec_3f9c0d7e5b1a48c296e0d4f7a1',
  sizeRecommendation: 'rec_8b2e6a1c9d0f47358c1e7b5d42',
  oldRecommendation: 'rec_d1a7c4e80b3f4926a5c8e0f193',
  lateRecommendation: 'rec_60f2b9d8a3c54e17b0d6c2e94a',
  backup: 'bak_01JD7QAF7T1B3V9W5Y8Z2A4C6D',
  objectVolume: 'vol_01JD7Q9E6S0A2T8V4X7Y1Z3B5C',
  network: 'net_01JD7QAF7T1B3V9W5Y8Z2A4C6D',
  job: 'job_01JD7QCH9W3D5X1Y7A0B4C6E8F',
  unusedNetwork: 'net_01JD7QBG8V2C4W0X6Z9A3B5D7E',
  tenant: '6f1c2f0e-8f0a-4d7e-9b35-2f6f0c1d9a44',
  otherTenant: '0d8a3f52-57b1-4c39-8a0e-7a1f6f9b2c10',
  newTenant: '9b7d40c6-1e5f-4f0b-8d2a-c3a5e8f71b62',
  joinToken: 'hfj_01JD7Q4ZJ8V5T2M0K3X9R6B1CA_5cW0mZ8xK2nQ4tY6uI8oP1aS3dF5gH7jL9kZ0xC2vB4',
  otherJoinToken: 'hfj_01JD7Q5A2M6W8N4P0S3T7V9X1Y_9kZ0xC2vB45cW0mZ8xK2nQ4tY6uI8oP1aS3dF5gH7jL',
} as const

/** The smallest manifest, with the given fields; a field that is undefined is left out. */
export function manifest(fields: { readonly [field: string]: Json | undefined } = {}): JsonObject {
  const all = { kind: 'Deployment', name: 'shop', image: EXAMPLE.image, ...fields }
  return JSON.parse(JSON.stringify(all))
}

type Fields = { readonly [field: string]: Json | undefined }

/** An example in which one part of a new deployment's manifest is at fault. */
export const inManifest = (field: string, fails: Fields, passes: Fields, given?: string): CodeExample => ({
  field,
  fails: { method: 'POST', path: '/api/v1/deployments', body: manifest(fails) },
  passes: { method: 'POST', path: '/api/v1/deployments', body: manifest(passes) },
  ...(given === undefined ? {} : { given }),
})
