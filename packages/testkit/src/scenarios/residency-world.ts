// Machines in three countries on a lab, with functions to deploy, to change the labels of a machine, to find the machines
// that run a deployment's containers, and to measure the time from a new label to the placement that it allows.

import { NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import { waitUntil, watchMachineStalls } from '@holdfast/testkit'
import { expect } from 'vitest'
import { eventsOf } from './lab-reads.ts'
import { nodesOf } from './routed-page.ts'
import { type LabPlatform, startLabPlatform } from './start-lab-platform.ts'

export type Labels = { readonly [key: string]: string }

/** Attested location of each machine. acme-5 is in France but advertises a region that does not contain France. */
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
/**
 * Labels without a location. An agent without any label keeps the labels of its enrollment, so another label is needed.
 */
export const NOWHERE: Labels = { zone: 'z' }

export interface Row {
  readonly name: string
  readonly residency?: object
  readonly replicas?: number
  readonly more?: object
}

/** The residency part of the response to a new deployment. */
interface Stored {
  /** The labels of the stored residency demand, in the order of the response. */
  readonly announced: readonly unknown[]
  readonly labels: unknown
  readonly warnings: unknown
}

export async function deploy(
  cluster: LabPlatform,
  { name, residency, replicas = 1, more = {} }: Row,
): Promise<Stored> {
  const { status, body, text } = await cluster.api('acme').post('/api/v1/deployments', {
    kind: 'Deployment',
    name,
    image: cluster.image,
    replicas,
    // Each replica needs its own node, so the nodes with a replica are the allowed nodes.
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

interface ListedNode {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly labels: Labels
}

export async function nodeCalled(cluster: LabPlatform, name: string): Promise<ListedNode> {
  const { body } = await cluster.api('acme').get('/api/v1/nodes')
  const listed: ListedNode[] = Object(body['items'])
  return listed.find((node) => node.name === name) ?? { id: '', name, status: '', labels: {} }
}

/**
 * Changes a machine's labels and waits until its session with these labels is open. `accepted` lists the labels that the
 * server accepts, because they are attested.
 */
export async function relabel(
  cluster: LabPlatform,
  name: string,
  labels: Labels,
  accepted: Labels = labels,
): Promise<void> {
  await cluster.relabel(cluster.node(name), labels)
  await untilLabels(cluster, name, accepted)
}

export async function untilLabels(cluster: LabPlatform, name: string, labels: Labels): Promise<void> {
  let seen: Labels = {}
  await waitUntil(
    async () => {
      seen = (await nodeCalled(cluster, name)).labels
      return sameText(seen, labels)
    },
    { what: `${name} advertises ${JSON.stringify(labels)}` },
  ).catch((error: Error) => {
    throw new Error(`${error.message} Last labels: ${JSON.stringify(seen)}`)
  })
}

const sameText = (left: Labels, right: Labels): boolean =>
  JSON.stringify(Object.entries(left).sort()) === JSON.stringify(Object.entries(right).sort())

const CONTAINER = '{{.Label "holdfast.io/name"}} {{.State}}'

/** The machines, of any tenant, whose engine has containers of the deployment, with the state of these containers. */
export async function homesOf(cluster: LabPlatform, deployment: string): Promise<string[]> {
  const homes = await Promise.all(
    [...nodesOf(cluster, 'acme'), ...nodesOf(cluster, 'globex')].map(async (name) => {
      const listed = await cluster.node(name).exec(['docker', 'ps', '--all', '--format', CONTAINER])
      const own = listed.split('\n').filter((line) => line.split(' ')[0] === deployment)
      return own.map((line) => `${name} ${line.split(' ')[1]}`)
    }),
  )
  return homes.flat().sort()
}

/** Every container of the deployment that the machine's engine has created since the engine started. */
export async function madeOn(cluster: LabPlatform, node: string, deployment: string): Promise<string[]> {
  const until = Math.ceil(Date.now() / 1000)
  const listed = await cluster
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
      `label=holdfast.io/name=${deployment}`,
      '--format',
      '{{.Actor.ID}}',
    ])
  return listed.split('\n').filter((line) => line !== '')
}

/** Number of sequential disk writes from a new label to the placement: one for the label and one for the decision. */
const WRITES = 2

const timesOf = async (cluster: LabPlatform, type: string, name: string): Promise<number[]> =>
  (await eventsOf(cluster.api('acme'), type))
    .filter(({ subject }) => subject.name === name)
    .map(({ time }) => Date.parse(time))

/**
 * Milliseconds from the event of a node's new label to the event of the placement that the label allows. Stalls of the
 * machine are subtracted.
 */
export async function curedBy(
  cluster: LabPlatform,
  { node, labels, deployment }: { node: string; labels: Labels; deployment: string },
): Promise<number> {
  const newest = async (type: string, name: string) => Math.max(0, ...(await timesOf(cluster, type, name)))
  const before = await newest('deployment.scheduled', deployment)
  const stalls = await watchMachineStalls()
  await relabel(cluster, node, labels)
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
    `${deployment} was placed ${waited} ms after the label of ${node}; the machine stalled for up to ${stalledMs} ms`,
  )
  expect(waited).toBeGreaterThanOrEqual(0)
  return waited - WRITES * stalledMs
}
