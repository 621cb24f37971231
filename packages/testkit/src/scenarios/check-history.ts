// Checks every placement of a lab run as it is written: an assignment may only name a node of its own tenant. At the end
// the machines are checked too: no machine runs a container of another tenant, and no assignment has two containers.

import { asOwner } from '@holdfast/contract'
import { nodes, placements } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'
import type { Lab } from '@holdfast/testkit'

export interface HistoryCheck {
  /** Checks the changes of this store from now on, such as that of a server that replaced the one before. */
  follow(store: Store): void
  /** Ends the checks of the store followed now. Throws an error with all violations, if there were any. */
  finish(tenantIds: { readonly [tenant: string]: string }): Promise<void>
}

type Changes = Parameters<Parameters<Store['subscribe']>[0]>[0]

const LABELS = '{{.Label "holdfast.io/tenant"}} {{.Label "holdfast.io/assignment"}}'

export function checkHistory(lab: Lab): HistoryCheck {
  const found: string[] = []
  // Counted over all stores: after the last restart of the servers there may be nothing left to place.
  let seen = 0
  let unsubscribe = (): void => {}
  const check = (store: Store, changes: Changes): void => {
    for (const { kind, key } of changes) {
      if (kind !== 'put' || key.folder !== placements.folder || key.tenant === undefined) continue
      const placed = store.get(placementAt(key.tenant, asOwner(key.id)))?.record.assignments ?? []
      seen += placed.length
      for (const { id, nodeId } of placed)
        if (store.get(inTenant(key.tenant, nodes, nodeId)) === undefined)
          found.push(`${id} of tenant ${key.tenant} is on ${nodeId}, which belongs to another tenant`)
    }
  }
  return {
    follow(store) {
      unsubscribe()
      unsubscribe = store.subscribe((changes) => check(store, changes))
    },
    async finish(tenantIds) {
      unsubscribe()
      for (const node of lab.nodes.filter(isOn))
        found.push(...(await checkMachine(node, tenantIds[node.tenant] ?? '')))
      if (seen === 0) found.push('no placement was seen at all')
      if (found.length > 0) throw new Error(found.join('\n'))
    },
  }
}

/** True if the machine has power. A machine without power cannot be checked, and runs no container. */
export function isOn(node: Lab['nodes'][number]): boolean {
  try {
    return node.engine.pid > 0
  } catch {
    return false
  }
}

async function checkMachine(node: Lab['nodes'][number], tenantId: string): Promise<string[]> {
  const ours = ['--filter', 'label=holdfast.io/assignment']
  const listed = await node.exec(['docker', 'ps', '--all', ...ours, '--format', LABELS])
  const lines = listed.split('\n').filter((line) => line !== '')
  const foreign = lines.filter((line) => !line.startsWith(`${tenantId} `))
  const twice = lines.filter((line, at) => lines.indexOf(line) !== at)
  return [
    ...foreign.map((line) => `${node.name} runs a container of another tenant: ${line}`),
    ...twice.map((line) => `${node.name} has two containers for one assignment: ${line}`),
  ]
}
