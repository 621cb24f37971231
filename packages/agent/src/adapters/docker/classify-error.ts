// Classifies a failed call of the engine. Error messages are the engine's own, shortened. The engine may quote a request,
// so the agent does not log the messages of engine errors for containers with secrets (workers.ts).

import { EngineError, type EngineFault } from '../../ports/engine.ts'

const BY_STATUS: { readonly [status: number]: EngineFault } = { 404: 'not_found', 409: 'conflict' }
const MAX_MESSAGE = 300

export function classifyError(error: unknown): EngineError {
  if (error instanceof EngineError) return error
  const message = error instanceof Error ? error.message.slice(0, MAX_MESSAGE).trim() : 'unknown'
  const status = readStatus(error)
  if (status === undefined) return new EngineError('unavailable', message)
  return new EngineError(BY_STATUS[status] ?? (status < 500 ? 'refused' : 'failed'), message)
}

/** The HTTP status of the engine's answer; undefined if the engine did not answer. */
export function readStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined
  return typeof error.statusCode === 'number' ? error.statusCode : undefined
}
