// Checks the body of a new job by the rules of a deployment's fields, and fills in its defaults.

import {
  type Alteration,
  type Code,
  decode,
  durationMs,
  type JobSpec,
  type Json,
  type JsonObject,
  jobBodyShape,
  jobSpecShape,
  jobTexts,
  NODE_LOSS_ACTIONS,
  type Warning,
} from '@holdfast/contract'
import type { BodyKind } from '../admission/admit-body.ts'
import { explainGenerated } from '../admission/normalize/generated-material.ts'
import { withDefaults, withoutMaterial } from '../admission/normalize/normalise.ts'
import { explainResidencyLabels } from '../admission/normalize/residency-labels.ts'
import { compileRules } from '../admission/rule-engine/compile-rules.ts'
import { accepted, onNumber, onText, type Rule } from '../admission/rule-engine/rule.ts'
import { FIELD_RULES } from '../admission/rule-list.ts'
import { DEFAULT_LIMITS } from '../limits.ts'
import type { SentMaterial } from '../secrets/material.ts'
import { workloadSpec } from './job-workload.ts'

const SECOND_MS = 1000
const HOUR_MS = 3_600_000
const TIMEOUT_MS = { least: SECOND_MS, most: 168 * HOUR_MS }
const MOST_RETRIES = 10

/** The rules of fields that only jobs have. */
export const jobRules: readonly Rule[] = [
  {
    code: 'field_type_invalid',
    at: 'timeout',
    stage: 'range',
    refuses: onText((text) => {
      const ms = durationMs(text) ?? 0
      return (ms < TIMEOUT_MS.least || ms > TIMEOUT_MS.most) && accepted(jobTexts.timeout.range)
    }),
  },
  {
    code: 'field_type_invalid',
    at: 'retries',
    stage: 'range',
    refuses: onNumber((count) => (count < 0 || count > MOST_RETRIES) && accepted(jobTexts.retries.range)),
  },
  {
    code: 'field_type_invalid',
    at: 'onNodeLoss',
    stage: 'form',
    refuses: onText(
      (text) => !NODE_LOSS_ACTIONS.some((known) => known === text) && accepted(jobTexts.onNodeLoss.range),
    ),
  },
]

/** All rules of single fields. Rules of fields that jobs lack find nothing to check. */
export const JOB_FIELD_RULES: readonly Rule[] = [...FIELD_RULES, ...jobRules]

/** The codes of rules about fields that only deployments have. */
export const JOB_LACKS: readonly Code[] = (() => {
  const topOf = ({ at }: Rule): string => at.split(/[.[]/, 1)[0] ?? ''
  const isOfJobs = (rule: Rule): boolean => Object.hasOwn(jobBodyShape.fields, topOf(rule))
  const used = new Set(FIELD_RULES.filter(isOfJobs).map(({ code }) => code))
  return FIELD_RULES.filter((rule) => !isOfJobs(rule) && !used.has(rule.code)).map(({ code }) => code)
})()

/** The body of POST /jobs, for `judgeBody`. */
export const JOB_BODY: BodyKind = {
  kind: 'Job',
  fields: compileRules(jobBodyShape, JOB_FIELD_RULES),
  readOnly: new Set(['id', 'createdAt', 'revision', 'residencyLabels', 'status']),
}

const JOB_FIELDS: readonly string[] = Object.keys(jobSpecShape.fields)

const JOB_DEFAULTS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['secrets', jobTexts.secrets.default],
  ['resources', jobTexts.resources.default],
  ['stopGracePeriod', jobTexts.stopGracePeriod.default],
  ['timeout', jobTexts.timeout.default],
  ['retries', jobTexts.retries.default],
  ['onNodeLoss', jobTexts.onNodeLoss.default],
])

export interface NormalisedJob {
  readonly spec: JobSpec
  readonly alterations: Alteration[]
  readonly warnings: Warning[]
  /** Secret values that were sent with the entries. They are not part of the stored spec. */
  readonly material: readonly SentMaterial[]
}

/** Builds the spec of a valid body. Throws for an invalid one, so that a rejected body never becomes a job. */
export function normaliseJob(sent: JsonObject, limits = DEFAULT_LIMITS): NormalisedJob {
  const alterations: Alteration[] = []
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null))
  const material = withoutMaterial(given, limits, alterations)
  const values: JsonObject = {}
  for (const field of JOB_FIELDS) {
    const value = withDefaults(field, given[field], JOB_DEFAULTS, alterations)
    if (value !== undefined) values[field] = value
  }
  const spec = decode(jobSpecShape, values)
  const workload = workloadSpec(spec)
  alterations.push(...explainResidencyLabels(workload, undefined))
  return { spec, alterations, warnings: explainGenerated(sent.secrets, workload), material }
}
