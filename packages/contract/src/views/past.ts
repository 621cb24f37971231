// The recorded decisions of a deployment: the times at which its explanation changed.

import { described, type Infer, integer, object, string } from '../shapes/shape.ts'

/** An item of GET /deployments/{name}/decisions. GET /deployments/{name}/why?at= explains the decision in full. */
export const decisionShape = object({
  at: described('Since when the decision was in force; it ends with the next one', string()),
  phase: string(),
  reason: string(),
  revision: integer(),
  summary: string(),
})
export type Decision = Infer<typeof decisionShape>
