// Calls the engine over its unix socket, with a timeout and classified errors.

import Docker from 'dockerode'
import { EngineError } from '../../ports/engine.ts'
import { classifyError } from './classify-error.ts'
import { negotiateVersion } from './negotiate.ts'

const PING_MS = 5000

interface Connection {
  readonly docker: Docker
  readonly apiVersion: string
}

export interface Caller {
  /** Runs `work` with the Docker client and a signal that aborts the work at the timeout. */
  call<T>(deadlineMs: number, work: (docker: Docker, signal: AbortSignal) => Promise<T>): Promise<T>
  apiVersion(): Promise<string>
}

export function createCaller(socketPath: string): Caller {
  let connection: Promise<Connection> | undefined
  const connect = (): Promise<Connection> => {
    connection ??= openConnection(socketPath).catch((error: unknown) => {
      connection = undefined
      throw error
    })
    return connection
  }
  return {
    async call(deadlineMs, work) {
      const { docker } = await connect()
      try {
        return await withTimeout(deadlineMs, (signal) => work(docker, signal))
      } catch (error) {
        // The engine may have restarted with another version, so the next call negotiates the API version again.
        if (error instanceof EngineError && error.fault === 'unavailable') connection = undefined
        throw error
      }
    },
    apiVersion: async () => (await connect()).apiVersion,
  }
}

async function openConnection(socketPath: string): Promise<Connection> {
  const apiVersion = await withTimeout(PING_MS, (signal) => negotiateVersion(socketPath, signal))
  return { docker: new Docker({ socketPath, version: `v${apiVersion}` }), apiVersion }
}

/** Runs the work and rejects at the timeout, even if the Docker client ignores the abort signal. */
async function withTimeout<T>(deadlineMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new EngineError('timeout', `The engine did not answer within ${deadlineMs} ms.`))
      ending.abort()
    }, deadlineMs)
  })
  try {
    return await Promise.race([work(ending.signal), timeout])
  } catch (error) {
    throw classifyError(error)
  } finally {
    clearTimeout(timer)
  }
}
