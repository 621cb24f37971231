// Reports the state of this process to systemd, for units of Type=notify. Node has no Unix datagram sockets, so the child
// process systemd-notify sends the message; the unit needs NotifyAccess=all.

import { spawn } from 'node:child_process'

export type ServiceState = 'ready' | 'stopping'

const ARGUMENTS: { readonly [S in ServiceState]: string } = { ready: '--ready', stopping: 'STOPPING=1' }
const DEADLINE_MS = 5_000

export interface NotifyOptions {
  /** Environment of the child. Without NOTIFY_SOCKET no process waits for the message, and none is sent. */
  readonly env: { readonly [name: string]: string | undefined }
  readonly deadlineMs?: number
  /** Called if the message could not be sent. The program continues: systemd decides about a unit that is not ready. */
  onFailure(why: string): void
}

/** Resolves when the message is sent, has failed, or is past its deadline. Never rejects. */
export function notifySystemd(
  state: ServiceState,
  { env, deadlineMs = DEADLINE_MS, onFailure }: NotifyOptions,
): Promise<void> {
  if (!env['NOTIFY_SOCKET']) return Promise.resolve()
  return new Promise((resolve) => {
    const child = spawn('systemd-notify', [ARGUMENTS[state]], { stdio: ['ignore', 'ignore', 'inherit'], env })
    const end = (why?: string): void => {
      clearTimeout(timer)
      if (why !== undefined) onFailure(why)
      resolve()
    }
    const timer = setTimeout(() => {
      child.removeAllListeners().on('error', () => {})
      child.kill('SIGKILL')
      end(`systemd-notify did not end within ${deadlineMs} ms`)
    }, deadlineMs)
    child.once('error', (error) => end(error.message))
    child.once('exit', (code, signal) =>
      end(code === 0 ? undefined : `systemd-notify ended with ${signal ?? `exit code ${code}`}`),
    )
  })
}
