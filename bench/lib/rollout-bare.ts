// The same creates and starts, issued straight to the engines: the agent's own adapter and container settings, its number of
// workers for each node, and nothing else. The body is that of an item which an agent was really told, under another tenant,
// so that the agents leave these containers alone.

import { availableParallelism } from 'node:os'
import { createLimit } from '@holdfast/agent/converge/limit'
import type { Engine } from '@holdfast/agent/ports/engine'
import { type DesiredItem, decode, desiredItemShape, isTenantId, type TenantId } from '@holdfast/contract'
import { containerSettings, TENANT_LABEL, tenantNetwork } from '@holdfast/core/node'

/** As many as an agent uses on this machine. */
export const WORKERS_PER_NODE = 2 * availableParallelism()

interface BareSide {
  /** Creates and starts so many on each of the engines; ends when every call was answered. */
  rollOut(engines: readonly Engine[], each: number, item: DesiredItem): Promise<void>
  /** Removes what the last one made. */
  clear(): Promise<void>
}

export async function createBareSide(engines: readonly Engine[], tenantText: string): Promise<BareSide> {
  const tenant = isTenantId(tenantText) ? tenantText : undefined
  if (tenant === undefined) throw new Error('not a tenant id')
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

/** One for each tenant, as on a node that has run something for it before. */
export async function makeNetwork(engine: Engine, tenant: TenantId): Promise<void> {
  const name = tenantNetwork(tenant)
  if (!(await engine.hasNetwork(name))) await engine.createNetwork(name, { [TENANT_LABEL]: tenant })
}
