// The container engine as one agent process sees it. The engine finishes a call even if the agent dies, and its answer reaches
// only a live agent.

import type { SimulatedProcess, VirtualTime } from '../time/virtual-time.ts'
import type { Engine } from './machine.ts'

export function engineForAgent(time: VirtualTime, agent: SimulatedProcess, engine: Engine): Engine {
  const answered = (call: Promise<void>): Promise<void> =>
    new Promise((resolve) => {
      void call.then(() => time.deliver(agent, resolve))
    })
  return {
    ...engine,
    start(container) {
      const queued = engine.start(container)
      return queued === undefined ? undefined : answered(queued)
    },
    stop: (container) => answered(engine.stop(container)),
  }
}
