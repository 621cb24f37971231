// The part of the Docker Engine's API that the agent uses. Every call has its own deadline.

import type {
  CgroupDriver,
  ContainerState,
  CreateBody,
  EndpointBody,
  FoundNetwork,
  InspectedSettings,
  SeedBody,
  SeenContainer,
} from '@holdfast/core/node'

/** Any container of the machine, including those that Holdfast did not create. */
export interface ListedContainer {
  readonly id: string
  readonly name: string
  /** The image as the container was created with it. */
  readonly image: string
  /** The id of that image. */
  readonly imageId?: string
  readonly state: ContainerState
  /** Time of the container's creation, in seconds since 1970. */
  readonly createdAt: number
  readonly labels: { readonly [key: string]: string }
  /** Addresses of the container on its networks, including addresses that are configured but not yet in use. */
  readonly addresses: readonly string[]
}

/** A volume of the engine itself. */
export interface ListedVolume {
  readonly name: string
  readonly labels: { readonly [key: string]: string }
}

/** A network of the engine, Holdfast's or not. */
export interface NetworkFacts extends FoundNetwork {
  readonly subnets: readonly string[]
}

export interface NetworkSettings {
  /** Without a subnet Docker chooses one, and containers on the network cannot have fixed addresses. */
  readonly subnet?: string
  /** Whether the network has no way out. */
  readonly internal?: boolean
}

/** A text of the engine. A cut text may end in the middle of a word. */
export interface BoundedText {
  readonly text: string
  readonly isCut: boolean
}

/** Texts are raw: they may contain secret values and control characters. */
export interface InspectedContainer extends Omit<SeenContainer, 'failedChecks' | 'lastExit' | 'cause'> {
  /** End of the last run that ended, also while a later run is up; null if none ended. */
  readonly finishedAt: string | null
  /** Whether the run that ended last was killed because memory ran out. The engine forgets it at the next start. */
  readonly oomKilled: boolean
  /** The engine's own health checks that failed in a row, with the output of the last one. */
  readonly failedChecks: { readonly count: number; readonly output: BoundedText } | undefined
  /** Why the engine could not start the container; empty if it could. */
  readonly error: string
  readonly name: string
  readonly labels: { readonly [key: string]: string }
  readonly settings: InspectedSettings
}

export interface ContainerEvent {
  readonly action: 'start' | 'die' | 'oom' | 'destroy' | 'health' | 'other'
  readonly containerId: string
  readonly labels: { readonly [key: string]: string }
  readonly exitCode: number | null
}

/** Result of a probe. The exit code is undefined if the probe was killed at its timeout. The output is raw. */
export interface ProbeResult {
  readonly exitCode: number | undefined
  readonly output: BoundedText
}

export interface EngineVersion {
  readonly version: string
  readonly apiVersion: string
}

export interface PullCredential {
  readonly username: string
  readonly password: string
  readonly host: string
}

export type OutputChannel = 'stdout' | 'stderr'

/** Continuous output of the engine, which the reader can pause. */
export interface EngineStream {
  pause(): void
  resume(): void
  /** Closes the stream. After this call the sink receives nothing, not even the call of `end`. */
  close(): void
}

export interface LogRequest {
  readonly follow: boolean
  /** Number of last log lines to read; absent: all lines. */
  readonly tail?: number
  /** Time from which log lines are read: RFC 3339, to the nanosecond. */
  readonly since?: string
}

export interface LogSink {
  /** Receives one log line with its timestamp and line feed. The buffer is valid only during the call. */
  entry(channel: OutputChannel, line: Buffer): void
  /** Called at the end of the logs; `complete` is false if the engine aborted the stream. */
  end(complete: boolean): void
}

export interface ExecCommand {
  readonly command: readonly string[]
  readonly tty: boolean
}

export interface ExecSink {
  output(channel: OutputChannel, bytes: Buffer): void
  /**
   * Called at the command's end. The exit code is undefined if the engine reports none, such as after a lost
   * connection.
   */
  end(exitCode: number | undefined): void
}

export interface EngineExec extends EngineStream {
  /**
   * Writes input for the command. Calls `onWritten` when the engine has the bytes and the agent no longer buffers them.
   */
  write(bytes: Buffer, onWritten: () => void): void
  endInput(): void
  resize(columns: number, rows: number): Promise<void>
}

