// Implements the agent's engine port for the Docker Engine, with dockerode on the unix socket.

import { defined } from '@holdfast/contract'
import type { CreateBody, SeedBody } from '@holdfast/core/node'
import type Docker from 'dockerode'
import { type Engine, isFault, type ListedContainer, type NetworkFacts } from '../../ports/engine.ts'
import { type Caller, createCaller } from './call.ts'
import { readStatus } from './classify-error.ts'
import {
  readCgroupDriver,
  readEnvironment,
  readEvent,
  readInspected,
  readListed,
  readNetwork,
  readRootFolder,
  readVolumes,
} from './decode.ts'
import { startExec } from './exec.ts'
import { imageCalls } from './images.ts'
import { readLogs } from './logs.ts'
import { readJsonLines } from './read-lines.ts'
import { runProbe } from './run-probe.ts'

const READ_MS = 10_000
const CREATE_MS = 30_000
const START_MS = 60_000
const REMOVE_MS = 60_000
/** Timeout of a stop call, in addition to the container's own grace period. */
const STOP_MS = 30_000
const NOT_MODIFIED = 304
/** Events to watch. Exec events are left out, because each health check of the engine causes three of them. */
const EVENTS = ['start', 'die', 'oom', 'destroy', 'health_status', 'pause', 'unpause']

export function createDockerEngine(socketPath: string): Engine {
  const caller = createCaller(socketPath)
  const { call } = caller
  return {
    version: async () => ({
      version: (await call(READ_MS, (docker) => docker.version())).Version,
      apiVersion: await caller.apiVersion(),
    }),
    cgroupDriver: async () => readCgroupDriver(await call(READ_MS, (docker) => docker.info())),
    listContainers: () => listContainers(caller, {}),
    listLabelled: (label, value) => listContainers(caller, { label: [`${label}=${value}`] }),
    createContainer: (name, body) =>
      call(CREATE_MS, (docker, signal) => createContainer(docker, name, body, signal)),
    startContainer: (id) =>
      call(START_MS, (docker, abortSignal) =>
        ignoreNotModified(docker.getContainer(id).start({ abortSignal })),
      ),
    stopContainer: (id, t) =>
      call(t * 1000 + STOP_MS, (docker, abortSignal) =>
        ignoreNotModified(docker.getContainer(id).stop({ t, abortSignal })),
      ),
    removeContainer: (id) => removeContainer(caller, id),
    inspectContainer: async (id) =>
      readInspected(
        await call(READ_MS, (docker, abortSignal) => docker.getContainer(id).inspect({ abortSignal })),
      ),
    findExit: (id) => call(READ_MS, (docker, signal) => findExit(docker, id, signal)),
    readEnvironment: async (id) =>
      readEnvironment(
        await call(READ_MS, (docker, abortSignal) => docker.getContainer(id).inspect({ abortSignal })),
      ),
    runProbe: (id, command, timeoutMs) => runProbe(caller, id, command, timeoutMs),
    readLogs: (id, request, sink) => readLogs(caller, socketPath, id, request, sink),
    startExec: (id, command, sink) => startExec(caller, socketPath, id, command, sink),
    ...imageCalls(caller),
    rootFolder: async () => readRootFolder(await call(READ_MS, (docker) => docker.info())),
    listVolumes: async (label, value) =>
      readVolumes(
        await call(READ_MS, (docker, abortSignal) =>
          docker.listVolumes({ filters: { label: [`${label}=${value}`] }, abortSignal }),
        ),
      ),
    removeVolume: (name) => removeVolume(caller, name),
    hasNetwork: (name) => exists(call(READ_MS, (docker) => docker.getNetwork(name).inspect())),
    inspectNetwork: (name) => inspectNetwork(caller, name),
    listNetworks: async () => {
      const listed: unknown[] = await call(READ_MS, (docker, abortSignal) =>
        docker.listNetworks({ abortSignal }),
      )
      return listed.map(readNetwork)
    },
    createNetwork: async (Name, Labels, { subnet, internal: Internal = false } = {}) => {
      const IPAM = { Driver: 'default', Config: subnet === undefined ? [] : [{ Subnet: subnet }] }
      const options = { Name, Driver: 'bridge', CheckDuplicate: true, Internal, Labels, IPAM }
      await call(CREATE_MS, (docker, abortSignal) => docker.createNetwork({ ...options, abortSignal }))
    },
    connectNetwork: async (network, Container, { Aliases, IPAMConfig }) => {
      const EndpointConfig = { Aliases: [...Aliases], ...defined({ IPAMConfig }) }
      await call(CREATE_MS, (docker) => docker.getNetwork(network).connect({ Container, EndpointConfig }))
    },
    removeNetwork: (name) => removeNetwork(caller, name),
    watchContainers: (label, onOpen, onEvent, signal) =>
      call(READ_MS, (docker) => openEvents(docker, label, signal)).then(async (stream) => {
        onOpen()
        for await (const line of readJsonLines(stream)) onEvent(readEvent(line))
      }),
  }
}

