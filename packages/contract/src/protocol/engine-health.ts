// Whether the engine of a node answers, as each heartbeat carries it.

import { type Infer, integer, object } from '../shapes/shape.ts'

/** Whether the engine of the node answers. */
export const engineHealthShape = object({
  /** Milliseconds since its last answer, or since the start of the agent. */
  silentMs: integer(),
  /** Milliseconds since its first answer after which no check was without one; 0 if the last check was. */
  steadyMs: integer(),
})
export type EngineHealth = Infer<typeof engineHealthShape>
