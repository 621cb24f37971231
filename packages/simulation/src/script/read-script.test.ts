import { explainFault } from '@holdfast/server/config/config-fault'
import { expect, test } from 'vitest'
import { readScript } from './read-script.ts'

const CLUSTER = `cluster:
  tenants: [{ name: acme }]
  nodes: [{ name: n1, tenant: acme }]
`
const faultsOf = (text: string): string[] => {
  const read = readScript(text, 's.yaml')
  return read.ok ? [] : read.faults.map(explainFault)
}

test('accepts times such as 90s', () => {
  const steps = `steps:
  - { at: 90s, do: node-lost, node: n1 }
  - { at: 2000, do: store-slow, server: a, for: 1m, delay: 200ms }
  - { at: 1m, do: behave, tenant: acme, deployment: web, crashAfter: 5s }
  - at: 1s
    do: apply
    tenant: acme
    deployment: web
    spec: { update: { progressDeadline: 5m }, for: 3s }
settle: 10s
`
  const read = readScript(CLUSTER + steps, 's.yaml')
  expect(read).toMatchObject({
    ok: true,
    script: {
      settleMs: 10_000,
      steps: [
        { at: 90_000, do: 'node-lost', node: 'n1' },
        { at: 2_000, forMs: 60_000, delayMs: 200 },
        { at: 60_000, crashAfterMs: 5_000 },
        { spec: { update: { progressDeadline: '5m' }, for: '3s' } },
      ],
    },
  })
})

test('accepts a part for the platform, a control-plane node and a compacted store', () => {
  const script = {
    cluster: { tenants: [{ name: 'own', platform: true }], nodes: [{ name: 'n1', tenant: 'own' }] },
    steps: [
      { at: 1, do: 'node-role', node: 'n1', controlPlane: true },
      { at: 2, do: 'store-compacted' },
    ],
  }
  expect(readScript(JSON.stringify(script), 's.json')).toEqual({ ok: true, script })
})

test('accepts JSON with milliseconds', () => {
  const script = {
    cluster: { tenants: [{ name: 'acme' }], nodes: [] },
    steps: [{ at: 5, do: 'server-paused', server: 'b', forMs: 7 }],
    seed: 3,
    pace: 'coarse',
  }
  expect(readScript(JSON.stringify(script), 's.json')).toEqual({ ok: true, script })
})

test.each([
  ['cluster: [', 's.yaml:1:11: expected YAML:'],
  [`${CLUSTER}steps: 5\n`, 's.yaml:4:8: steps: received 5, expected'],
  [`${CLUSTER}`, 's.yaml:1:1: steps: expected'],
  [`${CLUSTER}steps: []\nspeed: 5\n`, 's.yaml:5:8: speed: expected one of'],
  [
    `${CLUSTER}steps:\n  - { at: soon, do: node-lost, node: n1 }\n`,
    's.yaml:5:11: steps[0].at: received soon, expected a time',
  ],
  [
    `${CLUSTER}steps:\n  - { at: 1s, do: node-los, node: n1 }\n`,
    's.yaml:5:19: steps[0].do: received node-los, expected one of apply',
  ],
  [
    `${CLUSTER}steps:\n  - { at: 1s, do: node-lost, node: n7 }\n`,
    's.yaml:5:36: steps[0].node: received n7, expected a node of the cluster: n1',
  ],
  [
    `${CLUSTER}steps:\n  - { at: 1s, do: server-killed, server: c }\n`,
    's.yaml:5:42: steps[0].server: received c, expected a server of the cluster: a, b',
  ],
  [`${CLUSTER}steps:\n  - { at: 1s, do: store-cut, server: a }\n`, 'steps[0].forMs: expected'],
  [`${CLUSTER}steps:\n  - { at: 1s, do: node-role, node: n1 }\n`, 'steps[0].controlPlane: expected'],
  [`${CLUSTER}steps:\n  - { at: 1s, do: drain, node: n1, nod: n2 }\n`, 'steps[0].nod: expected one of'],
])('a fault is named with its place: %#', (text, expected) => {
  expect(faultsOf(text).join('\n')).toContain(expected)
})

test('reports every fault, not the first alone', () => {
  const text = `${CLUSTER}steps:
  - { at: 1s, do: node-lost, node: n8 }
  - { at: 2s, do: delete, tenant: other, deployment: web }
`
  expect(faultsOf(text)).toHaveLength(2)
})

test('reports other faults beside a time that cannot be read, each at its position', () => {
  const text = `${CLUSTER}speed: 5
steps:
  - { at: soon, do: node-lost, node: n1 }
  - { at: 1s, do: node-los, node: n1 }
  - { at: -1, do: store-cut, server: a, for: ever }
`
  expect(faultsOf(text).map((fault) => fault.split(' ')[1])).toEqual([
    ...['speed:', 'steps[0].at:', 'steps[1].do:', 'steps[2].at:', 'steps[2].for:'],
  ])
  const names = `${CLUSTER}steps:
  - { at: soon, do: node-lost, node: n8 }
  - { at: 1s, do: cordon, node: n1, nod: n9 }
settle: later
`
  expect(faultsOf(names).map((fault) => fault.split(' ')[1])).toEqual([
    ...['steps[0].at:', 'steps[0].node:', 'steps[1].nod:', 'settle:'],
  ])
})

test('rejects a name that is given twice', () => {
  const text = 'cluster: { tenants: [{ name: a }, { name: a }], nodes: [] }\nsteps: []\n'
  expect(faultsOf(text).join()).toContain('cluster.tenants[1].name: received a, expected each name once')
})
