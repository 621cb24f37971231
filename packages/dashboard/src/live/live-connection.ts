// One change stream per browser and tenant. The tab with the Web Lock reads the stream and passes every message to the other
// tabs through a BroadcastChannel; when that tab closes, the browser gives the lock to another one. Browsers open at most six
// connections to a server over HTTP/1.1, so one stream for each tab would soon leave none for requests.

import type { ChangeStreamItem } from '@holdfast/client'
import type { ChangedRecord } from '@holdfast/contract'
import { initialState, isDead, type LiveEvent, type LiveState, nextState } from './live-state.ts'

/** The records that may have changed: all of them, or those that the stream names. */
export type Changed =
  | { readonly kind: 'all' }
  | { readonly kind: 'some'; readonly items: readonly ChangedRecord[] }

export type Message =
  | { readonly kind: 'state'; readonly state: LiveState }
  | { readonly kind: 'changed'; readonly changed: Changed }
  /** A new tab asks the tab with the stream for its state. */
  | { readonly kind: 'hello' }

interface Channel {
  post(message: Message): void
  close(): void
}

export interface LiveDeps {
  follow(signal: AbortSignal): AsyncIterable<ChangeStreamItem>
  /** Runs the function while this tab has the lock of that name; waits for the lock until the signal aborts. */
  withLock(name: string, signal: AbortSignal, run: () => Promise<void>): Promise<void>
  /** A channel to the other tabs of this browser; what a tab posts, it does not receive. */
  openChannel(name: string, onMessage: (message: Message) => void): Channel
  now(): number
  /** Waits, and returns early when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export interface LiveConnection {
  state(): LiveState
  /** Reports the state of the network, as the browser knows it. */
  network(online: boolean): void
  /** Lets time pass: a stream that stays closed becomes offline. */
  tick(): void
  close(): void
}

export interface LiveListener {
  onState(state: LiveState): void
  onChanged(changed: Changed): void
}

const REOPEN_MS = 2_000

export function connectLive(tenant: string, deps: LiveDeps, listener: LiveListener): LiveConnection {
  const name = `holdfast-changes-${tenant}`
  const closed = new AbortController()
  let state = initialState(deps.now())
  let leads = false
  let reopen = new AbortController()

  const show = (next: LiveState): void => {
    state = next
    listener.onState(state)
  }
  const observe = (event: LiveEvent): void => {
    const next = nextState(state, event, deps.now())
    if (next === state) return
    show(next)
    if (leads) channel.post({ kind: 'state', state })
  }
  const change = (changed: Changed): void => {
    channel.post({ kind: 'changed', changed })
    listener.onChanged(changed)
  }
  const channel = deps.openChannel(name, (message) => {
    if (message.kind === 'hello') {
      if (leads) channel.post({ kind: 'state', state })
    } else if (leads) return
    else if (message.kind === 'state') show(message.state)
    else listener.onChanged(message.changed)
  })
  channel.post({ kind: 'hello' })

  const lead = async (): Promise<void> => {
    leads = true
    while (!closed.signal.aborted && state.kind !== 'signed-out') {
      reopen = new AbortController()
      await readStream(deps.follow(AbortSignal.any([closed.signal, reopen.signal])), observe, change)
      if (reopen.signal.aborted) continue
      observe({ kind: 'cut', reason: 'closed' })
      await deps.wait(REOPEN_MS, closed.signal)
    }
  }
  void deps.withLock(name, closed.signal, lead)
  return {
    state: () => state,
    network(online) {
      observe({ kind: online ? 'network-found' : 'network-lost' })
      // A stream over the old network may stay silent for long, or deliver although requests fail, so it is opened again.
      reopen.abort()
    },
    tick() {
      observe({ kind: 'tick' })
      if (leads && isDead(state, deps.now())) reopen.abort()
    },
    close() {
      closed.abort()
      channel.close()
    },
  }
}

const UNAUTHENTICATED = 401

async function readStream(
  items: AsyncIterable<ChangeStreamItem>,
  observe: (event: LiveEvent) => void,
  change: (changed: Changed) => void,
): Promise<void> {
  // A new stream starts now: changes since the data was read may be missing. A resumed stream misses none.
  let isNew = true
  for await (const item of items) {
    if (item.kind === 'resuming') observe({ kind: 'cut', reason: item.reason })
    else if (item.kind === 'failed') {
      const { failure } = item
      const ended = failure.kind === 'rejected' && failure.status === UNAUTHENTICATED
      observe(
        ended
          ? { kind: 'refused' }
          : { kind: 'cut', reason: 'reason' in failure ? failure.reason : failure.kind },
      )
    } else {
      observe({ kind: 'heard' })
      if (item.kind === 'resync' || (item.kind === 'live' && isNew)) change({ kind: 'all' })
      if (item.kind === 'changes') change({ kind: 'some', items: item.items })
      isNew = false
    }
  }
}
