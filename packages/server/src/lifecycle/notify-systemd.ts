// Reports the state of this process to systemd, for units of Type=notify. Node has no Unix datagram sockets, so the child
// process systemd-notify sends the message; the unit needs NotifyAccess=all.

import { spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'

export type ServiceState = 'ready' | 'stopping'

const ARGUMENTS: { readonly [S in ServiceState]: string } = { ready: '--ready', stopping: 'STOPPING=1' }
const DEADLINE_MS = 5_000

/** systemd ends a unit that never becomes ready, so this message is repeated until it is sent. */
const ATTEMPTS: { readonly [S in ServiceState]: number } = { ready: 10, stopping: 1 }
const PAUSE_MS = 1_000

interface NotifyOptions {
  /** Environment of the child. Without NOTIFY_SOCKET no process waits for the message, and none is sent. */
  readonly env: { readonly [name: string]: string | undefined }
  readonly deadlineMs?: number
  readonly pauseMs?: number
  /** Called for each attempt that failed. The program continues: systemd decides about a unit that is not ready. */
  onFailure(why: string): void
}

/** Resolves when the message is sent or its last attempt has failed or is past its deadline. Never rejects. */
export async function notifySystemd(state: ServiceState, options: NotifyOptions): Promise<void> {
  if (!options.env['NOTIFY_SOCKET']) return
  for (let left = ATTEMPTS[state]; left > 0; left -= 1) {
    const why = await send(state, options)
    if (why === undefined) return
    options.onFailure(why)
    // A process that ends does not wait for its next attempt.
    if (left > 1) await wait(options.pauseMs ?? PAUSE_MS, undefined, { ref: false })
  }
}

/** Sends the message once. Returns why it failed. */
function send(
  state: ServiceState,
  { env, deadlineMs = DEADLINE_MS }: NotifyOptions,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn('systemd-notify', [ARGUMENTS[state]], { stdio: ['ignore', 'ignore', 'inherit'], env })
    const end = (why?: string): void => {
      clearTimeout(timer)
      resolve(why)
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