export interface Engine {
  version(): Promise<EngineVersion>
  cgroupDriver(): Promise<CgroupDriver>
  /** Lists all containers of the machine. Costs Docker up to a millisecond per container. */
  listContainers(): Promise<ListedContainer[]>
  /** Lists the containers that have the label with this value. */
  listLabelled(label: string, value: string): Promise<ListedContainer[]>
  /** Creates a container and returns its id. A second create with the same name fails with a conflict. */
  createContainer(name: string, body: CreateBody | SeedBody): Promise<string>
  /** Starts a container; succeeds if the container already runs. */
  startContainer(id: string): Promise<void>
  stopContainer(id: string, graceSeconds: number): Promise<void>
  /** Removes a container, even if it runs, and its anonymous volumes. Succeeds if the container is already gone. */
  removeContainer(id: string): Promise<void>
  inspectContainer(idOrName: string): Promise<InspectedContainer>
  /**
   * Reads the exit code of the container's last end from the events that the engine remembers: some of the last since the
   * engine started. Undefined if they do not contain an end.
   */
  findExit(id: string): Promise<number | undefined>
  /** Reads a container's environment as `NAME=value`. It may contain secret values: only to redact texts. */
  readEnvironment(id: string): Promise<string[]>
  /** Runs a probe command inside a container. */
  runProbe(id: string, command: readonly string[], timeoutMs: number): Promise<ProbeResult>
  /** Reads stdout and stderr of a container, running or not, each line with its timestamp. */
  readLogs(id: string, request: LogRequest, sink: LogSink): Promise<EngineStream>
  /** Runs a command inside a running container. Closing the exec kills the command, which Docker alone would not do. */
  startExec(id: string, command: ExecCommand, sink: ExecSink): Promise<EngineExec>
  hasImage(reference: string): Promise<boolean>
  pullImage(reference: string, credential: PullCredential | undefined): Promise<void>
  /** The id of an image on the node; undefined if it is absent. */
  findImage(reference: string): Promise<string | undefined>
  /**
   * Removes a reference to an image, and the image with it unless it has others. Resolves with `in_use` if a container needs
   * the image, running or not. Succeeds if the image is already gone.
   */
  removeImage(reference: string): Promise<'removed' | 'in_use'>
  /** The folder in which the engine keeps images and containers. */
  rootFolder(): Promise<string>
  /** Lists the engine's own volumes that have the label with this value. */
  listVolumes(label: string, value: string): Promise<ListedVolume[]>
  /** Removes a volume of the engine. Fails with a conflict while a container uses it; succeeds if it is already gone. */
  removeVolume(name: string): Promise<void>
  hasNetwork(name: string): Promise<boolean>
  /** Inspects a network. Undefined if no network has that name. */
  inspectNetwork(name: string): Promise<NetworkFacts | undefined>
  listNetworks(): Promise<NetworkFacts[]>
  createNetwork(
    name: string,
    labels: { readonly [key: string]: string },
    settings?: NetworkSettings,
  ): Promise<void>
  /** Attaches a container to a further network, before its start. */
  connectNetwork(network: string, containerId: string, endpoint: EndpointBody): Promise<void>
  /** Removes a network by its id or name. Fails with a conflict while containers are on it; succeeds if the network is already gone. */
  removeNetwork(name: string): Promise<void>
  /** Delivers events of containers with the label until the signal aborts; rejects if the event stream breaks. */
  watchContainers(
    label: string,
    onOpen: () => void,
    onEvent: (event: ContainerEvent) => void,
    signal: AbortSignal,
  ): Promise<void>
}

/**
 * Kinds of engine errors. `refused`: the request was rejected. `failed`: the engine tried and failed. `unavailable`: no
 * answer.
 */
export type EngineFault = 'not_found' | 'conflict' | 'refused' | 'failed' | 'unavailable' | 'timeout'

/** The longest message of an engine error; a message of this length may be cut. */
export const MAX_MESSAGE = 2048

export class EngineError extends Error {
  readonly fault: EngineFault

  constructor(fault: EngineFault, message: string) {
    super(message.slice(0, MAX_MESSAGE))
    this.name = 'EngineError'
    this.fault = fault
  }
}

export const isFault = (error: unknown, ...faults: readonly EngineFault[]): boolean =>
  error instanceof EngineError && faults.includes(error.fault)
