// Rules for constant environment variables: their names, their total size, and that none is a credential.

import { type JsonObject, utf8Length } from '@holdfast/contract'
import { describeReceived, detectCredential } from '../../credentials/index.ts'
import { isDeploymentName, isEnvironmentKey } from '../../grammar.ts'
import type { AdmissionContext } from '../context.ts'
import { onObject, onText, type Place, type Rule } from '../rule-engine/rule.ts'

export const environmentRules: readonly Rule[] = [
  {
    code: 'environment_too_large',
    at: 'environment',
    stage: 'length',
    refuses: onObject(
      (variables, { limits }) =>
        environmentBytes(variables) > limits.environmentBytes && { params: { max: limits.environmentBytes } },
    ),
  },
  {
    code: 'environment_key_invalid',
    at: 'environment.*',
    stage: 'form',
    refuses: (_value, _context, place) => !isEnvironmentKey(place.key),
  },
  {
    code: 'plaintext_credential_in_environment',
    at: 'environment.*',
    stage: 'range',
    refuses: onText(
      (value, context, place) =>
        detectCredential(place.key, value) !== undefined && { params: { name: secretLabel(context, place) } },
    ),
  },
]

/** Size of environment variables in bytes: keys and values only, without separators such as `=`. */
export function environmentBytes(variables: JsonObject): number {
  let bytes = 0
  for (const key of Object.keys(variables)) {
    const value = variables[key]
    bytes += utf8Length(key) + (typeof value === 'string' ? utf8Length(value) : 0)
  }
  return bytes
}

/** The secret label that a rejection proposes: the deployment's own name, if that is a valid label. */
function secretLabel(context: AdmissionContext, place: Place): string {
  const name = place.sent.name ?? context.pathName
  return typeof name === 'string' && isDeploymentName(name) ? describeReceived('name', name) : '<name>'
}
