// Generates the random steps of a script with volumes: volumes, deployments that mount them, drains with their handovers,
// and the faults of other scripts. A drain begins when most replicas are current.

import type { ScriptCluster, Step, StepAction } from '../script/script.ts'
import type { Random } from '../time/random.ts'
import { between, chance, oneOf, weighted } from './choose.ts'
import { randomResidency } from './random-spec.ts'
import {
  apply,
  behave,
  changeNode,
  decideBlindly,
  healedAt,
  missHistory,
  NAMES,
  newBuilder,
  remove,
  type ScriptBuilder,
  takeOver,
  troubleNode,
  troubleServer,
} from './random-steps.ts'

const VOLUMES = ['data', 'logs', 'tmp'] as const
const STEP_BYTES = 16 * 1024 ** 2
const LEAST_TURNS = 4
const MOST_TURNS = 11

/** The actions of a turn; a number is a pause in milliseconds. */
type Turn = readonly (StepAction | number)[]

interface VolumeBuilder extends ScriptBuilder {
  /** Names of the volumes that each tenant has requested. */
  readonly created: Map<string, Set<string>>
  /** Nodes that probably hold primaries. Most drains concern them. */
  readonly homes: string[]
}

export function randomVolumeSteps(random: Random, cluster: ScriptCluster): Step[] {
  const builder: VolumeBuilder = { ...newBuilder(random, cluster), created: new Map(), homes: [] }
  const steps: Step[] = []
  let at = 1_000
  const take = (turn: Turn): void => {
    for (const one of turn) {
      if (typeof one !== 'number') steps.push({ at, ...one })
      at += typeof one === 'number' ? one : between(random, 0, 300)
    }
  }
  for (const { name } of cluster.tenants) take(opening(builder, name))
  take([between(random, 8_000, 20_000)])
  if (chance(random, 60)) take([...drain(builder), between(random, 0, 12_000)])
  for (let left = between(random, LEAST_TURNS, MOST_TURNS); left > 0; left -= 1)
    take([...nextTurn(builder), pauseMs(random)])
  return [...steps, ...healedAt(builder, at)]
}

const pauseMs = (random: Random): number =>
  weighted(random, [
    [40, 0],
    [30, between(random, 300, 5_000)],
    [26, between(random, 5_000, 25_000)],
    // A rare, long pause, after which an unreachable node is declared failed.
    [4, between(random, 125_000, 140_000)],
  ])

function opening(builder: VolumeBuilder, tenant: string): Turn {
  const { random, cluster, homes } = builder
  const names = VOLUMES.slice(0, between(random, 1, 3))
  const nodes = cluster.nodes.filter((node) => node.tenant === tenant && node.poolBytes !== undefined)
  const on = nodes.length === 0 ? undefined : oneOf(random, nodes).name
  const isGroup = on !== undefined && chance(random, 70)
  if (isGroup) homes.push(on)
  const created = names.map((volume) => ({
    ...createVolume(builder, tenant, volume),
    ...(isGroup ? { on } : {}),
  }))
  const first: StepAction = {
    do: 'apply',
    tenant,
    deployment: 'db',
    spec: mountSpec(builder, names.slice(0, isGroup ? 2 : 1)),
  }
  return [...created, between(random, 3_000, 6_000), first]
}

function nextTurn(builder: VolumeBuilder): Turn {
  const make = weighted<(builder: VolumeBuilder) => StepAction | undefined | Turn>(builder.random, [
    [14, mount],
    [8, createAny],
    [14, changeVolume],
    [4, deleteVolume],
    [26, drain],
    [6, uncordon],
    [12, troubleNode],
    [6, changeNode],
    [9, troubleServer],
    [5, leave],
    [3, remove],
    [4, behave],
    [5, apply],
    [5, decideBlindly],
    [3, takeOver],
    [2, missHistory],
  ])
  return [make(builder) ?? []].flat()
}

const tenantOf = ({ random, cluster }: ScriptBuilder): string => oneOf(random, cluster.tenants).name
/** A volume of the tenant, mostly one that was requested. */
function volumeOf({ random, created }: VolumeBuilder, tenant: string): string {
  const names = [...(created.get(tenant) ?? [])]
  return names.length > 0 && chance(random, 90) ? oneOf(random, names) : oneOf(random, VOLUMES)
}

const nodeOf = ({ random, cluster }: ScriptBuilder): string => oneOf(random, cluster.nodes).name

