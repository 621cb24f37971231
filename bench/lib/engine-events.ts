// Watches all events of containers with a given label, with the engine's timestamps. The agent's own watch covers only
// the events that the agent acts on.

import { request } from 'node:http'

interface EngineEvent {
  /** The engine's name of the event: create, start, die, destroy, ... */
  readonly action: string
  /** The value of the watched label on the event's container. */
  readonly label: string
  /** Time of the event, on the clock of performance.now(). */
  readonly time: number
}

const OPEN_MS = 10_000
const NANOSECONDS = 1_000_000

/** Starts a watch of the engine's events and returns a function that ends the watch. */
export async function watchEvents(
  socketPath: string,
  label: string,
  onEvent: (event: EngineEvent) => void,
): Promise<() => void> {
  const filters = encodeURIComponent(JSON.stringify({ type: ['container'], label: [label] }))
  const sent = request({ socketPath, path: `/events?filters=${filters}`, agent: false })
  const opened = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the engine sends no events')), OPEN_MS)
    sent.once('error', reject)
    sent.once('response', (answer) => {
      clearTimeout(timer)
      let rest = ''
      answer.setEncoding('utf8')
      answer.on('error', () => {})
      answer.on('data', (part: string) => {
        const lines = (rest + part).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) if (line.trim() !== '') onEvent(readEvent(line, label))
      })
      resolve()
    })
  })
  sent.end()
  await opened
  sent.on('error', () => {})
  return () => sent.destroy()
}

function readEvent(line: string, label: string): EngineEvent {
  const { Action, Actor, timeNano } = JSON.parse(line)
  const time = Number(timeNano) / NANOSECONDS - performance.timeOrigin
  return { action: String(Action), label: String(Actor.Attributes[label]), time }
}
