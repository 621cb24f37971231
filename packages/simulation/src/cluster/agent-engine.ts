// The container engine as one agent process sees it. The engine finishes a call even if the agent dies, and its answer reaches
// only a live agent.

import type { SimulatedProcess, VirtualTime } from '../time/virtual-time.ts'
import type { Engine } from './machine.ts'

export function engineForAgent(time: VirtualTime, agent: SimulatedProcess, engine: Engine): Engine {
  const answered = <T>(call: Promise<T>): Promise<T> =>
    new Promise((resolve) => {
      void call.then((answer) => time.deliver(agent, () => resolve(answer)))
    })
  const { list, create, remove, connect } = engine.networks
  return {
    ...engine,
    start(container) {
      const queued = engine.start(container)
      return queued === undefined ? undefined : answered(queued)
    },
    stop: (container) => answered(engine.stop(container)),
    networks: {
      list: () => answered(list()),
      create: (network) => answered(create(network)),
      remove: (engineId) => answered(remove(engineId)),
      connect: (name, container) => answered(connect(name, container)),
    },
  }
}