function createVolume(builder: VolumeBuilder, tenant: string, volume: string): StepAction {
  const { random, created } = builder
  created.set(tenant, (created.get(tenant) ?? new Set()).add(volume))
  const isReplicated = chance(random, 75)
  const replicas = isReplicated ? weighted(random, [[12, 0] as const, [58, 1] as const, [30, 2] as const]) : 0
  const spec = {
    class: isReplicated ? 'replicated' : 'ephemeral',
    sizeBytes: between(random, 1, 5) * STEP_BYTES,
    replicas,
    ...(chance(random, 15) ? { residency: randomResidency(random) } : {}),
  }
  return { do: 'volume', tenant, volume, spec }
}

const createAny = (builder: VolumeBuilder): StepAction =>
  createVolume(builder, tenantOf(builder), oneOf(builder.random, VOLUMES))

/** Mounts of one or two volumes, mostly to write them, sometimes none, which drops those of an update. */
function mount(builder: VolumeBuilder): StepAction {
  const { random } = builder
  const deployment = chance(random, 60) ? 'db' : oneOf(random, NAMES)
  const tenant = tenantOf(builder)
  const count = weighted(random, [
    [15, 0],
    [60, 1],
    [25, 2],
  ])
  const names = new Set(Array.from({ length: count }, () => volumeOf(builder, tenant)))
  return { do: 'apply', tenant, deployment, spec: mountSpec(builder, [...names]) }
}

function mountSpec(builder: ScriptBuilder, volumes: readonly string[]) {
  const { random } = builder
  builder.marks += 1
  const readOnly = chance(random, 15)
  return {
    replicas: readOnly ? between(random, 1, 2) : chance(random, 92) ? 1 : 0,
    environment: { MARK: String(builder.marks) },
    volumes: volumes.map((volume, index) => ({
      volume,
      target: `/data${index}`,
      type: weighted(random, [
        [60, 'volume'],
        [32, 'bind'],
        [8, 'tmpfs'],
      ]),
      readOnly,
    })),
  }
}

function changeVolume(builder: VolumeBuilder): StepAction {
  const { random } = builder
  const tenant = tenantOf(builder)
  const of = { tenant, volume: volumeOf(builder, tenant) }
  return weighted<StepAction>(random, [
    [30, { do: 'volume-resized', ...of, sizeBytes: between(random, 1, 7) * STEP_BYTES }],
    [40, { do: 'volume-replicas', ...of, replicas: between(random, 0, 3) }],
    [15, { do: 'replica-added', ...of, node: nodeOf(builder) }],
    [15, { do: 'replica-removed', ...of, node: nodeOf(builder) }],
  ])
}

function deleteVolume(builder: VolumeBuilder): StepAction {
  const tenant = tenantOf(builder)
  return { do: 'volume-deleted', tenant, volume: volumeOf(builder, tenant) }
}

const uncordon = (builder: VolumeBuilder): StepAction => ({ do: 'uncordon', node: nodeOf(builder) })

/** Drains a node; sometimes the drain is canceled, or a node fails, while volumes are handed over. */
function drain(builder: VolumeBuilder): Turn {
  const { random, homes } = builder
  const node = homes.length > 0 && chance(random, 65) ? oneOf(random, homes) : nodeOf(builder)
  const underWay = between(random, 500, chance(random, 70) ? 7_000 : 14_000)
  const next = weighted<Turn>(random, [
    [30, []],
    [35, [underWay, { do: 'uncordon', node }]],
    [15, [underWay, troubleNode(builder)]],
    [10, [underWay, { do: 'agent-restart', node: nodeOf(builder) }]],
    [10, [underWay, { do: 'drain', node: nodeOf(builder) }]],
  ])
  return [{ do: 'drain', node }, ...next]
}

/** Removes a node, or enrolls it again. A removed machine can come back as a new node. */
function leave(builder: VolumeBuilder): Turn {
  const { random, off, cut } = builder
  const node = nodeOf(builder)
  if (off.has(node) || cut.has(node)) return [{ do: 'node-removed', node, force: chance(random, 70) }]
  const again: StepAction = { do: 're-enroll', node }
  if (chance(random, 40)) return [again]
  const removed: StepAction = { do: 'node-removed', node, force: chance(random, 50) }
  return chance(random, 50) ? [removed] : [removed, between(random, 500, 20_000), again]
}
