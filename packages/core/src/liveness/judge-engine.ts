// Judges from the heartbeats of an agent whether the engine of its node still works. An engine that flaps stays silent
// until it has answered for as long as it has to be silent, so that its node does not change its status all the time.
// See docs/design/liveness.md#faults-of-a-node

import type { EngineHealth } from '@holdfast/contract'

/** `failed`: silent for so long that the replicas of the node are replaced. */
export type EngineState = 'answering' | 'silent' | 'failed'

interface EngineTimes {
  /** Silence of the engine after which its node is degraded. */
  readonly engineSilentMs: number
  /** Silence after which a node or an engine has failed. */
  readonly failedMs: number
}

export function judgeEngine(
  known: EngineState,
  { silentMs, steadyMs }: EngineHealth,
  { engineSilentMs, failedMs }: EngineTimes,
): EngineState {
  if (silentMs >= Math.max(failedMs, engineSilentMs)) return 'failed'
  if (silentMs >= engineSilentMs) return known === 'failed' ? 'failed' : 'silent'
  return steadyMs >= engineSilentMs ? 'answering' : known
}
