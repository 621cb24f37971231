// Waits until a node's new agent is ready, and compares the containers on the machine with those from before.

import type { Client, Failure } from '@holdfast/client'
import type { MachineContainer, Node } from '@holdfast/contract'
import { pause } from '../terminal/pause.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { isUnavailable } from './unavailable.ts'

const POLL_MS = 1000

export type AgentWait =
  | ({ readonly kind: 'ready'; readonly node: Node } & ComparedContainers)
  | { readonly kind: 'late'; readonly node: Node }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'interrupted' }

export interface AwaitedAgent {
  readonly node: Node
  /** The containers on the machine before the upgrade. */
  readonly before: readonly MachineContainer[]
  readonly waitMs: number
}

export async function waitForAgent(
  terminal: Terminal,
  client: Client,
  { node, before, waitMs }: AwaitedAgent,
): Promise<AgentWait> {
  const end = terminal.now() + waitMs
  let seen = node
  for (;;) {
    const read = await client.nodes.read(node.id)
    if (!read.ok && !isUnavailable(read.failure)) return { kind: 'failed', failure: read.failure }
    if (read.ok) seen = read.value
    if (read.ok && seen.agentOutdated !== true && seen.status === 'ready') {
      const after = await client.nodes.containers(node.id)
      if (after.ok) return { kind: 'ready', node: seen, ...compareContainers(before, after.value.items) }
      if (!isUnavailable(after.failure)) return { kind: 'failed', failure: after.failure }
    }
    if (terminal.now() >= end) return { kind: 'late', node: seen }
    if (!(await pause(POLL_MS, terminal.interrupted))) return { kind: 'interrupted' }
  }
}

export interface ComparedContainers {
  /** The number of containers that run since before the upgrade. */
  readonly kept: number
  /** Names of the containers that ran before and were restarted, replaced or removed. */
  readonly changed: readonly string[]
}

/** Compares the running containers of the platform; the machine may have others, which it does not manage. */
export function compareContainers(
  before: readonly MachineContainer[],
  after: readonly MachineContainer[],
): ComparedContainers {
  const running = before.filter((each) => each.ours && isRunning(each))
  const isKept = ({ id, startedAt }: MachineContainer) =>
    after.some((each) => each.id === id && each.startedAt === startedAt && isRunning(each))
  const changed = running.filter((each) => !isKept(each))
  return { kept: running.length - changed.length, changed: changed.map(({ name }) => name) }
}

const isRunning = ({ state }: MachineContainer): boolean => state === 'running'
