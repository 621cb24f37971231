// Seeded bugs around networks. Only seeds with networks can find them.

import { type Bug, core, server } from './bug.ts'

const BUGS: readonly Omit<Bug, 'scripts'>[] = [
  {
    name: 'a workload is placed on a node without its network',
    edits: [
      core(
        'scheduling/filters/network-node.ts',
        'networks.filter(({ nodeId }) => nodeId !== id)',
        'networks.filter(({ nodeId }) => nodeId === null && id !== undefined)',
      ),
    ],
    seenBy: ['at-network'],
  },
  {
    name: 'a network in use is deleted',
    edits: [
      server('operations/networks/delete-network.ts', "if (consumers !== '')", 'if (consumers === id)'),
    ],
    seenBy: ['network-kept'],
  },
  {
    name: 'a deletion of a network does not compare the record that a new use of it writes',
    edits: [
      server(
        'operations/networks/delete-network.ts',
        'transaction.get(inTenant(tenant, networkNames, deleting.options.name))',
        'store.get(inTenant(tenant, networkNames, deleting.options.name))',
      ),
    ],
    seenBy: ['network-kept'],
  },
  {
    name: 'an agent removes networks of another tenant',
    edits: [
      core(
        'node/plan-networks.ts',
        'if (network.labels[TENANT_LABEL] !== tenant || !isNetworkId(id)) continue',
        'if (!isNetworkId(id)) continue',
      ),
    ],
    seenBy: ['network-tenants'],
  },
  {
    name: 'networks that no record has stay on their engine',
    edits: [
      core('node/plan-networks.ts', 'if (!isComplete) return []', 'if (!isComplete || tenant) return []'),
    ],
    seenBy: ['networks-settled'],
  },
]

export const NETWORK_BUGS: readonly Bug[] = BUGS.map((bug) => ({ ...bug, scripts: 'networks' }))
