// Asks the Docker Engine of a node over its socket. A test that polls engines by the `docker` command starts a process for each
// answer, which keeps a core busy.

import { request } from 'node:http'
import type { LabNode } from '@holdfast/testkit'

/** An engine that hangs does not answer; a wait asks again. */
const TIMEOUT_MS = 10_000

/** The decoded answer of the engine to a GET. An answer other than 200 is an error. */
export function askEngine({ socketPath }: Pick<LabNode, 'socketPath'>, path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, signal: AbortSignal.timeout(TIMEOUT_MS) }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text))
        else reject(new Error(`the engine answered ${response.statusCode} to ${path}: ${text}`))
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}
