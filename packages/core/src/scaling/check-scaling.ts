// Checks a scaling policy: the body with all its faults at once, merged with the stored policy, and what the deployment
// must have for it.

import {
  type Alteration,
  type DeploymentSpec,
  decode,
  isJsonObject,
  type Json,
  type JsonObject,
  type Rejection,
  type ScalingMetric,
  type ScalingPolicy,
  scalingPolicyShape,
  scalingTexts,
  sentScalingShape,
} from '@holdfast/contract'
import { type AdmissionContext, admissionContext } from '../admission/context.ts'
import { compileRules } from '../admission/rule-engine/compile-rules.ts'
import { applyCrossRules } from '../admission/rule-engine/cross-rule.ts'
import { newFaultList } from '../admission/rule-engine/fault-list.ts'
import { findUnknownFields } from '../admission/rule-engine/unknown-fields.ts'
import { walkFields } from '../admission/rule-engine/walk.ts'
import { reject } from '../reject.ts'
import { scalingCrossRules, scalingRules } from './scaling-rules.ts'

const FIELDS = compileRules(sentScalingShape, scalingRules)
/** The read-only fields of the body: there are none. */
const NONE: ReadonlySet<string> = new Set()

export interface SentScaling {
  readonly policy: ScalingPolicy
  readonly alterations: readonly Alteration[]
}

type Checked =
  | { readonly ok: true; readonly value: SentScaling }
  | { readonly ok: false; readonly rejections: readonly Rejection[] }

/** `stored` is the present policy, whose values stay where the body has none; undefined if there is no policy. */
export function checkScaling(
  body: Json,
  stored: ScalingPolicy | undefined,
  given: Partial<Pick<AdmissionContext, 'limits'>>,
): Checked {
  if (!isJsonObject(body))
    return { ok: false, rejections: [reject('field_type_invalid', '', body, { accepted: 'an object' })] }
  const context = admissionContext({ ...given, mode: 'update' })
  const faults = newFaultList(context.limits.rejections)
  const merged: JsonObject = { ...stored, ...body }
  findUnknownFields(FIELDS, body, context, faults, NONE)
  walkFields(FIELDS, body, context, faults)
  applyCrossRules(scalingCrossRules, merged, body, context, faults)
  const { rejections } = faults
  return rejections.length > 0 ? { ok: false, rejections } : { ok: true, value: withDefault(merged) }
}

function withDefault(merged: JsonObject): SentScaling {
  const to = scalingTexts.scaleDownDelay.default
  const { scaleDownDelay } = merged
  if (typeof scaleDownDelay === 'string')
    return { policy: decode(scalingPolicyShape, merged), alterations: [] }
  const why = 'The field was absent.'
  return {
    policy: decode(scalingPolicyShape, { ...merged, scaleDownDelay: to }),
    alterations: [{ code: 'default_applied', field: 'scaleDownDelay', from: null, to, why }],
  }
}

const REQUESTS = { cpu: 'cpuMillis', memory: 'memoryBytes' } as const

/** The amount that each replica requests of what a policy measures; 0 if the deployment requests none. */
export const requestOf = ({ resources }: Pick<DeploymentSpec, 'resources'>, metric: ScalingMetric): number =>
  resources[REQUESTS[metric]]

/** Checks a policy against the deployment: usage is a percentage of the request, and only one replica may write. */
export function checkScalingFacts({ metric, max }: ScalingPolicy, spec: DeploymentSpec): Rejection[] {
  const form = `a metric that the deployment requests: set resources.${REQUESTS[metric]} above 0 first`
  return [
    ...(requestOf(spec, metric) > 0
      ? []
      : [reject('scaling_policy_invalid', 'metric', metric, { accepted: form })]),
    ...(max > 1 && spec.volumes?.some(({ readOnly }) => !readOnly) === true
      ? [reject('scaling_policy_invalid', 'max', max, { accepted: ONE_WRITER })]
      : []),
  ]
}

const ONE_WRITER = '1, because the deployment has a read-write mount, which only one replica may have'
