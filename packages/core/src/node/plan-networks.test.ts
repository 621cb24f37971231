import { asNetworkId, asTenantId, type DesiredNetwork } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { engineNetworkName, type FoundNetwork, networkLabels, planNetworks } from './plan-networks.ts'

const TENANT = asTenantId('6f1c2f0e-8f0a-4d7e-9b35-2f6f0c1d9a44')
const OTHER = asTenantId('6f1c2f0e-0000-4d7e-9b35-2f6f0c1d9a44')
const id = asNetworkId('net_01JD7QAF7T1B3V9W5Y8Z2A4C6D')
const options = { name: 'backend', driver: 'bridge', labels: { team: 'shop' }, internal: true } as const
const desired: DesiredNetwork = { id, desired: 'present', options }
const ending: DesiredNetwork = { ...desired, desired: 'removed' }
const name = engineNetworkName(TENANT, 'backend')

const found = (parts: Partial<FoundNetwork> = {}, tenant = TENANT): FoundNetwork => ({
  engineId: 'e1',
  name,
  internal: true,
  labels: networkLabels(tenant, desired),
  ...parts,
})
const foreign = found({ labels: {} })

const plan = (
  network: DesiredNetwork | undefined,
  networks: readonly FoundNetwork[],
  { needed = [] as string[], isComplete = true } = {},
) =>
  planNetworks({
    tenant: TENANT,
    desired: network === undefined ? [] : [network],
    found: networks,
    needed: new Set(needed),
    isComplete,
  })

test('the engine shows the tenant and the name of a network', () => {
  expect(name).toBe('hf-6f1c2f0e-backend')
  const forged = { ...desired, options: { ...options, labels: { 'holdfast.io/network': 'x' } } }
  expect(networkLabels(TENANT, forged)).toEqual({ 'holdfast.io/tenant': TENANT, 'holdfast.io/network': id })
  expect(networkLabels(TENANT, desired)).toMatchObject({ team: 'shop' })
})

test.each([
  ['creates a network that the engine lacks', desired, [], [{ kind: 'create', id, options }]],
  ['keeps a network that is there', desired, [found()], [{ kind: 'present', id, found: found() }]],
  ['leaves a foreign network of the same name', desired, [foreign], [{ kind: 'blocked', id }]],
  ['leaves the network of another tenant', desired, [found({}, OTHER)], [{ kind: 'blocked', id }]],
  [
    'recreates a network that has a way out',
    desired,
    [found({ internal: false })],
    [
      { kind: 'remove', id, found: [found({ internal: false })], isLast: false },
      { kind: 'create', id, options },
    ],
  ],
  [
    'removes a second network of the same id',
    desired,
    [found(), found({ engineId: 'e2' })],
    [
      { kind: 'remove', id, found: [found({ engineId: 'e2' })], isLast: false },
      { kind: 'present', id, found: found() },
    ],
  ],
  [
    'removes a network that is not desired',
    ending,
    [found()],
    [{ kind: 'remove', id, found: [found()], isLast: true }],
  ],
  ['confirms a network that is gone', ending, [], [{ kind: 'removed', id }]],
  ['confirms a removal beside a foreign network', ending, [foreign], [{ kind: 'removed', id }]],
  [
    'removes an own network that no set names',
    undefined,
    [found()],
    [{ kind: 'remove', id, found: [found()], isLast: true }],
  ],
  ['never removes a foreign network', undefined, [foreign, found({}, OTHER)], []],
] as const)('%s', (_about, network, networks, expected) => {
  expect(plan(network, networks)).toEqual(expected)
})

test('keeps a network that desired containers join', () => {
  expect(plan(ending, [found()], { needed: ['backend'] })).toEqual([{ kind: 'wait', id }])
})

test('keeps an unknown network whose name desired containers use', () => {
  expect(plan(undefined, [found()], { needed: ['backend'] })).toEqual([])
})

test('replaces a leftover of an earlier enrollment that has the name of a desired network', () => {
  const former = asNetworkId('net_01JD7QAF7T1B3V9W5Y8Z2A4C6E')
  const leftover = found({ engineId: 'e0', labels: networkLabels(TENANT, { ...desired, id: former }) })
  const replaced = [
    { kind: 'remove', id: former, found: [leftover], isLast: true },
    { kind: 'create', id, options },
  ]
  expect(plan(desired, [leftover])).toEqual(replaced)
  expect(plan(desired, [leftover], { needed: ['backend'] })).toEqual(replaced)
  expect(plan(desired, [leftover, foreign])).toEqual([replaced[0], { kind: 'blocked', id }])
  expect(plan(desired, [leftover], { isComplete: false })).toEqual([{ kind: 'blocked', id }])
})

test('removes no unknown network while the set is not complete', () => {
  expect(plan(undefined, [found()], { isComplete: false })).toEqual([])
})
