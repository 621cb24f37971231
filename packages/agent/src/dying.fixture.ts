// For tests: an agent that dies after so many of its calls, as far as its engine and its router can tell.

import type { Engine } from './ports/engine.ts'
import type { RouterAdmin } from './ports/router.ts'

/** A drain asks again and again: to die at one of them is like at any other. */
const ASKS_COUNTED = 3

export interface Dying {
  readonly engine: Engine
  /** The same end for what is asked of the router: its calls are counted with the engine's. */
  router(admin: RouterAdmin): RouterAdmin
  readonly calls: string[]
  died(): boolean
}

/** Calls up to the nth are made; the answer of the nth is lost with the agent, and later ones are never made. */
export function dyingAfter(engine: Engine, n: number): Dying {
  const calls: string[] = []
  let left = n
  const wrap =
    <A extends readonly unknown[], T>(name: string, work: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      left -= 1
      if (left < 0) throw new Error('the agent is dead')
      const last = left === 0
      calls.push(name)
      const answer = await work(...given)
      if (last || left <= 0) throw new Error('the agent died')
      return answer
    }
  const dying: Engine = {
    version: wrap('version', engine.version),
    listContainers: wrap('list', engine.listContainers),
    listLabelled: wrap('listLabelled', engine.listLabelled),
    createContainer: wrap('create', engine.createContainer),
    startContainer: wrap('start', engine.startContainer),
    stopContainer: wrap('stop', engine.stopContainer),
    removeContainer: wrap('remove', engine.removeContainer),
    inspectContainer: wrap('inspect', engine.inspectContainer),
    runProbe: wrap('probe', engine.runProbe),
    readLogs: wrap('logs', engine.readLogs),
    startExec: wrap('exec', engine.startExec),
    hasImage: wrap('hasImage', engine.hasImage),
    pullImage: wrap('pull', engine.pullImage),
    hasNetwork: wrap('hasNetwork', engine.hasNetwork),
    inspectNetwork: wrap('inspectNetwork', engine.inspectNetwork),
    listNetworks: wrap('listNetworks', engine.listNetworks),
    createNetwork: wrap('createNetwork', engine.createNetwork),
    removeNetwork: wrap('removeNetwork', engine.removeNetwork),
    watchContainers: engine.watchContainers,
  }
  const router = (admin: RouterAdmin): RouterAdmin => {
    const countedAsk = wrap('inFlight', admin.requestsInFlight)
    let asks = 0
    return {
      readUpstreams: wrap('readUpstreams', admin.readUpstreams),
      lead: wrap('lead', admin.lead),
      load: wrap('load', admin.load),
      requestsInFlight() {
        asks += 1
        if (asks <= ASKS_COUNTED || left <= 0) return countedAsk()
        return admin.requestsInFlight()
      },
    }
  }
  return { engine: dying, router, calls, died: () => left <= 0 }
}
