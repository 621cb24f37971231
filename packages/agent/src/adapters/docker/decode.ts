// Decodes the engine's answers. Environment variables are dropped, except where they are needed to redact texts.

import {
  boolean,
  decode,
  defined,
  type Infer,
  integer,
  json,
  list,
  map,
  nullable,
  object,
  optional,
  type Shape,
  type ShapeNode,
  string,
} from '@holdfast/contract'
import {
  type CgroupDriver,
  type ContainerState,
  type InspectedSettings,
  PROOF_LABEL,
} from '@holdfast/core/node'
import type {
  BoundedText,
  ContainerEvent,
  InspectedContainer,
  ListedContainer,
  ListedVolume,
  NetworkFacts,
} from '../../ports/engine.ts'
import { plainEngineText } from './classify-error.ts'

const STATES: readonly ContainerState[] = [
  'created',
  'running',
  'paused',
  'restarting',
  'removing',
  'exited',
  'dead',
]
const labels = () => nullable(map(string()))
const networks = () => json<{ readonly [name: string]: unknown } | null>()

const listedShape = object({
  Id: string(),
  Names: nullable(list(string())),
  Image: string(),
  ImageID: optional(string()),
  State: string(),
  Created: integer(),
  Labels: labels(),
  NetworkSettings: optional(nullable(object({ Networks: networks() }))),
})

const healthShape = object({
  Status: string(),
  FailingStreak: integer(),
  Log: nullable(list(object({ ExitCode: integer(), Output: string() }))),
})

const environmentShape = object({ Config: object({ Env: nullable(list(string())) }) })

const inspectedShape = object({
  Id: string(),
  Name: string(),
  RestartCount: integer(),
  State: object({
    Status: string(),
    StartedAt: string(),
    FinishedAt: string(),
    ExitCode: integer(),
    OOMKilled: boolean(),
    Error: string(),
    Pid: optional(integer()),
    Health: optional(nullable(healthShape)),
  }),
  Config: object({ Labels: labels() }),
  HostConfig: json<InspectedSettings['HostConfig']>(),
  Mounts: json<readonly unknown[]>(),
  NetworkSettings: object({ Networks: json<{ readonly [name: string]: unknown }>() }),
})

const endpointShape = object({
  IPAddress: optional(string()),
  IPAMConfig: optional(nullable(object({ IPv4Address: optional(string()) }))),
})

const networkShape = object({
  Id: string(),
  Name: string(),
  Internal: optional(boolean()),
  Labels: labels(),
  IPAM: object({ Config: nullable(list(object({ Subnet: string() }))) }),
})

const volumesShape = object({
  Volumes: nullable(list(object({ Name: string(), Labels: optional(labels()) }))),
})

const infoShape = object({ CgroupDriver: string() })
const rootShape = object({ DockerRootDir: string() })
const imageShape = object({ Id: string() })

const eventShape = object({
  Action: string(),
  Actor: object({ ID: string(), Attributes: map(string()) }),
})

/** Decodes a value and drops fields that the shape does not have, because newer engines send additional fields. */
function read<T>(shape: Shape<T>, value: unknown): T {
  return decode(shape, strip(shape, value))
}

function strip(shape: ShapeNode, value: unknown): unknown {
  if (shape.kind === 'optional' || shape.kind === 'nullable') return strip(shape.inner, value)
  if (shape.kind === 'list' && Array.isArray(value))
    return value.map((element) => strip(shape.element, element))
  if (shape.kind !== 'object' || typeof value !== 'object' || value === null) return value
  const members = new Map(Object.entries(value))
  const kept = Object.entries(shape.fields).flatMap(([name, field]) =>
    members.has(name) ? [[name, strip(field, members.get(name))]] : [],
  )
  return Object.fromEntries(kept)
}

export function readListed(value: unknown): ListedContainer {
  const { Id, Names, Image, ImageID, State, Created, Labels, NetworkSettings } = read(listedShape, value)
  return {
    id: Id,
    name: bareName(Names?.[0] ?? ''),
    image: Image,
    ...defined({ imageId: ImageID }),
    state: readState(State),
    createdAt: Created,
    labels: Labels ?? {},
    addresses: Object.values(NetworkSettings?.Networks ?? {}).flatMap(
      (endpoint) => addressOf(endpoint) ?? [],
    ),
  }
}

export function readNetwork(value: unknown): NetworkFacts {
  const { Id, Name, Internal = false, Labels, IPAM } = read(networkShape, value)
  return {
    engineId: Id,
    name: Name,
    internal: Internal,
    labels: Labels ?? {},
    subnets: (IPAM.Config ?? []).map(({ Subnet }) => Subnet),
  }
}

