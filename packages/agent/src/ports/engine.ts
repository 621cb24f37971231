// What the agent asks of the Docker Engine, and no more: no archive endpoints, no output of a check.
// Every call has a deadline of its own. SAFETY 2 rows 22 and 32.

import type { ContainerState, CreateBody, InspectedSettings, SeenContainer } from '@holdfast/core/node'

/** Any container of the machine, ours or not. */
export interface ListedContainer {
  readonly id: string
  readonly name: string
  readonly image: string
  readonly state: ContainerState
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly labels: { readonly [key: string]: string }
  /** Those it has on its networks, and those it will have when it runs. */
  readonly addresses: readonly string[]
}

export interface NetworkFacts {
  readonly labels: { readonly [key: string]: string }
  readonly subnets: readonly string[]
}

export interface InspectedContainer extends SeenContainer {
  readonly name: string
  readonly labels: { readonly [key: string]: string }
  readonly settings: InspectedSettings
}

export interface ContainerEvent {
  readonly action: 'start' | 'die' | 'destroy' | 'health' | 'other'
  readonly containerId: string
  readonly labels: { readonly [key: string]: string }
  readonly exitCode: number | null
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

/** Something of the engine that goes on, read at the pace of its reader. */
export interface EngineStream {
  pause(): void
  resume(): void
  /** Nothing is said any more after it, not even the end. */
  close(): void
}

export interface LogRequest {
  readonly follow: boolean
  /** The last so many of each container; absent: all. */
  readonly tail?: number
  /** RFC 3339, to the nanosecond. */
  readonly since?: string
}

export interface LogSink {
  /** One line with its time before it and its line feed; a view that is good during the call only. */
  entry(channel: OutputChannel, line: Buffer): void
  /** False where the engine broke off. */
  end(whole: boolean): void
}

export interface ExecCommand {
  readonly command: readonly string[]
  readonly tty: boolean
}

export interface ExecSink {
  output(channel: OutputChannel, bytes: Buffer): void
  /** Undefined where nobody can say: the engine broke off, or the process did not end with its output. */
  end(exitCode: number | undefined): void
}

export interface EngineExec extends EngineStream {
  /** `taken` is called when the engine has the bytes: until then they are ours to hold. */
  write(bytes: Buffer, taken: () => void): void
  endInput(): void
  resize(columns: number, rows: number): Promise<void>
}

export interface Engine {
  version(): Promise<EngineVersion>
  /** All containers of the machine. Costs the engine up to a millisecond for each of them. */
  listContainers(): Promise<ListedContainer[]>
  /** Those of them that carry the label with this value. */
  listLabelled(label: string, value: string): Promise<ListedContainer[]>
  /** Gives the id. The name decides between two: the second create of one name is a conflict. */
  createContainer(name: string, body: CreateBody): Promise<string>
  /** A container that runs already is a success. */
  startContainer(id: string): Promise<void>
  stopContainer(id: string, graceSeconds: number): Promise<void>
  /** With the volumes that have no name; also while it runs. A container that is gone is a success. */
  removeContainer(id: string): Promise<void>
  inspectContainer(idOrName: string): Promise<InspectedContainer>
  /** Runs the command inside and gives its exit code; undefined when it did not end in time and was killed. */
  runProbe(id: string, command: readonly string[], timeoutMs: number): Promise<number | undefined>
  /** Both outputs of a container that may have ended, each line with its time. */
  readLogs(id: string, request: LogRequest, sink: LogSink): Promise<EngineStream>
  /** Runs a command inside a running container. Closing it kills the command: the engine itself would let it run on. */
  startExec(id: string, command: ExecCommand, sink: ExecSink): Promise<EngineExec>
  hasImage(reference: string): Promise<boolean>
  pullImage(reference: string, credential: PullCredential | undefined): Promise<void>
  hasNetwork(name: string): Promise<boolean>
  /** Undefined where there is none of that name. */
  inspectNetwork(name: string): Promise<NetworkFacts | undefined>
  listNetworks(): Promise<NetworkFacts[]>
  /** Without a subnet the engine chooses one, and no container of it can have an address of our choice. */
  createNetwork(name: string, labels: { readonly [key: string]: string }, subnet?: string): Promise<void>
  /** A conflict while a container is on it; one that is gone is a success. */
  removeNetwork(name: string): Promise<void>
  /** Events of containers that carry the label, until the signal; rejects when the stream breaks. */
  watchContainers(
    label: string,
    onOpen: () => void,
    onEvent: (event: ContainerEvent) => void,
    signal: AbortSignal,
  ): Promise<void>
}

/** `refused`: the engine says no to what was asked. `failed`: it tried and could not. `unavailable`: it gave no answer. */
export type EngineFault = 'not_found' | 'conflict' | 'refused' | 'failed' | 'unavailable' | 'timeout'

export class EngineError extends Error {
  readonly fault: EngineFault

  constructor(fault: EngineFault, message: string) {
    super(message)
    this.name = 'EngineError'
    this.fault = fault
  }
}

export const isFault = (error: unknown, ...faults: readonly EngineFault[]): boolean =>
  error instanceof EngineError && faults.includes(error.fault)
