// One call of the engine over its unix socket: the deadline ends it, and its failure is classified.

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
  /** Gives the client and a signal that ends the call at its deadline. */
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
        return await limited(deadlineMs, (signal) => work(docker, signal))
      } catch (error) {
        // An engine that went away may come back as another one.
        if (error instanceof EngineError && error.fault === 'unavailable') connection = undefined
        throw error
      }
    },
    apiVersion: async () => (await connect()).apiVersion,
  }
}

async function openConnection(socketPath: string): Promise<Connection> {
  const apiVersion = await limited(PING_MS, (signal) => negotiateVersion(socketPath, signal))
  return { docker: new Docker({ socketPath, version: `v${apiVersion}` }), apiVersion }
}

/** The deadline holds whatever the client does with the signal. */
async function limited<T>(deadlineMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new EngineError('timeout', `The engine did not answer within ${deadlineMs} ms.`))
      ending.abort()
    }, deadlineMs)
  })
  try {
    return await Promise.race([work(ending.signal), late])
  } catch (error) {
    throw classifyError(error)
  } finally {
    clearTimeout(timer)
  }
}
