// Checks a request that applies a recommendation. The first fault is reported; the order is public.

import {
  isJsonObject,
  type Json,
  type JsonObject,
  RECOMMENDATION_ACTIONS,
  type Recommendation,
  type Rejection,
} from '@holdfast/contract'
import { reject } from '../reject.ts'

/** The change that a recommendation makes to its volume. */
export type AppliedChange =
  | { readonly action: 'set_replicas'; readonly replicas: number }
  | { readonly action: 'resize'; readonly sizeBytes: number }

type Checked =
  | { readonly ok: true; readonly value: AppliedChange }
  | { readonly ok: false; readonly rejection: Rejection }

type Action = Recommendation['parameters']['action']

const PARAMETER = { set_replicas: 'target_replicas', resize: 'target_size_bytes' } as const

/** Checks the parameters that were sent; without any, those of the recommendation apply. */
export function checkApply(recommendation: Recommendation, sent: Json | undefined): Checked {
  const parameters = sent ?? { ...recommendation.parameters }
  if (!isJsonObject(parameters))
    return fault(reject('field_type_invalid', 'parameters', parameters, { accepted: 'an object' }))
  const action = checkAction(recommendation, parameters)
  if (typeof action !== 'string') return fault(action)
  const name = PARAMETER[action]
  const rejection = checkNames(action, parameters) ?? checkNumber(action, parameters[name])
  if (rejection !== undefined) return fault(rejection)
  const target = Number(parameters[name])
  const refusal = checkState(recommendation, action, target)
  if (refusal !== undefined) return fault(refusal)
  return { ok: true, value: changeOf(action, target) }
}

const fault = (rejection: Rejection): Checked => ({ ok: false, rejection })

const changeOf = (action: Action, target: number): AppliedChange =>
  action === 'set_replicas' ? { action, replicas: target } : { action, sizeBytes: target }

const bad = (name: string, value: Json | undefined, accepted: string): Rejection =>
  reject('dvm_recommendation_bad_parameter', `parameters.${name}`, value, { accepted })

function checkAction({ parameters }: Recommendation, { action }: JsonObject): Action | Rejection {
  if (action === undefined || action === null) return bad('action', action, parameters.action)
  const known = RECOMMENDATION_ACTIONS.find((one) => one === action)
  if (known === undefined) return reject('dvm_recommendation_unknown_action', 'parameters.action', action)
  const own = `${parameters.action}, the action of this recommendation`
  return known === parameters.action ? known : bad('action', action, own)
}

function checkNames(action: Action, parameters: JsonObject): Rejection | undefined {
  const names = ['action', PARAMETER[action]]
  const other = Object.keys(parameters).find((name) => !names.includes(name))
  return other === undefined
    ? undefined
    : bad(other, parameters[other], `only action and ${PARAMETER[action]} for ${action}`)
}

function checkNumber(action: Action, value: Json | undefined): Rejection | undefined {
  const isTarget = typeof value === 'number' && Number.isSafeInteger(value) && value > 0
  return isTarget ? undefined : bad(PARAMETER[action], value, 'a whole number above 0')
}

function checkState(
  { id, applicable, why, measured }: Recommendation,
  action: Action,
  target: number,
): Rejection | undefined {
  // The text of the code ends with a full stop of its own.
  if (!applicable)
    return reject('dvm_recommendation_not_applicable', 'id', id, { reason: why.replace(/\.$/, '') })
  const { enrolledNodes: enrolled, usedBytes: used = 0 } = measured
  if (action === 'set_replicas' && enrolled < target + 1)
    return reject('dvm_recommendation_insufficient_nodes', 'parameters.target_replicas', target, {
      max: enrolled - 1,
      needed: target + 1,
      enrolled,
    })
  if (action === 'resize' && target < used)
    return reject('dvm_recommendation_stale_measurement', 'parameters.target_size_bytes', target, { used })
  return undefined
}
