// Changes of networks for the test of the invariants, each with the invariant that it breaks.

import { asNetworkId, type NodeId } from '@holdfast/contract'
import { engineNetworkName } from '@holdfast/core/node'
import type { StoredNetwork } from '@holdfast/server/store/records'
import type { SimulatedContainer, SimulatedNetwork } from '../../cluster/snapshot.ts'
import { asked, type Change, first, second } from '../changes.fixture.ts'
import { aPlacement, N1, N2, OTHER, OWN, OWNER, withMachine, written } from '../world.fixture.ts'

const ID = asNetworkId('net_1')
const NAME = engineNetworkName(OWN, 'front')
const TEMPLATE = { name: 'web', image: 'i', environment: {}, labels: {}, stopGracePeriod: '1s' }

const network =
  (parts: Partial<StoredNetwork> = {}): Change =>
  (world) => {
    const stored: StoredNetwork = {
      ...{ v: 2, id: ID, nodeId: N1, nodeName: 'n1', phase: 'Ready', reason: null, desired: 'present' },
      ...{ revision: 1, createdAt: '1970-01-01T00:00:00.000Z', slot: 0 },
      options: { name: 'front', driver: 'bridge', labels: {}, internal: false },
      ...parts,
    }
    return written(written(world, 'networks', OWN, ID, stored), 'slots', OWN, 'networks/0', {
      ...{ v: 1, holder: ID },
    })
  }

const deleted: Change = (world) => written(written(world, 'networks', OWN, ID), 'slots', OWN, 'networks/0')

const onEngine =
  (parts: Partial<SimulatedNetwork> = {}, on: NodeId = N1): Change =>
  (world) =>
    withMachine(world, on, ({ networks }) => ({
      networks: [
        ...networks,
        {
          engineId: `${on.replace('node_', 'n')}-net-1`,
          name: NAME,
          internal: false,
          tenant: OWN,
          id: ID,
          ...parts,
        },
      ],
    }))

const offEngine: Change = (world) => withMachine(world, N1, () => ({ networks: [] }))

/** The deployment names the network, and its container joins it. */
const joined =
  (attached: readonly string[] = [NAME]): Change =>
  (world) => {
    const joining: SimulatedContainer['networks'] = { joined: ['front'], attached }
    return withMachine(world, N1, ({ containers }) => ({
      containers: containers.map((each) => ({ ...each, networks: joining })),
    }))
  }

const assigned =
  (...assignments: Parameters<typeof aPlacement>[0]): Change =>
  (world) =>
    written(
      world,
      'placements',
      OWN,
      OWNER,
      aPlacement(assignments, { templates: { hash: { ...TEMPLATE, networks: ['front'] } } }),
    )

const foreign: Change = (world) => withMachine(world, N1, () => ({ foreignNetworks: new Set(['n1-net-9']) }))

export const JOINED: readonly Change[] = [
  network(),
  onEngine(),
  asked({ networks: ['front'] }),
  assigned(first),
  joined(),
]

export const NETWORK_TABLE: readonly (readonly [string, string, readonly Change[]])[] = [
  ['at-network', 'an assignment to a node without the network', [network(), assigned(first, second)]],
  [
    'at-network',
    'a container on a node without the network',
    [network({ nodeId: N2 }), assigned(first), joined()],
  ],
  [
    'network-tenants',
    'a container on a network of another tenant',
    [network(), onEngine({ tenant: OTHER }), assigned(first), joined()],
  ],
  ['network-tenants', 'the removal of a network that is not the tenant’s', [foreign]],
  ['network-kept', 'a deletion while a deployment names it', [...JOINED, network({ phase: 'Deleting' })]],
  ['network-kept', 'a record that is gone before its assignments', [network(), assigned(first), deleted]],
  ['network-kept', 'a removal from the engine while a container joins it', [...JOINED, offEngine]],
  ['networks-settled', 'ready and not on its engine', [network()]],
  ['networks-settled', 'an end that does not come', [network({ phase: 'Deleting' })]],
  ['networks-settled', 'a network of the tenant that no record has', [onEngine()]],
  ['networks-settled', 'a container that is not attached', [...JOINED, joined([])]],
]