async function listContainers(
  { call }: Caller,
  filters: { readonly label?: string[] },
): Promise<ListedContainer[]> {
  const listed: unknown[] = await call(READ_MS, (docker, abortSignal) =>
    docker.listContainers({ all: true, filters, abortSignal }),
  )
  return listed.map(readListed)
}

/**
 * Creates a container. The request body and the query are passed separately: otherwise dockerode copies the body, with
 * the container's environment, into the URL.
 */
async function createContainer(
  docker: Docker,
  name: string,
  body: CreateBody | SeedBody,
  abortSignal: AbortSignal,
): Promise<string> {
  const options: Docker.ContainerCreateOptions & { _query: object; _body: CreateBody | SeedBody } = {
    _query: { name },
    _body: body,
    abortSignal,
  }
  return (await docker.createContainer(options)).id
}

async function inspectNetwork({ call }: Caller, name: string): Promise<NetworkFacts | undefined> {
  try {
    return readNetwork(await call(READ_MS, (docker) => docker.getNetwork(name).inspect()))
  } catch (error) {
    if (isFault(error, 'not_found')) return undefined
    throw error
  }
}

async function removeNetwork({ call }: Caller, name: string): Promise<void> {
  try {
    await call(REMOVE_MS, (docker, abortSignal) => docker.getNetwork(name).remove({ abortSignal }))
  } catch (error) {
    if (!isFault(error, 'not_found')) throw error
  }
}

async function removeVolume({ call }: Caller, name: string): Promise<void> {
  try {
    await call(REMOVE_MS, (docker, abortSignal) => docker.getVolume(name).remove({ abortSignal }))
  } catch (error) {
    if (!isFault(error, 'not_found')) throw error
  }
}

/** Treats the engine's answer 304 as a success: the container is already in the desired state. */
async function ignoreNotModified(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (readStatus(error) !== NOT_MODIFIED) throw error
  }
}

async function removeContainer({ call }: Caller, id: string): Promise<void> {
  try {
    await call(REMOVE_MS, (docker, abortSignal) =>
      docker.getContainer(id).remove({ force: true, v: true, abortSignal }),
    )
  } catch (error) {
    if (!isFault(error, 'not_found')) throw error
  }
}

async function exists(inspection: Promise<unknown>): Promise<boolean> {
  try {
    await inspection
    return true
  } catch (error) {
    if (isFault(error, 'not_found')) return false
    throw error
  }
}

/** Reads all remembered events until now. Events have nanoseconds, so the current millisecond is part of the range. */
async function findExit(
  docker: Docker,
  container: string,
  abortSignal: AbortSignal,
): Promise<number | undefined> {
  const filters = { event: ['die'], container: [container] }
  const range = { since: 1, until: (Date.now() + 1) / 1000 }
  let code: number | undefined
  for await (const line of readJsonLines(await docker.getEvents({ ...range, filters, abortSignal })))
    code = readEvent(line).exitCode ?? code
  return code
}

async function openEvents(
  docker: Docker,
  label: string,
  abortSignal: AbortSignal,
): Promise<NodeJS.ReadableStream> {
  return docker.getEvents({ filters: { type: ['container'], event: EVENTS, label: [label] }, abortSignal })
}
