// The labels of a lab's machines, and the machines that run a deployment's containers or ever had one.

import { waitUntil } from '@holdfast/testkit'
import { nodesOf } from './routed-page.ts'
import type { LabPlatform } from './start-lab-platform.ts'

type Labels = { readonly [key: string]: string }

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
