// The output of a dry run, for a scripted plan of the platform.

import { checkOffline, parseSource } from '@holdfast/manifest'
import { expect, test } from 'vitest'
import { planAll } from './plan-all.ts'
import { invocation, scriptClient, scriptTerminal } from './terminal/scripted-terminal.fixture.ts'

const SPEC = {
  kind: 'Deployment',
  name: 'web',
  image: 'registry.example.com/web:1.4.2',
  replicas: 1,
  secretsVersion: 0,
  resources: { cpuMillis: 0, memoryBytes: 0 },
  stopGracePeriod: '10s',
  update: { order: 'start-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '300s' },
  secrets: [{ name: 'DB', vault_path: 'resources/db', anchor: 'external', rotation: 'restart' }],
  composedEnvironment: { DATABASE_URL: 'postgres://app:{{secret.db.password}}@db/app' },
}
const RECORD = {
  ...SPEC,
  uid: 'dep_1',
  revision: 1,
  specHash: 'x',
  createdAt: '',
  updatedAt: '',
  residencyLabels: {},
  status: {
    phase: 'Running',
    reason: '',
    message: '',
    runningRevision: 1,
    replicas: { desired: 1, placed: 1, ready: 1 },
    image: { reference: SPEC.image, digest: null },
  },
}
const EFFECTS = {
  moves: [{ deployment: 'web', replica: 1, from: 'n1', to: 'n2', reason: 'node_leaving' }],
  restarts: [
    { deployment: 'web', replica: 2, from: 'n2', to: 'n2', reason: 'template_changed' },
    { deployment: 'web', replica: 3, from: 'n2', to: 'n1', reason: 'restart' },
  ],
  stops: [
    { deployment: 'web', replica: 4, node: 'n1', reason: 'not_desired' },
    { deployment: 'web', replica: 1, canary: true, node: 'n2', reason: 'not_desired' },
  ],
  unplaced: [{ deployment: 'db', replicas: 2, reason: '0 of 1 nodes fit.' }],
  unrouted: [{ deployment: 'web', host: 'web.example.com', path: '/', reason: 'no_ready_replica' }],
  lostData: [],
  lowestReady: [{ deployment: 'web', ready: 1, desired: 3, reason: 'An old replica stops first.' }],
  omitted: [{ deployment: 'job', reason: 'The plan has reached its limit.' }],
}
const PLANNED = {
  alterations: [],
  warnings: [],
  plan: {
    action: 'update',
    revision: 2,
    changes: [],
    steps: [],
    effects: EFFECTS,
    placement: {
      placed: [],
      unplaced: 1,
      summary: '0 of 1 nodes fit: 1 cordoned.',
      cure: ['Uncordon n1.'],
      candidates: [
        {
          nodeId: 'node_1',
          nodeName: 'n1',
          refusals: [
            {
              filter: 'cordon',
              code: 'node_cordoned',
              fix: 'Uncordon n1.',
              required: 'schedulable',
              reported: 'cordoned',
            },
          ],
        },
      ],
    },
  },
}

async function shown(text: string) {
  const terminal = scriptTerminal()
  const { manifests } = parseSource({ name: 'web.yaml', bytes: new TextEncoder().encode(text) })
  const items = [{ kind: 'Deployment', name: 'web', action: 'update', ...PLANNED }]
  const client = scriptClient({ 'GET /deployments/web': RECORD, 'POST /dry-run': { items } })
  const { exitCode } = await planAll(invocation(terminal, []), client, manifests, 'summary')
  return { exitCode, ...terminal.printed }
}

test('prints no trailing blanks and keeps the indentation', async () => {
  const { exitCode, out } = await shown(
    'kind: Deployment\nname: web\nimage: registry.example.com/web:1.4.3\n',
  )
  expect(exitCode).toBe(0)
  expect(out).toContain('\n\n  To run it:\n    - Uncordon n1.\n')
  expect(out).not.toMatch(/ $/m)
})

test('reports stored secrets that the manifest does not mention as kept', async () => {
  const without = 'kind: Deployment\nname: web\nimage: registry.example.com/web:1.4.3\n'
  const { err } = await shown(without)
  expect([...err.matchAll(/kept: (\w+)/g)].map(([, field]) => field)).toEqual([
    'secrets',
    'composedEnvironment',
  ])
  expect((await shown(`${without}secrets: []\ncomposedEnvironment: null\n`)).err).toBe('')
  // The output suggests null to clear a kept field, and the rules accept null for these fields.
  expect(checkOffline({ ...SPEC, secrets: null, composedEnvironment: null })).toEqual([])
})

test('prints the effects before the steps, first in numbers, then one by one', async () => {
  const { out } = await shown('kind: Deployment\nname: web\nimage: registry.example.com/web:1.4.3\n')
  const summary =
    'Effects: 1 replica moves, 2 replicas restart, 2 replicas stop, 2 replicas have no node, 1 route reaches no replica, ' +
    '1 deployment has fewer ready replicas, 1 deployment is not planned to its end.'
  expect(out.replaceAll(/\n +(?=\S)/g, ' ')).toContain(summary)
  for (const line of [
    '    web/1 moves from n1 to n2: its node is being emptied\n',
    '    web/2 restarts on n2: its container changes\n',
    '    web/3 restarts and moves from n2 to n1: a restart is requested\n',
    '    web/4 on n1 stops: it is no longer desired\n',
    '    web/1 (canary) on n2 stops: it is no longer desired\n',
    '    db has 2 replicas without a node: 0 of 1 nodes fit.\n',
    '    web.example.com/ reaches no replica of web: no replica is ready for a while\n',
    '    web has at least 1 of 3 replicas ready. An old replica stops first.\n',
    '    job: The plan has reached its limit.\n',
  ])
    expect(out).toContain(line)
})

test('a rejected document among several is shown at its place, and the others are planned', async () => {
  const terminal = scriptTerminal()
  const text =
    'kind: Deployment\nname: web\nimage: a.example.com/b:1\n---\nkind: Deployment\nname: db\nimage: c\n'
  const { manifests } = parseSource({ name: 'all.yaml', bytes: new TextEncoder().encode(text) })
  const rejection = {
    code: 'image_required',
    field: 'image',
    received: 'c',
    expected: 'a pin',
    why: 'so',
    doc: '/d',
  }
  const items = [
    { kind: 'Deployment', name: 'web', action: 'update', ...PLANNED },
    { kind: 'Deployment', name: 'db', rejections: [rejection] },
  ]
  const client = scriptClient({ 'GET /deployments/web': RECORD, 'POST /dry-run': { items } })
  const { exitCode, differs } = await planAll(invocation(terminal, []), client, manifests, 'summary')
  expect([exitCode, differs]).toEqual([3, true])
  expect(terminal.printed.out).toMatch(/^deployment\/web would be configured\n/)
  expect(terminal.printed.err).toContain('all.yaml:7:8: image_required at image\n')
})
