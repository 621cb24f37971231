// For tests only: valid request bodies and records that tests modify.

import {
  type DeploymentRecord,
  decode,
  deploymentRecordShape,
  type JsonObject,
  type Rejection,
} from '@holdfast/contract'
import { deriveStatus } from '../rollout/derive-status.ts'
import { residencyLabels } from '../scheduling/residency.ts'
import { admitDeployment } from './admit-deployment.ts'
import { type AdmissionContext, admissionContext } from './context.ts'

const REGISTRY = 'registry.example.com:443'
const REGIONS = ['eu', 'eea', 'dach', 'nordics', 'na', 'apac']
export const IMAGE = 'registry.example.com/shop/web:1.4.2'
export const DIGEST = `sha256:${'a'.repeat(64)}`

/** The smallest deployment body that a POST accepts. `parts` replaces fields; `undefined` removes a field. */
export function aBody(parts: { [field: string]: unknown } = {}): JsonObject {
  const body: { [field: string]: unknown } = { kind: 'Deployment', name: 'web', image: IMAGE, ...parts }
  return JSON.parse(JSON.stringify(body))
}

export function forCreate(overrides: Partial<AdmissionContext> = {}): AdmissionContext {
  return admissionContext({ registries: new Set([REGISTRY]), regions: new Set(REGIONS), ...overrides })
}

export function forUpdate(
  current: DeploymentRecord,
  overrides: Partial<AdmissionContext> = {},
): AdmissionContext {
  return forCreate({ mode: 'update', pathName: current.name, current, ...overrides })
}

/** The deployment record that a POST of a valid body creates. */
export function aRecord(body: JsonObject = aBody()): DeploymentRecord {
  const verdict = admitDeployment(body, forCreate())
  if (!verdict.accepted) throw new Error(`not a sound body: ${JSON.stringify(verdict.rejections)}`)
  return decode(deploymentRecordShape, {
    ...verdict.spec,
    uid: 'dep_01JCPZ0000000000000000000A',
    revision: 1,
    specHash: 'f'.repeat(64),
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    status: deriveStatus(verdict.spec, { deleting: false, imageDigest: DIGEST }),
    residencyLabels: residencyLabels(verdict.spec.placement?.residency),
  })
}

/** Each rejection as the text `code field`, so that tests do not depend on the wording of rejections. */
export function summary(rejections: readonly Rejection[]): string[] {
  return rejections.map(({ code, field }) => `${code} ${field}`)
}

/** A test case: changed fields of a deployment body, and the expected rejections in order, each as `code field`. */
export type Row = [about: string, parts: { [field: string]: unknown }, ...expected: string[]]
