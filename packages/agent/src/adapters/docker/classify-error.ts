// Classifies a failed call of the engine. Error messages are the engine's own, without wrappers and shortened. The engine
// may quote a request, so the messages for containers with secrets are not logged (workers.ts), and are redacted before
// they are reported (perform.ts).

import { EngineError, type EngineFault } from '../../ports/engine.ts'

const BY_STATUS: { readonly [status: number]: EngineFault } = { 404: 'not_found', 409: 'conflict' }

export function classifyError(error: unknown): EngineError {
  if (error instanceof EngineError) return error
  const message = error instanceof Error ? plainEngineText(error.message) : 'unknown'
  const status = readStatus(error)
  if (status === undefined) return new EngineError('unavailable', message)
  return new EngineError(BY_STATUS[status] ?? (status < 500 ? 'refused' : 'failed'), message)
}

/** Prefixes that the client, the engine and the runtime put before the error that people need. */
const WRAPPERS =
  /^(\(HTTP code \d+\) [^-]*- |Error response from daemon: |(failed to create task for container|failed to create shim task|OCI runtime (create|exec|start) failed|runc (create|exec|run|start) failed|container_linux\.go:\d+|standard_init_linux\.go:\d+|starting container process caused|unable to start container process|exec failed|error during container init|rpc error: code = \w+ desc =):? ?(?=\S))/
const UNKNOWN = /(: unknown)?\s*$/

/** Removes wrappers from an error of the engine: `exec: "x": executable file not found in $PATH` remains. */
export function plainEngineText(message: string): string {
  let text = message.trim()
  for (let next = text.replace(WRAPPERS, ''); next !== text; next = text.replace(WRAPPERS, '')) text = next
  return text === message.trim() ? text : text.replace(UNKNOWN, '')
}

/** The HTTP status of the engine's answer; undefined if the engine did not answer. */
export function readStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined
  return typeof error.statusCode === 'number' ? error.statusCode : undefined
}
