// The output of a dry run, for a scripted plan of the platform.

import { expect, test } from 'vitest'
import { parseSource } from './manifest/parse-source.ts'
import { checkOffline } from './manifest/rules.ts'
import { planAll } from './plan-all.ts'
import { scriptClient, scriptTerminal } from './terminal/scripted-terminal.fixture.ts'

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
const PLANNED = {
  alterations: [],
  warnings: [],
  plan: {
    action: 'update',
    revision: 2,
    changes: [],
    steps: [],
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
  const client = scriptClient({ 'GET /deployments/web': RECORD, 'PUT /deployments/web?dryRun=true': PLANNED })
  const { exitCode } = await planAll(terminal, client, manifests, 'summary')
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
