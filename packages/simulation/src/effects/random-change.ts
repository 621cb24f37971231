// One random change of a tenant, as a client would request it: of a deployment, a node, a quota, or the tenant itself.

import type { Caller } from '@holdfast/server/operations/caller'
import * as ask from '../cluster/ask.ts'
import type { Server } from '../cluster/server.ts'
import { between, chance, oneOf, weighted } from '../seeds/choose.ts'
import { randomSpec } from '../seeds/random-spec.ts'
import type { Random } from '../time/random.ts'

export const NAMES = ['web', 'db', 'job', 'api'] as const

export interface Change {
  readonly text: string
  ask(on: Pick<Server, 'operations' | 'store'>, caller: Caller): Promise<unknown>
}

/** The part of a tenant that a change is chosen by. */
export interface Known {
  readonly deployments: readonly { readonly name: string; readonly revision: number }[]
  readonly nodes: readonly { readonly id: string; readonly name: string }[]
}

/** `mark` differs in each call, so that every update changes the deployment. */
export function randomChange(random: Random, known: Known, mark: number): Change {
  const { deployments, nodes } = known
  const make = weighted<(random: Random, known: Known, mark: number) => Change>(random, [
    [deployments.length < NAMES.length ? 20 : 0, create],
    [deployments.length > 0 ? 32 : 0, update],
    [deployments.length > 0 ? 6 : 0, restart],
    [deployments.length > 0 ? 5 : 0, rollBack],
    [deployments.length > 2 ? 7 : 0, remove],
    [nodes.length > 1 ? 24 : 0, changeNode],
    [8, changeQuota],
  ])
  return make(random, known, mark)
}

function specOf(random: Random, name: string, mark: number): { [field: string]: unknown } {
  const { update = {}, ...spec } = randomSpec(random, NAMES, name, mark)
  // No update may fail by waiting: a plan does not look beyond the deadline.
  return { ...spec, update: { ...Object(update), progressDeadline: '3600s' } }
}

function create(random: Random, { deployments }: Known, mark: number): Change {
  const name = oneOf(
    random,
    NAMES.filter((each) => !deployments.some((known) => known.name === each)),
  )
  const routes = chance(random, 30) ? { routes: [{ host: `${name}.example.com`, path: '/', port: 80 }] } : {}
  const spec = { ...specOf(random, name, mark), ...routes }
  return {
    text: `create ${name} ${JSON.stringify(spec)}`,
    ask: (on, caller) => ask.apply(on, caller, name, spec),
  }
}

function update(random: Random, { deployments }: Known, mark: number): Change {
  const { name } = oneOf(random, deployments)
  const spec = specOf(random, name, mark)
  const others = NAMES.slice(NAMES.findIndex((each) => each === name) + 1)
  const other = chance(random, 15) && others.length > 0 ? oneOf(random, others) : undefined
  const isKnown = deployments.some((each) => each.name === other)
  const gated = other !== undefined && isKnown ? { ...spec, dependsOn: { [other]: 'started' } } : spec
  return {
    text: `update ${name} ${JSON.stringify(gated)}`,
    ask: (on, caller) => ask.apply(on, caller, name, gated),
  }
}

function restart(random: Random, { deployments }: Known): Change {
  const { name } = oneOf(random, deployments)
  return { text: `restart ${name}`, ask: (on, caller) => ask.restart(on, caller, name) }
}

function rollBack(random: Random, { deployments }: Known): Change {
  const { name, revision } = oneOf(random, deployments)
  const to = between(random, 1, revision)
  return { text: `roll back ${name} to ${to}`, ask: (on, caller) => ask.rollBack(on, caller, name, to) }
}

function remove(random: Random, { deployments }: Known): Change {
  const { name } = oneOf(random, deployments)
  return { text: `delete ${name}`, ask: (on, caller) => ask.remove(on, caller, name) }
}

function changeNode(random: Random, { nodes }: Known): Change {
  const { id, name } = oneOf(random, nodes)
  const controlPlane = chance(random, 40)
  return weighted<Change>(random, [
    [35, { text: `drain ${name}`, ask: (on, caller) => ask.drain(on, caller, id) }],
    [15, { text: `cordon ${name}`, ask: (on, caller) => ask.cordon(on, caller, id, false) }],
    [25, { text: `uncordon ${name}`, ask: (on, caller) => ask.cordon(on, caller, id, true) }],
    [
      10,
      {
        text: `role of ${name}: ${controlPlane}`,
        ask: (on, caller) => ask.setRole(on, caller, id, controlPlane),
      },
    ],
    [5, { text: `remove ${name}`, ask: (on, caller) => ask.release(on, caller, id, false) }],
    [4, { text: `remove ${name} by force`, ask: (on, caller) => ask.release(on, caller, id, true) }],
  ])
}

function changeQuota(random: Random): Change {
  const containers = between(random, 0, 14)
  return {
    text: `quota of containers: ${containers}`,
    ask: (on, caller) => ask.setQuotas(on, caller, { containers }),
  }
}
