// Negotiates the API version with the engine through /_ping, the only path without a version.

import { request } from 'node:http'
import { EngineError } from '../../ports/engine.ts'

/** The newest API version that this adapter is tested with, and the oldest that has every call that the adapter uses. */
const NEWEST = 56
const OLDEST = 41

export async function negotiateVersion(socketPath: string, signal: AbortSignal): Promise<string> {
  const offered = await ping(socketPath, signal)
  const minor = Number(/^1\.(\d+)$/.exec(offered)?.[1] ?? Number.NaN)
  if (!(minor >= OLDEST))
    throw new EngineError('refused', `The engine speaks API ${offered}; 1.${OLDEST} is needed.`)
  return `1.${Math.min(minor, NEWEST)}`
}

function ping(socketPath: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path: '/_ping', method: 'HEAD', signal }, (response) => {
      response.resume()
      resolve(String(response.headers['api-version'] ?? ''))
    })
    sent.on('error', reject)
    sent.end()
  })
}
