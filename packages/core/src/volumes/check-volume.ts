// Checks the bodies of volume requests and reports all faults at once, in the order of the fields.

import {
  type Alteration,
  decode,
  isJsonObject,
  type Json,
  type JsonObject,
  newVolumeShape,
  type Rejection,
  type ShapeNode,
  type VolumeSpec,
  volumePatchShape,
  volumeReplicaShape,
  volumeResizeShape,
  volumeSpecShape,
  volumeTexts,
} from '@holdfast/contract'
import { type AdmissionContext, admissionContext } from '../admission/context.ts'
import { type CompiledNode, compileRules } from '../admission/rule-engine/compile-rules.ts'
import { applyCrossRules, type CrossRule } from '../admission/rule-engine/cross-rule.ts'
import { newFaultList } from '../admission/rule-engine/fault-list.ts'
import { isAbsent, type Rule } from '../admission/rule-engine/rule.ts'
import { findUnknownFields } from '../admission/rule-engine/unknown-fields.ts'
import { walkFields } from '../admission/rule-engine/walk.ts'
import { reject } from '../reject.ts'
import { replicasRange, replicasRequired, sizeRules, volumeCrossRules, volumeRules } from './volume-rules.ts'

/** A request body with the rules for its fields and across its fields. */
interface BodyRules {
  readonly fields: CompiledNode
  readonly cross: readonly CrossRule[]
}

const rulesOf = (shape: ShapeNode, rules: readonly Rule[], cross: readonly CrossRule[] = []): BodyRules => ({
  fields: compileRules(shape, rules),
  cross,
})

const VOLUME = rulesOf(newVolumeShape, volumeRules, volumeCrossRules)
const PATCH = rulesOf(volumePatchShape, [replicasRange, replicasRequired])
const RESIZE = rulesOf(volumeResizeShape, sizeRules)
const REPLICA = rulesOf(volumeReplicaShape, [
  {
    code: 'replica_node_invalid',
    at: 'node_id',
    stage: 'required',
    refuses: (value) => isAbsent(value) && { params: { reason: 'no node is named' } },
  },
])

type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly rejections: readonly Rejection[] }

/** The parts of the admission context that the rules for volumes read. */
type VolumeContext = Partial<Pick<AdmissionContext, 'limits' | 'regions'>>

export interface SentVolume {
  readonly spec: VolumeSpec
  readonly alterations: readonly Alteration[]
}

/** Checks the body of a new volume and fills in its default. */
export function checkVolume(body: Json, context: VolumeContext): Checked<SentVolume> {
  const checked = checkFields(VOLUME, body, context)
  if (!checked.ok) return checked
  const sent = present(checked.value)
  const to = volumeTexts.replicas.default
  const spec = decode(volumeSpecShape, { replicas: to, ...sent })
  return { ok: true, value: { spec, alterations: sent.replicas === undefined ? [defaultApplied(to)] : [] } }
}

const defaultApplied = (to: number): Alteration => ({
  code: 'default_applied',
  field: 'replicas',
  from: null,
  to,
  why: 'The field was absent.',
})

/** The fields that have a value; null counts as absent. */
const present = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))

export function checkVolumePatch(body: Json): Checked<number> {
  const checked = checkFields(PATCH, body)
  return checked.ok ? { ok: true, value: decode(volumePatchShape, checked.value).replicas } : checked
}

export function checkVolumeSize(body: Json): Checked<number> {
  const checked = checkFields(RESIZE, body)
  return checked.ok ? { ok: true, value: decode(volumeResizeShape, checked.value).sizeBytes } : checked
}

export function checkReplicaNode(body: Json): Checked<string> {
  const checked = checkFields(REPLICA, body)
  return checked.ok ? { ok: true, value: decode(volumeReplicaShape, checked.value).node_id } : checked
}

function checkFields(
  { fields, cross }: BodyRules,
  body: Json,
  given: VolumeContext = {},
): Checked<JsonObject> {
  if (!isJsonObject(body))
    return { ok: false, rejections: [reject('field_type_invalid', '', body, { accepted: 'an object' })] }
  const context = admissionContext(given)
  const faults = newFaultList(context.limits.rejections)
  findUnknownFields(fields, body, context, faults, NONE)
  walkFields(fields, body, context, faults)
  applyCrossRules(cross, body, body, context, faults)
  const { rejections } = faults
  return rejections.length > 0 ? { ok: false, rejections } : { ok: true, value: body }
}

/** The read-only fields of these bodies: there are none. */
const NONE: ReadonlySet<string> = new Set()
