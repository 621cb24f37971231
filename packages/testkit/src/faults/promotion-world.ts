// Two machines with witnesses: each writes a volume with a copy on the other machine. Machines lose unsynced data at a power
// cut, the host watches the writers, and the wall clocks of agents and fencers can be stepped.

import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asNodeId, asTenantId, asVolumeId } from '@holdfast/contract'
import { pools, volumes } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { type LabNode, waitUntil } from '@holdfast/testkit'
import { LONG } from '../long-run.ts'
import type { ApiClient } from '../platform/api-client.ts'
import { clockFile } from '../scenarios/lab-agents.ts'
import { placementsOf, untilPhase } from '../scenarios/lab-reads.ts'
import { TIMES } from '../scenarios/liveness-times.ts'
import { type LabPlatform, startLabPlatform } from '../scenarios/start-lab-platform.ts'
import { createLeftBehind, type LeftBehind } from './check-divergence.ts'
import type { FaultWorld } from './machine-faults.ts'
import { type WriterWatch, watchWriters } from './watch-writers.ts'
import { poolOf, pushWitness, readLines, type WitnessLine, witnessBody } from './witness.ts'

/** The shipped times in the long run, a fifth of them otherwise. */
export const PROMOTION = LONG
  ? { leaseSeconds: undefined, settings: {}, promotedMs: 30_000, apartMs: 60_000 }
  : {
      leaseSeconds: 2.4,
      settings: { silentSeconds: 2, apartSeconds: 1, maxLagSeconds: 60 },
      promotedMs: 12_000,
      apartMs: 1_000,
    }

/** A deployment of the witness and its volume. */
export interface WitnessGroup {
  readonly name: string
  readonly volume: string
}

export interface PromotionWorld extends FaultWorld {
  readonly cluster: LabPlatform
  readonly api: ApiClient
  readonly watch: WriterWatch
  readonly groups: readonly WitnessGroup[]
  readonly leftBehind: LeftBehind
  /** When the last writer was ready after a promotion, on CLOCK_BOOTTIME. */
  promotedAtMs: number
  readVolume(id: string): Promise<VolumeView>
  stop(): Promise<void>
}

export interface VolumeView {
  /** Ids of the nodes whose promises the primary needs, from the stored record. */
  readonly promises: readonly string[]
  readonly phase: string
  readonly reason: string | null
  readonly primary: { readonly nodeName: string; readonly nodeId: string; readonly epoch: number } | null
  readonly copies: readonly { readonly nodeName: string; readonly nodeId: string; readonly state: string }[]
}

const NODES = ['acme-1', 'acme-2'] as const
const VOLUME_BYTES = 32 * 1024 ** 2

/** `prepare` is called before the first writer runs. */
export async function startPromotionWorld(
  groups: number,
  prepare: (world: PromotionWorld) => Promise<void> = async () => {},
): Promise<PromotionWorld> {
  const { leaseSeconds, settings } = PROMOTION
  const cluster = await startLabPlatform({
    nodesPerTenant: { acme: NODES.length, globex: 0 },
    losesUnsynced: true,
    // The quarantine of each round stays in the pool.
    poolSize: LONG ? '24Gi' : '2Gi',
    etcdMembers: 1,
    agents: { promiseLeaseSeconds: leaseSeconds, steppableClock: true },
    settings: { volumes: { enabled: true, promotion: settings }, liveness: TIMES },
  })
  const api = cluster.api('acme')
  const path = `/api/v1/tenants/${cluster.platform.acme.id}/volumes`
  const made: WitnessGroup[] = []
  const world: PromotionWorld = {
    cluster,
    api,
    lab: cluster.lab,
    groups: made,
    leftBehind: createLeftBehind(),
    promotedAtMs: 0,
    watch: await watchWriters(cluster.lab),
    fencer: cluster.agents.fencer,
    startFencer: cluster.agents.startFencer,
    stepClock: (node, byMs) => writeFileSync(clockFile(node), String(byMs)),
    readVolume: async (id) => ({ ...Object((await api.get(`${path}/${id}`)).body), ...stored(cluster, id) }),
    async stop() {
      await world.watch.stop()
      await cluster.stop()
    },
  }
  const image = await pushWitness(cluster.lab)
  await prepare(world)
  for (let index = 1; index <= groups; index += 1)
    made.push(await makeGroup(world, path, `writer-${index}`, image))
  return world
}

