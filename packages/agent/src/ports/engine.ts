// What the agent asks of the Docker Engine, and no more: no archive endpoints, no shell, no output of a check.
// Every call has a deadline of its own. SAFETY 2 rows 22 and 32.

import type { ContainerState, CreateBody, InspectedSettings, SeenContainer } from '@holdfast/core/reconcile'

/** Any container of the machine, ours or not. */
export interface ListedContainer {
  readonly id: string
  readonly name: string
  readonly image: string
  readonly state: ContainerState
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly labels: { readonly [key: string]: string }
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

export interface Engine {
  version(): Promise<EngineVersion>
  /** All containers of the machine. */
  listContainers(): Promise<ListedContainer[]>
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
  hasImage(reference: string): Promise<boolean>
  pullImage(reference: string, credential: PullCredential | undefined): Promise<void>
  hasNetwork(name: string): Promise<boolean>
  createNetwork(name: string, labels: { readonly [key: string]: string }): Promise<void>
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
