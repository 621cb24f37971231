// The engine's events of containers that carry a label, all of them, with the time that the engine itself gives them: the
// agent watches only what it acts on.

import { request } from 'node:http'

interface EngineEvent {
  /** create, start, die, destroy, ... */
  readonly action: string
  /** The value of the label. */
  readonly label: string
  /** On the clock of performance.now(). */
  readonly time: number
}

const OPEN_MS = 10_000
const NANOSECONDS = 1_000_000

/** Gives what ends it. */
export async function watchEvents(
  socketPath: string,
  label: string,
  onEvent: (event: EngineEvent) => void,
): Promise<() => void> {
  const filters = encodeURIComponent(JSON.stringify({ type: ['container'], label: [label] }))
  const asked = request({ socketPath, path: `/events?filters=${filters}`, agent: false })
  const opened = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the engine tells no events')), OPEN_MS)
    asked.once('error', reject)
    asked.once('response', (answer) => {
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
  asked.end()
  await opened
  asked.on('error', () => {})
  return () => asked.destroy()
}

function readEvent(line: string, label: string): EngineEvent {
  const { Action, Actor, timeNano } = JSON.parse(line)
  const time = Number(timeNano) / NANOSECONDS - performance.timeOrigin
  return { action: String(Action), label: String(Actor.Attributes[label]), time }
}
