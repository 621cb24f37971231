// A log follower that reads a fixed number of bytes per second, and counts lines and gaps without storing the lines.

import { type IncomingMessage, request } from 'node:http'

interface Followed {
  /** Number of log lines received. */
  readonly delivered: number
  /** Log lines and bytes that the server reported as skipped. */
  readonly skipped: { readonly lines: number; readonly bytes: number }
  readonly gaps: number
}

interface LogFollower {
  stop(): Followed
}

const TICK_MS = 20
const OPEN_MS = 10_000
const GAP = '{"skipped":'
const AWAY = '{"unavailable":'

/** Follows logs; resolves when the response has begun. */
export async function followLogs(url: string, token: string, bytesPerSecond: number): Promise<LogFollower> {
  const headers = { authorization: `Bearer ${token}` }
  const sent = request(url, { headers, agent: false })
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer')), OPEN_MS)
    sent.once('error', reject)
    sent.once('response', (response) => {
      clearTimeout(timer)
      resolve(response)
    })
    sent.end()
  })
  if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`)
  for (const one of [sent, answer]) one.on('error', () => {})
  const counts = { delivered: 0, lines: 0, bytes: 0, gaps: 0, trouble: '' }
  const read = lineReader((line) => {
    if (line.startsWith(AWAY)) counts.trouble = line
    else if (!line.startsWith(GAP)) counts.delivered += 1
    else {
      const { skipped } = JSON.parse(line)
      counts.gaps += 1
      counts.lines += Number(skipped.lines)
      counts.bytes += Number(skipped.bytes)
    }
  })
  const stopPacing = readAtPace(answer, bytesPerSecond, read)
  return {
    stop() {
      stopPacing()
      sent.destroy()
      const { delivered, lines, bytes, gaps, trouble } = counts
      if (trouble !== '') throw new Error(`following the logs failed: ${trouble}`)
      return { delivered, skipped: { lines, bytes }, gaps }
    },
  }
}

function lineReader(onLine: (line: string) => void): (part: Buffer) => void {
  let rest = ''
  return (part) => {
    const lines = (rest + part.toString('latin1')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  }
}

function readAtPace(
  answer: IncomingMessage,
  bytesPerSecond: number,
  onPart: (part: Buffer) => void,
): () => void {
  const began = performance.now()
  let received = 0
  const isAhead = (): boolean => received > ((performance.now() - began) / 1000) * bytesPerSecond
  answer.on('data', (part: Buffer) => {
    received += part.length
    onPart(part)
    if (isAhead()) answer.pause()
  })
  const timer = setInterval(() => {
    if (!isAhead()) answer.resume()
  }, TICK_MS)
  return () => clearInterval(timer)
}
