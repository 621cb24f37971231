// The failure of an action of the plan, with the reason that the agent reports for the replica.

import { isFault } from '../ports/engine.ts'

export class ActionError extends Error {
  readonly reason: string
  /** True if a retry of the failed action cannot succeed. */
  readonly final: boolean
  /** Explains the reason: the secret that could not be resolved, the lacking capabilities, the volume; else empty. */
  readonly about: string

  constructor(reason: string, cause: unknown, { final = false, about = '' } = {}) {
    super(cause instanceof Error ? cause.message : reason, { cause })
    this.name = 'ActionError'
    this.reason = reason
    this.final = final
    this.about = about
  }
}

/** Adds a reason to a failed action. If the engine does not answer, the replica has not failed, so no reason is added. */
export async function failAs<T>(reason: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ActionError || isFault(error, 'unavailable', 'timeout')) throw error
    throw new ActionError(reason, error)
  }
}
