// Machines in three countries on a lab: what each was attested, what its agent says, where the containers of a
// deployment really are, and how long a wait lasted after the label that ended it.

import { NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import { waitUntil, watchMachineStalls } from '@holdfast/testkit'
import { expect } from 'vitest'
import { eventsOf } from './lab-reads.ts'
import { nodesOf } from './routed-page.ts'
import { type LabPlatform, startLabPlatform } from './start-lab-platform.ts'

export type Labels = { readonly [key: string]: string }

/** acme-5 stands in France and belongs to a region that does not cover France: its own label says so. */
const OFFERS = {
  'acme-1': { residency: { country: 'DE' } },
  'acme-2': { residency: { country: 'DE' } },
  'acme-3': { residency: { country: 'FR' } },
  'acme-4': { residency: { country: 'US' } },
  'acme-5': { residency: { country: 'FR', region: 'alpine' } },
  'globex-1': { residency: { country: 'JP' } },
}
const REGIONS = { alpine: ['AT', 'CH', 'DE'] }

export const startResidencyLab = (): Promise<LabPlatform> =>
  startLabPlatform({
    nodesPerTenant: { acme: 5, globex: 1 },
    engine: 'mixed',
    offers: OFFERS,
    settings: { residency: { regions: REGIONS }, liveness: { heartbeatSeconds: 2, unreachableSeconds: 8 } },
  })

export const inCountry = (country: string): Labels => ({ [NODE_COUNTRY]: country })
export const inRegion = (country: string, region: string): Labels => ({
  [NODE_COUNTRY]: country,
  [NODE_REGION]: region,
})
/** An agent that is given no label keeps those of its enrollment: one that says nothing of where it is says something else. */
export const NOWHERE: Labels = { zone: 'z' }

export interface Row {
  readonly name: string
  readonly residency?: object
  readonly replicas?: number
  readonly more?: object
}

/** What the answer to a new deployment says of where it may be. */
interface Stored {
  /** The labels that the demand is stored as, in the order in which they were announced. */
  readonly announced: readonly unknown[]
  readonly labels: unknown
  readonly warnings: unknown
}

export async function deploy(
  whole: LabPlatform,
  { name, residency, replicas = 1, more = {} }: Row,
): Promise<Stored> {
  const { status, body, text } = await whole.api('acme').post('/api/v1/deployments', {
    kind: 'Deployment',
    name,
    image: whole.image,
    replicas,
    // One replica on each node that is allowed: where they are then says which ones are.
    placement: { antiAffinity: [name], ...(residency === undefined ? {} : { residency }) },
    ...more,
  })
  expect(status, text).toBe(201)
  const alterations: { code: string; to: unknown }[] = Object(body['alterations'])
  return {
    announced: alterations.filter(({ code }) => code === 'residency_stored_as_label').map(({ to }) => to),
    labels: Object(body['deployment']).residencyLabels,
    warnings: body['warnings'],
  }
}

interface ToldNode {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly labels: Labels
}

export async function nodeCalled(whole: LabPlatform, name: string): Promise<ToldNode> {
  const { body } = await whole.api('acme').get('/api/v1/nodes')
  const told: ToldNode[] = Object(body['items'])
  return told.find((node) => node.name === name) ?? { id: '', name, status: '', labels: {} }
}

/** Ends when the session with these labels is there; `counting`: those of them that were attested. */
export async function relabel(
  whole: LabPlatform,
  name: string,
  labels: Labels,
  counting: Labels = labels,
): Promise<void> {
  await whole.relabel(whole.node(name), labels)
  await untilLabels(whole, name, counting)
}

export async function untilLabels(whole: LabPlatform, name: string, labels: Labels): Promise<void> {
  let seen: Labels = {}
  await waitUntil(
    async () => {
      seen = (await nodeCalled(whole, name)).labels
      return sameText(seen, labels)
    },
    { what: `${name} advertises ${JSON.stringify(labels)}` },
  ).catch((error: Error) => {
    throw new Error(`${error.message} It was: ${JSON.stringify(seen)}`)
  })
}

const sameText = (left: Labels, right: Labels): boolean =>
  JSON.stringify(Object.entries(left).sort()) === JSON.stringify(Object.entries(right).sort())

const CONTAINER = '{{.Label "holdfast.io/deployment-name"}} {{.State}}'

/** The machines on which an engine has containers of the deployment, and in which state, whoever they belong to. */
export async function homesOf(whole: LabPlatform, deployment: string): Promise<string[]> {
  const homes = await Promise.all(
    [...nodesOf(whole, 'acme'), ...nodesOf(whole, 'globex')].map(async (name) => {
      const told = await whole.node(name).exec(['docker', 'ps', '--all', '--format', CONTAINER])
      const own = told.split('\n').filter((line) => line.split(' ')[0] === deployment)
      return own.map((line) => `${name} ${line.split(' ')[1]}`)
    }),
  )
  return homes.flat().sort()
}

/** Every container of the deployment that the machine's engine ever made since it was started. */
export async function madeOn(whole: LabPlatform, node: string, deployment: string): Promise<string[]> {
  const until = Math.ceil(Date.now() / 1000)
  const told = await whole
    .node(node)
    .exec([
      'docker',
      'events',
      '--since',
      '0',
      '--until',
      String(until),
      '--filter',
      'type=container',
      '--filter',
      'event=create',
      '--filter',
      `label=holdfast.io/deployment-name=${deployment}`,
      '--format',
      '{{.Actor.ID}}',
    ])
  return told.split('\n').filter((line) => line !== '')
}

/** The label, and what is decided because of it. */
const WRITES = 2

const timesOf = async (whole: LabPlatform, type: string, name: string): Promise<number[]> =>
  (await eventsOf(whole.api('acme'), type))
    .filter(({ subject }) => subject.name === name)
    .map(({ time }) => Date.parse(time))

/**
 * Between the session that brought the label and the decision that placed the deployment, in milliseconds, as the events tell
 * it, without what the machine itself stood still at the steps between. Nobody asks for anything meanwhile.
 */
export async function curedBy(
  whole: LabPlatform,
  { node, labels, deployment }: { node: string; labels: Labels; deployment: string },
): Promise<number> {
  const newest = async (type: string, name: string) => Math.max(0, ...(await timesOf(whole, type, name)))
  const before = await newest('deployment.scheduled', deployment)
  const stalls = await watchMachineStalls()
  await relabel(whole, node, labels)
  const placed = await waitUntil(
    async () => {
      const at = await newest('deployment.scheduled', deployment)
      return at > before && at
    },
    { what: `${deployment} is placed` },
  )
  const stalledMs = await stalls()
  const waited = placed - (await newest('node.labels_changed', node))
  console.log(
    `${deployment} was placed ${waited} ms after the label of ${node}; the machine stood still for up to ${stalledMs} ms`,
  )
  expect(waited).toBeGreaterThanOrEqual(0)
  return waited - WRITES * stalledMs
}