export const readVolumes = (value: unknown): ListedVolume[] =>
  (read(volumesShape, value).Volumes ?? []).map(({ Name, Labels }) => ({ name: Name, labels: Labels ?? {} }))

/** An unknown driver is treated like none: a container that needs a cgroup of its own is then not created. */
export function readCgroupDriver(value: unknown): CgroupDriver {
  const { CgroupDriver: driver } = read(infoShape, value)
  return driver === 'cgroupfs' || driver === 'systemd' ? driver : 'none'
}

export const readRootFolder = (value: unknown): string => read(rootShape, value).DockerRootDir
export const readImageId = (value: unknown): string => read(imageShape, value).Id

/** A container's current address on a network; before the container runs, the configured address. */
function addressOf(endpoint: unknown): string | undefined {
  const { IPAddress, IPAMConfig } = read(endpointShape, endpoint)
  return [IPAddress, IPAMConfig?.IPv4Address].find((text) => text !== undefined && text !== '')
}

export function readInspected(value: unknown): InspectedContainer {
  const { Id, Name, RestartCount, State, Config, HostConfig, Mounts, NetworkSettings } = read(
    inspectedShape,
    value,
  )
  const state = readState(State.Status)
  return {
    id: Id,
    name: bareName(Name),
    state,
    labels: Config.Labels ?? {},
    startedAt: readTime(State.StartedAt),
    finishedAt: readTime(State.FinishedAt),
    oomKilled: State.OOMKilled,
    error: State.Error,
    failedChecks: readFailedChecks(State),
    exitCode: state === 'exited' || state === 'restarting' || state === 'dead' ? State.ExitCode : null,
    restarts: RestartCount,
    health: readHealth(State),
    // Uses the first network: the machine reaches the container on each of them, and a container on another is unsafe.
    address: Object.values(NetworkSettings.Networks).map(addressOf)[0] ?? null,
    // The engine writes 0 while no process runs.
    pid: State.Pid || undefined,
    proof: Config.Labels?.[PROOF_LABEL],
    settings: { HostConfig, Mounts, NetworkSettings },
  }
}

/** The engine writes the year 1 for a time that has not come yet. */
const readTime = (time: string): string | null => (time.startsWith('0001-') ? null : time)

export const readEnvironment = (value: unknown): string[] => [
  ...(read(environmentShape, value).Config.Env ?? []),
]

/** The engine keeps this many bytes of a check's output and marks a longer one with dots. */
const ENGINE_OUTPUT_BYTES = 4096
const ENGINE_MARK = /\.\.\.$/

function readFailedChecks({ Health }: InspectedState): InspectedContainer['failedChecks'] {
  if (Health == null || Health.FailingStreak === 0) return undefined
  const { ExitCode, Output } = Health.Log?.at(-1) ?? { ExitCode: 0, Output: '' }
  return { count: Health.FailingStreak, output: checkOutput(ExitCode, readOutput(Output)) }
}

function readOutput(output: string): BoundedText {
  const isCut = Buffer.byteLength(output) >= ENGINE_OUTPUT_BYTES
  return { text: isCut ? output.replace(ENGINE_MARK, '') : output, isCut }
}

/** A check without output is explained by its exit code. A wrapped error of the runtime loses its wrappers. */
export function checkOutput(exitCode: number, { text, isCut }: BoundedText): BoundedText {
  const plain = plainEngineText(text)
  return plain.trim() === ''
    ? { text: `exit code ${exitCode}, no output`, isCut: false }
    : { text: plain, isCut }
}

export function readEvent(value: unknown): ContainerEvent {
  const { Action, Actor } = read(eventShape, value)
  const exitCode = Number(Actor.Attributes.exitCode ?? Number.NaN)
  return {
    action: readAction(Action),
    containerId: Actor.ID,
    labels: Actor.Attributes,
    exitCode: Number.isInteger(exitCode) ? exitCode : null,
  }
}

function readAction(action: string): ContainerEvent['action'] {
  if (action.startsWith('health_status')) return 'health'
  const known = ['start', 'die', 'oom', 'destroy'] as const
  return known.find((each) => each === action) ?? 'other'
}

/** Removes the slash that the engine puts before container names. */
const bareName = (name: string): string => name.replace(/^\//, '')

/** Decodes a container state. An unknown state becomes `removing`, on which the agent does not act. */
const readState = (text: string): ContainerState => STATES.find((state) => state === text) ?? 'removing'

type InspectedState = Infer<typeof inspectedShape>['State']

function readHealth({ Health }: InspectedState): InspectedContainer['health'] {
  const status = Health?.Status
  return status === 'starting' || status === 'healthy' || status === 'unhealthy' ? status : 'none'
}
