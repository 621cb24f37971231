// Every API call that a page of the dashboard shows is one of the server's endpoints.

import { equivalents as deployments, type Equivalent } from '@holdfast/dashboard/texts/commands'
import { nodeEquivalents as nodes } from '@holdfast/dashboard/texts/commands/nodes'
import { platformEquivalents as platform } from '@holdfast/dashboard/texts/commands/platform'
import { secretEquivalents as secrets } from '@holdfast/dashboard/texts/commands/secrets'
import { resourceEquivalents as resources } from '@holdfast/dashboard/texts/resource-commands'
import { ROWS } from '@holdfast/testkit/hostile/role-table'
import { expect, test } from 'vitest'

/** One row for each member, so that a new one does not compile without a row here. */
type Shown<T> = { readonly [kind in keyof T]: Equivalent }

const OF_DEPLOYMENTS: Shown<typeof deployments> = {
  overview: deployments.overview(),
  deployments: deployments.deployments({ q: 's', phase: 'Running' }),
  why: deployments.why('report', '2026-11-18T14:05:00.000Z'),
  replicas: deployments.replicas('report'),
  logs: deployments.logs('report', { replica: 2, previous: true }),
  terminal: deployments.terminal('report', 2),
  history: deployments.history('report'),
  rollBack: deployments.rollBack('report', 3),
  events: deployments.events('report'),
  nodes: deployments.nodes(),
  node: deployments.node('acme-1', 'node_1'),
  drain: deployments.drain('acme-1', 'node_1'),
  restart: deployments.restart('report'),
  scale: deployments.scale('report', 3),
  remove: deployments.remove('report'),
  promote: deployments.promote('report', true),
  abort: deployments.abort('report'),
  apply: deployments.apply('report'),
  scaling: deployments.scaling('report'),
}

const OF_NODES: Shown<typeof nodes> = {
  join: nodes.join('acme-4'),
  remove: nodes.remove('acme-4', 'node_1'),
}

const OF_PLATFORM: Shown<typeof platform> = {
  platform: platform.platform(),
  tenants: platform.tenants(),
  tenant: platform.tenant('acme', 'ten_1'),
  create: platform.create('acme'),
}

const OF_SECRETS: Shown<typeof secrets> = {
  list: secrets.list(),
  write: secrets.write('resources/db', 'password'),
  consumers: secrets.consumers('resources/db'),
  rotation: secrets.rotation('orders'),
}

const OF_RESOURCES: Shown<typeof resources> = {
  backups: resources.backups(),
  backup: resources.backup('bak_1'),
  jobs: resources.jobs(),
  job: resources.job('job_1'),
  networks: resources.networks(),
  residency: resources.residency(),
  tokens: resources.tokens('ten_1'),
  volumes: resources.volumes(),
  volume: resources.volume('ten_1', 'vol_1', 'data'),
}

const CALLS = [
  ...[OF_DEPLOYMENTS, OF_NODES, OF_PLATFORM, OF_SECRETS, OF_RESOURCES].flatMap((shown) =>
    Object.values<Equivalent>(shown).map(({ call }) => call),
  ),
  deployments.apply().call,
]

/** `GET /api/v1/nodes/{id}` as an expression for calls with any id. The table has exactly the endpoints of the server. */
const ENDPOINTS = Object.keys(ROWS).map(
  (endpoint) => new RegExp(`^${endpoint.replace(/\{\w+\}/g, '[^/?]+')}(?:\\?|$)`),
)

test.each(CALLS)('%s', (call) => {
  expect(ENDPOINTS.some((endpoint) => endpoint.test(call))).toBe(true)
})
