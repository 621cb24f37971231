// The functions of the browser that a live connection needs.

import type { Client } from '@holdfast/client'
import type { LiveDeps, Message } from './live-connection.ts'

export const browserDeps = (client: Client): LiveDeps => ({
  follow: (signal) => client.followChanges({ signal }),
  async withLock(name, signal, run) {
    try {
      await navigator.locks.request(name, { signal }, run)
    } catch (error) {
      // The page was left before the lock was free.
      if (!signal.aborted) throw error
    }
  },
  openChannel(name, onMessage) {
    const channel = new BroadcastChannel(name)
    channel.onmessage = ({ data }: MessageEvent<Message>) => onMessage(data)
    return { post: (message) => channel.postMessage(message), close: () => channel.close() }
  },
  now: () => Date.now(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      signal.addEventListener('abort', end)
    }),
})