async function makeGroup(
  { api }: PromotionWorld,
  path: string,
  name: string,
  image: string,
): Promise<WitnessGroup> {
  const nodes: { id: string; name: string }[] = Object((await api.get('/api/v1/nodes')).body['items'])
  const nodeId = nodes.find((node) => node.name === NODES[0])?.id
  const sent = { name, class: 'replicated', sizeBytes: VOLUME_BYTES, replicas: 1, nodeId }
  const created = await api.post(path, sent)
  if (created.status !== 201) throw new Error(created.text)
  const volume: string = Object(created.body['volume']).id
  const isReady = async () => (await api.get(`${path}/${volume}`)).body['phase'] === 'Ready'
  await waitUntil(isReady, { what: `volume ${name} is ready` })
  const deployed = await api.post('/api/v1/deployments', witnessBody(name, image, volume))
  if (deployed.status !== 201) throw new Error(deployed.text)
  await untilPhase(api, name, 'Running')
  return { name, volume }
}

/** Waits until every writer is ready on one machine, and the other one has a promotable copy of every volume. */
export async function untilSettled(world: PromotionWorld): Promise<{ from: LabNode; to: LabNode }> {
  const { cluster } = world
  let seen = ''
  const name = await waitUntil(
    async () => {
      const states = await Promise.all(world.groups.map((group) => settledOn(world, group)))
      seen = states.map(({ why }) => why).join('; ')
      const [first] = states
      return states.every(({ node }) => node !== undefined && node === first?.node) && first?.node
    },
    {
      what: 'every writer runs and has a promotable copy',
      timeoutMs: 120_000,
      intervalMs: 100,
      seen: () => seen,
    },
  )
  const other = NODES.find((each) => each !== name) ?? ''
  return { from: cluster.node(name), to: cluster.node(other) }
}

async function settledOn(
  world: PromotionWorld,
  { name, volume }: WitnessGroup,
): Promise<{ node?: string | undefined; why: string }> {
  const view = await world.readVolume(volume)
  const ready = (await placementsOf(world.api, name)).find(({ state }) => state === 'ready')?.nodeName
  const isBacked = isPromotable(view)
  const isSettled = view.phase === 'Ready' && view.primary?.nodeName === ready && isBacked
  const why = `${name}: ready on ${ready}, ${JSON.stringify(view)}`
  return { node: isSettled ? ready : undefined, why }
}

/** Whether a copy could be promoted now. */
export const isPromotable = ({ copies, primary, promises }: VolumeView): boolean =>
  copies.some(({ nodeId }) => nodeId !== primary?.nodeId && promises.includes(nodeId))

/** The record of a volume. Its view in the API does not show the promises that the primary needs. */
function stored({ store, platform }: LabPlatform, id: string): Pick<VolumeView, 'promises'> {
  const found = store.get(inTenant(asTenantId(platform.acme.id), volumes, asVolumeId(id)))?.record
  return { promises: found?.promotable ?? [] }
}

/** Whether the last report about a machine's pool lists quarantined data of an epoch. */
export function isListed(
  { cluster: { store, platform } }: PromotionWorld,
  nodeId: string,
  volume: string,
  epoch: number,
): boolean {
  const pool = store.get(inTenant(asTenantId(platform.acme.id), pools, asNodeId(nodeId)))?.record
  return pool?.quarantined?.some((one) => one.volume === volume && one.epoch === epoch) ?? false
}

/** The name of the newest complete checkpoint that a machine holds of a volume, by its files. */
export function newestHeld(node: LabNode, volume: string): string | undefined {
  const names = namesIn(join(poolOf(node), 'checkpoints', volume))
  return names.filter((name) => /^\d+\.\d+$/.test(name)).toSorted(newestFirst)[0]
}

/** The lines in the newest complete checkpoint that a machine holds of a volume. */
export function heldLines(node: LabNode, volume: string): WitnessLine[] {
  const newest = newestHeld(node, volume)
  return newest === undefined
    ? []
    : readLines(join(poolOf(node), 'checkpoints', volume, newest, newest, 'lines'))
}

function newestFirst(a: string, b: string): number {
  const [epochA = 0, numberA = 0] = a.split('.').map(Number)
  const [epochB = 0, numberB = 0] = b.split('.').map(Number)
  return epochB - epochA || numberB - numberA
}

/** The lines of each quarantined state of a volume on a machine, by the name of the state. */
export function quarantinedLines(node: LabNode, volume: string): Map<string, WitnessLine[]> {
  const folder = join(poolOf(node), 'quarantine', volume)
  return new Map(namesIn(folder).map((name) => [name, readLines(join(folder, name, 'live', 'lines'))]))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
