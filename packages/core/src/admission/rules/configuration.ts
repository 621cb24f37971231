// Rejects fields that the configuration disables or does not allow. Only sent fields are checked, so that a changed
// configuration never stops a tenant from scaling down.

import type { JsonObject } from '@holdfast/contract'
import { parseImageReference } from '../../image-reference.ts'
import type { AdmissionContext } from '../context.ts'
import type { CrossRefusal, CrossRule } from '../rule-engine/cross-rule.ts'

export const configurationRules: readonly CrossRule[] = [
  { code: 'registry_not_allowed', at: 'image', needs: ['image'], refusals: registryNotAllowed },
  { code: 'volume_binding_unavailable', at: 'volumes', needs: ['volumes'], refusals: volumesSwitchedOff },
]

function registryNotAllowed(
  _merged: JsonObject,
  { image }: JsonObject,
  context: AdmissionContext,
): CrossRefusal[] {
  const host = typeof image === 'string' ? parseImageReference(image)?.host : undefined
  if (host === undefined || context.registries.has(host)) return []
  return [{ path: ['image'], value: image, params: { allowed: [...context.registries].join(', ') } }]
}

function volumesSwitchedOff(
  _merged: JsonObject,
  { volumes }: JsonObject,
  context: AdmissionContext,
): CrossRefusal[] {
  if (context.volumesEnabled || !Array.isArray(volumes) || volumes.length === 0) return []
  return [{ path: ['volumes'], value: volumes }]
}
