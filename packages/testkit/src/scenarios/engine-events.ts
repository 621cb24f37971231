// Records the container events of engines as they happen. An engine keeps its last events in memory only, so the recorder
// stays connected and connects again after the engine was killed.

import { request } from 'node:http'
import { createInterface } from 'node:readline'
import type { LabNode } from '@holdfast/testkit'

export interface EngineEvent {
  readonly node: string
  readonly action: string
  readonly containerId: string
  /** The owner of the container as its label has it, such as `job/<id>`; empty for other containers. */
  readonly owner: string
  /** The exit code of a container that ended, as the engine reports it; empty for other events. */
  readonly exitCode: string
  readonly timeNano: number
}

export interface EngineEvents {
  /** All events so far, in the order of their times. */
  all(): EngineEvent[]
  stop(): void
}

const AGAIN_MS = 50

export function recordEngineEvents(nodes: readonly LabNode[]): EngineEvents {
  const stopped = new AbortController()
  const found = new Map<string, EngineEvent>()
  const since = String(Math.floor(Date.now() / 1000))
  for (const node of nodes) follow(node, since, stopped.signal, (key, event) => found.set(key, event))
  return {
    all: () => [...found.values()].sort((one, other) => one.timeNano - other.timeNano),
    stop: () => stopped.abort(),
  }
}

type OnEvent = (key: string, event: EngineEvent) => void

/** Reads the events of one engine from the start of the recording, again and again; repeated events have equal keys. */
function follow(node: LabNode, since: string, signal: AbortSignal, onEvent: OnEvent): void {
  const filters = encodeURIComponent(JSON.stringify({ type: ['container'] }))
  const again = (): void => {
    if (!signal.aborted) setTimeout(() => follow(node, since, signal, onEvent), AGAIN_MS)
  }
  const sent = request({
    socketPath: node.socketPath,
    path: `/events?since=${since}&filters=${filters}`,
    signal,
  })
  // An engine that is being restarted refuses connections, and a killed one breaks them.
  sent.on('error', again)
  sent.on('response', (response) => {
    const lines = createInterface({ input: response, signal })
    lines.on('line', (line) => {
      if (line !== '') onEvent(`${node.name} ${line}`, eventOf(node.name, line))
    })
    // Both report the end of a killed engine.
    lines.on('error', () => {})
    response.on('error', () => {})
    response.on('close', again)
  })
  sent.end()
}

function eventOf(node: string, line: string): EngineEvent {
  const { Action, Actor, timeNano } = JSON.parse(line)
  const attributes = Object(Object(Actor).Attributes)
  return {
    node,
    action: String(Action),
    containerId: String(Object(Actor).ID),
    owner: String(attributes['holdfast.io/owner'] ?? ''),
    exitCode: String(attributes['exitCode'] ?? ''),
    timeNano: Number(timeNano),
  }
}

/** The owners of which two containers ran at once, with the node and the time of the second start. */
export function ranTwice(events: readonly EngineEvent[], isChecked: (owner: string) => boolean): string[] {
  const alive = new Map<string, Set<string>>()
  const twice: string[] = []
  for (const { action, containerId, owner, node, timeNano } of events) {
    if (!isChecked(owner)) continue
    const running = alive.get(owner) ?? new Set()
    alive.set(owner, running)
    if (action === 'start') {
      running.add(containerId)
      if (running.size > 1) twice.push(`${owner} on ${node} at ${timeNano}`)
    }
    if (action === 'die' || action === 'destroy') running.delete(containerId)
  }
  return twice
}
