// The rules of the platform, here: the same functions that the server judges a body by, so that nothing has to be kept
// alike. What only a server knows (its registries and regions, its switches, the world) is left to it.

import type { Json, PathStep, Rejection } from '@holdfast/contract'
import { childPath, elementPath } from '@holdfast/contract'
import { admissionContext, checkBody, reject } from '@holdfast/core/admission'

/** Which registries are allowed and which regions are declared is known to the server alone: here all are. */
const ANY: ReadonlySet<string> = Object.assign(new Set<string>(), { has: () => true })

const CONTEXT = admissionContext({ registries: ANY, regions: ANY, volumesEnabled: true })

/** In the order in which the server would list them. */
export const checkOffline = (body: Json): Rejection[] => checkBody(body, CONTEXT)

/** Whether the platform itself would show the value at this place only as its type and size. */
export function looksSecret(steps: readonly PathStep[], value: Json): boolean {
  const field = steps.reduce<string>(
    (parent, step) => (typeof step === 'number' ? elementPath(parent, step) : childPath(parent, step)),
    '',
  )
  const { received } = reject('field_type_invalid', field, value, { accepted: '' })
  return received.startsWith('<redacted ')
}
