// The bare variant of a rollout: creates and starts sent directly to the engines, with the agent's adapter, container
// settings and number of workers per node. The containers are made from a desired item that an agent received, but belong
// to another tenant, so that the agents ignore them.

import { availableParallelism } from 'node:os'
import { createLimit } from '@holdfast/agent/converge/limit'
import type { Engine } from '@holdfast/agent/ports/engine'
import { type DesiredItem, decode, desiredItemShape, isTenantId, type TenantId } from '@holdfast/contract'
import { containerSettings, TENANT_LABEL, tenantNetwork } from '@holdfast/core/node'

/** Number of concurrent creates and starts that an agent runs on this machine. */
export const WORKERS_PER_NODE = 2 * availableParallelism()

interface BareSide {
  /** Creates and starts `each` containers on each engine; resolves when every call was answered. */
  rollOut(engines: readonly Engine[], each: number, item: DesiredItem): Promise<void>
  /** Removes the containers of the last rollout. */
  clear(): Promise<void>
}

export async function createBareSide(engines: readonly Engine[], tenantText: string): Promise<BareSide> {
  const tenant = isTenantId(tenantText) ? tenantText : undefined
  if (tenant === undefined) throw new Error('the tenant id is invalid')
  await Promise.all(engines.map((engine) => makeNetwork(engine, tenant)))
  let made: { readonly engine: Engine; readonly id: string }[] = []
  let count = 0
  const runOne = async (engine: Engine, item: DesiredItem): Promise<void> => {
    count += 1
    const own = decode(desiredItemShape, { ...item, assignmentId: `rep_bare${count}` })
    const id = await engine.createContainer(`bare-${count}`, containerSettings(own, tenant))
    made.push({ engine, id })
    await engine.startContainer(id)
  }
  return {
    async rollOut(chosen, each, item) {
      const work = chosen.flatMap((engine) => {
        const limit = createLimit(WORKERS_PER_NODE)
        return Array.from({ length: each }, () => limit(() => runOne(engine, item)))
      })
      await Promise.all(work)
    },
    async clear() {
      const limit = createLimit(WORKERS_PER_NODE * engines.length)
      await Promise.all(made.map(({ engine, id }) => limit(() => engine.removeContainer(id))))
      made = []
    },
  }
}

/** Creates the tenant's network in advance, as on a node that has already run containers of the tenant. */
export async function makeNetwork(engine: Engine, tenant: TenantId): Promise<void> {
  const name = tenantNetwork(tenant)
  if (!(await engine.hasNetwork(name))) await engine.createNetwork(name, { [TENANT_LABEL]: tenant })
}
